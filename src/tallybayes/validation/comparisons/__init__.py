"""Comparing models: tests of significance, and the answer in words."""
