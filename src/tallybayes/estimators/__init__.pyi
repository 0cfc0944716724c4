from .categorical_nb import CategoricalNB as CategoricalNB
from .discrete_nb import (
    BernoulliNB as BernoulliNB,
    ComplementNB as ComplementNB,
    MultinomialNB as MultinomialNB,
)
from .gaussian_nb import GaussianNB as GaussianNB
from .mixed_nb import MixedNB as MixedNB
from .naive_bayes import NaiveBayes as NaiveBayes
from .semi_naive_bayes import SemiNaiveBayes as SemiNaiveBayes
from .storage import load as load
from .text_nb import TextNB as TextNB
