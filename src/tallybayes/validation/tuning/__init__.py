"""Tuning: parameters chosen by held-out scores."""
