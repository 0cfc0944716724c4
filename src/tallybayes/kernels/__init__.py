"""The loops over rows: counting and scoring, compiled for large inputs and plain for small."""
