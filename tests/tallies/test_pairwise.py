"""Pieces add up in pairs: the same sum, and no key is handled more than log2(pieces) times."""

import pytest

import tallybayes as tb
from tallybayes.tallies.codes import Codes
from tallybayes.tallies.tally import PairwiseSum

SCHEMA = tb.Schema.same(("id",), tb.Categories())


def piece(number, size=10):
    ids = [f"{number:03d}-{k}" for k in range(size)]
    return tb.Tally.of({"id": ids}, [f"class {number % 3}"] * size, schema=SCHEMA)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 13])
def test_the_sum_is_that_of_adding_one_after_the_other(n):
    pieces = PairwiseSum()
    for number in range(n):
        pieces.add(piece(number))
    assert pieces.total() == sum(piece(number) for number in range(n))
    assert pieces.total() is None


def test_many_valued_columns_are_not_quadratic(monkeypatch):
    handled = []
    plus = Codes.plus

    def counted(self, *given):
        sum_of_both = plus(self, *given)
        handled.append(len(sum_of_both.labels[0]))
        return sum_of_both

    monkeypatch.setattr(Codes, "plus", counted)
    monkeypatch.setattr("tallybayes.batches.ROWS_IN_A_BLOCK", 10)
    tb.Tally.of({"id": [f"{k:04d}" for k in range(640)]}, ["a", "b"] * 320, schema=SCHEMA)
    assert len(handled) == 63
    assert sum(handled) == 640 * 6  # one after the other: 20,790
