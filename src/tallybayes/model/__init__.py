"""The model, and how it comes about: estimated from a tally, or stated by hand."""

from tallybayes.model.factors import Factor
from tallybayes.model.from_probabilities import Normal, stated
from tallybayes.model.informative import InformativeValue, most_informative
from tallybayes.model.learner import Learner
from tallybayes.model.model import Model
from tallybayes.model.recipe import Fitted, Recipe, estimate

__all__ = [
    "Factor",
    "Fitted",
    "InformativeValue",
    "Learner",
    "Model",
    "Normal",
    "Recipe",
    "estimate",
    "most_informative",
    "stated",
]
