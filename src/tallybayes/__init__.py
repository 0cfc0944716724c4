"""Naive Bayes that is exact, fast and shows its working: a model is a tally.

Count once with `Tally.of`, add and subtract tallies, and `estimate` as many models from them as you
like: smoothing, priors and families cost no further pass over the data.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from tallybayes.errors import TallyBayesError, TallyBayesWarning
    from tallybayes.estimators import (
        BernoulliNB,
        CategoricalNB,
        ComplementNB,
        GaussianNB,
        MixedNB,
        MultinomialNB,
        NaiveBayes,
        TextNB,
        load,
    )
    from tallybayes.explanations import counterfactuals, explain, explain_all
    from tallybayes.families import (
        AdditiveFloor,
        Bernoulli,
        Bins,
        ByClass,
        ByValue,
        Categorical,
        Complement,
        Gaussian,
        LogNormal,
        Multinomial,
        Poisson,
        RelativeFloor,
        Text,
    )
    from tallybayes.model import Model, Normal, estimate, stated
    from tallybayes.priors import Empirical, Fixed, Uniform
    from tallybayes.schema import Binary, Categories, Count, Intervals, Numeric, Schema
    from tallybayes.tallies import Tally
    from tallybayes.tokenizer import Idf, Words

_HOMES = {
    "tallybayes.errors": ("TallyBayesError", "TallyBayesWarning"),
    "tallybayes.estimators": (
        "BernoulliNB",
        "CategoricalNB",
        "ComplementNB",
        "GaussianNB",
        "MixedNB",
        "MultinomialNB",
        "NaiveBayes",
        "TextNB",
        "load",
    ),
    "tallybayes.explanations": ("counterfactuals", "explain", "explain_all"),
    "tallybayes.families": (
        "AdditiveFloor",
        "Bernoulli",
        "Bins",
        "ByClass",
        "ByValue",
        "Categorical",
        "Complement",
        "Gaussian",
        "LogNormal",
        "Multinomial",
        "Poisson",
        "RelativeFloor",
        "Text",
    ),
    "tallybayes.model": ("Model", "Normal", "estimate", "stated"),
    "tallybayes.priors": ("Empirical", "Fixed", "Uniform"),
    "tallybayes.schema": ("Binary", "Categories", "Count", "Intervals", "Numeric", "Schema"),
    "tallybayes.tallies": ("Tally",),
    "tallybayes.tokenizer": ("Idf", "Words"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AdditiveFloor",
    "Bernoulli",
    "BernoulliNB",
    "Binary",
    "Bins",
    "ByClass",
    "ByValue",
    "Categorical",
    "CategoricalNB",
    "Categories",
    "Complement",
    "ComplementNB",
    "Count",
    "Empirical",
    "Fixed",
    "Gaussian",
    "GaussianNB",
    "Idf",
    "Intervals",
    "LogNormal",
    "MixedNB",
    "Model",
    "Multinomial",
    "MultinomialNB",
    "NaiveBayes",
    "Normal",
    "Numeric",
    "Poisson",
    "RelativeFloor",
    "Schema",
    "Tally",
    "TallyBayesError",
    "TallyBayesWarning",
    "Text",
    "TextNB",
    "Uniform",
    "Words",
    "counterfactuals",
    "estimate",
    "explain",
    "explain_all",
    "load",
    "stated",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that the package itself loads at once."""
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module 'tallybayes' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
