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


def test_rows_are_predicted_and_columns_true():
    confusion = counted(["x", "x", "x", "y"], ["x", "y", "y", "x"])
    assert confusion.counts.tolist() == [[1, 2], [1, 0]]
    assert confusion.counts.dtype.kind == "i"


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


@given(pairs)
def test_measures_are_scikit_learns(rows):
    predicted, true = zip(*rows, strict=True)
    confusion = table(rows, classes=LABELS)
    per_class = sk.precision_recall_fscore_support(
        true, predicted, labels=LABELS, zero_division=np.nan
    )
    for name, expected in zip(("precision", "recall", "f1"), per_class, strict=False):
        np.testing.assert_allclose(getattr(confusion, name), expected, rtol=1e-14)
    assert confusion.sensitivity.tolist() == pytest.approx(confusion.recall.tolist(), nan_ok=True)
    assert confusion.accuracy == pytest.approx(sk.accuracy_score(true, predicted), rel=1e-14)


@given(pairs)
def test_averages_over_classes_are_scikit_learns(rows):
    predicted, true = zip(*rows, strict=True)
    confusion = table(rows, classes=LABELS)
    for average in ("macro", "micro"):
        expected = sk.precision_recall_fscore_support(
            true, predicted, average=average, zero_division=0
        )
        for name, value in zip(("precision", "recall", "f1"), expected, strict=False):
            assert getattr(confusion, average)(name) == pytest.approx(value, rel=1e-14)


@given(weighted)
def test_balanced_accuracy_and_matthews_are_scikit_learns(rows):
    rows = [row for row in rows if row[2]]
    predicted, true, weights = zip(*rows, strict=True)
    confusion = table(rows, classes=LABELS, weights=weights)
    recalls = sk.recall_score(
        true, predicted, labels=list(set(true)), average=None, sample_weight=weights
    )
    assert confusion.balanced_accuracy == pytest.approx(np.mean(recalls), rel=1e-12)
    if min(len(set(predicted)), len(set(true))) > 1:
        expected = sk.matthews_corrcoef(true, predicted, sample_weight=weights)
        assert confusion.matthews_corrcoef == pytest.approx(expected, rel=1e-9, abs=1e-12)
    else:
        assert confusion.matthews_corrcoef == 0.0


@given(weighted)
def test_nothing_leaves_its_range_by_rounding(rows):
    confusion = table(rows, classes=LABELS, weights=[row[2] for row in rows])
    for name in MEASURES:
        values = getattr(confusion, name)
        assert ((values >= 0) & (values <= 1) | np.isnan(values)).all()
    assert confusion.true_negatives.min() >= 0
    assert 0 <= confusion.accuracy <= 1
    assert -1 <= confusion.matthews_corrcoef <= 1


@given(weighted)
def test_all_right_is_exactly_one(rows):
    confusion = table([(t, t) for _, t, _ in rows], weights=[row[2] for row in rows])
    assert confusion.accuracy == confusion.balanced_accuracy == confusion.micro("f1") == 1.0


def test_specificity_is_the_recall_of_the_rest():
    predicted, true = list("aabbccab"), list("abbbcaac")
    confusion = counted(predicted, true)
    for label, found in zip("abc", confusion.specificity, strict=True):
        rest = ([each != label for each in values] for values in (true, predicted))
        assert found == pytest.approx(sk.recall_score(*rest), rel=1e-14)
    assert confusion.macro("specificity") == pytest.approx(confusion.specificity.mean())


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


def test_specificity_is_undefined_if_all_rows_are_of_the_class():
    confusion = counted(["a", "b"], ["a", "a"], weights=[0.1, 0.7])
    assert np.isnan(confusion.specificity).tolist() == [True, False]


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


@given(pairs, pairs)
def test_folds_add_up(one, two):
    assert table(one) + table(two) == table(one + two)
    assert sum([table(one), table(two)]) == table(one + two)
    assert table(two) + table(one) == table(one + two)


def test_matrices_of_different_counts_or_classes_are_not_equal():
    one = counted(["a"], ["a"])
    assert one != counted(["b"], ["b"])
    assert one != one + one
    assert one != 3


def test_a_weight_is_as_many_rows():
    once = counted(["a", "b"], ["b", "b"], weights=[3, 2])
    assert once == counted(["a"] * 3 + ["b"] * 2, ["b"] * 5)


def test_labels_of_numpy_and_of_pandas_are_the_same_as_lists():
    pd = pytest.importorskip("pandas")
    expected = counted([1, 2, 2], [1, 1, 2])
    assert counted(np.array([1, 2, 2]), pd.Series([1, 1, 2])) == expected
    assert [type(label) for label in counted(np.array([1]), [2]).classes] == [int, int]
    assert counted([1, 2], [1, 1], classes=np.array([1, 2])).classes == (1, 2)


def test_it_prints_which_is_which():
    confusion = counted(["no"] * 12 + ["yes"], ["no"] * 10 + ["yes"] * 3)
    assert str(confusion).splitlines() == [
        "confusion matrix (rows: predicted class, columns: true class)",
        "predicted  no  yes",
        "no         10    2",
        "yes         0    1",
    ]


def test_very_many_classes_are_not_printed():
    assert "40 classes" in str(counted(range(40), range(40)))


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
        (lambda: counted(["a"], ["a"]) + counted([1], [1]), "different types"),
        (lambda: counted(["a"], ["a"]).macro("recal"), "did you mean 'recall'"),
        (lambda: counted(["a"], ["a"]).micro("accuracy"), "no measure of a class"),
        (lambda: counted(["spam"], ["spam"]).of_class("spma"), "did you mean 'spam'"),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(TallyBayesError, match=message):
        make()


def test_only_confusion_matrices_add_up():
    with pytest.raises(TypeError):
        counted(["a"], ["a"]) + 1
