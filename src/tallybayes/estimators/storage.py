"""Estimators in model files: `estimator.save` and `load`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from tallybayes.errors import TallyBayesError
from tallybayes.estimators.base import as_shown
from tallybayes.estimators.naive_bayes import NaiveBayes
from tallybayes.estimators.text_nb import COLUMN, TextNB
from tallybayes.model import Fitted
from tallybayes.model.column_specs import ColumnSpec
from tallybayes.modelfile import Stored
from tallybayes.modelfile import load as load_file
from tallybayes.sources import NumberedNames


def load(path: str | os.PathLike[str]) -> NaiveBayes | TextNB:
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
    name = kept.pop("name", "NaiveBayes")
    if name not in ("NaiveBayes", "TextNB"):
        raise TallyBayesError(
            f"{os.fspath(path)} holds a {name}, which this version of tallybayes does not know; "
            "upgrade it"
        )
    try:
        return _text_nb(stored, kept) if name == "TextNB" else _naive_bayes(stored, kept)
    except (TypeError, KeyError) as error:
        raise TallyBayesError(
            f"{os.fspath(path)} does not fit this version of tallybayes ({error}); upgrade it"
        ) from None


def _naive_bayes(stored: Stored, kept: Mapping[str, Any]) -> NaiveBayes:
    fitted = stored.fitted
    schema = fitted.tally.schema
    families = {name: fitted.recipe.family_of(schema, name).bound(kind) for name, kind, _ in schema}
    model = NaiveBayes(families, **kept, **_common(fitted))
    model._spec = ColumnSpec(None, families)
    model._set_names(schema.names, not isinstance(schema.names, NumberedNames))
    _become(model, fitted)
    return model


def _text_nb(stored: Stored, kept: Mapping[str, Any]) -> TextNB:
    fitted = stored.fitted
    options: dict[str, Any] = _common(fitted)
    options |= {name: tuple(v) if isinstance(v, list) else v for name, v in kept.items()}
    model = TextNB(**options)
    kind: Any = fitted.tally.schema.kind(COLUMN)
    model._idf = kind.idf
    model._spec = ColumnSpec(None, model.columns)
    _become(model, fitted)
    return model


def _common(fitted: Fitted) -> dict[str, Any]:
    recipe = fitted.recipe
    how = None if recipe.calibration is None else recipe.calibration.how
    return {"prior": recipe.prior, "positive": recipe.positive, "calibration": how}


def _become(model: NaiveBayes | TextNB, fitted: Fitted) -> None:
    model._calibration = fitted.recipe.calibration
    labels = np.array(fitted.classes) if fitted.labels is None else fitted.labels
    model._become(fitted, as_shown(fitted.classes, labels))
