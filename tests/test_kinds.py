"""Kinds encode themselves: those of one's own count beside the ordinary ones of a column."""

from typing import ClassVar

import numpy as np
import pytest

import tallybayes as tb
from laws.own import Both, Gaps, Pairs, Whether
from tallybayes.batches import batches, encoded
from tallybayes.kinds import Kind
from tallybayes.sources import as_source
from tallybayes.tallies import Codes, Counts

NAN = float("nan")


TABLE = {
    "income": [125.0, NAN, 70.0, NAN, NAN, 60.0, 220.0, 85.0],
    "status": ["Single", "Married", "Single", "Married", "Divorced", None, "Divorced", "Single"],
    "refund": [True, False, False, True, False, False, True, False],
}
Y = ["no", "no", "no", "yes", "yes", "no", "no", "yes"]
W = [1.0, 2.0, 1.0, 0.5, 1.0, 0.0, 3.0, 1.0]
SCHEMA = (
    tb.Schema.infer(TABLE, target="cheat")
    .with_extra(Gaps(), "income", "status")
    .with_extra(Both(), ("status", "refund"))
)


def tally(rows=slice(None), weights=None):
    part = {name: values[rows] for name, values in TABLE.items()}
    return tb.Tally.of(part, Y[rows], None if weights is None else weights[rows], schema=SCHEMA)


def blocks(counted):
    """Return what was counted of the missing values and of the pairs."""
    *_, missing, joint = counted.blocks
    assert isinstance(missing, Counts)
    assert isinstance(joint, Codes)
    return missing, joint


def test_what_is_missing_is_counted_beside_the_values():
    missing, _ = blocks(tally())
    assert missing.sums.tolist() == [[1.0, 1.0], [2.0, 0.0]]  # no, yes; income, status
    assert SCHEMA.names_of(SCHEMA.extra[0]) == ["income is missing", "status is missing"]
    assert blocks(tally(weights=W))[0].sums.tolist() == [[2.0, 0.0], [1.5, 0.0]]


def test_pairs_are_counted_beside_their_parts():
    _, joint = blocks(tally())
    assert SCHEMA.names_of(SCHEMA.extra[1]) == ["status x refund"]
    of = dict(zip(joint.labels[0], joint.rows.T.tolist(), strict=True))
    assert of == {
        ("Divorced", False): [0, 1],
        ("Divorced", True): [1, 0],
        ("Married", False): [1, 0],
        ("Married", True): [0, 1],
        ("Single", False): [1, 1],
        ("Single", True): [1, 0],
    }


def test_a_kind_that_nobody_entered_cannot_be_stored():
    schema = tb.Schema.infer(TABLE).with_extra(type("Unknown", (Gaps,), {})(), "income")
    with pytest.raises(tb.TallyBayesError, match="register_kind"):
        tb.Tally.of(TABLE, Y, schema=schema).to_bytes()


def test_a_matrix_is_read_like_a_table():
    numbers = {"x0": [1.0, NAN, 3.0, 4.0], "x1": [2.0, 2.0, NAN, 1.0]}
    schema = tb.Schema.same(["x0", "x1"], tb.Numeric()).with_extra(Gaps(), "x0", "x1")
    for X in (numbers, np.array(list(numbers.values())).T):
        counted = tb.Tally.of(X, [0, 0, 1, 1], schema=schema)
        assert counted.blocks[-1].sums.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_schemas_with_extra_groups_join_and_lose_columns():
    other = tb.Schema.infer({"status": ["Single"], "age": [1.5]}, target="cheat")
    both = SCHEMA.joined(other.with_extra(Gaps(), "age"))
    assert [list(both.names_of(group)) for group in both.extra] == [
        ["income is missing", "status is missing", "age is missing"],
        ["status x refund"],
    ]
    counted = tally().with_schema(both)
    assert counted.blocks[-2].sums[:, :2].tolist() == blocks(tally())[0].sums.tolist()
    fewer = SCHEMA.without(["refund", "income"])
    assert [list(fewer.names_of(group)) for group in fewer.extra] == [["status is missing"]]


def test_a_unit_of_columns_that_are_not_there_is_refused():
    with pytest.raises(
        tb.TallyBayesError, match="there is no column 'incom'; did you mean 'income'"
    ):
        SCHEMA.with_extra(Gaps(), "incom")
    with pytest.raises(tb.TallyBayesError, match="share a name"):
        SCHEMA.with_extra(Gaps(), "income")


class Vague(Kind, frozen=True):
    counted_as: ClassVar[str] = "counts"


class Odd(Gaps, frozen=True):
    counted_as: ClassVar[str] = "rows seen"


@pytest.mark.parametrize(
    ("kind", "saying"),
    [
        (Vague(), "Vague does not say how columns are encoded"),
        (Odd(), "'rows seen', which no block is called"),
    ],
)
def test_a_kind_that_cannot_encode_or_has_no_block_says_so(kind, saying):
    with pytest.raises(tb.TallyBayesError, match=saying):
        tb.Tally.of({"a": [1.0]}, ["x"], columns={"a": kind})


def test_a_kind_of_one_s_own_can_be_that_of_a_column():
    counted = tb.Tally.of(TABLE, Y, columns={"income": Gaps()})
    assert counted.schema.kind("income") == Gaps()
    assert counted.blocks[-1].sums.tolist() == [[1.0], [2.0]]
    assert tb.Tally.from_bytes(counted.to_bytes()) == counted


class TestScored:
    """A model adds what the extra units say to what the columns say."""

    model = tb.estimate(tally(), Whether(), Pairs())

    def test_their_terms_are_added(self):
        ordinary = tb.Tally.of(TABLE, Y, schema=tb.Schema.infer(TABLE, target="cheat"))
        more = self.model.joint_log_likelihood(TABLE)
        more -= tb.estimate(ordinary).joint_log_likelihood(TABLE)
        # the first row: an income, a status, and the pair (Single, True) of which six are known
        no = np.log([(4 + 1) / (5 + 2), (4 + 1) / (5 + 2), (1 + 1) / (4 + 6)]).sum()
        yes = np.log([(1 + 1) / (3 + 2), (3 + 1) / (3 + 2), (0 + 1) / (3 + 6)]).sum()
        np.testing.assert_allclose(more[0], [no, yes], rtol=1e-12)

    def test_records_are_drawn_by_the_kinds_of_their_columns(self):
        drawn = self.model.sample(5, seed=0)
        assert set(drawn) == {*TABLE, "cheat"}
        with pytest.raises(tb.TallyBayesError, match="no column 'income is missing'"):
            self.model.sample(1, given={"income is missing": 1})


@pytest.mark.parametrize("how", ["batches", "encoded"])
def test_a_matrix_of_another_width_is_refused_in_whichever_way_it_is_read(how):
    schema = tb.Schema.same(["x0", "x1"], tb.Numeric())
    read = {"batches": lambda *a: list(batches(*a)), "encoded": encoded}[how]
    with pytest.raises(tb.TallyBayesError, match="X has 3 columns, but 2 were expected"):
        read(as_source(np.zeros((2, 3))), schema)


@pytest.mark.parametrize(
    ("edges", "examples"),
    [((0.0, 10.0, 40.0), [-20.0, 5.0, 25.0, 60.0]), ((5.0,), [4.999995, 5.000005]),
     ((0.0,), [-1.0, 1.0]), ((), [-1.0])],
)  # fmt: skip
def test_an_interval_has_a_number_in_its_middle_or_a_step_outside_of_all_edges(edges, examples):
    kind = tb.Intervals(edges)
    assert [kind.example(k) for k in range(len(edges) + 1)] == pytest.approx(examples)
