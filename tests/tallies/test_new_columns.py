"""A tally under a schema with more columns, and schemas joined: new columns were missing before."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_array

import tallybayes as tb
from laws.conftest import assert_same
from laws.own import Gaps

draws = given(data=st.data())

NUMBERS = st.integers(-80, 80).map(lambda n: n / 8) | st.none()
COUNTS = st.sampled_from([0, 1, 2, 5, None])
DOCUMENTS = st.sampled_from(["Buy! Win the lottery!", "you win", "", None])
# Two columns of each kind, so that groups grow, begin and change their order.
COLUMNS = {
    "height": (tb.Numeric(), NUMBERS),
    "width": (tb.Numeric(), NUMBERS),
    "colour": (tb.Categories(), st.sampled_from(["red", "green", "blue", None])),
    "shape": (tb.Categories(("round", "square")), st.sampled_from(["round", "flat", None])),
    "on": (tb.Binary(), st.sampled_from([0, 1, None])),
    "hot": (tb.Binary(30.0), st.sampled_from([10, 31, None])),
    "visits": (tb.Count(), COUNTS),
    "words": (tb.Count("text"), COUNTS),
    "mail": (tb.Words(), DOCUMENTS),
    "note": (tb.Words(), DOCUMENTS),
    "subject": (tb.Words(ngrams=(1, 2)), DOCUMENTS),
}
KINDS = {name: kind for name, (kind, _) in COLUMNS.items()}
CELLS = {name: cells for name, (_, cells) in COLUMNS.items()}
LABELS, WEIGHTS = st.sampled_from("abc"), st.sampled_from([0.5, 1.0, 3.0])
ROWS = st.lists(st.tuples(LABELS, WEIGHTS, st.fixed_dictionaries(CELLS)), max_size=6)
SOME = st.lists(st.sampled_from(sorted(KINDS)), min_size=1, unique=True)


def schema(names):
    return tb.Schema.of(tuple(names), [KINDS[name] for name in names])


def tally(rows, names, of=None):
    """Count the columns `of` a table that has only some, with gaps in the others."""
    of = names if of is None else of
    table = {name: [cells[name] if name in names else None for _, _, cells in rows] for name in of}
    weights = [weight for _, weight, _ in rows]
    return tb.Tally.of(table, [label for label, _, _ in rows], weights, schema=schema(of))


@draws
def test_new_columns_were_missing_before(data):
    rows = data.draw(ROWS)
    names = data.draw(SOME)
    wider = data.draw(st.permutations(sorted({*names, *data.draw(SOME)})))
    ours = tally(rows, names).with_schema(schema(wider))
    assert_same(ours, tally(rows, names, of=wider))
    assert tb.Tally.from_bytes(ours.to_bytes()) == ours


@draws
def test_under_one_schema_tallies_add_up_to_the_tally_of_the_completed_tables(data):
    (some, mine), (others, theirs) = ((data.draw(ROWS), data.draw(SOME)) for _ in range(2))
    joined = schema(mine).joined(schema(theirs))
    ours = tally(some, mine).with_schema(joined) + tally(others, theirs).with_schema(joined)
    expected = tally(some, mine, joined.names) + tally(others, theirs, joined.names)
    assert_same(ours, expected)


def test_the_tally_itself_stays_as_it_was():
    small = tb.Tally.of({"c": ["x", "y"]}, ["p", "q"])
    before = small.to_bytes()
    wide = small.with_schema(tb.Schema.of(("c", "d"), [tb.Categories()] * 2))
    wide.update({"c": ["z"], "d": ["u"]}, ["r"])
    assert small.to_bytes() == before
    assert small.with_schema(small.schema) == small


def test_declared_values_may_join_later_or_be_forgotten_but_those_that_occurred_stay():
    small = tb.Tally.of({"c": ["x", "y", "x"]}, ["p", "q", "p"])
    more = small.with_schema(tb.Schema.of(("c",), [tb.Categories(("x", "y", "z"))]))
    expected = np.array([[3 / 5, 1 / 4], [1 / 5, 2 / 4], [1 / 5, 1 / 4]]) * [2 / 3, 1 / 3]
    got = tb.estimate(more).scores({"c": ["x", "y", "z"]})
    np.testing.assert_allclose(got, expected)
    assert more.with_schema(small.schema).blocks[0].labels == (("x", "y"),)


@pytest.mark.parametrize("form", [np.array, csr_array])
def test_a_matrix_grows_at_its_end(form):
    x = np.array([[1, 0, 2], [0, 3, 1]])
    few = tb.Tally.of(form(x[:, :2]), ["p", "q"], columns=tb.Count())
    many = tb.Tally.of(form(x), ["p", "q"], columns=tb.Count())
    grown = few.with_schema(many.schema)
    assert grown.blocks[0].sums.tolist() == [[1, 0, 0], [0, 3, 0]]
    assert (grown + many).blocks[0].sums.tolist() == [[2, 0, 2], [0, 6, 1]]
    assert (grown + many).blocks[0].rows.tolist() == [[2, 2, 1], [2, 2, 1]]


def test_groups_of_one_kind_may_become_one():
    table, labels = {"a": [1.0, None, 2.0], "b": [None, None, 3.0]}, ["p", "q", "q"]
    columns = tb.Schema.of(["a", "b"], [tb.Numeric()] * 2)
    apart = columns.with_extra(Gaps(), "a").with_extra(Gaps(), "b")
    together = columns.with_extra(Gaps(), "b", "a")
    expected = tb.Tally.of(table, labels, schema=together)
    assert tb.Tally.of(table, labels, schema=apart).with_schema(together) == expected


@pytest.mark.parametrize(
    ("counted", "names", "kinds"),
    [
        (tb.Categories(), ("d",), [tb.Categories()]),  # c is lacking
        (tb.Categories(), ("c", "d"), [tb.Numeric(), tb.Categories()]),
        (tb.Binary(0.0), ("c",), [tb.Binary(1.0)]),
        (tb.Count("title"), ("c",), [tb.Count("body")]),
        (tb.Intervals((0.0, 2.5)), ("c",), [tb.Intervals((0.0,))]),
    ],
)
def test_a_schema_that_lacks_a_column_is_refused(counted, names, kinds):
    small = tb.Tally.of({"c": [1, 2]}, ["p", "q"], columns={"c": counted})
    with pytest.raises(tb.TallyBayesError, match=f"no column 'c' of {type(counted).__name__}"):
        small.with_schema(tb.Schema.of(names, kinds))


# Schemas joined


@draws
def test_a_joined_schema_has_the_columns_of_both(data):
    mine, theirs = schema(data.draw(SOME)), schema(data.draw(SOME))
    both = mine.joined(theirs)
    assert list(both.names) == list(dict.fromkeys([*mine.names, *theirs.names]))
    assert {name: both.kind(name) for name in both.names} == {n: KINDS[n] for n in both.names}
    assert both.joined(mine) == both.joined(theirs) == both
    assert mine.joined(mine) == mine
    third = schema(data.draw(SOME))
    assert both.joined(third) == mine.joined(theirs.joined(third))


def declared(*values):
    return tb.Schema.of(("c",), [tb.Categories(values)])


def test_declared_values_are_joined():
    mine, theirs = declared("x", "y"), declared("z", "x")
    assert mine.joined(theirs) == theirs.joined(mine) == declared("x", "y", "z")
    assert mine.joined(declared()) == mine


def test_reasons_are_kept():
    mine = tb.Schema.infer({"n": [1.5, 2.5]})
    theirs = tb.Schema.infer({"n": [1.5], "t": ["x"]}, {"n": tb.Numeric()})
    assert [reason for _, _, reason in mine.joined(theirs)] == ["decimal numbers", "text"]
    assert [reason for _, _, reason in theirs.joined(mine)] == ["declared", "text"]


DIFFERENT = (
    tb.Numeric(), tb.Categories(), tb.Binary(), tb.Binary(1.0), tb.Count(), tb.Count("body"),
    tb.Words(),
)  # fmt: skip


@pytest.mark.parametrize("pair", list(itertools.combinations(DIFFERENT, 2)), ids=str)
def test_a_column_of_two_kinds_is_refused_by_name(pair):
    mine, theirs = (tb.Schema.of(("fine", "odd"), [tb.Numeric(), kind]) for kind in pair)
    for one, other, kinds in ((mine, theirs, pair), (theirs, mine, pair[::-1])):
        with pytest.raises(tb.TallyBayesError, match=r"column 'odd' is .*declare it") as caught:
            one.joined(other)
        assert all(str(kind) in str(caught.value) for kind in kinds)


@pytest.mark.parametrize(
    ("mine", "theirs", "saying"),
    [
        (declared("1"), declared(1), "column 'c' mixes whole numbers and text"),
        (replace(declared(), target="spam"), tb.Schema.same(["spam"], tb.Numeric()), "'spam'"),
    ],
)
def test_declared_values_of_two_types_and_a_column_that_is_the_target_are_refused(
    mine, theirs, saying
):
    for one, other in ((mine, theirs), (theirs, mine)):
        with pytest.raises(tb.TallyBayesError, match=saying):
            one.joined(other)
