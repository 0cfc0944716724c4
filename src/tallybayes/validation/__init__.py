"""Held-out predictions, scores and comparisons of models."""
