"""Pictures of models, records and predictions, in scikit-learn's Display style.

All of them can be read in black and white and by people who see colours differently, and say in
words what they show: `alt_text`. matplotlib is loaded when the first one is drawn.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
