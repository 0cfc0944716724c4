"""What columns tell of the class, against scikit-learn, integrals and plain loops."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.sparse import csr_array
from scipy.stats import norm
from sklearn.metrics import mutual_info_score

import tallybayes as tb
from tallybayes.model import Fitted, Recipe
from tallybayes.model.calibration import Calibration
from tallybayes.validation.diagnosis import information as module
from tallybayes.validation.diagnosis.diagnosis import diagnose
from tallybayes.validation.diagnosis.information import information
from tallybayes.validation.diagnosis.rows import Rows
from validation.registry import CLASSES, SETTINGS


def told(fitted, X, y, w=None):
    rows = Rows.of(fitted, X, y, w, 10**9, 0)
    return {each.column: each for each in information(rows)}


def by_brute_force(model, setting, rows):
    """Ask the model about records that have one value only, one by one."""
    weight = {c: sum(w for label, w, _ in rows if label == c) for c in model.classes}
    total = sum(weight.values())
    found = {}
    for j, name in enumerate(setting.names):
        bits = []
        for label, w, cells in rows:
            if w == 0.0:
                continue
            terms = model.joint_log_likelihood([{name: cells[j]}])[0] - model.log_prior
            own = math.exp(terms[model.classes.index(label)])
            mixed = sum(
                weight[c] / total * math.exp(t) for c, t in zip(model.classes, terms, strict=True)
            )
            term = math.log2(own / mixed) if own else (-math.inf if mixed else 0.0)
            bits.append((term, w))
        mean = sum(term * w for term, w in bits) / total
        apart = sum((w * (term - mean)) ** 2 for term, w in bits)
        found[name] = mean, math.sqrt(apart) / total
    return found


@pytest.mark.parametrize("setting", SETTINGS, ids=repr)
def test_every_family_tells_what_its_own_factor_says_of_each_row(setting, monkeypatch):
    monkeypatch.setattr(module, "CELLS_AT_ONCE", 40)  # in many parts
    rows = setting.examples(12)
    X, y = setting.source([cells for _, _, cells in rows]), [label for label, _, _ in rows]
    w = [w for _, w, _ in rows]
    tally = tb.Tally.of(X, y, w, schema=setting.schema).with_classes(CLASSES)
    fitted = Fitted(tally, Recipe(setting.families, setting.columns))
    expected = by_brute_force(fitted.model, setting, rows)
    found = told(fitted, X, y, w)
    assert set(found) == set(expected)
    for name, (bits, error) in expected.items():
        assert found[name].bits == pytest.approx(bits, rel=1e-9, abs=1e-12), name
        assert found[name].error == pytest.approx(error, rel=1e-6, abs=1e-8), name


@pytest.mark.parametrize("n_classes", [2, 3])
def test_unsmoothed_frequencies_tell_the_mutual_information_with_the_class(n_classes):
    rng = np.random.default_rng(n_classes)
    y = rng.integers(0, n_classes, 300)
    table = {
        "dependent": np.array(list("abcd"))[(y + rng.integers(0, 3, 300)) % 4],
        "noise": np.array(list("xyz"))[rng.integers(0, 3, 300)],
        "copy": np.array(["one", "two", "three"])[y],
    }
    found = told(Fitted(tb.Tally.of(table, y), Recipe((tb.Categorical(alpha=0),))), table, y)
    for name, column in table.items():
        expected = mutual_info_score(y, column) / math.log(2)
        assert found[name].bits == pytest.approx(expected, abs=1e-12)
        assert found[name].rows == 300
    assert found["copy"].share == pytest.approx(1.0, abs=1e-12)


def test_gaussian_columns_tell_the_integral():
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < 0.3
    means, spreads = np.array([0.0, 1.5]), np.array([1.0, 0.6])
    x = rng.normal(means[y.astype(int)], spreads[y.astype(int)])

    def density(v, c):
        return norm.pdf(v, means[c], spreads[c])

    def term(v):
        mixed = 0.7 * density(v, 0) + 0.3 * density(v, 1)
        parts = ((p, density(v, c)) for c, p in ((0, 0.7), (1, 0.3)))
        return sum(p * f * math.log2(f / mixed) for p, f in parts if f > 0.0)

    found = told(Fitted(tb.Tally.of({"x": x}, y)), {"x": x}, y)["x"]
    assert found.error == pytest.approx(0.0, abs=0.01)
    assert found.bits == pytest.approx(quad(term, -8, 8)[0], abs=4 * found.error)


@pytest.mark.parametrize("family", [tb.Multinomial(), tb.Bernoulli(), tb.Poisson()])
def test_sparse_rows_tell_what_dense_rows_tell(family):
    rng = np.random.default_rng(1)
    x = rng.poisson(0.4, (80, 12)).astype(float)
    y, w = rng.integers(0, 3, 80), rng.random(80)
    fitted = Fitted(tb.Tally.of(x, y, w, columns=family), Recipe((family,)))
    dense, sparse = told(fitted, x, y, w), told(fitted, csr_array(x), y, w)
    for name, each in dense.items():
        assert sparse[name].bits == pytest.approx(each.bits, rel=1e-10, abs=1e-13)
        assert sparse[name].error == pytest.approx(each.error, rel=1e-7)


def test_a_missing_value_tells_nothing():
    x = np.array(["a", "b", "a", "b"] * 5, object)
    y = np.array([0, 1, 0, 1] * 5)
    fitted = Fitted(tb.Tally.of({"x": x}, y))
    whole = told(fitted, {"x": x}, y)["x"]
    half = x.copy()
    half[:10] = None
    part = told(fitted, {"x": half}, y)["x"]
    assert (whole.rows, part.rows) == (20, 10)
    assert part.bits == pytest.approx(0.5 * whole.bits, rel=1e-12)


def test_the_exponents_of_a_calibrated_model_make_no_difference():
    rng = np.random.default_rng(2)
    X, y = {"x": rng.normal(size=40), "c": rng.choice(["a", "b"], 40)}, rng.integers(0, 2, 40)
    plain = Fitted(tb.Tally.of(X, y))
    calibration = Calibration("weights", {"x": 0.2, "c": 0.0})
    weighted = replace(plain, recipe=Recipe(calibration=calibration))
    assert told(weighted, X, y) == told(plain, X, y)


def test_columns_come_in_the_order_of_what_they_tell():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 500)
    X = {f"x{k}": rng.normal(k * y, 1.0) for k in (0, 2, 1, 3)}
    found = diagnose(Fitted(tb.Tally.of(X, y)), X, y).information
    assert [each.column for each in found] == ["x3", "x2", "x1", "x0"]
    assert found[0].share == pytest.approx(found[0].bits / 1.0, rel=0.01)


def test_a_column_that_is_wrong_about_new_rows_tells_less_than_nothing():
    X, y = {"x": ["a", "b"] * 20}, ["s", "h"] * 20
    fitted = Fitted(tb.Tally.of(X, y))
    found = diagnose(fitted, X, ["h", "s"] * 20)
    assert found.information[0].bits < -1.0
    assert found.information[0].misleads
    assert found.warnings == (
        "'x' tells less than nothing: on its own it predicts these rows worse than no column at "
        "all; use another family for it, or drop it",
    )
    assert not told(fitted, X, y)["x"].misleads


def test_what_no_smoothing_made_impossible_tells_minus_infinity():
    fitted = Fitted(
        tb.Tally.of({"x": ["a", "b"] * 9}, ["s", "h"] * 9), Recipe((tb.Categorical(0),))
    )
    found = diagnose(fitted, {"x": ["a", "a", "b"]}, ["s", "h", "h"])
    assert found.information[0].bits == -math.inf
    assert found.to_dict()["information"][0]["bits"] == "-inf"
    assert re.search(r"x +categories +-infinity +3\n", str(found))
    assert found.information[0].misleads
    assert found.warnings == (
        "'x' has values that the model holds to be impossible in the class of the row, so that no "
        "other column can save it; smooth it (alpha above 0), use another family for it, or drop "
        "it",
    )


def test_counts_that_no_smoothing_made_impossible_are_warned_of():
    x = np.array([[3.0, 1.0, 0.0], [2.0, 1.0, 0.0], [0.0, 1.0, 4.0]] * 10)
    y = np.array(["s", "s", "h"] * 10)
    model = tb.NaiveBayes(tb.Multinomial(alpha=0)).fit(x, y)
    assert not any("impossible" in each for each in diagnose(model, x, y).warnings)
    found = diagnose(model, x[:, ::-1], y)
    assert found.warnings[-1].startswith("'x0' and 'x2' have values that the model holds to be")


def test_a_weight_is_a_repetition_in_the_bits_but_not_in_the_number_of_rows():
    rng = np.random.default_rng(4)
    x, y, w = rng.normal(size=30), rng.integers(0, 2, 30), rng.integers(0, 4, 30)
    fitted = Fitted(tb.Tally.of({"x": x}, y))
    once = told(fitted, {"x": np.repeat(x, w)}, np.repeat(y, w))["x"]
    weighted = told(fitted, {"x": x}, y, w)["x"]
    assert weighted.bits == pytest.approx(once.bits, rel=1e-12)
    assert weighted.error > 1.1 * once.error
    plain, hundredfold = told(fitted, {"x": x}, y)["x"], told(fitted, {"x": x}, y, [100] * 30)["x"]
    assert hundredfold.error == pytest.approx(plain.error, rel=1e-9)


def test_one_class_leaves_nothing_to_know():
    fitted = Fitted(tb.Tally.of({"x": ["a", "b"] * 9}, ["s", "h"] * 9))
    found = diagnose(fitted, {"x": ["a", "b"]}, ["s", "s"])
    assert found.entropy == 0.0
    assert [(each.bits, each.share) for each in found.information] == [(0.0, 0.0)]
    assert not found.warnings


def test_a_value_that_is_impossible_in_every_class_tells_nothing():
    family = tb.Categorical(alpha=0, unseen="smooth")
    fitted = Fitted(tb.Tally.of({"x": ["a", "b"] * 9}, ["s", "h"] * 9), Recipe((family,)))
    whole = told(fitted, {"x": ["a", "b"]}, ["s", "h"])["x"]
    part = told(fitted, {"x": ["a", "b", "new", "new"]}, ["s", "h", "s", "h"])["x"]
    assert whole.bits == pytest.approx(1.0, rel=1e-12)
    assert part.bits == pytest.approx(0.5, rel=1e-12)


def test_columns_that_tell_the_same_come_in_the_order_of_the_columns():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    x = rng.normal(y)
    X = {"noise": rng.normal(size=300)} | {f"z{9 - k}": x * (k + 0.1) + 3.3 * k for k in range(9)}
    found = diagnose(Fitted(tb.Tally.of(X, y)), X, y).information
    assert [each.column for each in found] == [*list(X)[1:], "noise"]
