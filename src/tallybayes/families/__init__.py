"""Families of distributions: they turn a tally's blocks into parameters."""

from tallybayes.families.bernoulli import Bernoulli, Switches
from tallybayes.families.bins import Bins, Histograms
from tallybayes.families.categorical import Categorical, Tables
from tallybayes.families.counts import Bag, Complement, Multinomial, Poisson, Rates
from tallybayes.families.gaussian import AdditiveFloor, Gaussian, Normals, RelativeFloor
from tallybayes.families.log_normal import LogNormal, LogNormals
from tallybayes.families.parameters import Family, Parameters
from tallybayes.families.smoothing import ByClass, ByValue
from tallybayes.families.text import Text
from tallybayes.families.word_weights import WordWeights

__all__ = [
    "AdditiveFloor",
    "Bag",
    "Bernoulli",
    "Bins",
    "ByClass",
    "ByValue",
    "Categorical",
    "Complement",
    "Family",
    "Gaussian",
    "Histograms",
    "LogNormal",
    "LogNormals",
    "Multinomial",
    "Normals",
    "Parameters",
    "Poisson",
    "Rates",
    "RelativeFloor",
    "Switches",
    "Tables",
    "Text",
    "WordWeights",
]
