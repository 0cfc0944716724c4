"""The model, and how it comes about: estimated from a tally, or stated by hand."""

from tallybayes.model.estimation import estimate
from tallybayes.model.factors import Factor
from tallybayes.model.fitted import Fitted
from tallybayes.model.informative import TellingWord, most_informative
from tallybayes.model.model import Model
from tallybayes.model.stated import Normal, stated
from tallybayes.model.telling_values import TellingValue

__all__ = [
    "Factor",
    "Fitted",
    "Model",
    "Normal",
    "TellingValue",
    "TellingWord",
    "estimate",
    "most_informative",
    "stated",
]
