"""Accuracy: a file for each part of docs/accuracy.md."""
