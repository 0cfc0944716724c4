"""The service: models over HTTP that score, learn exactly once and explain.

`serve` runs it, `application` makes it of `Settings` for another server or a test.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
