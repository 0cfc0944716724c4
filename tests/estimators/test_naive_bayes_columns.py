"""What the user says of columns and labels, and by what name or place they are known."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

import tallybayes as tb
from tallybayes import NaiveBayes

TABLE = {
    "colour": ["red", "blue", "red", "red", "blue", "green"],
    "weight": [1.5, 2.5, 2.0, 4.5, 3.5, 4.0],
    "width": [1, 0, 2, 0, 3, 1],
    "height": [0, 4, 1, 2, 2, 0],
}
LABELS = ["p", "p", "p", "q", "q", "q"]
FRAME = pd.DataFrame(TABLE)
DEFAULTS = {
    "colour": "Categorical",
    "weight": "Gaussian",
    "width": "Gaussian",
    "height": "Gaussian",
}


def families(model):
    """Return the family of each column, as the summary has it."""
    lines = model.summary().splitlines()[2:]
    return dict(line.split()[:2] for line in lines)


def fitted(columns, X=FRAME, **parameters):
    return NaiveBayes(columns, **parameters).fit(X, LABELS)


def chosen(columns, X=FRAME):
    """Return the families, without their parameters, that differ from the defaults."""
    names = {name: family.split("(")[0] for name, family in families(fitted(columns, X)).items()}
    return {name: family for name, family in names.items() if family != DEFAULTS[name]}


def factor(model, **values):
    """P(values | class) for each class, read off against a row of gaps."""
    ratio = model.predict_joint_log_proba([values]) - model.predict_joint_log_proba(
        [{"colour": None}]
    )
    return np.exp(ratio)[0]


SELECTORS = {
    "a name": "width",
    "a number": 2,
    "a number from the end": -2,
    "a NumPy number": np.int64(2),
}


@pytest.mark.parametrize("selector", SELECTORS)
def test_a_column_is_meant_by(selector):
    assert chosen({SELECTORS[selector]: "bernoulli"}) == {"width": "Bernoulli"}


def test_all_columns_that_are_not_named_have_a_key_of_their_own():
    got = chosen({...: "poisson", "colour": "categorical", "width": "bernoulli"})
    assert got == {"weight": "Poisson", "width": "Bernoulli", "height": "Poisson"}


FAMILY = {
    "a name": "bernoulli",
    "a family": tb.Bernoulli(),
    "the class of a family": tb.Bernoulli,
    "a kind": tb.Binary(),
    "the class of a kind": tb.Binary,
}


@pytest.mark.parametrize("word", FAMILY)
def test_a_family_is_meant_by(word):
    model = fitted({"width": FAMILY[word]})
    assert families(model)["width"] == "Bernoulli(alpha=1.0)"
    assert model.schema_.kind("width") == tb.Binary()
    # above 0: two of three, and two of three
    np.testing.assert_allclose(factor(model, width=7), [3 / 5, 3 / 5])
    np.testing.assert_allclose(factor(model, width=0), [2 / 5, 2 / 5])


def test_a_family_keeps_its_parameters():
    model = fitted({"weight": tb.Gaussian(ddof=0), "width": tb.Bernoulli(threshold=1.5)})
    np.testing.assert_allclose(factor(model, width=2), [2 / 5, 2 / 5])
    variance = np.var([1.5, 2.5, 2.0]), np.var([4.5, 3.5, 4.0])
    np.testing.assert_allclose(factor(model, weight=2.0)[0], (2 * np.pi * variance[0]) ** -0.5)
    np.testing.assert_allclose(factor(model, weight=4.0)[1], (2 * np.pi * variance[1]) ** -0.5)


def test_the_summary_shows_each_columns_own_threshold_and_bag():
    columns = {"width": tb.Binary(), "height": tb.Binary(3), "weight": tb.Count("b")}
    lines = fitted(columns).summary().splitlines()
    assert "Bernoulli(alpha=1.0)  " in lines[4]
    assert "Bernoulli(alpha=1.0, threshold=3.0)" in lines[5]
    assert "Multinomial(alpha=1.0, bag='b')" in lines[3]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"widht": "poisson"}, "no column 'widht'; did you mean 'width'?"),
        ({4: "poisson"}, "no column number 4; there are 4 columns"),
        ({-5: "poisson"}, "no column number -5"),
        ({("width", "height"): "poisson"}, r"key \('width', 'height'\); .*dict\.fromkeys"),
        ({True: "poisson"}, "key True; expected a name or a number"),
        ({"width": "poison"}, r"columns\['width'\] is 'poison'; did you mean 'poisson'?"),
        ({"width": 3}, "'width' is declared as 3; expected"),
        ({"width": None}, "'width'.* is None; to leave a column out"),
        ("poison", "columns is 'poison'; did you mean 'poisson'?"),
        (["gaussian"] * 4, "expected 'auto', a family, or a mapping"),
        ({"width": "poisson", "height": "complement", "weight": "multinomial"}, "bag 'words'"),
        ({"colour": "gaussian"}, "'colour' holds 'red' in row 0, where a number was expected"),
    ],
)
def test_a_wish_that_cannot_be_is_refused(columns, message):
    with pytest.raises(tb.TallyBayesError, match=message):
        fitted(columns)


def test_columns_of_an_array_have_numbers_and_the_names_x0_x1():
    X = np.column_stack([TABLE["weight"], TABLE["width"], TABLE["height"]])
    for columns in ({1: "poisson"}, {"x1": "poisson"}):
        assert families(fitted(columns, X))["x1"] == "Poisson(alpha=1.0)"
        assert families(fitted(columns, X))["x0"] == "Gaussian()"


def test_numbers_that_are_names_are_names():
    frame = pd.DataFrame({1: TABLE["width"], 0: TABLE["height"]})
    assert families(fitted({0: "poisson"}, frame)) == {"1": "Gaussian()", "0": "Poisson(alpha=1.0)"}


@pytest.mark.parametrize(
    "columns",
    [
        "auto",
        {"colour": "categorical", "width": "bernoulli", ...: "multinomial"},
        {"colour": tb.Categorical(), "width": tb.Bernoulli(), "height": tb.Poisson()},
        {"colour": tb.Categories(), "width": tb.Binary(), "height": tb.Count()},
        {"width": tb.Bernoulli(threshold=1), "colour": tb.Categorical(unseen="smooth")},
    ],
)
def test_alpha_reaches_every_column_that_does_not_state_its_own(columns):
    got = families(fitted(columns, alpha=0.25))
    assert got["colour"].startswith("Categorical(alpha=0.25")
    for family in got.values():
        assert "alpha" not in family or "alpha=0.25" in family


@pytest.mark.parametrize("stated", [1.0, 0])
def test_a_stated_alpha_stays(stated):
    model = fitted({"colour": tb.Categorical(alpha=stated)}, alpha=0.25)
    expected = [(2 + stated) / (3 + 3 * stated), (1 + stated) / (3 + 3 * stated)]
    np.testing.assert_allclose(factor(model, colour="red"), expected)


def test_unseen_reaches_every_column_that_does_not_ask_for_more():
    columns = {"colour": tb.Categorical(unseen="error"), "width": tb.Categorical()}
    model = fitted(columns, unseen="smooth")
    np.testing.assert_allclose(factor(model, width=99), [1 / 7, 1 / 7])
    with pytest.raises(tb.TallyBayesError, match="'colour' holds 'grey'"):
        factor(model, colour="grey")


def test_the_parameter_stays_as_it_was():
    columns = {"width": "bernoulli", 3: tb.Poisson}
    model = fitted(columns)
    assert model.columns is columns
    assert columns == {"width": "bernoulli", 3: tb.Poisson}


def test_what_was_said_holds_for_columns_that_come_later():
    columns = {"weight": "bernoulli", "width": "bernoulli", "height": "poisson"}
    model = NaiveBayes(columns).partial_fit(FRAME.drop(columns="width"), LABELS)
    model.partial_fit(FRAME, LABELS)
    got = {name: family.split("(")[0] for name, family in families(model).items()}
    assert got == {
        "colour": "Categorical", "weight": "Bernoulli", "height": "Poisson", "width": "Bernoulli"
    }  # fmt: skip


def test_one_word_for_all_columns_holds_for_columns_that_come_later():
    frame = FRAME[["width", "height"]]
    model = NaiveBayes(tb.Bernoulli(alpha=2)).fit(frame[["width"]], LABELS)
    model.partial_fit(frame, LABELS)
    assert families(model) == dict.fromkeys(frame, "Bernoulli(alpha=2.0)")
    # of six and six rows in class p; height was missing in the first three
    row = {"width": [1], "height": [1]}
    ratio = np.exp(model.predict_joint_log_proba(row))[0] / 0.5
    np.testing.assert_allclose(ratio, [(4 + 2) / 10 * (2 + 2) / 7, (4 + 2) / 10 * (2 + 2) / 7])


def test_an_array_after_a_table_is_taken_by_position_with_scikit_learns_warning():
    model = NaiveBayes().fit({"a": [1.0, 2.0, 4.0], "b": [3.0, 4.0, 4.5]}, ["p", "q", "q"])
    X = np.array([[1.0, 3.0], [2.0, 4.0]])
    expected = model.predict_proba({"b": X[:, 1], "a": X[:, 0]})
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9)


def test_a_table_after_an_array_is_taken_by_position_with_scikit_learns_warning():
    X = np.array([[1.0, 3.0], [2.0, 4.0], [4.0, 4.5]])
    model = NaiveBayes().fit(X, ["p", "q", "q"])
    with pytest.warns(UserWarning, match="X has feature names"):
        got = model.predict_proba(pd.DataFrame(X, columns=["b", "a"]))
    np.testing.assert_allclose(got, model.predict_proba(X), rtol=1e-9)


def test_a_frame_with_numbers_for_names_is_an_array_and_warns_of_nothing():
    X = np.array([[1.0, 3.0], [2.0, 4.0], [4.0, 4.5]])
    y = ["p", "q", "q"]
    expected = NaiveBayes().fit(X, y).predict_proba(X)
    frame = pd.DataFrame(X)
    np.testing.assert_allclose(NaiveBayes().fit(frame, y).predict_proba(frame), expected, rtol=1e-9)
    np.testing.assert_allclose(NaiveBayes().fit(frame, y).predict_proba(X), expected, rtol=1e-9)
    np.testing.assert_allclose(NaiveBayes().fit(X, y).predict_proba(frame), expected, rtol=1e-9)


RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 40)
MATRIX = RNG.normal(Y[:, None], 1.0, (120, 3)).round(2)


def test_masked_cells_of_an_array_are_missing():
    mask = np.random.default_rng(1).random(MATRIX.shape) < 0.2
    gaps = np.where(mask, np.nan, MATRIX)
    masked = np.ma.masked_array(MATRIX, mask)
    expected = NaiveBayes().fit(gaps, Y)
    model = NaiveBayes().fit(masked, Y)
    assert model.tally_ == expected.tally_
    np.testing.assert_allclose(model.predict_proba(masked), expected.predict_proba(gaps), rtol=1e-9)


X = {"a": [1.0, 2.0, 3.0, 4.0] * 5, "b": ["x", "y", "x", "z"] * 5}
MATRIX_OF_LABELS = np.arange(20.0)[:, None]
BOTH = [(tb.NaiveBayes(), X), (tb.SemiNaiveBayes(), X), (tb.NaiveBayes(), MATRIX_OF_LABELS)]


@pytest.mark.parametrize(("model", "rows"), BOTH)
def test_nullable_labels_without_gaps_stay_whole_numbers_and_booleans(model, rows):
    for y, kind in (
        (pd.Series([3, 0, 3, 0] * 5, dtype="Int64"), "i"),
        (pd.Series([3, 0, 3, 0] * 5, dtype="int32[pyarrow]"), "i"),
        (pd.Series([True, False, True, True] * 5, dtype="boolean"), "b"),
    ):
        fitted = model.fit(rows, y)
        assert fitted.classes_.dtype.kind == fitted.predict(rows).dtype.kind == kind


def test_what_one_column_is_can_be_searched_in_a_grid():
    model = tb.NaiveBayes(columns={"b": "categorical"}).set_params(columns__a="bins", alpha=0.5)
    assert model.columns == {"b": "categorical", "a": "bins"}
    assert model.alpha == 0.5
    assert (
        tb.NaiveBayes().set_params(columns__a="drop").fit(X, ["p", "q"] * 10).summary().count("a")
        > 0
    )
    y = ["p" if a > 2 else "q" for a in X["a"]]
    grid = {"columns__a": ["drop", "gaussian", "bernoulli"]}
    found = GridSearchCV(tb.NaiveBayes(), grid, cv=2).fit(pd.DataFrame(X), y)
    assert found.best_params_["columns__a"] == "gaussian"
