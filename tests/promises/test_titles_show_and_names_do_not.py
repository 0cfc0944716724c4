"""Columns that have titles: people read those everywhere; data, JSON and code have the names."""

import copy
import json
import pickle
import re
import warnings
from html import unescape

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

import tallybayes as tb
from tallybayes import plots, workflows
from tallybayes.cli.main import main
from tallybayes.model.specification import ModelSpec
from tallybayes.model.summary import ModelSummary
from tallybayes.modelfile import Provenance, Stored
from tallybayes.report.inspection import inspect_model

pytestmark = pytest.mark.filterwarnings("ignore::tallybayes.TallyBayesWarning")
N = 2000
DRAW = np.random.default_rng(0)
DEBT = DRAW.lognormal(0.0, 1.0, N)
BAD = ((DEBT > 1.2) ^ (DRAW.random(N) < 0.2)).astype(int)
SIDE = DRAW.random(N) < 0.5
DAYS = pd.to_timedelta(DRAW.integers(0, 700, N) + 20 * BAD, unit="D")
TABLE = pd.DataFrame(
    {
        "qqqdebt": np.where(DRAW.random(N) < 0.1 + 0.2 * BAD, np.nan, DEBT),
        "qqqagain": DEBT * DRAW.normal(1.0, 0.01, N),
        "qqqside": np.where(SIDE, "left", "right"),
        "qqqother": np.where(SIDE ^ (DRAW.random(N) < 0.1 + 0.8 * BAD), "up", "down"),
        "qqqwhen": pd.Timestamp("2024-01-01") + DAYS,
        "qqqnote": np.where(DRAW.random(N) < 0.3 + 0.4 * BAD, "late again", "all is well"),
    }
)
Y = pd.Series(BAD, name="loan in arrears")
TITLES = {
    "qqqdebt": "debts per income",
    "qqqagain": "debts once more",
    "qqqside": "side of the street",
    "qqqother": "floor",
    "qqqwhen": "application",
    "qqqnote": "officer's note",
}
TEXT = {"qqqnote": "text"}
MODELS = {
    "plain": tb.NaiveBayes(TEXT, titles=TITLES),
    "with gaps": tb.NaiveBayes(TEXT, titles=TITLES, missing="evidence"),
    "calibrated": tb.NaiveBayes(TEXT, titles=TITLES, calibration="weights"),
    "best": tb.SemiNaiveBayes(TEXT, titles=TITLES),
}
RECORD = TABLE.iloc[0]


def every_form(shown):
    forms = shown.to_text(), shown.to_markdown(), shown.to_latex(), shown.to_html(styled=False)
    return "\n".join(forms)


def drawn(*displays):
    """Return all that pictures say."""
    return "\n".join(
        "\n".join([*(text.get_text() for text in each.figure_.findobj(Text)), each.alt_text])
        for each in displays
    )


def columns_drawn(m):
    names = "qqqdebt", "qqqside", "qqqwhen.month"
    return drawn(*(plots.ColumnDisplay.from_estimator(m, name, X=TABLE, y=Y) for name in names))


FACES = {
    "summary": lambda m: every_form(ModelSummary(m.fitted_)),
    "schema": lambda m: str(m.schema_),
    "calibration": lambda m: str(m.calibration_),
    "explanation": lambda m: every_form(m.explain(RECORD)),
    "in parts": lambda m: every_form(m.explain(RECORD, show="parts")),
    "working": lambda m: every_form(m.explain(RECORD, show="working")),
    "what if": lambda m: every_form(m.counterfactuals(RECORD)),
    "diagnosis": lambda m: every_form(m.diagnose(TABLE, Y)),
    "inspection": lambda m: every_form(inspect_model(Stored(m.fitted_, Provenance.now(None, N)))),
    "report": lambda m: m.report(TABLE[:300], Y[:300]).html,
    "nomogram": lambda m: drawn(plots.NomogramDisplay.from_estimator(m, record=RECORD)),
    "informative": lambda m: drawn(plots.InformativeDisplay.from_estimator(m)),
    "waterfall": lambda m: drawn(plots.WaterfallDisplay.from_estimator(m, RECORD)),
    "columns": columns_drawn,
    "joints": lambda m: drawn(
        *(plots.JointDisplay.from_estimator(m, each.subject) for each in m.model_.joints())
    ),
}
SAY_NO_COLUMN = {("calibration", "plain"), ("calibration", "with gaps")}
SAY_NO_COLUMN |= {("joints", name) for name in ("plain", "with gaps", "calibrated")}
SAY_NO_COLUMN |= {("informative", name) for name in MODELS}  # the words of a text say more
# a report draws all there is, in seconds: that of two models has what there is in any
SHOWN = [
    (f, name) for f in FACES for name in MODELS if f != "report" or name in ("with gaps", "best")
]
# what is typed: columns={'qqqdebt': 'bins'}, joints=[('qqqside', 'qqqother')]
CODE = re.compile(r"(columns|joints)=[\[{].*?[\]}]|\{qqq.*?\}", re.DOTALL)


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tb.TallyBayesWarning)
        return MODELS[request.param].fit(TABLE, Y)


def read(shown):
    return CODE.sub("", unescape(shown.replace("\\", "")))


@pytest.mark.parametrize(("face", "model"), SHOWN, indirect=["model"])
def test_people_read_titles(model, face, request):
    shown = read(FACES[face](model))
    assert not re.findall(".{,40}qqq.{,20}", shown)
    name = request.node.callspec.params["model"]
    assert (face, name) in SAY_NO_COLUMN or any(title in shown for title in TITLES.values())
    assert ("application's month" in shown) or face not in ("schema", "explanation", "columns")


def test_data_json_code_and_errors_have_the_names(model):
    bare = copy.copy(model).set_params(titles=None).fit(TABLE, Y)
    np.testing.assert_allclose(model.predict_proba(TABLE), bare.predict_proba(TABLE), rtol=1e-12)
    assert model.feature_names_in_.tolist() == list(TABLE)
    for ask in (
        lambda m: m.explain(RECORD).to_dict(),
        lambda m: m.counterfactuals(RECORD).to_dict(),
        lambda m: inspect_model(Stored(m.fitted_, Provenance.now(None, N))).to_dict()["columns"],
        lambda m: ModelSummary(m.fitted_).to_dict()["columns"],
        lambda m: m.sample(3, seed=0),
    ):
        mine, other = (json.dumps(tb.rendering.plain(ask(m))) for m in (model, bare))
        assert re.findall("qqq[a-z.]+", mine) == re.findall("qqq[a-z.]+", other) != []
    assert not any(title in mine for title in TITLES.values())
    with pytest.raises(tb.TallyBayesError, match="column 'qqqdebt'"):
        model.predict(TABLE.assign(qqqdebt="much"))
    with pytest.raises(tb.TallyBayesError, match="no column 'debts per income'"):
        model.model_.column("debts per income")


def test_titles_go_along(model, tmp_path):
    model.save(tmp_path / "m.tally")
    loaded = tb.load(tmp_path / "m.tally")
    assert loaded.titles["qqqdebt"] == "debts per income"
    assert loaded.titles["qqqwhen.month"] == "application's month"
    again = pickle.loads(pickle.dumps(model))
    more = copy.deepcopy(model).partial_fit(TABLE[:9], Y[:9])
    both = copy.deepcopy(model).merge(copy.deepcopy(model))
    refitted = copy.deepcopy(loaded).fit(TABLE, Y)
    for each in (loaded, again, more, both, refitted):
        shown = str(each.explain(RECORD)) + str(each.summary()) + str(each.calibration_)
        assert "debts per income" in shown
        assert "qqq" not in shown


def test_columns_that_come_later_have_titles_too():
    model = tb.NaiveBayes(titles={"a": "first", "b": "second"})
    model.partial_fit({"a": [1.0, 2.0]}, ["n", "y"])
    model.partial_fit({"a": [1.0, 2.0], "b": ["u", "v"]}, ["n", "y"])
    assert re.findall("^[a-z]+", str(model.schema_), re.MULTILINE) == ["column", "first", "second"]


def test_titles_of_no_column_and_equal_ones_are_refused():
    rows, y = {"age": [1.0, 2.0], "hours": [3.0, 4.0]}, ["n", "y"]
    for titles, said in (
        ({"agee": "x"}, "no column 'agee' to be titled; did you mean 'age'"),
        ({"age": "x", "hours": "x"}, "columns 'age' and 'hours' are both titled 'x'"),
        ({"age": "hours"}, "columns 'age' and 'hours' are both titled 'hours'"),
        ({"age": " "}, "the title of column 'age' is ' '"),
        ({"age": 3}, "the title of column 'age' is 3"),
    ):
        with pytest.raises(tb.TallyBayesError, match=said):
            tb.NaiveBayes(titles=titles).fit(rows, y)
        with pytest.raises(tb.TallyBayesError, match=said):
            workflows.train({**rows, "y": y}, "y", ModelSpec(titles=titles))
    tb.NaiveBayes({"hours": "drop"}, titles={"hours": "x"}).fit(rows, y)


def test_numbered_columns_have_titles_too(tmp_path):
    model = tb.GaussianNB  # which has none: it is scikit-learn's
    assert "titles" not in model().get_params()
    model = tb.NaiveBayes(titles={"x1": "hours a week"}).fit(np.eye(4), [0, 1, 0, 1])
    model.save(tmp_path / "m.tally")
    for each in (model, tb.load(tmp_path / "m.tally")):
        assert "hours a week" in str(each.explain([0.0, 1.0, 0.0, 0.0]))
        assert each.predict(np.eye(4)).shape == (4,)


HOSTILE = [
    "<script>alert(1)</script>",
    r"\input{x} $a_b$ 50 % & #",
    "\x1b]0;title\x07 \u202egnp",
    "why this " + "very " * 4000 + "long title ends in X",
]


@pytest.mark.parametrize("title", HOSTILE, ids=["html", "latex", "terminal", "long"])
def test_hostile_titles_are_escaped_and_long_ones_cut_in_the_middle(title, tmp_path):
    rows = TABLE[["qqqdebt", "qqqside", "qqqother"]]
    model = tb.NaiveBayes(titles={"qqqdebt": title, "qqqside": title + "Y"}).fit(rows, Y)
    page, record = model.report(rows[:200], Y[:200]).html, rows.iloc[0]
    text = every_form(model.explain(record)) + str(model.summary())
    latex = model.explain(record).to_latex()
    picture = drawn(plots.NomogramDisplay.from_estimator(model, record=record))
    assert "<script" not in page
    assert "\\input" not in latex
    for shown in (page, text, picture):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "very " * 70 not in shown
    if "very" in title:
        assert "ends in X" in text
        assert "ends in XY" in text


@pytest.mark.parametrize("more", [["--plain"], []], ids=["plain", "best"])
def test_on_the_command_line(tmp_path, capsys, more):
    data, path = str(tmp_path / "rows.csv"), str(tmp_path / "m.tally")
    TABLE.assign(qqqbad=BAD).to_csv(data, index=False)
    named = [f"--title={name}={title}" for name, title in TITLES.items()]
    named += ["--title=qqqbad=loan in arrears", "--text", "qqqnote", *more]
    make = [data, "-t", "qqqbad", *named]

    def run(*words):
        assert main([*words]) == 0
        captured = capsys.readouterr()
        return captured.out + captured.err.replace("--column qqq", "").replace("--drop qqq", "")

    shown = run("fit", *make, "-o", path)
    shown += run("fit", *make, "--dry-run")
    shown += run("inspect", path) + run("explain", path, data) + run("evaluate", *make, "--folds=2")
    assert "to predict 'loan in arrears'" in shown
    assert "debts per income" in shown
    assert "loan in arrears = 1" in shown
    assert not re.findall(".{,40}qqq.{,20}", shown)
    fit = ["fit", data, "-t", "qqqbad", "-o", path, "--force", *more]
    assert main([*fit, "--title", "qqqdept=x"]) != 0
    assert "no column 'qqqdept' to be titled; did you mean 'qqqdebt'?" in capsys.readouterr().err
    assert main([*fit, "--label", "maybe=x"]) != 0
    assert "--label maybe=x is of no class that there is; known: 0, 1" in capsys.readouterr().err
