"""Families of distributions: they turn a tally's blocks into parameters."""

from tallybayes.families.bernoulli import Bernoulli, BernoulliParameters
from tallybayes.families.bins import Bins, BinsParameters
from tallybayes.families.categorical import Categorical, CategoricalParameters
from tallybayes.families.counts import (
    Complement,
    Multinomial,
    MultinomialParameters,
    Poisson,
    PoissonParameters,
)
from tallybayes.families.gaussian import AdditiveFloor, Gaussian, NormalParameters, RelativeFloor
from tallybayes.families.log_normal import LogNormal, LogNormalParameters
from tallybayes.families.parameters import Family, Parameters
from tallybayes.families.smoothing import ByClass, ByValue
from tallybayes.families.text import Text
from tallybayes.families.word_weights import TextParameters

__all__ = [
    "AdditiveFloor",
    "Bernoulli",
    "BernoulliParameters",
    "Bins",
    "BinsParameters",
    "ByClass",
    "ByValue",
    "Categorical",
    "CategoricalParameters",
    "Complement",
    "Family",
    "Gaussian",
    "LogNormal",
    "LogNormalParameters",
    "Multinomial",
    "MultinomialParameters",
    "NormalParameters",
    "Parameters",
    "Poisson",
    "PoissonParameters",
    "RelativeFloor",
    "Text",
    "TextParameters",
]
