"""Where rows come from: tables in memory, NumPy and sparse matrices, and files of any format."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
