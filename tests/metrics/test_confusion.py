"""The confusion matrix and its measures, against scikit-learn and exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from tallybayes.errors import TallyBayesError
from tallybayes.metrics import Confusion

LABELS = ("ant", "bee", "cat", "dog")
MEASURES = ("precision", "recall", "specificity", "f1")

pairs = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1)
weighted = st.lists(
    st.tuples(
        st.sampled_from(LABELS),
        st.sampled_from(LABELS),
        st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, 7.5]),
    ),
    min_size=1,
).filter(lambda rows: sum(row[2] for row in rows) > 0)


def counted(predicted, true, **options):
    return Confusion.of(true, predicted, **options)


def table(rows, **options):
    return counted([row[0] for row in rows], [row[1] for row in rows], **options)


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
    np.testing.assert_array_equal(table(rows, classes=LABELS).by_true, expected)


@given(weighted)
def test_every_number_of_a_class_is_its_definition_in_fractions(rows):
    confusion = table(rows, classes=LABELS, weights=[row[2] for row in rows])
    for label in LABELS:
        assert confusion.of_class(label) == pytest.approx(
            exact(rows, label), abs=1e-12, nan_ok=True
        )


@given(weighted)
def test_nothing_leaves_its_range_by_rounding(rows):
    confusion = table(rows, classes=LABELS, weights=[row[2] for row in rows])
    for name in MEASURES:
        values = getattr(confusion, name)
        assert ((values >= 0) & (values <= 1) | np.isnan(values)).all()
    assert confusion.true_negatives.min() >= 0
    assert 0 <= confusion.accuracy <= 1
    assert -1 <= confusion.matthews_corrcoef <= 1


def test_micro_specificity_counts_every_class_in_turn():
    confusion = counted(list("aabbc"), list("abbcc"))
    # each of the 2 wrong rows is one false positive; each row is negative for 2 classes
    assert confusion.micro("specificity") == pytest.approx(8 / 10, rel=1e-14)


def test_what_is_zero_by_zero_is_not_a_number():
    confusion = counted(["a", "a"], ["a", "b"], classes=["a", "b", "c"])
    assert np.isnan(confusion.precision).tolist() == [False, True, True]
    assert np.isnan(confusion.recall).tolist() == [False, False, True]
    assert np.isnan(confusion.f1).tolist() == [False, False, True]
    assert confusion.specificity.tolist() == [0.0, 1.0, 1.0]


def test_a_class_that_occurs_nowhere_has_no_part_in_macro_averages():
    with_it = counted(["a", "a"], ["a", "b"], classes=["a", "b", "c"])
    without = counted(["a", "a"], ["a", "b"])
    for name in MEASURES:
        assert with_it.macro(name) == without.macro(name)
    assert without.macro("precision") == 0.25  # that of b is undefined and counts as 0


def test_counts_too_large_for_64_bits_when_multiplied():
    confusion = Confusion(("a", "b"), [[4_000_000_000, 0], [0, 5_000_000_000]])
    assert confusion.matthews_corrcoef == 1.0
    mixed = Confusion(("a", "b"), [[4 * 10**9, 10**9], [2 * 10**9, 5 * 10**9]])
    expected = (4 * 5 - 1 * 2) / math.sqrt(5 * 7 * 6 * 6)
    assert mixed.matthews_corrcoef == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("unit", [1e-60, 1e60])
def test_matthews_does_not_depend_on_the_unit_of_weights(unit):
    confusion = Confusion(("a", "b"), np.array([[4, 1], [2, 5]]) * unit)
    assert confusion.matthews_corrcoef == pytest.approx(18 / math.sqrt(5 * 7 * 6 * 6), rel=1e-12)


def test_it_prints_which_is_which():
    confusion = counted(["no"] * 12 + ["yes"], ["no"] * 10 + ["yes"] * 3)
    assert str(confusion).splitlines() == [
        "confusion matrix (rows: predicted class, columns: true class)",
        "predicted  no  yes",
        "no         10    2",
        "yes         0    1",
    ]


def test_counts_cannot_be_changed():
    confusion = counted(["a"], ["a"])
    with pytest.raises(ValueError, match="read-only"):
        confusion.counts[0, 0] = 2


def test_no_rows_have_no_scores():
    nothing = counted([], [], classes=["a", "b"])
    assert nothing.counts.tolist() == [[0, 0], [0, 0]]
    assert math.isnan(nothing.accuracy)
    assert math.isnan(nothing.balanced_accuracy)
    assert math.isnan(nothing.macro("f1"))
    assert nothing.matthews_corrcoef == 0.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: counted(["a"], ["a", "b"]), "1 predictions for 2 true labels"),
        (lambda: counted("a", ["a"]), "predicted must be a list or array"),
        (lambda: counted(["a"], np.array([["a", "b"]])), "true must have one dimension"),
        (lambda: counted(["a"], [1]), "mixes whole numbers and text"),
        (
            lambda: counted(["spam"], ["spma"], classes=["spam", "ham"]),
            r"true holds 'spma' in row 0, which is not a class; did you mean 'spam'\?",
        ),
        (lambda: counted(["a"], [None], classes=["a"]), "the label of row 0 is missing"),
        (lambda: counted(["a"], ["a"], weights=[-1]), "weight of row 0 is -1.0"),
        (lambda: counted(["a"], ["a"], weights=[np.nan]), "weight of row 0 is nan"),
        (lambda: counted(["a"], ["a"], weights=[1, 2]), "shape \\(2,\\), expected \\(1,\\)"),
        (lambda: Confusion(("a", "b"), [[1, 2]]), r"shape \(1, 2\)"),
        (lambda: Confusion(("a", "a"), np.zeros((2, 2))), "names a class twice"),
        (lambda: Confusion(("a",), [[-1]]), "negative"),
        (lambda: Confusion(("a",), [[np.inf]]), "not finite"),
        (lambda: counted(["a"], ["a"]).macro("recal"), "did you mean 'recall'"),
        (lambda: counted(["a"], ["a"]).micro("accuracy"), "no measure of a class"),
        (lambda: counted(["spam"], ["spam"]).of_class("spma"), "did you mean 'spam'"),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(TallyBayesError, match=message):
        make()
