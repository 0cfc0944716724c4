"""Whole jobs on files and tables: train, predict, evaluate, compare, explain, change, report.

The command line only parses what the user writes, and renders what these functions return.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
