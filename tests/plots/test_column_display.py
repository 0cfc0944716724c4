"""A column by class: curves and bars are what the model believes, beside what the data has."""

import numpy as np
import pytest
from matplotlib import pyplot
from scipy import stats

import tallybayes as tb
from tallybayes.plots import ColumnDisplay
from tallybayes.plots.style import style_of
from tallybayes.rendering.words import number

RNG = np.random.default_rng(0)
Y = np.repeat(["a", "b", "c"], [30, 20, 10])
SIZE = np.concatenate([RNG.normal(m, s, n) for m, s, n in ((0, 1, 30), (3, 2, 20), (9, 0.5, 10))])
COLOUR = np.array(["red", "green", "blue"])[RNG.integers(0, 3, 60)]
VISITS = RNG.poisson(3.0, 60)
X = {"size": SIZE, "price": np.exp(SIZE), "colour": COLOUR, "visits": VISITS, "age": SIZE,
     "flag": VISITS}  # fmt: skip
EDGES = (0.5, 2.0, 6.0)
COLUMNS = {
    "price": tb.LogNormal(),
    "visits": tb.Poisson(alpha=0),
    "age": tb.Bins(edges=EDGES),
    "flag": tb.Bernoulli(threshold=2.0),
}
MODEL = tb.NaiveBayes(columns=COLUMNS).fit(X, Y)


def draw(column, **options):
    return ColumnDisplay.from_estimator(MODEL, column, **options)


def bars(display):
    """The heights of the bars by class."""
    return np.array([[bar.get_height() for bar in group] for group in display.ax_.containers])


def dots(display):
    """The marks of the data's shares: their places and heights."""
    lines = [line for line in display.ax_.lines if line.get_marker() == "D"]
    return np.array([line.get_xydata()[0] for line in lines])


def curves(display):
    return [line for line in display.ax_.lines if len(line.get_xdata()) > 100]


def test_gaussian_curves_are_the_densities_of_scipy():
    display = draw("size")
    for label, line in zip("abc", curves(display), strict=True):
        mine = SIZE[label == Y]
        expected = stats.norm(mine.mean(), mine.std(ddof=1)).pdf(line.get_xdata())
        assert line.get_ydata() == pytest.approx(expected, rel=1e-9)
    area = np.trapezoid(display.likelihood, display.places, axis=1)
    assert area == pytest.approx(1.0, abs=5e-3)


def test_log_normal_curves_are_the_densities_of_scipy():
    for label, line in zip("abc", curves(draw("price")), strict=True):
        logs = SIZE[label == Y]
        expected = stats.lognorm(logs.std(ddof=1), scale=np.exp(logs.mean())).pdf(line.get_xdata())
        assert line.get_ydata() == pytest.approx(expected, rel=1e-9)


def test_histograms_are_densities_in_the_same_bins_for_all_classes():
    display = draw("size", X=X, y=Y)
    edges = display.data_edges
    assert edges[0] == SIZE.min()
    assert edges[-1] == SIZE.max()
    for k, label in enumerate("abc"):
        expected, _ = np.histogram(SIZE[label == Y], edges, density=True)
        assert display.data[k] == pytest.approx(expected)
    outlines = [patch.get_data() for patch in display.ax_.patches if not patch.get_fill()]
    assert len(outlines) == 3
    for k, stairs in enumerate(outlines):
        assert stairs.values == pytest.approx(display.data[k])
        assert stairs.edges == pytest.approx(edges)


def test_values_without_a_logarithm_and_missing_ones_are_not_in_the_histogram():
    table = {**X, "price": np.where(np.arange(60) == 3, np.nan, X["price"])}
    table["price"][5] = -1.0
    display = draw("price", X=table, y=Y)
    kept = np.isfinite(table["price"]) & (table["price"] > 0.0)
    expected, _ = np.histogram(table["price"][kept & (Y == "a")], display.data_edges, density=True)
    assert display.data[0] == pytest.approx(expected)


def test_categories_are_smoothed_shares_and_the_data_has_plain_ones():
    display = draw("colour", X=X, y=Y)
    assert display.places == ("blue", "green", "red")
    n = np.array([[np.sum((c == Y) & (v == COLOUR)) for v in display.places] for c in "abc"])
    total = n.sum(axis=1, keepdims=True)
    assert bars(display) == pytest.approx((n + 1) / (total + 3))
    assert display.data == pytest.approx(n / total)
    assert dots(display)[:, 1] == pytest.approx((n / total).ravel())
    centres = [
        bar.get_x() + bar.get_width() / 2 for group in display.ax_.containers for bar in group
    ]
    assert dots(display)[:, 0] == pytest.approx(centres)


def test_counts_are_drawn_as_poisson_probabilities():
    display = draw("visits", X=X, y=Y)
    rates = np.array([VISITS[label == Y].mean() for label in "abc"])
    assert display.places[0] == 0
    counts = np.array(display.places)
    assert bars(display) == pytest.approx(stats.poisson(rates[:, None]).pmf(counts))
    assert stats.poisson(rates.max()).sf(counts[-1]) < 1e-3
    n = np.array([[np.sum((c == Y) & (v == VISITS)) for v in counts] for c in "abc"])
    assert display.data == pytest.approx(n / [[30], [20], [10]])


def test_intervals_are_drawn_on_their_axis():
    display = draw("age", X=X, y=Y, record={"age": 2.5})
    inside = np.digitize(SIZE, EDGES, right=True)
    n = np.array([np.bincount(inside[label == Y], minlength=4) for label in "abc"])
    total = n.sum(axis=1, keepdims=True)
    assert bars(display) == pytest.approx((n + 1) / (total + 4))
    assert display.data == pytest.approx(n / total)
    assert display.ax_.get_xticks() == pytest.approx(EDGES)
    assert display.value_place == 2
    for group in display.ax_.containers:
        assert EDGES[0] < group[1].get_x() < EDGES[1] < group[2].get_x() < EDGES[2]


def test_intervals_too_narrow_to_be_seen_are_drawn_side_by_side():
    columns = {"age": tb.Bins(edges=(0.0, 0.001, 5.0))}
    model = tb.NaiveBayes(columns=columns).fit({"age": SIZE}, Y)
    display = ColumnDisplay.from_estimator(model, "age", record={"age": 7.0})
    names = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert names == ["≤ 0", "0 to 0.001", "0.001 to 5", "> 5"]


def test_switches_are_off_or_on():
    display = draw("flag", X=X, y=Y, record={"flag": 2.0})
    on = np.array([np.sum(VISITS[label == Y] > 2) for label in "abc"])
    total = np.array([30, 20, 10])
    assert display.places == ("off (≤ 2)", "on (> 2)")
    assert bars(display) == pytest.approx(
        np.array([total - on + 1, on + 1]).T / (total + 2)[:, None]
    )
    assert display.data[:, 1] == pytest.approx(on / total)
    assert display.value_place == 0
    assert draw("flag", record={"flag": 2.5}).value_place == 1


def test_a_column_of_a_bag_is_its_share_of_the_bag():
    counts = {"x": VISITS, "y": 2 * VISITS + 1}
    columns = dict.fromkeys(counts, tb.Multinomial(alpha=0.5))
    model = tb.NaiveBayes(columns=columns).fit(counts, Y)
    display = ColumnDisplay.from_estimator(model, "x", X=counts, y=Y)
    x = np.array([VISITS[label == Y].sum() for label in "abc"])
    y = np.array([(2 * VISITS + 1)[label == Y].sum() for label in "abc"])
    heights = [group[0].get_height() for group in display.ax_.containers]
    assert heights == pytest.approx((x + 0.5) / (x + y + 1.0))
    assert display.data[:, 0] == pytest.approx(x / (x + y))
    matrix = np.array(list(counts.values())).T
    sparse = tb.MultinomialNB().fit(matrix, Y)
    first = sparse.model_.schema.names[0]
    again = ColumnDisplay.from_estimator(sparse, first, X=matrix, y=Y)
    assert again.data[:, 0] == pytest.approx(x / (x + y))


def test_complement_weights_are_drawn_as_weights():
    model = tb.ComplementNB().fit(np.array([VISITS, 2 * VISITS + 1]).T, Y)
    display = ColumnDisplay.from_estimator(model, model.model_.schema.names[0])
    elsewhere = np.array([VISITS[label != Y].sum() for label in "abc"]) + 1.0
    total = np.array([(3 * VISITS + 1)[label != Y].sum() for label in "abc"]) + 2.0
    heights = [group[0].get_height() for group in display.ax_.containers]
    assert heights == pytest.approx(-np.log(elsewhere / total))
    assert "nats" in display.ax_.get_ylabel()
    assert "nats" in display.alt_text


@pytest.mark.parametrize(
    ("column", "value"),
    [("size", 1.5), ("price", 2.0), ("colour", "red"), ("visits", 3), ("age", 1.0), ("flag", 3)],
)
def test_the_records_likelihoods_are_those_of_the_model(column, value):
    display = draw(column, record={column: value, "size": 1.5})
    row = {name: [value if name == column else None] for name in X}
    expected = np.exp(MODEL.predict_joint_log_proba(row)[0] - MODEL.model_.log_prior)
    assert display.value_likelihood == pytest.approx(expected, rel=1e-9)
    for k, label in enumerate("abc"):
        assert f"{label}: " in display.ax_.get_legend().get_texts()[k].get_text()
        assert f"{number(expected[k])} in {label}" in display.alt_text


def test_a_number_of_a_record_is_a_vertical_line_with_a_mark_on_each_curve():
    display = draw("size", record={"size": 1.5})
    (line,) = [line for line in display.ax_.lines if list(line.get_xdata()) == [1.5, 1.5]]
    marks = [line for line in display.ax_.lines if list(line.get_xdata()) == [1.5]]
    assert [mark.get_ydata()[0] for mark in marks] == pytest.approx(list(display.value_likelihood))
    assert line.get_linestyle() != "-"


def test_a_value_that_is_left_out_says_so():
    for column, value in (("colour", "pink"), ("price", -1.0)):
        display = draw(column, record={column: value})
        assert display.value_likelihood is None
        assert "left out" in display.ax_.get_xlabel()
        assert "which the model leaves out" in display.alt_text


def test_a_record_without_the_value_changes_nothing():
    assert draw("size", record={"colour": "red"}).value is None
    assert draw("size", record={"size": float("nan")}).value is None


def test_exponents_of_a_calibration_do_not_change_the_distributions():
    plain = draw("size")
    tempered = tb.NaiveBayes(columns=COLUMNS, calibration="temperature").fit(X, Y)
    assert ColumnDisplay.from_estimator(tempered, "size").likelihood == pytest.approx(
        plain.likelihood
    )


def test_classes_differ_without_colours():
    lines = curves(draw("size"))
    assert len({str(line.get_linestyle()) for line in lines}) == 3
    hatches = [group[0].get_hatch() for group in draw("colour").ax_.containers]
    assert hatches == [style_of(k).hatch for k in range(3)]
    assert len(set(hatches)) == 3


def test_many_categories_are_cut_and_the_records_own_stays():
    values = np.array([f"city_{k}$" for k in range(300)])[
        np.random.default_rng(1).integers(0, 300, 900)
    ]
    y = np.array(["a", "b"])[np.random.default_rng(2).integers(0, 2, 900)]
    model = tb.NaiveBayes().fit({"city": values}, y)
    rare = min(set(values), key=list(values).count)
    display = ColumnDisplay.from_estimator(model, "city", record={"city": rare})
    n = len(display.places)
    names = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert len(names) == 20
    assert rare.replace("$", r"\$") in names
    assert f"{n - 20} more values are not drawn" in [text.get_text() for text in display.ax_.texts]
    shown = {name.replace(r"\$", "$") for name in names}
    heights = {v: display.likelihood[:, k].max() for k, v in enumerate(display.places)}
    hidden = max(p for v, p in heights.items() if v not in shown)
    assert min(p for v, p in heights.items() if v in shown and v != rare) >= hidden


def test_many_classes_are_cut_and_it_is_said():
    y = np.arange(400) % 40
    model = tb.NaiveBayes().fit({"size": np.random.default_rng(3).normal(y, 3.0)}, y)
    display = ColumnDisplay.from_estimator(model, "size", record={"size": 20.0})
    assert len(curves(display)) == 7
    assert "33 more classes are not drawn" in display.ax_.get_xlabel()
    assert "33 more classes are not drawn" in display.alt_text
    best = set(np.argsort(-display.value_likelihood, kind="stable")[:7].tolist())
    assert set(display.drawn) == best


def test_a_narrow_curve_does_not_flatten_the_others():
    y = np.repeat(["a", "b", "c"], 20)
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.normal(0, 1, 20), rng.normal(2, 1, 20), rng.normal(1, 1e-4, 20)])
    display = ColumnDisplay.from_estimator(tb.NaiveBayes().fit({"x": x}, y), "x")
    peak = display.likelihood.max()
    assert display.ax_.get_ylim()[1] < peak / 100
    assert any("the highest reaches" in text.get_text() for text in display.ax_.texts)


def test_a_column_that_says_nothing_is_drawn_as_a_sentence():
    table = {"same": [1.0] * 4, "none": [None] * 4, "x": [1.0, 2.0, 4.0, 6.0]}
    model = tb.NaiveBayes().fit(table, list("aabb"))
    for column, why in (("same", "the same in every row"), ("none", "no value of it was counted")):
        display = ColumnDisplay.from_estimator(model, column, X=table, y=list("aabb"))
        assert why in display.alt_text
        assert any(why in text.get_text() for text in display.ax_.texts)


def test_an_estimator_what_was_fitted_and_a_model_give_the_same_picture():
    every = [
        ColumnDisplay.from_estimator(each, "size", X, Y)
        for each in (MODEL, MODEL.fitted_, MODEL.model_)
    ]
    for display in every[1:]:
        np.testing.assert_allclose(display.likelihood, every[0].likelihood, rtol=1e-9)
        assert (display.data == every[0].data).all()


def test_arrays_have_columns_too():
    matrix = np.array([SIZE, SIZE**2]).T
    model = tb.GaussianNB().fit(matrix, Y)
    name = model.model_.schema.names[1]
    display = ColumnDisplay.from_estimator(model, name, X=matrix, y=Y)
    expected, _ = np.histogram(SIZE[Y == "b"] ** 2, display.data_edges, density=True)
    assert display.data[1] == pytest.approx(expected)


def test_names_of_users_are_shown_as_they_are():
    name = "cost_$x$ <b>\nnext"
    model = tb.NaiveBayes().fit({name: ["$p$", "q_r", "ü" * 200, "x"]}, ["_y$", "_y$", "n", "n"])
    display = ColumnDisplay.from_estimator(model, name, record={name: "q_r"})
    display.figure_.canvas.draw()
    assert display.ax_.get_title(loc="left") == r"cost_\$x\$ <b> next by class"
    assert "cost_$x$ <b> next = q_r" in display.alt_text
    ticks = display.ax_.get_xticklabels()
    assert max(len(text.get_text()) for text in ticks) == 14  # at a slant
    assert ticks[0].get_rotation() == 40


def test_given_axes_are_used():
    figure, ax = pyplot.subplots()
    display = draw("size", ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(tb.TallyBayesError, match="did you mean 'size'"):
        draw("sze")
    with pytest.raises(tb.TallyBayesError, match="needs both X and y"):
        draw("size", X=X)
    with pytest.raises(tb.TallyBayesError, match="most is 0"):
        draw("colour", most=0)
    text = tb.TextNB().fit(["one two", "three four"], ["x", "y"])
    with pytest.raises(tb.TallyBayesError, match="WordWeightsDisplay"):
        ColumnDisplay.from_estimator(text, text.model_.schema.names[0])


def test_classes_without_spread_are_drawn_with_their_data():
    x, y = np.array([1.0, 1.0, 1.0, 2.0, 3.0, 5.0]), list("aaabbb")
    display = ColumnDisplay.from_estimator(tb.GaussianNB().fit(x[:, None], y), "x0", x[:, None], y)
    low, high = display.ax_.get_xlim()
    assert low < 1.0
    assert high > 5.0


def two_normals(n=200):
    rng = np.random.default_rng(5)
    y = np.repeat(["a", "b"], n)
    return {"x": np.concatenate([rng.normal(0, 1, n), rng.normal(3, 1, n)])}, y


def test_a_few_numbers_far_out_do_not_flatten_the_histogram_and_are_counted():
    table, y = two_normals()
    model = tb.NaiveBayes().fit(table, y)
    x = table["x"].copy()
    x[[0, 300, 301]] = 1000.0, 2000.0, -500.0
    display = ColumnDisplay.from_estimator(model, "x", {"x": x}, y)
    kept = np.delete(x, [0, 300, 301])
    assert (display.data_edges[0], display.data_edges[-1]) == (kept.min(), kept.max())
    assert display.data_beyond == (1, 2)
    low, high = display.ax_.get_xlim()
    assert low < kept.min()
    assert kept.max() < high < 2 * kept.max()
    # bars and curves are of the same rows: what is beyond is no part of the area that is drawn
    assert display.data @ np.diff(display.data_edges) == pytest.approx([199 / 200, 198 / 200])
    assert display.data.max() == pytest.approx(0.4, abs=0.15)
    said = "3 values far out are not drawn"
    assert any(said in text.get_text() for text in display.ax_.texts)
    assert said in display.alt_text
    one = x.copy()
    one[300:302] = 3.0
    one = ColumnDisplay.from_estimator(model, "x", {"x": one}, y)
    assert "1 value far out is not drawn" in one.alt_text
    assert "far out" not in ColumnDisplay.from_estimator(model, "x", table, y).alt_text


def test_numbers_that_the_curves_reach_are_not_far_out():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, 200), [60.0, 80.0, 100.0]])
    y = np.repeat(["a", "rare"], [200, 3])
    display = ColumnDisplay.from_estimator(tb.NaiveBayes().fit({"x": x}, y), "x", {"x": x}, y)
    assert display.data_edges[-1] == 100.0
    assert display.data_beyond == (0, 0)


def test_of_log_normal_columns_numbers_are_far_out_by_their_logarithms():
    table, y = two_normals()
    x = np.exp(table["x"])
    model = tb.NaiveBayes(columns={"x": tb.LogNormal()}).fit({"x": x}, y)
    new = x.copy()
    new[:2] = 1e-30, 1e30
    display = ColumnDisplay.from_estimator(model, "x", {"x": new}, y)
    assert display.data_beyond == (2, 0)
    assert (display.data_edges[0], display.data_edges[-1]) == (new[2:].min(), new[2:].max())


def test_rows_that_are_nearly_all_alike_are_drawn_whole():
    model = tb.NaiveBayes().fit({"x": [1.0, 2.0, 4.0, 5.0]}, list("aabb"))
    display = ColumnDisplay.from_estimator(model, "x", {"x": [90.0] * 9 + [99.0]}, ["a"] * 10)
    assert (display.data_edges[0], display.data_edges[-1]) == (90.0, 99.0)
    assert display.data_beyond == (0, 0)


@pytest.mark.parametrize("column", list(X))
def test_a_weight_is_as_many_rows(column):
    weights = np.random.default_rng(1).integers(0, 4, 60)
    weights[[SIZE.argmin(), SIZE.argmax()]] = 1
    repeated = {name: np.repeat(values, weights) for name, values in X.items()}
    display = draw(column, X=X, y=Y, sample_weight=weights)
    if display.data_edges is None:
        expected = draw(column, X=repeated, y=np.repeat(Y, weights)).data
    else:
        expected = [
            np.histogram(
                repeated[column][np.repeat(Y, weights) == label], display.data_edges, density=True
            )[0]
            for label in "abc"
        ]
    assert display.data == pytest.approx(np.array(expected))
    scaled = draw(column, X=X, y=Y, sample_weight=0.01 * weights)
    assert scaled.data == pytest.approx(display.data)


def test_a_weight_counts_in_a_bag_too():
    counts = {"x": VISITS, "y": 2 * VISITS + 1}
    model = tb.NaiveBayes(columns=dict.fromkeys(counts, tb.Multinomial())).fit(counts, Y)
    w = np.random.default_rng(1).integers(0, 4, 60)
    display = ColumnDisplay.from_estimator(model, "x", counts, Y, sample_weight=w)
    x = np.array([(w * VISITS)[label == Y].sum() for label in "abc"])
    y = np.array([(w * (2 * VISITS + 1))[label == Y].sum() for label in "abc"])
    assert display.data[:, 0] == pytest.approx(x / (x + y))


def test_weights_that_are_none_are_refused():
    with pytest.raises(tb.TallyBayesError, match="weights have the shape"):
        draw("size", X=X, y=Y, sample_weight=[1.0])


def test_intervals_at_a_slant_are_written_out():
    edges = tuple(1000.5 + 0.125 * k for k in range(12))
    x = np.random.default_rng(0).uniform(1000, 1003, 60)
    model = tb.NaiveBayes(columns={"x": tb.Bins(edges=edges)}).fit({"x": x}, Y)
    display = ColumnDisplay.from_estimator(model, "x", record={"x": 5000.0})
    ticks = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert not any("…" in text for text in ticks)
