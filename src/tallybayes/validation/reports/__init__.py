"""Reports: every score of held-out predictions, as tables, text and HTML."""
