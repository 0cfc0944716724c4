"""The nomogram: what is read off its rulers is what the model says."""

import math

import numpy as np
import pytest
from scipy.special import expit

import tallybayes as tb
from explanations.cases import CALIBRATIONS, fitted, with_gaps
from plots.scored_rows import loan
from tallybayes.explanations import explain
from tallybayes.plots import NomogramDisplay
from validation.registry import CLASSES

RECORD = {"refund": "No", "status": "M", "income": 120.0}


@pytest.fixture
def undrawn(monkeypatch):
    """Read many nomograms without drawing them."""
    monkeypatch.setattr(NomogramDisplay, "plot", lambda self, ax=None: self)


@pytest.mark.filterwarnings("ignore:row 0 is impossible")
def test_the_probability_read_off_is_that_of_the_model(setting, undrawn):
    for how in CALIBRATIONS:
        case = fitted(setting, setting.examples(12), how)
        for k, (_, _, cells) in enumerate(setting.examples(3, seed=2)):
            record, one, most = with_gaps(case.record(cells), k), CLASSES[k], (1, 12)[k % 2]
            scores = case.joint(record)
            for marked in (record, None):
                read = NomogramDisplay.from_estimator(case.model, one, record=marked, most=most)
                pair = scores[[CLASSES.index(name) for name in (read.one, read.other)]]
                with np.errstate(invalid="ignore"):
                    expected = expit(pair[0] - pair[1])
                if np.isneginf(pair).all():  # the prior decides
                    prior = case.model.prior[[CLASSES.index(n) for n in (read.one, read.other)]]
                    expected = prior[0] / prior.sum()
                assert read.probability(record) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_points_add_up_to_the_evidence_of_an_explanation(setting, undrawn):
    case = fitted(setting, setting.examples(12), "temperature")
    for k, (_, _, cells) in enumerate(setting.examples(4, seed=3)):
        record = with_gaps(case.record(cells), k)
        contrast = explain(case.model, record).against("a", "b")
        if not math.isfinite(contrast.total):
            continue
        display = NomogramDisplay.from_estimator(case.model, "a", "b", record, most=2)
        panel, reading = display, display.read()
        nats = math.log(2.0) * math.fsum(each.bits for each in contrast.evidence)
        expected = panel.scale * (nats - math.fsum(row.lowest for row in panel.rows))
        total = math.fsum([reading.others, *(mark.points for mark in reading.marks)])
        assert total == pytest.approx(expected, rel=1e-9, abs=1e-7)
        assert reading.total == pytest.approx(expected, rel=1e-9, abs=1e-7)
        assert reading.log_odds == pytest.approx(math.log(2.0) * contrast.total, abs=1e-9)


def test_ticks_are_where_the_evidence_of_their_values_is(setting, undrawn):
    case = fitted(setting, setting.examples(12), "weights")
    panel = NomogramDisplay.from_estimator(case.model, "b", "c")
    for row in panel.rows:
        assert panel.points(row, row.lowest) == 0.0
        for tick in row.ticks:
            logs = case.joint({row.column: tick.value}) - case.model.log_prior
            if np.isneginf(logs[[1, 2]]).all():
                assert math.isnan(tick.log_ratio)
            else:
                assert tick.log_ratio == pytest.approx(logs[1] - logs[2], rel=1e-9, abs=1e-9)
    if any(row.strength[1] for row in panel.rows):
        assert max(row.strength[1] for row in panel.rows) * panel.scale == pytest.approx(100.0)


def test_it_is_the_probability_among_the_two_classes_possible_or_not(undrawn):
    chances = {"red": {"a": 0.8, "b": 0.1, "c": 0.4}}
    model = tb.stated({"a": 0.5, "b": 0.25, "c": 0.25}, chances)
    display = NomogramDisplay.from_estimator(model, "a", "b")
    assert display.probability({"red": True}) == pytest.approx(0.4 / (0.4 + 0.025))
    never = tb.stated({"a": 0.0, "b": 1.0}, {"red": {"a": 0.5, "b": 0.25}})
    for label, p in (("a", 0.0), ("b", 1.0)):
        display = NomogramDisplay.from_estimator(never, label, record={"red": True})
        assert display.probability() == p


def test_rulers_and_marks_are_where_they_should_be():
    record = {"refund": "No", "status": "S", "income": 95.0}
    display = NomogramDisplay.from_estimator(loan(), "Yes", record=record)
    ax, panel, reading = display.ax_, display, display.read()
    low, high = panel.ends
    named = {text.get_text(): text.xy[0] for text in ax.texts}
    total = panel.total(math.log(0.3 / 0.7))
    assert panel.log_odds(total) == pytest.approx(math.log(0.3 / 0.7))
    assert named["0.3"] == pytest.approx(100.0 * (total - low) / (high - low))
    marks = [float(line.get_xdata()[0]) for line in ax.lines if line.get_marker() == "o"]
    across = 100.0 * (reading.total - low) / (high - low)
    assert marks == pytest.approx([*(mark.points for mark in reading.marks), across, across])


def test_numbers_have_ticks_up_where_the_evidence_rises_and_down_where_it_falls():
    display = panel = NomogramDisplay.from_estimator(loan(), "Yes")
    (row,) = [row for row in panel.rows if row.column == "income"]
    assert row.bends
    assert row.cut
    turn = 90.0  # about the mean of Yes, whose spread is much the smaller
    for tick in row.ticks:
        assert tick.falls == (tick.value > turn) or abs(tick.value - turn) < 1.0
        assert abs(tick.log_ratio) <= 6.0
    drawn = [(line.get_marker(), line.get_xdata()[0]) for line in display.ax_.lines]
    for tick in row.ticks:
        marker = 3 if tick.falls else 2  # matplotlib's ticks down and up
        assert (marker, panel.points(row, tick.log_ratio)) in drawn
    for said in ("names above a line", "numbers that say more than 400 : 1"):
        assert said in display.alt_text.lower()
        assert any(said in text.get_text() for text in display.ax_.texts)


def test_what_rules_a_class_out_is_an_arrow_and_told():
    display = NomogramDisplay.from_estimator(loan(alpha=0), "Yes", record={"refund": "Yes"})
    assert -math.inf in [mark.points for mark in display.read().marks]
    assert display.probability() == 0.0
    arrows = [line for line in display.ax_.lines if line.get_marker() in ("<", ">")]
    assert len(arrows) >= 4  # two ticks, the record, its total and its probability
    assert "An arrow marks values that rule a class out." in display.alt_text
    assert "the probability of Yes is 0." in display.alt_text


def test_what_no_class_allows_gets_the_prior_and_is_said(undrawn):
    model = tb.stated({"a": 0.75, "b": 0.25}, {"red": {"a": 0.0, "b": 0.0}})
    assert NomogramDisplay.from_estimator(model, "a").probability({"red": True}) == 0.75
    model = tb.TextNB(alpha=0).fit(["win money", "see lunch"], ["spam", "ham"])
    display = NomogramDisplay.from_estimator(model, record="win lunch")
    assert "what neither ham nor spam allows; the probability of ham is 0.5" in display.alt_text
    assert "1 column has no line" in display.alt_text  # a text has too many words for one


def test_of_many_classes_the_most_probable_other_one_is_read_against():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 40
    X = {"size": rng.normal(y, 3.0), "colour": np.array(["r", "g"])[rng.integers(0, 2, 400)]}
    estimator = tb.NaiveBayes().fit(X, y)
    record = {"size": 7.0, "colour": "r"}
    proba = estimator.predict_proba({name: [value] for name, value in record.items()})[0]
    display = NomogramDisplay.from_estimator(estimator, 7, record=record)
    assert display.other == np.argmax(np.where(np.arange(40) == 7, 0.0, proba))
    pair = proba[[7, display.other]]
    assert display.probability() == pytest.approx(pair[0] / pair.sum(), rel=1e-9)


def test_of_many_columns_those_that_tell_most_have_rows(undrawn):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 50)
    X = rng.poisson(1.0, (100, 300)).astype(float)
    X[:50, 177] += 5
    for estimator in (tb.MultinomialNB(), tb.BernoulliNB(binarize=2.0), tb.GaussianNB()):
        display = NomogramDisplay.from_estimator(estimator.fit(X, y), most=3)
        assert display.rows[0].column == "x177"
        assert "297 columns have no line" in display.alt_text


def test_three_hundred_categories_do_not_run_into_each_other():
    rng = np.random.default_rng(1)
    city = np.array([f"city {k}" for k in range(300)])[rng.integers(0, 300, 2000)]
    model = tb.NaiveBayes().fit({"city": city}, np.array(["a", "b"])[rng.integers(0, 2, 2000)])
    display = NomogramDisplay.from_estimator(model)
    figure = display.figure_
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in display.ax_.texts if "city" in text.get_text()]
    assert 4 < len(boxes) < 60
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])


def test_what_cannot_be_drawn_is_refused():
    one_class = tb.NaiveBayes().fit({"x": [1.0, 2.0]}, ["a", "a"])
    text = tb.TextNB().fit(["win money", "see lunch"], ["spam", "ham"])
    for match, model, given in (
        ("both are 'Yes'", loan(), {"one": "Yes", "other": "Yes"}),
        ("did you mean 'Yes'", loan(), {"one": "yes"}),
        ("most is 0", loan(), {"most": 0}),
        ("only one class", one_class, {}),
        ("InformativeDisplay", text, {"record": "win"}),
    ):
        with pytest.raises(tb.TallyBayesError, match=match):
            NomogramDisplay.from_estimator(model, **given)
    with pytest.raises(tb.TallyBayesError, match="no record marked"):
        NomogramDisplay.from_estimator(loan()).probability()


def test_the_class_that_is_read_is_the_answer_or_the_positive_or_the_last(undrawn):
    model = loan()
    assert NomogramDisplay.from_estimator(model).one == "Yes"
    assert NomogramDisplay.from_estimator(model, record=RECORD).one == "No"
    assert NomogramDisplay.from_estimator(loan(positive="No")).one == "No"


def test_rows_stand_in_the_order_of_a_diagnosis_however_long_they_are(undrawn):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 3000)
    rare = np.where(rng.random(6000) < 0.004 * y, "yes", "no")  # tells much, hardly ever
    common = np.where(rng.random(6000) < 0.35 + 0.3 * y, "yes", "no")
    near = rng.normal(0.5 * y, 1.0)  # a fifth of a bit, and no end
    X = {"rare": rare, "common": common, "far": rng.normal(2.0 * y), "near": near,
         "many": rng.poisson(3.0 + 0.5 * y)}  # fmt: skip
    model = tb.NaiveBayes(columns={"many": "poisson"}).fit(X, y)
    rows = NomogramDisplay.from_estimator(model).rows
    named = [row.column for row in rows]
    assert named == [each.column for each in model.diagnose(X, y).information]
    longest = sorted(rows, key=lambda row: row.strength, reverse=True)
    assert named != [row.column for row in longest]
    assert [row.column for row in NomogramDisplay.from_estimator(model, most=2).rows] == named[:2]


def test_rows_are_ranked_by_what_they_tell_of_all_that_can_be(undrawn):
    chances = {"red": {"a": 0.8, "b": 0.1}, "wet": {"a": 0.02, "b": 0.005},
               "old": {"a": 0.5, "b": 0.4}, "same": {"a": 0.3, "b": 0.3}}  # fmt: skip
    prior = {"a": 0.25, "b": 0.75}

    def told(column):  # mutual information of column and class
        p = chances[column]
        mixed = prior["a"] * p["a"] + prior["b"] * p["b"]
        return sum(prior[c] * (p[c] * math.log(p[c] / mixed)
                   + (1 - p[c]) * math.log((1 - p[c]) / (1 - mixed))) for c in "ab")  # fmt: skip

    rows = NomogramDisplay.from_estimator(tb.stated(prior, chances), "a").rows
    expected = sorted(set(chances) - {"same"}, key=told, reverse=True)
    assert [row.column for row in rows] == expected == ["red", "old", "wet"]
