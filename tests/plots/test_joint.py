"""Columns that are counted together, drawn: the numbers are the model's own."""

import math

import numpy as np
import pytest

import tallybayes as tb
from plots.scored_rows import texts
from tallybayes.explanations import explain
from tallybayes.plots import ColumnDisplay, JointDisplay, NomogramDisplay, WaterfallDisplay
from tallybayes.plots.style import unattached

RNG = np.random.default_rng(0)
N = 900
SIZE = RNG.normal(size=N).round(2)
SIZE[::9] = np.nan
COLOUR = np.array(["red", "blue", "green"])[RNG.integers(0, 3, N)]
FLAG = RNG.random(N) < 0.5
X = {"size": SIZE, "colour": COLOUR, "flag": FLAG, "noise": RNG.normal(size=N)}
ODD = (np.nan_to_num(SIZE) > 0.0) ^ (COLOUR == "red") ^ (RNG.random(N) < 0.1)
TWO = (ODD ^ (FLAG & (COLOUR == "green"))).astype(int)
THREE = np.array(["a", "b", "c"])[(ODD + FLAG * (COLOUR == "blue")) % 3]
PAIR, TRIPLE = ("size", "colour"), ("size", "colour", "flag")


@pytest.fixture(autouse=True)
def without_pyplot():
    with unattached():
        yield


@pytest.fixture(scope="module", params=[TWO, THREE], ids=["two", "three"])
def model(request):
    return tb.SemiNaiveBayes(joints=[PAIR, ("colour", "flag"), TRIPLE]).fit(X, request.param)


def rows(n=60):
    every = zip(*(values[:n].tolist() for values in X.values()), strict=True)
    for row in every:
        yield {k: None if v != v else v for k, v in zip(X, row, strict=True)}


@pytest.mark.parametrize("columns", [PAIR, TRIPLE])
def test_a_cell_has_the_models_terms_times_their_weights(model, columns):
    of = model.model_
    for one in of.classes:
        display = JointDisplay.from_estimator(model, columns, one)
        c = of.classes.index(one)
        for record in rows():
            names = {" x ".join(columns), *(view.name for view in display.joint.views)}
            terms = [e.log_likelihood for e in explain(of, record).terms if e.column in names]
            logs = np.sum(terms, axis=0)
            against = logs[c] - np.delete(logs, c).mean()
            cell = JointDisplay(display.joint, one, record).cell
            assert display.bits[cell] == pytest.approx(against / math.log(2.0), abs=1e-9)


def test_cells_are_labelled_and_the_records_is_framed(model):
    record = {"size": 0.3, "colour": "red"}
    display = JointDisplay.from_estimator(model, "size x colour", record=record)
    (ax,) = display.axes_
    assert [text.get_text() for text in ax.get_yticklabels()] == ["blue", "green", "red"]
    sizes = [text.get_text() for text in ax.get_xticklabels()]
    assert sizes[0].startswith("≤ ")
    assert sizes[-1] == "missing"
    low, high = sizes[display.cell[0]].split(" to ")
    assert float(low) < 0.3 <= float(high)
    x, y = ax.patches[0].get_xy()
    assert (round(x + 0.5), round(y + 0.5)) == display.cell
    assert np.abs(ax.images[0].get_array()).max() == pytest.approx(np.abs(display.bits).max())
    assert f"The record is in {low} to {high}, red" in display.alt_text
    assert JointDisplay.from_estimator(model, PAIR, record={"colour": "pink"}).cell is None


def test_three_columns_have_a_panel_for_each_value_of_one(model):
    display = JointDisplay.from_estimator(model, TRIPLE)
    titles = [ax.get_title(loc="left") for ax in display.axes_]
    assert titles == ["flag: False", "flag: True"]
    for k, ax in enumerate(display.axes_):
        drawn = np.asarray(ax.images[0].get_array())
        assert drawn == pytest.approx(display.bits[:, :, k].T)


def test_of_many_values_those_that_tell_most_are_drawn():
    rng = np.random.default_rng(0)
    city = np.array([f"c{k}" for k in range(60)])[rng.integers(0, 60, 3000)]
    flag = rng.random(3000) < 0.5
    y = (city < "c3") ^ flag
    joint = [("city", "flag")]
    fitted = tb.SemiNaiveBayes(joints=joint).fit({"city": city, "flag": flag}, y)
    display = JointDisplay.from_estimator(fitted, joint[0])
    assert display.axes_[0].images[0].get_array().shape == (2, 24)
    assert "72 more cells not drawn" in texts(display)


def test_what_is_not_counted_together_is_refused(model):
    plain = tb.NaiveBayes().fit(X, TWO)
    for match, of, columns, more in (
        ("did you mean 'size x colour'", model, "size x color", {}),
        ("no 'colour x size' together", model, ("colour", "size"), {}),
        ("SemiNaiveBayes counts those together", plain, PAIR, {}),
        ("'pink' is not a class", model, PAIR, {"one": "pink"}),
    ):
        with pytest.raises(tb.TallyBayesError, match=match):
            JointDisplay.from_estimator(of, columns, **more)


def test_a_column_with_views_is_drawn_by_what_they_add_together(model):
    of = model.model_
    assert len(of.column("size").views) > 1
    display = ColumnDisplay.from_estimator(model, "size", X, TWO, record={"size": 0.5})
    alone = of.joint_log_likelihood(of.table_of({"size": 0.5}))[0]
    # what the columns that are missing say is not what this one says
    rest = of.joint_log_likelihood(of.table_of({}))[0] - of.column("size").evidence([None])[0]
    rest -= sum(each.evidence([(None,) * len(each.reads)])[0] for each in of.joints())
    added = alone - rest
    added -= sum(
        each.evidence([tuple({"size": 0.5}.get(name) for name in each.reads)])[0]
        for each in of.joints()
    )
    k = len(of.classes)
    expected = (k * added - added.sum()) / (k - 1) / math.log(2.0)
    assert display.value_likelihood == pytest.approx(expected, abs=1e-9)
    assert display.ax_.get_ylabel() == "evidence in bits"
    assert min(display.places) >= np.nanmin(SIZE)


def test_the_nomogram_reads_what_the_model_predicts(model):
    of = model.model_
    for record in rows(12):
        proba = model.predict_proba([record])[0]
        for most in (1, 20):
            display = NomogramDisplay.from_estimator(model, of.classes[0], record=record, most=most)
            other = of.classes.index(display.other)
            pair = proba[0] / (proba[0] + proba[other])
            assert display.probability() == pytest.approx(pair, rel=1e-9)
    names = {row.column for row in display.rows}
    # joints of a few cells have a row, those of many have none
    joints = {each.subject: len(each.support.values) for each in of.joints()}
    assert names - {*X} == {name for name, cells in joints.items() if cells <= 12}
    assert "joint" in display.unshown
    (row,) = (row for row in display.rows if row.column == "size")
    ratios = {tick.value: tick.log_ratio for tick in row.ticks}
    assert None in ratios  # that it is missing is evidence
    for value, ratio in ratios.items():
        logs = of.column("size").evidence([value])[0]
        assert ratio == pytest.approx(logs[0] - logs[other], abs=1e-9)


def test_a_column_is_one_bar_of_the_waterfall_and_columns_together_another(model):
    record = next(rows())
    display = WaterfallDisplay.from_estimator(model, record, most=30)
    names = [step.name.partition(" = ")[0] for step in display.steps]
    assert len(names) == len(set(names))
    assert sum(name.startswith("size") for name in names) <= 3  # alone, and in two joints
    joint = model.model_.joint_log_likelihood([record])[0]
    places = [model.model_.classes.index(c) for c in (display.contrast.one, display.contrast.other)]
    bits = (joint[places[0]] - joint[places[1]]) / math.log(2.0)
    assert math.fsum(step.bits for step in display.steps) == pytest.approx(bits, abs=1e-9)
    assert explain(model, record).decision == model.predict([record])[0]
