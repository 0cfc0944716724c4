"""Families of distributions: they turn a tally's blocks into parameters."""

# the closed forms say for which families they are
from tallybayes.families import left_out_counts as _closed_forms  # noqa: F401
from tallybayes.families.bins import Bins, BinsParameters
from tallybayes.families.categorical import Categorical, CategoricalParameters
from tallybayes.families.counts import (
    Bernoulli,
    BernoulliParameters,
    Complement,
    Multinomial,
    MultinomialParameters,
    Poisson,
    PoissonParameters,
)
from tallybayes.families.gaussian import (
    AdditiveFloor,
    Gaussian,
    LogNormal,
    NormalParameters,
    RelativeFloor,
)
from tallybayes.families.parameters import ColumnInfo, Entries, Family, Parameters
from tallybayes.families.registry import FAMILIES, register
from tallybayes.families.smoothing import ByClass, ByValue, Ratios
from tallybayes.families.text import Text, TextParameters

__all__ = [
    "FAMILIES",
    "AdditiveFloor",
    "Bernoulli",
    "BernoulliParameters",
    "Bins",
    "BinsParameters",
    "ByClass",
    "ByValue",
    "Categorical",
    "CategoricalParameters",
    "ColumnInfo",
    "Complement",
    "Entries",
    "Family",
    "Gaussian",
    "LogNormal",
    "Multinomial",
    "MultinomialParameters",
    "NormalParameters",
    "Parameters",
    "Poisson",
    "PoissonParameters",
    "Ratios",
    "RelativeFloor",
    "Text",
    "TextParameters",
    "register",
]
