"""The scikit-learn face: `NaiveBayes` for mixed tables, and drop-ins for known estimators."""

from tallybayes.estimators.categorical_nb import CategoricalNB
from tallybayes.estimators.discrete_nb import BernoulliNB, ComplementNB, MultinomialNB
from tallybayes.estimators.gaussian_nb import GaussianNB
from tallybayes.estimators.mixed_nb import MixedNB
from tallybayes.estimators.naive_bayes import NaiveBayes
from tallybayes.estimators.semi_naive_bayes import SemiNaiveBayes
from tallybayes.estimators.storage import load
from tallybayes.estimators.text_nb import TextNB

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "MixedNB",
    "MultinomialNB",
    "NaiveBayes",
    "SemiNaiveBayes",
    "TextNB",
    "load",
]
