"""Families of distributions: they turn a tally's blocks into parameters."""

# what is counted beside columns has a family of its own, and bell curves leave rows out their way
from tallybayes.families import (
    interaction as _beside,  # noqa: F401
    joint_gaussian as _together,  # noqa: F401
    left_out_normals as _normals,  # noqa: F401
)
from tallybayes.families.bins import Bins
from tallybayes.families.categorical import Categorical
from tallybayes.families.counts import Bernoulli, Complement, Multinomial, Poisson
from tallybayes.families.gaussian import AdditiveFloor, Gaussian, LogNormal, RelativeFloor
from tallybayes.families.parameters import ColumnInfo, Entries, Family, Parameters
from tallybayes.families.registry import FAMILIES, register
from tallybayes.families.smoothing import ByClass, ByValue, Ratios
from tallybayes.families.text import Text

__all__ = [
    "FAMILIES",
    "AdditiveFloor",
    "Bernoulli",
    "Bins",
    "ByClass",
    "ByValue",
    "Categorical",
    "ColumnInfo",
    "Complement",
    "Entries",
    "Family",
    "Gaussian",
    "LogNormal",
    "Multinomial",
    "Parameters",
    "Poisson",
    "Ratios",
    "RelativeFloor",
    "Text",
    "register",
]
