"""Numbers and names at the edge of what can be computed: right, or refused by name."""

import numpy as np
import pyarrow as pa
import pytest

import tallybayes as tb
from plain_model import train
from tallybayes import workflows
from tallybayes.families.gaussian import all_rows
from tallybayes.sources import open_rows

ROWS = {"x": [0.0, 1.2e154, 1e153, 2e153]}


def assert_left_out_as_by_new_fits(columns, table, y, rows, w=None, rtol=1e-9, atol=0.0):
    """Compare what leave-one-out says of some rows with models that never saw them."""
    held = tb.NaiveBayes(columns).cross_val(table, y, folds="loo", sample_weight=w)
    for row in rows:
        rest = np.arange(len(y)) != row
        part, asked = ({n: x[some] for n, x in table.items()} for some in (rest, ~rest))
        weights = None if w is None else w[rest]
        alone = tb.NaiveBayes(columns).fit(part, y[rest], sample_weight=weights)
        expected = alone.predict_proba(asked)[0]
        np.testing.assert_allclose(held.proba[row], expected, rtol=rtol, atol=atol)


def test_a_variance_near_the_largest_number_decides_as_a_small_one_does():
    large = tb.NaiveBayes().fit(ROWS, list("aabb"))
    small = tb.NaiveBayes().fit({"x": [v / 1e10 for v in ROWS["x"]]}, list("aabb"))
    found = large.predict_proba({"x": [1.2e154]})
    np.testing.assert_allclose(found, small.predict_proba({"x": [1.2e144]}), rtol=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tb.Complement(alpha=1e308), "alpha is 1e"),
        (lambda: tb.Categorical(m=1e308), "m is 1e"),
        (lambda: tb.Empirical(alpha=1e308), "alpha is 1e"),
        (lambda: tb.Tally.of(ROWS, list("aabb"), [5e-324, 1, 1, 1]), "weight of row 0 is 5e-324"),
        (lambda: tb.Tally.of(ROWS, list("aabb"), [1, 1e308, 1e-308, 1]), "weight of row 1"),
    ],
)
def test_what_would_give_no_probabilities_is_refused(make, message):
    with pytest.raises(tb.TallyBayesError, match=message):
        make()


def test_a_model_that_has_forgotten_all_rows_says_so():
    rows, labels = {"a": ["x", "y"]}, ["p", "q"]
    model = tb.NaiveBayes().partial_fit(rows, labels, classes=labels)
    model.forget(rows, labels)
    with pytest.raises(tb.TallyBayesError, match="no rows are counted"):
        model.predict_proba(rows)
    stated = tb.NaiveBayes(prior={"p": 0.3, "q": 0.7}).partial_fit(rows, labels)
    stated.forget(rows, labels)
    np.testing.assert_allclose(stated.predict_proba(rows), [[0.3, 0.7]] * 2)


# squares of the smallest have only a few binary digits, in new fits too
@pytest.mark.parametrize(
    ("size", "known"), [(1e-160, 1e-2), (1e-150, 1e-6), (1e-145, 1e-9), (1.0, 1e-9), (1e100, 1e-9)]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_of_tiny_numbers_is_that_of_new_fits(size, known, weighted):
    rng = np.random.default_rng(7)
    x, y = size * rng.normal(3.0, 1.0, 24), np.arange(24) % 2
    x[y == 1] += size
    w = np.where(np.arange(24) % 5 == 0, 100.0, 0.5) if weighted else None
    assert_left_out_as_by_new_fits("gaussian", {"x": x}, y, range(24), w, known, 1e-9)


def test_an_error_of_leave_one_out_names_the_column():
    table = {"income": [-1e154, 1.0, 1e150, 1.3e154, 0.0]}
    try:
        held = tb.NaiveBayes().cross_val(table, list("aabbb"), folds="loo")
    except tb.TallyBayesError as error:
        assert "'income'" in str(error)  # noqa: PT017
    else:
        np.testing.assert_allclose(held.proba.sum(axis=1), 1.0)


def test_the_moments_of_all_classes_together_are_those_of_all_rows():
    rng = np.random.default_rng(2)
    y = np.arange(4000) % 500
    X = 1e6 + rng.normal(size=(4000, 3)) + y[:, None] * 1e-3
    together = all_rows(tb.Tally.of(X, y).blocks[0])
    one = tb.Tally.of(X, np.zeros(4000, int)).blocks[0]
    np.testing.assert_allclose(together.mean, one.mean[0], rtol=1e-14)
    np.testing.assert_allclose(together.m2, one.m2[0], rtol=1e-11)


def test_a_record_of_a_wide_model_may_hold_its_label():
    X = np.random.default_rng(0).normal(size=(40, 200))
    tally = tb.Tally.of({f"x{k}": X[:, k] for k in range(200)}, np.arange(40) % 2, target="label")
    model = tb.estimate(tally)
    record = {f"x{k}": 0.1 for k in range(200)}
    assert model._record_scorer({**record, "label": 1}) == model._record_scorer(record) is not None


def test_poisson_leaves_rows_out_where_a_class_has_no_values():
    rng = np.random.default_rng(4)
    y = np.arange(30) % 3
    x = rng.poisson(2.0 + y).astype(float)
    x[y == 2] = np.nan
    table = {"x": x, "z": rng.poisson(3.0, 30)}
    columns = dict.fromkeys(table, "poisson")
    assert_left_out_as_by_new_fits(columns, table, y, (*range(6), 29))


@pytest.mark.parametrize("family", ["poisson", "multinomial"])
def test_records_can_be_drawn_however_large_the_counts(family):
    X = np.array([[1e19, 1.0], [2e19, 2.0], [3e19, 1.0], [5e19, 2.0]])
    drawn = tb.NaiveBayes(family).fit(X, ["a", "a", "b", "b"]).sample(200, seed=0)
    mean = {label: drawn["x0"][drawn["class"] == label].mean() for label in "ab"}
    assert mean == pytest.approx({"a": 1.5e19, "b": 4e19}, rel=1e-6)


def test_names_of_ten_thousand_characters_bury_neither_messages_nor_tables():
    name = "x" * 10_000
    model = tb.NaiveBayes().fit({name: [1.0, 2.0, 3.0], "y": list("uvu")}, list("pqq"))
    assert max(map(len, model.summary().splitlines())) < 200
    for table in ({name: [1.0]}, {name[:-1] + "y": [1.0], "y": ["u"]}):
        with pytest.raises(tb.TallyBayesError, match="column") as error:
            model.predict(table)
        assert len(str(error.value)) < 1_000


def test_labels_from_two_to_the_63_on_are_learnt_and_predicted(tmp_path):
    large = pa.array([18446744073709551615, 7] * 10, pa.uint64())
    table = pa.table({"x": [1.0, 9.0] * 10, "y": large})
    stored = train(table, "y").stored
    done = workflows.predict(stored, table.select(["x"]), tmp_path / "out.csv")
    assert dict(done.classes) == {7: 10, 18446744073709551615: 10}
    assert b"18446744073709551615" in (tmp_path / "out.csv").read_bytes()


def test_carriage_returns_in_names_are_read_as_they_were_written(tmp_path):
    stored = train({"x": [1.0, 9.0] * 10, "y": ["p\r", "q"] * 10}, "y").stored
    out = tmp_path / "out.csv"
    workflows.predict(stored, {"x": [1.0], "a\r1": ["k"]}, out, proba=True, keep=["a\r1"])
    assert open_rows(out).names == ("a\r1", "prediction", "P(p\r)", "P(q)")
