"""The scikit-learn face: `NaiveBayes` for mixed tables, and drop-ins for known estimators."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
