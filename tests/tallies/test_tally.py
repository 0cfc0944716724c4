"""What a tally holds, and what happens when rows or tallies do not fit together."""

import numpy as np
import pytest

import tallybayes as tb
from tallybayes import batches

LOAN = {
    "owner": ["Yes", "No", "No", "Yes", "No", "No", "Yes", "No", "No", "No"],
    "status": ["Single", "Married", "Single", "Married", "Divorced",
               "Married", "Divorced", "Single", "Married", "Single"],
    "income": [125.0, 100.0, 70.0, 120.0, 95.0, 60.0, 220.0, 85.0, 75.0, 90.0],
}  # fmt: skip
DEFAULTED = ["No", "No", "No", "No", "Yes", "No", "No", "Yes", "No", "Yes"]


@pytest.fixture
def loan():
    return tb.Tally.of(LOAN, DEFAULTED, target="defaulted")


def test_the_loan_table_counted_by_hand(loan):
    assert loan.classes == ("No", "Yes")
    assert loan.rows.tolist() == [7, 3]
    assert loan.weight.tolist() == [7.0, 3.0]
    moments, codes = loan.blocks
    assert moments.rows.tolist() == [[7], [3]]
    assert moments.mean[:, 0] == pytest.approx([110.0, 90.0], rel=1e-14)
    assert moments.m2[:, 0] == pytest.approx([6 * 2975.0, 2 * 25.0], rel=1e-14)
    assert codes.labels == (("No", "Yes"), ("Divorced", "Married", "Single"))
    assert codes.rows.tolist() == [[4, 3, 1, 4, 2], [3, 0, 1, 0, 2]]
    assert codes.weight.tolist() == codes.rows.tolist()


def test_counts_and_switches_counted_by_hand():
    X = np.array([[2.0, 0.0], [1.0, np.nan], [0.0, 5.0]])
    kinds = {"x0": tb.Count(), "x1": tb.Binary(threshold=1.0)}
    tally = tb.Tally.of(X, [True, False, True], [1.0, 3.0, 0.5], columns=kinds)
    switch, count = tally.blocks
    assert tally.classes == (False, True)
    assert (tally.rows.tolist(), tally.weight.tolist()) == ([1, 2], [3.0, 1.5])
    assert count.sums.tolist() == [[3.0], [2.0]]
    assert switch.sums.tolist() == [[0.0], [0.5]]
    assert switch.rows.tolist() == [[0], [2]]
    assert switch.weight.tolist() == [[0.0], [1.5]]


def test_a_class_that_appears_only_with_weight_zero_is_no_class():
    tally = tb.Tally.of({"colour": ["red", "blue"]}, ["a", "b"], [1.0, 0.0])
    assert tally.classes == ("a",)
    assert tally.blocks[0].labels == (("red",),)


@pytest.mark.parametrize(
    ("row", "label", "weights", "saying"),
    [
        ({"income": [np.inf]}, ["Yes"], None, "'income'"),
        ({"income": ["much"]}, ["Yes"], None, "'much'"),
        ({"income": [1e200, -1e200]}, ["Yes", "Yes"], None, "'income'"),
        ({"status": [7]}, ["Yes"], None, "'status'|'income'"),
        ({}, [None], None, "row 0"),
        ({}, [3], None, "target|class 3"),
        ({}, ["Yes", "No"], None, "2 labels"),
        ({}, ["Yes"], [-1.0], "weight"),
        ({}, ["Yes"], [np.nan], "weight"),
        ({"age": [30]}, ["Yes"], None, "'age'"),
    ],
)
def test_a_bad_row_is_refused_and_leaves_the_tally_as_it_was(loan, row, label, weights, saying):
    before = loan.to_bytes()
    good = {"owner": ["Maybe"], "status": ["Widowed"], "income": [1.0], **row}
    n = max(map(len, good.values()))
    good = {name: values * (n // len(values)) for name, values in good.items()}
    for method in (loan.update, loan.forget):
        with pytest.raises(tb.TallyBayesError, match=saying):
            method(good, label, weights)
        assert loan.to_bytes() == before


def test_a_negative_count_is_refused_with_its_column_and_row():
    for X in ({"visits": [1, 2, -3]}, np.array([[1], [2], [-3]])):
        name = "visits" if isinstance(X, dict) else "x0"
        tally = tb.Tally(tb.Schema.of((name,), [tb.Count()]))
        with pytest.raises(tb.TallyBayesError, match=rf"'{name}' is -3.* in row 2"):
            tally.update(X, ["a", "a", "b"])
        assert tally == tb.Tally(tally.schema)


def test_a_column_counted_as_two_kinds_does_not_add_up():
    values = {"x": [1.0, 2.0]}
    a = tb.Tally.of(values, ["p", "q"])
    for kind in (tb.Categories(), tb.Binary(), tb.Count()):
        b = tb.Tally.of(values, ["p", "q"], columns={"x": kind})
        for operation in (a.__add__, a.__sub__):
            with pytest.raises(tb.TallyBayesError, match=r"'x' .*Numeric.*schema"):
                operation(b)


def test_thresholds_bags_and_declared_values_are_part_of_the_kind():
    for one, other in (
        (tb.Binary(0.0), tb.Binary(1.0)),
        (tb.Count("title"), tb.Count("body")),
        (tb.Categories(), tb.Categories((1, 2))),
    ):
        a, b = (tb.Tally.of({"x": [1, 2]}, ["p", "q"], columns={"x": k}) for k in (one, other))
        with pytest.raises(tb.TallyBayesError, match="'x'"):
            a + b


def test_tallies_of_different_columns_do_not_add_up():
    a, b = tb.Tally.of({"x": [1.0]}, ["p"]), tb.Tally.of({"x": [1.0], "z": [1.0]}, ["p"])
    for left, right in ((a, b), (b, a)):
        with pytest.raises(tb.TallyBayesError, match="'z' is in only one"):
            left + right


def test_tallies_of_different_targets_do_not_add_up():
    a, b = (tb.Tally.of({"x": [1.0]}, ["p"], target=target) for target in ("spam", "fraud"))
    with pytest.raises(tb.TallyBayesError, match="target"):
        a + b


def test_classes_of_two_types_do_not_add_up():
    a, b = tb.Tally.of({"x": [1.0]}, ["1"]), tb.Tally.of({"x": [1.0]}, [1])
    with pytest.raises(tb.TallyBayesError, match="mixes whole numbers and text"):
        a + b


def test_categories_of_two_types_do_not_add_up():
    schema = tb.Schema.of(("x",), [tb.Categories()])
    a = tb.Tally.of({"x": ["1"]}, ["p"], schema=schema)
    with pytest.raises(tb.TallyBayesError, match=r"'x' mixes whole numbers and text"):
        a.update({"x": [1]}, ["p"])


def test_a_tally_and_something_else_do_not_add_up(loan):
    with pytest.raises(TypeError):
        loan + 1
    assert loan != 1


def test_columns_are_matched_by_name_whatever_their_order(loan):
    again = tb.Tally.of(dict(reversed(LOAN.items())), DEFAULTED, schema=loan.schema)
    assert again == loan


def test_integers_without_rows_are_an_empty_tally():
    schema = tb.Schema.of(("x0",), [tb.Categories()])
    tally = tb.Tally.of(np.empty((0, 1), np.int64), [], schema=schema)
    assert tally == tb.Tally(schema)
    assert tb.Tally.of(np.empty((0, 1), np.int64), []).classes == ()


@pytest.mark.parametrize("values", [[-(2**63), 2**63 - 1, 0], [0, 10**15, 7], [-5, 3, -5]])
def test_integers_of_any_size_are_categories(values):
    schema = tb.Schema.of(("x0",), [tb.Categories()])
    tally = tb.Tally.of(np.array(values)[:, None], ["a"] * 3, schema=schema)
    assert tally.blocks[0].labels == (tuple(sorted(set(values))),)
    assert tally.blocks[0].rows.sum() == 3


def test_a_rare_integer_that_comes_late_is_counted():
    X = np.zeros((5000, 2), np.int64)
    X[4999] = [17, -4]
    schema = tb.Schema.of(("x0", "x1"), [tb.Categories()] * 2)
    tally = tb.Tally.of(X, ["a"] * 5000, schema=schema)
    assert tally.blocks[0].labels == ((0, 17), (-4, 0))
    assert tally.blocks[0].rows.tolist() == [[4999, 1, 1, 4999]]


def test_a_table_longer_than_a_block_is_counted_once(loan, monkeypatch):
    monkeypatch.setattr(batches, "ROWS_IN_A_BLOCK", 3)
    again = tb.Tally.of(LOAN, DEFAULTED, schema=loan.schema)
    assert again.blocks[1] == loan.blocks[1]
    np.testing.assert_array_equal(again.rows, loan.rows)
    np.testing.assert_allclose(again.blocks[0].m2, loan.blocks[0].m2, rtol=1e-12)


def test_an_error_names_the_row_of_the_table_and_not_of_its_block(monkeypatch):
    monkeypatch.setattr(batches, "ROWS_IN_A_BLOCK", 3)
    with pytest.raises(tb.TallyBayesError, match="row 7"):
        tb.Tally.of({"x": [1.0] * 7 + [np.inf]}, ["a"] * 8)
