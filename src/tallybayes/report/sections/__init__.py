"""The sections of a report, each made from the same material."""
