"""Held-out predictions, scores, tuning, choosing and comparing of models.

Everything here rests on one thing: a model is a tally, so the model without some rows costs next to
nothing, and is exact.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
