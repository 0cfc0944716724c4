"""Classes that are numbers are named by what they are of, wherever a person meets them."""

import re

import numpy as np
import pandas as pd
import pytest

from plots.scored_rows import texts
from tallybayes import NaiveBayes, SemiNaiveBayes, plots
from tallybayes.metrics.baseline import Baseline
from tallybayes.model.worth import Worth

N = 200
AGE = np.random.default_rng(0).normal(size=N)
X = pd.DataFrame({"age": AGE, "job": ["a", "b"] * (N // 2)})
BAD = pd.Series((AGE * np.where(X.job == "a", 1.0, -1.0) > 0.3).astype(int), name="BAD")


@pytest.fixture(scope="module")
def model():
    return NaiveBayes().fit(X, BAD)


PICTURES = {
    "column": lambda model: plots.ColumnDisplay.from_estimator(model, "age"),
    "informative": plots.InformativeDisplay.from_estimator,
    "nomogram": lambda model: plots.NomogramDisplay.from_estimator(model, record=X.iloc[0]),
    "waterfall": lambda model: plots.WaterfallDisplay.from_estimator(model, X.iloc[0]),
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_name_them_in_what_is_drawn_and_in_what_is_read_aloud(name, model):
    display = PICTURES[name](model)
    for text in ("\n".join(texts(display)), display.alt_text):
        assert "BAD = 0" in text
        assert "BAD = 1" in text


def test_columns_together_name_them_too():
    model = SemiNaiveBayes(joints=[("age", "job")]).fit(X, BAD)
    display = plots.JointDisplay.from_estimator(model, ("age", "job"))
    assert "bits for BAD = 1 against BAD = 0" in "\n".join(texts(display))
    assert "bits for BAD = 1 against BAD = 0" in display.alt_text


def test_counterfactuals_name_the_class_that_they_lead_to(model):
    found = model.counterfactuals({"age": -2.0, "job": "a"})
    (now,) = model.predict(X.iloc[:1].assign(age=-2.0, job="a"))
    assert len(found)
    assert all(f": BAD = {1 - now} (" in str(each) for each in found)
    none = model.counterfactuals({"age": 0.0, "job": "a"}, to=1, keep=["age", "job"])
    assert "BAD = 1" in str(none)


def test_reports_name_the_commonest_class_and_those_of_examples(model):
    page = model.report(X, BAD).html
    shown = re.sub("<svg.*?</svg>|<[^>]*>", "", page, flags=re.DOTALL)
    assert "always answering BAD = 0 would be right" in shown
    assert "The truth is BAD = " in shown


def test_a_model_that_is_worse_than_none_names_them_and_texts_stay_as_they_are():
    for common, said in ((0, "answering BAD = 0 is"), ("no", "answering 'no' is")):
        worth = Worth(Baseline(common, 2.0, 0.5, 0.3, 0.8, (True, True)))
        assert said in worth.warning(None, "BAD")
