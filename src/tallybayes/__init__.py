"""Naive Bayes that is exact, fast and shows its working: a model is a tally.

Count once with `Tally.of`, add and subtract tallies, and `estimate` as many models from them as you
like: smoothing, priors and families cost no further pass over the data.
"""

import lazy_loader

__version__ = "0.1.0.dev0"

# names are listed in the stub, and imported when they are first used
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
