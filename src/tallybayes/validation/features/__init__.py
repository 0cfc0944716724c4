"""Choosing columns by held-out scores."""
