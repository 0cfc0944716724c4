"""The command line: it only parses and renders, the work is done by `tallybayes.workflows`."""
