"""A column by class: curves and bars are what the model believes, beside what the data has."""

import numpy as np
import pytest
from scipy import stats

import tallybayes as tb
from tallybayes.plots import ColumnDisplay
from tallybayes.rendering.words import number

RNG = np.random.default_rng(0)
Y = np.repeat(["a", "b", "c"], [30, 20, 10])
SIZE = np.concatenate([RNG.normal(m, s, n) for m, s, n in ((0, 1, 30), (3, 2, 20), (9, 0.5, 10))])
COLOUR = np.array(["red", "green", "blue"])[RNG.integers(0, 3, 60)]
VISITS = RNG.poisson(3.0, 60)
X = {"size": SIZE, "price": np.exp(SIZE), "colour": COLOUR, "visits": VISITS, "age": SIZE,
     "flag": VISITS, "hits": 200 + VISITS}  # fmt: skip
EDGES = (0.5, 2.0, 6.0)
COLUMNS = {
    "price": tb.LogNormal(),
    "visits": tb.Poisson(alpha=0),
    "age": tb.Bins(edges=EDGES),
    "flag": tb.Bernoulli(threshold=2.0),
    "hits": tb.Poisson(alpha=0),
}
MODEL = tb.NaiveBayes(columns=COLUMNS).fit(X, Y)
TEMPERED = tb.NaiveBayes(columns=COLUMNS, calibration="temperature").fit(X, Y)


def draw(column, **options):
    return ColumnDisplay.from_estimator(MODEL, column, **options)


def bars(display):
    return np.array([[bar.get_height() for bar in group] for group in display.ax_.containers])


def shares(codes, n):
    return np.array([np.bincount(codes[label == Y], minlength=n) for label in "abc"])


def of_class(values, label):
    return values[label == Y]


CURVES = {
    "size": lambda c: stats.norm(of_class(SIZE, c).mean(), of_class(SIZE, c).std(ddof=1)).pdf,
    "price": lambda c: (
        stats.lognorm(of_class(SIZE, c).std(ddof=1), scale=np.exp(of_class(SIZE, c).mean())).pdf
    ),
    "hits": lambda c: stats.poisson(of_class(VISITS, c).mean() + 200).pmf,
}


@pytest.mark.parametrize("column", CURVES)
def test_curves_are_the_distributions_of_scipy(column):
    display = draw(column)
    for k, label in enumerate("abc"):
        expected = CURVES[column](label)(np.array(display.places))
        assert display.likelihood[k] == pytest.approx(expected, rel=1e-9)
        assert display.ax_.lines[k].get_ydata() == pytest.approx(expected)
    assert display.ax_.get_ylabel() == ("probability" if column == "hits" else "density")
    # exponents of a calibration come on top of the distributions
    tempered = ColumnDisplay.from_estimator(TEMPERED, column)
    assert tempered.likelihood == pytest.approx(display.likelihood)


def test_bars_are_smoothed_shares_and_the_data_has_plain_ones():
    on = VISITS > 2
    cases = {
        "colour": (np.searchsorted(["blue", "green", "red"], COLOUR), ["blue", "green", "red"]),
        "age": (np.digitize(SIZE, EDGES, right=True),
                ["(-inf, 0.5]", "(0.5, 2]", "(2, 6]", "(6, inf)"]),
        "flag": (on.astype(int), ["off (≤ 2)", "on (> 2)"]),
    }  # fmt: skip
    for column, (codes, names) in cases.items():
        display = draw(column, X=X, y=Y)
        n = shares(codes, len(names))
        total = n.sum(axis=1, keepdims=True)
        assert list(display.names) == names
        assert bars(display) == pytest.approx((n + 1) / (total + len(names)))
        assert display.data == pytest.approx(n / total)
        dots = [line.get_ydata() for line in display.ax_.lines if line.get_marker() == "D"]
        assert np.array(dots) == pytest.approx(n / total)


def test_histograms_are_densities_in_the_same_bins_for_all_classes():
    table = {**X, "price": np.where(np.arange(60) == 3, np.nan, X["price"])}
    table["price"][5] = -1.0  # has no logarithm
    for column in ("size", "price"):
        display = draw(column, X=table, y=Y)
        kept = np.isfinite(table[column]) & ((table[column] > 0.0) | (column == "size"))
        steps = [patch.get_data() for patch in display.ax_.patches]
        for k, label in enumerate("abc"):
            mine = table[column][kept & (label == Y)]
            expected, _ = np.histogram(mine, display.data_edges, density=True)
            assert display.data[k] == pytest.approx(expected)
            assert steps[k].values == pytest.approx(expected)


def test_numbers_far_out_do_not_flatten_the_histogram_and_are_counted():
    x = np.random.default_rng(5).normal(np.repeat([0.0, 3.0], 200), 1.0)
    y = np.repeat(["a", "b"], 200)
    model = tb.NaiveBayes().fit({"x": x}, y)
    x[[0, 300, 301]] = 1000.0, 2000.0, -500.0
    display = ColumnDisplay.from_estimator(model, "x", {"x": x}, y)
    inside = display.data_edges[[0, -1]]
    assert (inside > -5.0).all()
    assert (inside < 8.0).all()
    assert display.beyond == 3
    # bars and curves are of the same rows: what is beyond is no part of the area that is drawn
    assert display.data @ np.diff(display.data_edges) == pytest.approx([199 / 200, 198 / 200])
    assert "3 values far out not drawn" in display.alt_text
    elsewhere = ColumnDisplay.from_estimator(model, "x", {"x": x + 90.0}, y)
    assert elsewhere.beyond < 10
    assert elsewhere.ax_.get_xlim()[1] > 90.0


@pytest.mark.parametrize("column", list(X))
def test_a_weight_is_as_many_rows(column):
    weights = np.random.default_rng(1).integers(0, 4, 60)
    repeated = {name: np.repeat(values, weights) for name, values in X.items()}
    display = draw(column, X=X, y=Y, sample_weight=0.01 * weights)
    if display.data_edges is None:
        expected = draw(column, X=repeated, y=np.repeat(Y, weights)).data
    else:
        edges, y = display.data_edges, np.repeat(Y, weights)
        widths = np.diff(edges) * [[np.sum(y == c)] for c in "abc"]
        expected = [np.histogram(repeated[column][y == c], edges)[0] for c in "abc"] / widths
    assert display.data == pytest.approx(np.array(expected))


@pytest.mark.parametrize(
    ("column", "value", "place"),
    [("size", 1.5, None), ("price", 2.0, None), ("colour", "red", 2), ("visits", 3, 3),
     ("age", 2.0, 1), ("flag", 3, 1), ("hits", 205, None)],
)  # fmt: skip
def test_the_records_likelihoods_are_those_of_the_model(column, value, place):
    display = draw(column, record={column: value})
    row = {name: [value if name == column else None] for name in X}
    expected = np.exp(MODEL.predict_joint_log_proba(row)[0] - MODEL.model_.log_prior)
    assert display.value_likelihood == pytest.approx(expected, rel=1e-9)
    if display.names:
        assert display.value_place == place
    else:
        marks = [line for line in display.ax_.lines if list(line.get_xdata()) == [value]]
        assert [mark.get_ydata()[0] for mark in marks] == pytest.approx(expected.tolist())
    for k, label in enumerate("abc"):
        assert f"{label}: " in display.ax_.get_legend().get_texts()[k].get_text()
        assert f"{number(expected[k])} in {label}" in display.alt_text


def test_a_value_that_is_missing_or_left_out():
    assert draw("size", record={"colour": "red"}).value is None
    for column, value in (("colour", "pink"), ("price", -1.0)):
        display = draw(column, record={column: value})
        assert display.value_likelihood is None
        assert "left out" in display.ax_.get_xlabel()
        assert "which the model leaves out" in display.alt_text


def test_of_many_categories_and_classes_the_most_probable_are_drawn_and_the_records_own():
    rng = np.random.default_rng(1)
    y = np.arange(900) % 40
    city = np.array([f"city_{k}$" for k in range(300)])[rng.integers(0, 300, 900)]
    model = tb.NaiveBayes().fit({"city": city, "size": rng.normal(y, 3.0)}, y)
    rare = min(set(city), key=list(city).count)
    display = ColumnDisplay.from_estimator(model, "city", record={"city": rare})
    names = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert len(names) == 20
    assert rare.replace("$", r"\$") in names
    said = f"{len(display.places) - 20} more values not drawn"
    assert said in [text.get_text() for text in display.ax_.texts]
    display = ColumnDisplay.from_estimator(model, "size", record={"size": 20.0})
    assert set(display.drawn) == set(np.argsort(-display.value_likelihood)[:7].tolist())
    for text in (display.ax_.get_xlabel(), display.alt_text):
        assert "33 more classes not drawn" in text


def test_a_narrow_curve_is_seen_and_does_not_flatten_the_others():
    y = np.repeat(["a", "b", "c"], 20)
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.normal(0, 1, 20), rng.normal(2, 1, 20), rng.normal(1, 1e-4, 20)])
    display = ColumnDisplay.from_estimator(tb.NaiveBayes().fit({"x": x}, y), "x")
    peak = stats.norm.pdf(0.0) / x[40:].std(ddof=1)
    assert display.likelihood[2].max() == pytest.approx(peak, rel=0.01)
    assert display.ax_.get_ylim()[1] < peak / 100
    assert any("the highest reaches" in text.get_text() for text in display.ax_.texts)


def test_a_column_that_says_nothing_is_drawn_as_a_sentence():
    table = {"same": [1.0] * 4, "none": [None] * 4, "x": [1.0, 2.0, 4.0, 6.0]}
    model = tb.NaiveBayes().fit(table, list("aabb"))
    for column, why in (("same", "the same in every row"), ("none", "no value of it was counted")):
        display = ColumnDisplay.from_estimator(model, column, X=table, y=list("aabb"))
        assert why in display.alt_text
        assert any(why in text.get_text() for text in display.ax_.texts)


def test_what_cannot_be_drawn_is_refused():
    text = tb.TextNB().fit(["one two", "three four"], ["x", "y"])
    bag = tb.MultinomialNB().fit([[1, 2], [3, 0]], ["x", "y"])
    for match, make in {
        "did you mean 'size'": lambda: draw("sze"),
        "needs both X and y": lambda: draw("size", X=X),
        "most is 0": lambda: draw("colour", most=0),
        "weights have the shape": lambda: draw("size", X=X, y=Y, sample_weight=[1.0]),
        "'text' is a text": lambda: ColumnDisplay.from_estimator(text, "text"),
        "'x0'.*InformativeDisplay": lambda: ColumnDisplay.from_estimator(bag, "x0"),
    }.items():
        with pytest.raises(tb.TallyBayesError, match=match):
            make()
