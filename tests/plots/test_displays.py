"""What every picture promises, whatever it shows: one registry, one test for each promise."""

import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

import tallybayes as tb
from tallybayes import plots
from tallybayes.plots.style import unattached

HOSTILE = ["$_x_$ " + "long " * 40, "_under<b>", "a & b\nbelow"]
COLUMN, WORDS = "cost_$x$ <b>\nnext", "te_$t"
N = 60
Y = np.array(HOSTILE, object)[np.arange(N) % 3]
X = {
    COLUMN: np.random.default_rng(0).normal(np.arange(N) % 3),
    "_c$": np.array(["$p$", "q_r", "ü" * 200], object)[(np.arange(N) + np.arange(N) // 7) % 3],
    WORDS: [["a_$b$ <x>", "ü" * 200, "see $you$"][(k + k // 5) % 3] for k in range(N)],
}
KINDS = {WORDS: tb.Text(tb.Words(str.split, lowercase=False))}
MODEL = tb.NaiveBayes(KINDS).fit(X, Y)
PLACES = (np.arange(N) + np.arange(N) // 7) % 3
TOGETHER = tb.SemiNaiveBayes(KINDS, joints=[(COLUMN, "_c$")]).fit(
    X, np.array(HOSTILE, object)[((X[COLUMN] > 1.0) + PLACES) % 3]
)
RECORD = {name: values[1] for name, values in X.items()}
OF_ROWS = ("RocCurve", "PrecisionRecall", "Reliability", "ConfusionMatrix")


def of_rows(kind, model=MODEL, **options):
    if kind != "ConfusionMatrix":
        options["positive"] = HOSTILE[0]
    return getattr(plots, f"{kind}Display").from_estimator(model, X, Y, **options)


def together(model):
    """The same form of a model that counts two columns together."""
    forms = (MODEL, TOGETHER), (MODEL.fitted_, TOGETHER.fitted_), (MODEL.model_, TOGETHER.model_)
    return next((other for one, other in forms if model is one), model)


MAKERS = {
    "column of numbers": lambda model=MODEL, **more: plots.ColumnDisplay.from_estimator(
        model, COLUMN, X, Y, RECORD, **more
    ),
    "column of values": lambda model=MODEL, **more: plots.ColumnDisplay.from_estimator(
        model, "_c$", X, Y, RECORD, **more
    ),
    "waterfall": lambda model=MODEL, **more: plots.WaterfallDisplay.from_estimator(
        model, RECORD, **more
    ),
    "nomogram": lambda model=MODEL, **more: plots.NomogramDisplay.from_estimator(
        model, HOSTILE[0], HOSTILE[1], RECORD, **more
    ),
    "joint": lambda model=MODEL: plots.JointDisplay.from_estimator(
        together(model), (COLUMN, "_c$"), record=RECORD
    ),
    "informative": lambda model=MODEL: plots.InformativeDisplay.from_estimator(model),
    **{
        kind: lambda model=MODEL, kind=kind, **more: of_rows(kind, model, **more)
        for kind in OF_ROWS
    },
}


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


def test_every_picture_is_registered():
    with unattached():
        made = {type(make()).__name__ for make in MAKERS.values()}
    assert made == {name for name in plots.__all__ if name.endswith("Display")}


def test_text_of_users_is_drawn_as_it_is_and_not_too_long(make):
    display = make()
    display.figure_.canvas.draw()
    written = [each.get_text() for each in display.figure_.findobj(Text) if each.get_text()]
    assert max(len(line) for text in written for line in text.splitlines()) < 90
    assert not any("<b>" in text and r"$x$" in text for text in written)  # no mathematics
    assert 40 < len(display.alt_text) < 1200
    assert display.alt_text.isprintable()
    assert any(word in display.alt_text for word in ("$_x_$", "_under<b>", "cost_$x$ <b> next"))


def test_the_svg_is_sound_and_has_the_alternative_text(make):
    root = ElementTree.fromstring(plots.svg_of(make()))
    desc = root.find("{http://www.w3.org/2000/svg}desc")
    assert desc.text == make().alt_text


def test_an_estimator_what_was_fitted_and_the_model_are_drawn_alike(make):
    source = MODEL.source_of(X)
    assert source.n_rows == N
    for model in (MODEL.fitted_, MODEL.model_):
        assert make(model).alt_text == make().alt_text


@pytest.mark.parametrize("name", [name for name in MAKERS if name not in ("informative", "joint")])
def test_axes_that_are_given_are_drawn_on(name):
    ax = Figure(layout="constrained").subplots()
    display = MAKERS[name](ax=ax)
    assert display.figure_ is ax.figure
    assert display.ax_ is ax
    display.figure_.canvas.draw()


def test_figures_are_pyplots_unless_they_are_to_be_unattached(make):
    from matplotlib import pyplot

    assert make().figure_ in map(pyplot.figure, pyplot.get_fignums())
    pyplot.close("all")
    with unattached():
        make()
    assert pyplot.get_fignums() == []


def test_what_is_no_model_or_not_fitted_is_refused(make):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(tb.TallyBayesError, match="dict is no model"):
        make({})
    with pytest.raises((NotFittedError, AttributeError)):
        make(tb.NaiveBayes())


def test_pictures_load_neither_pyplot_nor_scikit_learn_nor_scipy_stats():
    code = f"""
import sys
from tallybayes import Tally, estimate, plots
from tallybayes.plots.style import unattached
rows = {{"x": [1.0, 2.0, 4.0, 7.0], "c": [*"abab"], "n": [1, 2, 0, 4]}}
model = estimate(Tally.of(rows, [*"yynn"]))
record = {{"x": 1.0, "c": "a", "n": 3}}
with unattached():
    for name in rows:
        plots.svg_of(plots.ColumnDisplay.from_estimator(model, name, rows, [*"yynn"], record))
    plots.WaterfallDisplay.from_estimator(model, record)
    plots.NomogramDisplay.from_estimator(model, record=record)
    plots.InformativeDisplay.from_estimator(model)
    for kind in {OF_ROWS}:
        getattr(plots, kind + "Display").from_estimator(model, rows, [*"yynn"])
print(*[name for name in ("matplotlib.pyplot", "sklearn", "scipy.stats") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.split() == []
