"""The normal Q-Q picture."""

import numpy as np
import pytest
from matplotlib import pyplot
from scipy import stats

import tallybayes as tb
from tallybayes.plots import NormalQQDisplay
from tallybayes.plots.style import style_of

RNG = np.random.default_rng(3)
Y = np.repeat(["a", "b"], [40, 25])
SIZE = np.concatenate([RNG.normal(5, 2, 40), RNG.exponential(3, 25)])
TABLE = {"size": SIZE, "colour": np.repeat(["r", "g"], [30, 35]), "same": np.ones(65)}


def gaussian(**options):
    return tb.NaiveBayes(**options).fit(TABLE, Y)


def test_points_are_the_quantiles_of_scipy():
    display = NormalQQDisplay.from_estimator(gaussian(), TABLE, Y, "size")
    for label in "ab":
        mine = SIZE[label == Y]
        z = (mine - mine.mean()) / mine.std(ddof=1)
        expected, observed = stats.probplot(z, fit=False)
        assert display.expected[label] == pytest.approx(expected, abs=1e-9)
        assert display.observed[label] == pytest.approx(observed, rel=1e-9)
    drawn = {line.get_label(): line for line in display.ax_.lines}
    assert drawn["a"].get_xdata() == pytest.approx(display.expected["a"])
    assert drawn["a"].get_ydata() == pytest.approx(display.observed["a"])
    line = drawn["the line y = x"]
    assert (line.get_xdata() == line.get_ydata()).all()


def test_rows_that_the_model_did_not_see_are_measured_by_the_model():
    display = NormalQQDisplay.from_estimator(gaussian(), {"size": [7.0, 5.0]}, ["a", "a"], "size")
    mine = SIZE[Y == "a"]
    assert display.observed["a"] == pytest.approx(
        (np.array([5, 7]) - mine.mean()) / mine.std(ddof=1)
    )
    assert set(display.observed) == {"a"}


def test_of_a_log_normal_column_the_logarithm_is_drawn():
    table = {"size": np.where(np.arange(65) == 2, np.nan, np.abs(SIZE) + 0.1)}
    model = tb.NaiveBayes(columns={"size": tb.LogNormal()}).fit(table, Y)
    again = {"size": np.where(np.arange(65) == 4, -1.0, table["size"])}  # without a logarithm
    display = NormalQQDisplay.from_estimator(model, again, Y, "size")
    logs = np.log(table["size"][Y == "a"])
    z = (logs - np.nanmean(logs)) / np.nanstd(logs, ddof=1)
    kept = np.delete(z, [2, 4])
    assert display.observed["a"] == pytest.approx(np.sort(kept))
    assert display.expected["a"] == pytest.approx(stats.probplot(kept, fit=False)[0], abs=1e-9)
    assert display.log
    assert "log size" in display.alt_text


def test_many_rows_are_thinned_evenly_and_keep_their_ends():
    y = np.repeat(["a", "b"], 5000)
    x = np.random.default_rng(1).normal(size=10_000)
    display = NormalQQDisplay.from_estimator(tb.NaiveBayes().fit({"x": x}, y), {"x": x}, y, "x")
    mine = np.sort((x[:5000] - x[:5000].mean()) / x[:5000].std(ddof=1))
    theirs, _ = stats.probplot(mine, fit=False)
    assert len(display.observed["a"]) == 300
    assert display.observed["a"][[0, -1]] == pytest.approx(mine[[0, -1]])
    place = np.searchsorted(mine, display.observed["a"] - 1e-12)
    assert display.expected["a"] == pytest.approx(theirs[place], abs=1e-9)
    assert np.diff(place).max() <= 18


def test_the_alternative_text_says_how_far_from_the_line():
    display = NormalQQDisplay.from_estimator(gaussian(), TABLE, Y, "size")
    for label in "ab":
        off = display.observed[label] - display.expected[label]
        worst = off[np.abs(off).argmax()]
        assert f"{label} {worst:.3g}".replace("-", "\N{MINUS SIGN}") in display.alt_text


def test_classes_differ_without_colours():
    display = NormalQQDisplay.from_estimator(gaussian(), TABLE, Y, "size")
    drawn = {line.get_label(): line.get_marker() for line in display.ax_.lines}
    assert drawn["a"] == style_of(0).marker
    assert drawn["b"] == style_of(1).marker


def test_many_classes_are_cut_and_it_is_said():
    y = np.arange(400) % 40
    x = {"x": np.random.default_rng(2).normal(y, 1.0)}
    display = NormalQQDisplay.from_estimator(tb.NaiveBayes().fit(x, y), x, y, "x")
    assert len(display.ax_.lines) == 9  # seven classes, the line, and a word about the others
    assert "33 more classes are not drawn" in display.alt_text


def test_names_of_users_and_given_axes():
    name = "cost_$x$ <b>\nnext"
    table = {name: [1.0, 2.0, 4.0, 7.0]}
    labels = ["$a$", "$a$", "_b" * 100, "_b" * 100]
    _, ax = pyplot.subplots()
    model = tb.NaiveBayes().fit(table, labels)
    display = NormalQQDisplay.from_estimator(model, table, labels, name, ax=ax)
    display.figure_.canvas.draw()
    assert display.ax_ is ax
    assert ax.get_title(loc="left") == r"Is cost_\$x\$ <b> next Gaussian?"


def test_what_cannot_be_drawn_is_refused():
    model = gaussian()
    with pytest.raises(tb.TallyBayesError, match="'colour' is not Gaussian"):
        NormalQQDisplay.from_estimator(model, TABLE, Y, "colour")
    with pytest.raises(tb.TallyBayesError, match="'same' is left out"):
        NormalQQDisplay.from_estimator(model, TABLE, Y, "same")
    with pytest.raises(tb.TallyBayesError, match="did you mean 'size'"):
        NormalQQDisplay.from_estimator(model, TABLE, Y, "sizes")
    with pytest.raises(tb.TallyBayesError, match="no value in these rows"):
        NormalQQDisplay.from_estimator(model, {**TABLE, "size": [np.nan] * 65}, Y, "size")
    with pytest.raises(tb.TallyBayesError, match="X has no column 'size'"):
        NormalQQDisplay.from_estimator(model.model_, {"colour": ["r"]}, ["a"], "size")


def test_weights_move_points_along_the_expected_quantiles():
    model, weights = gaussian(), np.random.default_rng(0).integers(0, 5, 65).astype(float)
    display = NormalQQDisplay.from_estimator(model, TABLE, Y, "size", sample_weight=weights)
    for label in "ab":
        kept = (label == Y) & (weights > 0.0)
        mine, w = SIZE[kept], weights[kept][np.argsort(SIZE[kept])]
        z = (np.sort(mine) - SIZE[label == Y].mean()) / SIZE[label == Y].std(ddof=1)
        assert display.observed[label] == pytest.approx(z)
        # Filliben's places, of as many values as the weights are worth
        n = w.sum() ** 2 / (w**2).sum()
        below = np.array([w[:k].sum() + w[k] / 2 for k in range(len(w))]) / w.sum()
        places = (n * below + 0.5 - 0.3175) / (n + 0.365)
        assert display.expected[label] == pytest.approx(stats.norm.ppf(places), abs=1e-9)


def test_weights_that_are_all_alike_change_nothing_and_only_their_ratios_matter():
    plain = NormalQQDisplay.from_estimator(gaussian(), TABLE, Y, "size")
    same = NormalQQDisplay.from_estimator(gaussian(), TABLE, Y, "size", sample_weight=[0.1] * 65)
    assert same.expected["a"] == pytest.approx(plain.expected["a"])
    weights = 1.0 + np.arange(65) % 3
    one, other = (
        NormalQQDisplay.from_estimator(gaussian(), TABLE, Y, "size", sample_weight=k * weights)
        for k in (1.0, 100.0)
    )
    assert one.expected["b"] == pytest.approx(other.expected["b"])
    assert not np.allclose(one.expected["b"], plain.expected["b"])


def test_a_class_whose_name_begins_with_an_underscore_is_in_the_legend():
    table, labels = {"x": [1.0, 2.0, 4.0, 7.0]}, ["_a", "_a", "b", "b"]
    model = tb.NaiveBayes().fit(table, labels)
    display = NormalQQDisplay.from_estimator(model, table, labels, "x")
    names = [text.get_text().strip() for text in display.ax_.get_legend().get_texts()]
    assert "_a" in names
