"""The algebra of tallies: they add up in any order, and a part can be taken away again."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import tallybayes as tb
from tallybayes.kinds import KINDS
from tallybayes.tallies import Moments
from tallybayes.tallies.blocks import BLOCKS
from tiers import scaled

law = scaled(0.4)
draws = given(data=st.data())


def test_every_kind_and_every_block_is_registered(registry):
    kinds = {type(group.kind) for each in registry for group in each.schema.groups}
    own = {each for each in KINDS.values() if each.__module__.startswith("tallybayes.")}
    assert kinds >= own
    counted = {type(block) for each in registry for block in tb.Tally(each.schema).blocks}
    there = {each for each in BLOCKS.values() if each.__module__.startswith("tallybayes.")}
    assert counted >= there != set()


@law
@draws
def test_the_empty_tally_is_the_identity_on_both_sides(kind, same, data):
    tally, empty = kind.tally(data.draw(kind.rows())), tb.Tally(kind.schema)
    for nothing in (empty, kind.tally([]), empty + empty, empty - empty):
        assert nothing == empty
        assert nothing.classes == ()
        for same_again in (tally + nothing, nothing + tally, tally - nothing):
            same(same_again, tally)


@law
@draws
def test_addition_commutes_associates_and_leaves_its_parts_as_they_were(kind, same, data):
    a, b, c = parts = [kind.tally(data.draw(kind.rows())) for _ in range(3)]
    before = [part.to_bytes() for part in parts]
    same(a + b, b + a)
    same((a + b) + c, a + (b + c))
    for whole in (a, a + b):
        with suppress(tb.TallyBayesError):
            whole - b
    assert [part.to_bytes() for part in parts] == before


@law
@draws
def test_any_split_into_batches_gives_the_tally_of_one_pass(kind, same, data):
    rows = data.draw(kind.rows(max_size=15))
    weighted = data.draw(st.booleans())
    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=4).map(sorted))
    batches = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    whole = kind.tally(rows, weighted)
    merged, updated = tb.Tally(kind.schema), tb.Tally(kind.schema)
    for batch in batches:
        merged = merged + kind.tally(batch, weighted)
        weights = [weight for _, weight, _ in batch] if weighted else None
        updated.update(kind.data(batch), [label for label, _, _ in batch], weights)
    same(merged, whole)
    same(updated, whole)


@law
@draws
def test_the_order_of_the_rows_does_not_matter(kind, same, data):
    rows = data.draw(kind.rows(max_size=12))
    same(kind.tally(data.draw(st.permutations(rows))), kind.tally(rows))


@law
@draws
def test_a_scaled_tally_is_that_of_rows_with_such_weights(kind, same, data):
    rows = [(label, 1.0, cells) for label, _, cells in data.draw(kind.rows(max_size=12))]
    factor = data.draw(st.sampled_from([0.25, 0.5, 1.0, 2.0, 3.0]))
    weights = [factor] * len(rows)
    labels = [label for label, _, _ in rows]
    same(
        kind.tally(rows).scaled(factor),
        tb.Tally.of(kind.data(rows), labels, weights, schema=kind.schema),
    )


@pytest.mark.parametrize("factor", [0.0, -1.0, float("nan"), float("inf")])
def test_a_tally_is_scaled_by_a_number_above_zero(registry, factor):
    with pytest.raises(tb.TallyBayesError, match="the factor of a tally"):
        tb.Tally(registry[0].schema).scaled(factor)


@law
@draws
def test_taking_away_what_was_added_gives_the_tally_that_never_saw_it(kind, same, data):
    stay, go = data.draw(kind.rows()), data.draw(kind.rows(max_size=4))
    a, b = kind.tally(stay), kind.tally(go)
    for both in (a + b, b + a, kind.tally([*go, *stay])):
        before = both.to_bytes()
        try:
            same(both - b, a, tolerance=1e-9)
        except tb.TallyBayesError as refusal:
            # whole counts can always be taken away
            assert any(isinstance(block, Moments) for block in both.blocks)
            assert "rounding" in str(refusal)  # noqa: PT017
            assert both.to_bytes() == before


@law
@draws
def test_forgetting_rows_one_by_one_in_any_order_gives_the_empty_tally(kind, same, data):
    rows = data.draw(kind.rows(max_size=6))
    tally = kind.tally(rows)
    for row in data.draw(st.permutations(rows)):
        label, weight, _ = row
        try:
            tally.forget(kind.data([row]), [label], [weight])
        except tb.TallyBayesError as refusal:
            assume("rounding" not in str(refusal))
            raise
    same(tally, tb.Tally(kind.schema))


@law
@draws
def test_a_weight_of_w_equals_w_repetitions_of_the_row(kind, data):
    rows = data.draw(kind.rows(min_size=1))
    rows = [(label, round(weight + 0.25), cells) for label, weight, cells in rows]
    repeated = [(label, 1.0, cells) for label, weight, cells in rows for _ in range(weight)]
    assume(repeated)
    heavy, long = kind.tally(rows), kind.tally(repeated, weighted=False)
    assert heavy.classes == long.classes
    np.testing.assert_array_equal(heavy.weight, long.weight)
    X = kind.data(repeated)
    ours, expected = (
        tb.estimate(each, *kind.families).joint_log_likelihood(X) for each in (heavy, long)
    )
    np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-9)


@law
@draws
def test_a_row_of_weight_zero_is_absent_and_no_weights_are_weights_of_one(kind, same, data):
    rows = data.draw(kind.rows())
    same(kind.tally(rows), kind.tally([row for row in rows if row[1] > 0.0]))
    ones = [(label, 1.0, cells) for label, _, cells in rows]
    same(kind.tally(ones), kind.tally(rows, weighted=False))


@law
@draws
def test_the_bytes_of_a_tally_are_the_tally(kind, data):
    tally = kind.tally(data.draw(kind.rows()))
    again = tb.Tally.from_bytes(tally.to_bytes())
    assert again == tally
    assert again.to_bytes() == tally.to_bytes()
    assert str(again.schema) == str(tally.schema)
    assert again + tally == tally + tally


@law
@draws
def test_classes_of_either_side_alone_are_classes_of_the_sum(kind, same, data):
    left = data.draw(kind.rows(min_size=1, classes="ac"))
    right = data.draw(kind.rows(min_size=1, classes="bd"))
    both = kind.tally(left) + kind.tally(right)
    assert both.classes == tuple(sorted({row[0] for row in left + right if row[1] > 0.0}))
    same(both, kind.tally([*right, *left]))


@pytest.mark.parametrize("first", [["red"], ["zebra"], [None]])
@pytest.mark.parametrize("second", [["blue", "red"], ["zoo"], []])
def test_categories_of_either_side_alone_are_categories_of_the_sum(same, first, second):
    colours = tb.Schema.of(("colour",), [tb.Categories()])

    def tally(values):
        return tb.Tally.of({"colour": values}, ["yes"] * len(values), schema=colours)

    both = tally(first) + tally(second)
    assert both.blocks[0].labels == (tuple(sorted({*first, *second} - {None})),)
    same(both, tally(second + first))
    same(both - tally(second), tally(first))
    same(both - tally(first), tally(second))
