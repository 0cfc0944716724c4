"""Estimators in model files: `estimator.save` and `load`."""

from __future__ import annotations

import os

from tallybayes.errors import TallyBayesError
from tallybayes.estimators.base import TallyClassifier
from tallybayes.estimators.categorical_nb import CategoricalNB
from tallybayes.estimators.discrete_nb import BernoulliNB, ComplementNB, MultinomialNB
from tallybayes.estimators.gaussian_nb import GaussianNB
from tallybayes.estimators.mixed_nb import MixedNB
from tallybayes.estimators.naive_bayes import NaiveBayes
from tallybayes.estimators.semi_naive_bayes import SemiNaiveBayes
from tallybayes.estimators.text_nb import TextNB
from tallybayes.modelfile import load as load_file

ESTIMATORS: dict[str, type[TallyClassifier]] = {
    estimator.__name__: estimator
    for estimator in (
        *(NaiveBayes, SemiNaiveBayes, TextNB, MixedNB),
        *(GaussianNB, MultinomialNB, BernoulliNB, ComplementNB, CategoricalNB),
    )
}


def load(path: str | os.PathLike[str]) -> TallyClassifier:
    """Return the estimator in a model file; nothing in the file can run.

    What ``tallybayes fit`` wrote is a `NaiveBayes` too. It predicts as before, and learns and
    unlearns on. What was worked out when it was first fitted (kinds of columns, chosen families,
    edges) is stated in its parameters.

    Parameters
    ----------
    path
        The file, as ``model.save(path)`` or ``tallybayes fit`` wrote it.

    Examples
    --------
    >>> import tempfile
    >>> import tallybayes as tb
    >>> model = tb.NaiveBayes().fit({"status": ["Single", "Married"]}, ["Yes", "No"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/loan.tally")
    ...     tb.load(f"{folder}/loan.tally").predict({"status": ["Married"]}).tolist()
    ['No']
    """
    stored = load_file(path)
    kept = dict(stored.estimator or {})
    name = str(kept.pop("name", "NaiveBayes"))
    if name not in ESTIMATORS:
        raise TallyBayesError(
            f"{os.fspath(path)} holds a {name}, which this version of tallybayes does not know; "
            "upgrade it"
        )
    try:
        kind, fitted, state = ESTIMATORS[name], stored.fitted, kept.pop("state", {})
        estimator = kind(**kind._parameters_of(fitted), **kept)
        estimator._restore(fitted, state)
        return estimator
    except (TypeError, KeyError) as error:
        raise TallyBayesError(
            f"{os.fspath(path)} does not fit this version of tallybayes ({error}); upgrade it"
        ) from None
