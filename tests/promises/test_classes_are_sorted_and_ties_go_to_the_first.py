"""Classes are sorted, whatever the order of rows and merges; ties go to the first of them."""

from itertools import permutations

import numpy as np
import pytest

import tallybayes as tb

LABELS = {"text": ["b", "a", "c"], "numbers": [10, 9, -1], "truths": [True, False]}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_any_order_of_merging_gives_the_same_classes_and_answers(labels):
    rows = {label: {"x": [float(k), k + 1.0], "c": ["u", "v"]} for k, label in enumerate(labels)}
    answers = []
    for order in permutations(labels):
        first, *rest = (tb.NaiveBayes().fit(rows[label], [label, label]) for label in order)
        for model in rest:
            first = first + model
        assert first.classes_.tolist() == sorted(labels)
        answers.append(first.predict_proba({"x": [0.4, 1.2], "c": ["v", "u"]}))
    for answer in answers[1:]:
        np.testing.assert_allclose(answer, answers[0], rtol=1e-12)


@pytest.mark.parametrize("labels", [["a", 1], [0.5, "x"]], ids=str)
def test_labels_of_two_types_are_refused(labels):
    with pytest.raises(tb.TallyBayesError, match="one type"):
        tb.NaiveBayes().fit({"x": ["u", "v"]}, labels)


@pytest.mark.parametrize(
    ("positive", "expected"), [(None, "a"), ("a", "b"), ("b", "a")], ids=["none", "a", "b"]
)
def test_a_positive_class_wins_only_when_strictly_more_probable(positive, expected):
    model = tb.NaiveBayes(positive=positive).fit({"x": ["u", "v"] * 2}, ["b", "b", "a", "a"])
    tie = {"x": ["u"]}
    np.testing.assert_allclose(model.predict_proba(tie), [[0.5, 0.5]], rtol=1e-12)
    assert model.predict(tie).tolist() == [expected]
    assert model.explain({"x": "u"}).decision == expected
    more = model.partial_fit({"x": ["u"]}, [positive or "b"])
    assert more.predict(tie).tolist() == [positive or "b"]
