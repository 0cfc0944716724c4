"""How results are shown: words for numbers, tables, formulas, and documents made of them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
