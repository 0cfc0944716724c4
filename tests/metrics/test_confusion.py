"""The confusion matrix and its measures, against scikit-learn and exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn import metrics as sk

from tallybayes.errors import TallyBayesError
from tallybayes.metrics import Confusion

LABELS = ("ant", "bee", "cat", "dog")
MEASURES = ("precision", "recall", "specificity", "f1")

label = st.sampled_from(LABELS)
pairs = st.lists(st.tuples(label, label), min_size=1)
weight = st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, 7.5])
weighted = st.lists(st.tuples(label, label, weight), min_size=1).filter(
    lambda rows: sum(row[2] for row in rows) > 0
)


def counted(predicted, true, **options):
    return Confusion.of(true, predicted, **options)


def exact(rows, label):
    """The eight numbers of a class, in fractions, straight from their definitions."""
    weigh = [(p == label, t == label, Fraction(w)) for p, t, w in rows]
    tp = sum(w for p, t, w in weigh if p and t)
    fp = sum(w for p, t, w in weigh if p and not t)
    fn = sum(w for p, t, w in weigh if t and not p)
    tn = sum(w for p, t, w in weigh if not p and not t)

    def share(part, rest):
        return float(part / (part + rest)) if part + rest else math.nan

    return {
        "true_positives": float(tp),
        "false_positives": float(fp),
        "false_negatives": float(fn),
        "true_negatives": float(tn),
        "precision": share(tp, fp),
        "recall": share(tp, fn),
        "specificity": share(tn, fp),
        "f1": share(2 * tp, fp + fn),
    }


@given(pairs)
def test_the_other_orientation_is_scikit_learns(rows):
    predicted, true = zip(*rows, strict=True)
    expected = sk.confusion_matrix(true, predicted, labels=LABELS)
    np.testing.assert_array_equal(Confusion.of(true, predicted, LABELS).counts.T, expected)


@given(weighted)
def test_every_number_of_a_class_is_its_definition_in_fractions_and_within_its_range(rows):
    predicted, true, weights = zip(*rows, strict=True)
    confusion = Confusion.of(true, predicted, LABELS, weights)
    for label in LABELS:
        numbers = confusion.of_class(label)
        assert numbers == pytest.approx(exact(rows, label), abs=1e-12, nan_ok=True)
        assert min(numbers.values()) >= 0 or any(map(math.isnan, numbers.values()))
        assert not any(numbers[name] > 1 for name in MEASURES)
    assert 0 <= confusion.accuracy <= 1
    assert -1 <= confusion.matthews_corrcoef <= 1


def test_what_is_zero_by_zero_is_not_a_number():
    confusion = counted(["a", "a"], ["a", "b"], classes=["a", "b", "c"])
    assert np.isnan(confusion.precision).tolist() == [False, True, True]
    assert np.isnan(confusion.recall).tolist() == [False, False, True]
    assert np.isnan(confusion.f1).tolist() == [False, False, True]
    assert confusion.specificity.tolist() == [0.0, 1.0, 1.0]


def test_a_class_that_occurs_nowhere_has_no_part_in_macro_averages():
    for rows in ((["a", "a"], ["a", "b"]), (["a", "b"], ["a", "a"])):
        with_it, without = counted(*rows, classes=["a", "b", "c"]), counted(*rows)
        for name in MEASURES:
            assert with_it.macro(name) == without.macro(name)
        # what is undefined of b counts as 0
        measure = "precision" if rows[0] == ["a", "a"] else "recall"
        assert without.macro(measure) == 0.25


@pytest.mark.parametrize("unit", [1, 10**9, 1e-60, 1e60])
def test_matthews_does_not_depend_on_the_unit_of_weights(unit):
    confusion = Confusion(("a", "b"), np.array([[4, 1], [2, 5]]) * unit)
    assert confusion.matthews_corrcoef == pytest.approx(18 / math.sqrt(5 * 7 * 6 * 6), rel=1e-12)


def test_no_rows_have_no_scores():
    nothing = Confusion(("a", "b"), np.zeros((2, 2), int))
    with pytest.raises(ValueError, match="read-only"):
        nothing.counts[0, 0] = 2
    assert nothing.counts.tolist() == [[0, 0], [0, 0]]
    assert math.isnan(nothing.accuracy)
    assert math.isnan(nothing.balanced_accuracy)
    assert math.isnan(nothing.macro("f1"))
    assert nothing.matthews_corrcoef == 0.0


@pytest.mark.parametrize(
    ("true", "predicted", "options", "message"),
    [
        (["a", "b"], ["a"], {}, "1 predictions for 2 labels"),
        (["a"], "a", {}, "predicted must be a list or array"),
        (np.array([["a", "b"]]), ["a"], {}, "true must have one dimension"),
        ([1], ["a"], {}, "mixes whole numbers and text"),
        (["spma"], ["ham"], {"classes": ["spam", "ham"]}, "holds 'spma' in row 0, .* 'spam'"),
        (["a"], ["a"], {"classes": ["a", "a"]}, "names a class twice"),
    ],
)
def test_labels_that_cannot_be_counted_are_refused(true, predicted, options, message):
    with pytest.raises(TallyBayesError, match=message):
        Confusion.of(true, predicted, **options)


@pytest.mark.parametrize("counts", [[[1, 2]], [[-1]], [[np.inf]], [[np.nan]]])
def test_counts_that_are_none_are_refused(counts):
    with pytest.raises(TallyBayesError, match="each of the 1 classes, of numbers that are finite"):
        Confusion(("a",), counts)


def test_names_of_measures_and_classes_are_checked():
    confusion = counted(["spam"], ["spam"])
    with pytest.raises(TallyBayesError, match="did you mean 'recall'"):
        confusion.macro("recal")
    with pytest.raises(TallyBayesError, match="did you mean 'spam'"):
        confusion.of_class("spma")
