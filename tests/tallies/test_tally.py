"""What a tally holds, and what happens when rows or tallies do not fit together."""

import numpy as np
import pytest

import tallybayes as tb
from tallybayes.tallies import Codes
from tallybayes.tallies.tally import total

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


def one(kind=None, y="p", target="class", **columns):
    table = {"x": [1.0], **columns}
    return tb.Tally.of(table, [y], columns=kind and {"x": kind}, target=target)


@pytest.mark.parametrize(
    ("a", "b", "saying"),
    [
        (one(), one(tb.Categories()), "'x' .*Numeric.*schema"),
        (one(), one(tb.Binary()), "'x' .*Numeric.*schema"),
        (one(tb.Binary(0.0)), one(tb.Binary(1.0)), "'x'"),
        (one(tb.Count("title")), one(tb.Count("body")), "'x'"),
        (one(tb.Categories()), one(tb.Categories((1.0, 2.0))), "'x'"),
        (one(tb.Intervals((1.0,))), one(tb.Intervals((2.0,))), r"'x' was counted as Intervals"),
        (one(), one(z=[1.0]), "'z' is in only one"),
        (one(target="spam"), one(target="fraud"), "target"),
        (one(y="1"), one(y=1), "mixes whole numbers and text|was never counted"),
    ],
)
def test_tallies_that_counted_something_else_do_not_add_up(a, b, saying):
    for left, right in ((a, b), (b, a)):
        for operation in (left.__add__, left.__sub__):
            with pytest.raises(tb.TallyBayesError, match=saying):
                operation(right)


def test_a_tally_and_something_else_do_not_add_up(loan):
    with pytest.raises(TypeError):
        loan + 1
    assert loan != 1


def test_a_rare_integer_that_comes_late_is_counted():
    X = np.zeros((5000, 2), np.int64)
    X[4999] = [17, -4]
    schema = tb.Schema.of(("x0", "x1"), [tb.Categories()] * 2)
    tally = tb.Tally.of(X, ["a"] * 5000, schema=schema)
    assert tally.blocks[0].labels == ((0, 17), (-4, 0))
    assert tally.blocks[0].rows.tolist() == [[4999, 1, 1, 4999]]


class Unsearched(tuple):
    """Classes in which nothing may be searched one by one."""

    __slots__ = ()

    def __contains__(self, label):
        raise AssertionError("searched")

    index = __contains__


def test_many_classes_are_not_quadratic():
    labels = [f"class {k:03}" for k in range(300)]
    tally = tb.Tally.of({"x": np.arange(600.0)}, labels * 2)
    part = tb.Tally.of({"x": np.arange(300.0)}, labels, schema=tally.schema)
    tally.classes = Unsearched(tally.classes)
    assert (tally - part).rows.tolist() == [1] * 300
    assert (tally + part).rows.tolist() == [3] * 300


IDS = tb.Schema.same(("id",), tb.Categories())


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 13])
def test_a_sum_in_pairs_is_that_of_adding_one_after_the_other(n):
    tallies = [tb.Tally.of({"id": [f"{k}", "x"]}, ["a", f"b{k % 3}"], schema=IDS) for k in range(n)]
    assert total(iter(tallies)) == sum(tallies)
    assert total([]) is None


def test_many_valued_columns_are_not_quadratic(monkeypatch):
    handled = []
    plus = Codes.plus

    def counted(self, *given):
        handled.append(plus(self, *given))
        return handled[-1]

    monkeypatch.setattr(Codes, "plus", counted)
    monkeypatch.setattr("tallybayes.batches.ROWS_IN_A_BLOCK", 10)
    tb.Tally.of({"id": [f"{k:04d}" for k in range(640)]}, ["a", "b"] * 320, schema=IDS)
    assert len(handled) == 63
    assert sum(len(each.labels[0]) for each in handled) == 640 * 6  # one by one: 20,790
