"""The oracle of held-out rows: models counted and estimated anew, with the same frozen schema."""

import warnings

import numpy as np

import tallybayes as tb
from tallybayes.sources import as_source
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.validation import k_fold
from tallybayes.validation.folds import Folds, folds_of
from tallybayes.validation.leave_one_out import LeaveOneOut
from validation.registry import PRIORS

EPS = np.finfo(float).eps


def encode(setting, rows, weighted=False):
    labels, weights, cells = zip(*rows, strict=True)
    source = as_source(setting.source(list(cells)))
    return LabelledRows.of(source, setting.schema, list(labels), weights if weighted else None)


def refitted(setting, rows, folds, weighted=False, prior=PRIORS[0], classes=None):
    """Count and estimate anew for every fold: the posteriors and predictions of rows held out.

    Classes that a model has not learnt have probability 0. The third part says to what relative
    error the posteriors are known: a score of a billion nats is rounded to some millionths.
    """
    labels, weights, cells = zip(*rows, strict=True)
    classes = classes or sorted(set(labels))
    found = []
    for train, test in folds:
        learnt = [cells[k] for k in train], [labels[k] for k in train]
        w = [weights[k] for k in train] if weighted else None
        tally = tb.Tally.of(setting.source(learnt[0]), learnt[1], w, schema=setting.schema)
        model = setting.recipe(prior).model(tally)
        asked = setting.source([cells[k] for k in test])
        wide = np.zeros((len(test), len(classes)))
        wide[:, [classes.index(label) for label in model.classes]] = model.posterior(asked)
        best = model.joint_log_likelihood(asked).max(axis=1)
        known = 1e-9 + 32 * EPS * np.where(np.isfinite(best), np.abs(best), 0.0)
        found.append((wide, model.predict(asked), known))
    return found


def answer(action):
    """Return what is answered, or None where it is refused; the impossible may be warned of."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "row .* impossible", tb.TallyBayesWarning)
        try:
            return action()
        except tb.TallyBayesError:
            return None


def assert_agree(found, oracle, classes):
    """Posteriors agree to 1e-9, and predictions too unless two classes are equally probable."""
    assert len(found) == len(oracle)
    for fold, (proba, predictions, known) in zip(found, oracle, strict=True):
        off = np.abs(fold.proba - proba)
        assert (off <= 1e-12 + known[:, None] * proba).all(), f"off by {off.max()}"
        clear = np.diff(np.sort(proba, axis=1), axis=1, prepend=-1.0)[:, -1] > known
        predicted = np.array(classes)[fold.predicted]
        assert (predicted == predictions)[clear].all()


def held_out(data, recipe, folds):
    """Hold out folds as `cross_val` does, in the order of the folds."""
    folds = folds if isinstance(folds, Folds) else folds_of(folds, data.y)
    (found,) = k_fold.posteriors(data, [recipe], folds)
    return found


def leave_one_out(data, recipe):
    """Hold out every row as `cross_val` does."""
    found = LeaveOneOut(data).predictions(recipe)
    return held_out(data, recipe, "loo") if found is None else [found]
