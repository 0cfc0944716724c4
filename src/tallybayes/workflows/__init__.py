"""Whole jobs on files and tables: train, predict, evaluate, compare, change.

The command line only parses what the user writes, and renders what these functions return.
"""
