"""A diagnosis as a whole: what it warns of, which rows it looks at, and how it is written."""

import json
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import NotFittedError

import tallybayes as tb
from tallybayes.model import Fitted
from tallybayes.sources import as_source
from tallybayes.validation.diagnosis import rows as module
from tallybayes.validation.diagnosis.diagnosis import diagnose
from tallybayes.validation.diagnosis.information import ColumnInformation
from tallybayes.validation.diagnosis.normality import NormalityOfColumn
from tallybayes.validation.diagnosis.rows import Rows, some_rows

RNG = np.random.default_rng(0)
N = 300
SEED = 2
Y = RNG.choice(["ham", "spam"], N)
TABLE = pd.DataFrame(
    {
        "length": RNG.normal(np.where(Y == "spam", 2.0, 0.0), 1.0),
        "colour": RNG.choice(["red", "green", None], N),
        "mail": np.where(RNG.random(N) < 0.8, np.where(Y == "spam", "win now", "see you"), None),
        "hits": RNG.poisson(1.0, N).astype(float),
    }
)
COLUMNS = {"mail": "text", "hits": "poisson"}


def same(one, other):
    assert one.to_dict() == other.to_dict()


@pytest.fixture(scope="module")
def model():
    return tb.NaiveBayes(COLUMNS).fit(TABLE, Y)


def breast_cancer():
    data = load_breast_cancer(as_frame=True)
    return data.data, data.target_names[data.target]


def test_the_measures_of_one_tumour_are_warned_of_as_one():
    X, y = breast_cancer()
    found = diagnose(tb.NaiveBayes().fit(X, y), X, y)
    size = next(each for each in found.warnings if "'mean radius'" in each)
    assert size.startswith("'worst perimeter', 'worst radius', 'worst area', 'mean perimeter', ")
    assert "say the same thing 6 times" in size
    texture = next(each for each in found.warnings if "texture" in each)
    assert texture.startswith("'worst texture' and 'mean texture' say much the same thing twice: ")
    within = X.groupby(y).transform(lambda x: (x - x.mean()) / x.std())
    r = within.corr().loc["mean radius", "mean perimeter"]
    pairs = {frozenset((pair.a, pair.b)): pair.strength for pair in found.dependence}
    assert pairs[frozenset(("mean radius", "mean perimeter"))] == pytest.approx(r, abs=0.02)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_sets_without_repeating_columns_are_not_warned_of_them(load):
    data = load(as_frame=True)
    y = data.target_names[data.target]
    found = diagnose(tb.NaiveBayes().fit(data.data, y), data.data, y)
    assert found.dependence
    assert not any("the same thing" in each for each in found.warnings)
    assert found.entropy == pytest.approx(np.log2(3), abs=0.03)


def test_a_model_that_weighs_its_columns_is_told_so():
    X, y = breast_cancer()
    weighted = tb.NaiveBayes(calibration="weights").fit(X, y)
    found = diagnose(weighted, X, y)
    assert found.weighted
    assert found.warnings[0].endswith('calibration="weights" makes up for a part of it')


def test_estimators_what_they_fitted_and_models_are_diagnosed_alike(model):
    one = diagnose(model, TABLE, Y)
    same(diagnose(model.fitted_, TABLE, Y), one)
    same(diagnose(model.model_, TABLE, Y), one)
    same(diagnose(model.fitted_, as_source(TABLE), Y), one)
    assert {each.column for each in one.information} == set(TABLE.columns)
    assert {each.column: each.family for each in one.information} == {
        "length": "Gaussian", "colour": "categories", "mail": "text", "hits": "Poisson"
    }  # fmt: skip


def test_documents_are_read_as_their_estimator_reads_them():
    documents, y = ["win now", "see you", "win", "you"] * 8, ["spam", "ham"] * 16
    found = diagnose(tb.TextNB().fit(documents, y), documents, y)
    assert [(each.family, each.rows) for each in found.information] == [("text", 32)]
    assert found.information[0].share > 0.8


def test_rounded_numbers_have_no_spikes():
    data = load_iris(as_frame=True)
    found = diagnose(tb.NaiveBayes().fit(data.data, data.target), data.data, data.target)
    width = found.normality_of("sepal width (cm)")
    assert (width.top_value, width.top_share) == (3.0, pytest.approx(26 / 150))
    assert width.word == "close to normal"


def test_rows_come_in_any_form(model):
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    expected = diagnose(model, TABLE, Y)
    same(diagnose(model, polars.from_pandas(TABLE), Y), expected)
    same(diagnose(model, pyarrow.Table.from_pandas(TABLE), Y), expected)
    same(diagnose(model, TABLE.to_dict("records"), Y), expected)
    same(diagnose(model, dict(TABLE), pd.Series(Y, dtype="category")), expected)


def test_of_many_rows_some_are_drawn_and_a_note_says_so(model):
    found = diagnose(model, TABLE, Y, most_rows=120, seed=3)
    assert found.rows == 120
    assert found.notes[0] == "120 of 300 rows were looked at, drawn at random"
    same(diagnose(model, TABLE, Y, most_rows=120, seed=3), found)
    assert diagnose(model, TABLE, Y, most_rows=120, seed=4).to_dict() != found.to_dict()
    drawn = np.sort(np.random.default_rng(3).choice(N, 120, replace=False))
    by_hand = diagnose(model, TABLE.iloc[drawn], Y[drawn])
    assert by_hand.to_dict() | {"notes": None} == found.to_dict() | {"notes": None}


@pytest.mark.parametrize("form", ["pandas", "arrow", "matrix", "sparse"])
def test_drawn_rows_are_those_rows_whatever_they_come_in(form):
    pyarrow = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    X = rng.poisson(1.0, (200, 4)).astype(float)
    if form in ("pandas", "arrow"):
        X = TABLE.iloc[:200]
    fitted = tb.NaiveBayes(COLUMNS if form in ("pandas", "arrow") else tb.Poisson()).fit(X, y)
    whole = {"arrow": pyarrow.Table.from_pandas, "sparse": csr_array}.get(form, lambda x: x)
    drawn = np.sort(np.random.default_rng(0).choice(200, 90, replace=False))
    part = X.iloc[drawn].reset_index(drop=True) if hasattr(X, "iloc") else X[drawn]
    found = diagnose(fitted, whole(X), y, most_rows=90)
    assert found.rows == 90
    same_but_notes = diagnose(fitted, whole(part), y[drawn])
    assert found.to_dict() | {"notes": 0} == same_but_notes.to_dict() | {"notes": 0}


@pytest.mark.parametrize(("limit", "room"), [("MOST_CELLS", 200), ("MOST_TERMS", 400)])
def test_a_wide_table_is_read_in_fewer_rows(model, monkeypatch, limit, room):
    monkeypatch.setattr(module, limit, room)
    found = diagnose(model, TABLE, Y)
    assert found.rows == 50
    assert found.notes[0] == "50 of 300 rows were looked at, drawn at random"


def test_a_column_of_some_rows_is_what_the_whole_column_has_there():
    rows = np.array([7, 2, 250])
    column = some_rows(as_source(TABLE), rows).columns["colour"]
    codes, labels = column.codes(slice(0, 3))
    assert [labels[c] if c >= 0 else None for c in codes] == [None, "green", "red"]
    assert pd.isna(TABLE["colour"][7])
    assert TABLE["colour"][[2, 250]].tolist() == ["green", "red"]
    assert (len(column), column.type, column.declared) == (3, "text", ())
    assert column.value(1) == TABLE["colour"].iloc[2]
    number = some_rows(as_source(TABLE), rows).columns["length"]
    assert number.numbers(slice(1, 3)).tolist() == TABLE["length"].iloc[[2, 250]].tolist()


def test_rows_of_unknown_classes_are_left_out(model):
    labels = Y.astype(object)
    labels[:3] = "egg"
    found = diagnose(model, TABLE, labels)
    assert found.rows == N - 3
    assert found.notes[0] == "3 rows of classes that the model does not know were left out"
    labels[1:] = Y[1:]
    assert diagnose(model, TABLE, labels).notes[0].startswith("1 row of classes that")


def test_rows_of_weight_zero_are_left_out(model):
    w = np.ones(N)
    w[:100] = 0.0
    same(diagnose(model, TABLE, Y, w), diagnose(model, TABLE.iloc[100:], Y[100:]))


@pytest.mark.parametrize("unit", [1e-200, 0.001, 1000.0, 1e200])
def test_only_the_ratios_of_weights_matter(model, unit):
    w = np.random.default_rng(5).choice([1.0, 2.0, 4.0], N)
    assert_alike(
        diagnose(model, TABLE, Y, w).to_dict(), diagnose(model, TABLE, Y, unit * w).to_dict()
    )
    equal = diagnose(model, TABLE, Y, np.full(N, unit)).to_dict()
    assert_alike(diagnose(model, TABLE, Y).to_dict(), equal)


def assert_alike(one, other):
    """Nested dictionaries hold the same, numbers but for rounding."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_alike(one[key], other[key])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for each, same in zip(one, other, strict=True):
            assert_alike(each, same)
    else:
        assert other == (pytest.approx(one, rel=1e-9, abs=1e-9) if isinstance(one, float) else one)


def test_an_estimator_that_was_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        diagnose(tb.NaiveBayes(), TABLE, Y)


def test_zeros_have_no_sign():
    y = np.repeat(["a", "b"], 40)
    x = np.tile(np.r_[np.arange(1.0, 20.0), np.arange(-19.0, 0.0), 0.0, 0.0], 2)
    told = [ColumnInformation("x", "Gaussian", -1e-9, -1e-9, 0.1, 80)]
    shape = NormalityOfColumn("x", "gaussian", 80, -1e-9, -1e-9, 1.0, 0.0, 0.1, 39, "flat")
    found = diagnose(Fitted(tb.Tally.of({"x": x}, y)), {"x": x}, y)
    found = replace(found, information=tuple(told), normality=(shape,))
    assert "0.0000  0.0 %" in str(found)
    assert "-0.0" not in str(found) + found.to_html()


ERRORS = {
    "no labels": (lambda m: diagnose(m, TABLE, Y[:5]), "5 labels for 300 rows"),
    "no known label": (lambda m: diagnose(m, TABLE, ["spas"] * N), "model; did you mean 'spam'"),
    "no weight": (
        lambda m: diagnose(m, TABLE, Y, np.zeros(N)),
        "have the weight 0; give at least one of them a weight above 0$",
    ),
    "weight of unknown classes only": (
        lambda m: diagnose(m, TABLE, ["spam", *["spas"] * (N - 1)], np.arange(N)),
        "have the weight 0; give at least one of them a weight above 0$",
    ),
    "no model": (lambda m: diagnose(3, TABLE, Y), "int is no model"),
    "most_rows": (lambda m: diagnose(m, TABLE, Y, most_rows=0), "most_rows is 0"),
    "weights": (lambda m: diagnose(m, TABLE, Y, [1.0]), "the weights have the shape"),
    "no column": (lambda m: diagnose(m, TABLE[["hits"]], Y), "column 'length' is missing"),
    "not a column of numbers": (
        lambda m: diagnose(m, TABLE, Y).normality_of("lenght"),
        "'lenght' is not a column that is taken for normal; did you mean 'length'",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_what_cannot_be_done_is_an_error(case, model):
    call, message = ERRORS[case]
    with pytest.raises(tb.TallyBayesError, match=message):
        call(model)


@pytest.mark.parametrize("most_rows", [300, 200])
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("length", np.inf, "column 'length' holds infinity in row 250"),
        ("hits", -1.0, "column 'hits' is -1.0 in row 250; counts must be"),
        ("hits", np.inf, "column 'hits' holds infinity in row 250"),
    ],
)
def test_a_value_that_is_none_is_refused_with_its_row(model, column, value, message, most_rows):
    broken = TABLE.copy()
    broken.loc[250, column] = value
    assert 250 in np.random.default_rng(SEED).choice(N, 200, replace=False)
    with pytest.raises(tb.TallyBayesError, match=message):
        diagnose(model, broken, Y, most_rows=most_rows, seed=SEED)


def test_a_broken_sparse_matrix_is_refused():
    x = csr_array(np.eye(30))
    y = np.arange(30) % 2
    model = tb.MultinomialNB().fit(x, y)
    x.data[7] = -1.0
    with pytest.raises(tb.TallyBayesError, match=r"column 'x7' is -1\.0 in row 7"):
        diagnose(model, x, y, most_rows=5)
    x.data[7], x.indices[3] = 1.0, 99
    with pytest.raises(tb.TallyBayesError, match="broken"):
        Rows.of(model.fitted_, x, y, None, 5, 0)


def test_it_prints_as_tables_warnings_and_notes():
    X, y = breast_cancer()
    found = diagnose(tb.NaiveBayes().fit(X, y), X, y, most_rows=500)
    text = str(found)
    assert text.startswith("500 rows\n\nwhat the columns tell of the class, of 0.9")
    assert "columns that depend on each other, given the class" in text
    assert "columns that are taken for normal" in text
    assert "... 10 more" in text
    assert text.count("warning: ") == len(found.warnings) > 3
    assert text.endswith("note: 500 of 569 rows were looked at, drawn at random")
    assert repr(found) == f"<Diagnosis: 500 rows, {len(found.warnings)} warnings>"


def test_it_is_plain_json():
    X, y = breast_cancer()
    found = diagnose(tb.NaiveBayes().fit(X, y), X, y)
    read = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert read == found.to_dict()
    assert read["rows"] == 569
    assert [each["column"] for each in read["information"]] == [
        each.column for each in found.information
    ]
    assert read["warnings"] == list(found.warnings)
    assert read["dependence"][0]["columns"] == [found.dependence[0].a, found.dependence[0].b]
    better = {each["column"]: each["better"] for each in read["normality"]}
    assert better["area error"]["name"] == "log_normal"
    assert better["mean radius"] is None


class Reader(HTMLParser):
    """Collects the text of cells, and checks that tags are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.cells = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.cells.append(data)


def test_it_is_html_in_which_names_are_only_names():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 200)
    x = rng.normal(2 * y, 1.0)
    X = {"<b>&": x, "plain": x + rng.normal(0, 0.01, 200)}
    found = diagnose(Fitted(tb.Tally.of(X, y)), X, y, most_rows=150)
    page = found.to_html()
    assert "<b>" not in page
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    assert {"<b>&", "plain"} <= set(reader.cells)
    assert found.warnings[0] in reader.cells
    assert found.notes[0] in reader.cells
    assert found._repr_html_() == page
