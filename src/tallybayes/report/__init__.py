"""What a model is, as tables and as a page that people keep."""
