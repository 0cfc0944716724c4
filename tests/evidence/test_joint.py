"""What columns say together: against fractions, refits and the naive model."""

from fractions import Fraction
from math import log, prod

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tallybayes as tb
from tallybayes.families.interaction import Interaction
from tallybayes.kinds import Joint, Part
from tallybayes.model import Recipe
from tallybayes.sources import as_source
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.validation.leave_one_out import LeaveOneOut

COLOURS, SIZES = ("blue", "red"), ("big", "small")
COLOUR, SIZE = Part(values=COLOURS), Part(values=SIZES, missing=True)
AGE = Part(edges=(18.0, 65.0), name="3 parts")
CELLS = st.tuples(st.sampled_from(COLOURS), st.sampled_from([*SIZES, None]))
ROWS = st.lists(st.tuples(st.sampled_from("ab"), CELLS), min_size=2, max_size=12)
PAIR = Joint(((COLOUR, SIZE),))
PLAIN = tb.Schema.of(("colour", "size"), [tb.Categories()] * 2)


def table(cells):
    return {name: [row[k] for row in cells] for k, name in enumerate(("colour", "size"))}


def term_by_hand(rows, label, cell, m):
    """Return log P(a, b | c) - log P(a | c) - log P(b | c) from fractions."""
    own = [values for c, values in rows if c == label]
    alone = prod(
        Fraction(sum(row[k] == cell[k] for row in own) + 1, len(own) + size)
        for k, size in enumerate((2, 3))
    )
    together = (own.count(cell) + m * 6 * alone) / (len(own) + m * 6)
    return log(together) - log(alone)


@given(rows=ROWS, cell=CELLS, m=st.sampled_from([Fraction(1), Fraction(3), Fraction(1, 2)]))
def test_the_term_is_what_a_cell_says_beyond_its_sides(rows, cell, m):
    labels, cells = zip(*rows, strict=True)
    schema = PLAIN.with_extra(PAIR, ("colour", "size"))
    tally = tb.Tally.of(table(cells), labels, schema=schema)
    model = Recipe((Interaction(m=float(m)),)).model(tally)
    found = model.column("colour x size").log_prob([cell])[0]
    expected = [term_by_hand(rows, label, cell, m) for label in model.classes]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_without_counts_of_its_own_a_joint_says_nothing():
    schema = PLAIN.with_extra(PAIR, ("colour", "size"))
    independent = [(c, s) for c in COLOURS for s in (*SIZES, None)] * 2
    tally = tb.Tally.of(table(independent), ["a"] * 12, schema=schema)
    found = Recipe().model(tally).column("colour x size").log_prob(independent[:6])
    np.testing.assert_allclose(found, 0.0, atol=1e-12)


UNITS = Joint(((COLOUR, SIZE), (AGE,), (COLOUR, SIZE, AGE), (Part(missing=True),)))
READS = ("colour", "size"), "age", ("colour", "size", "age"), "size"


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_left_out_as_refits_do_and_forgotten_as_if_never_seen(weighted):
    rng = np.random.default_rng(0)
    n = 50
    X = {
        "colour": rng.choice(["blue", "red", "never declared"], n, p=[0.5, 0.4, 0.1]),
        "size": rng.choice(["big", "small", None], n),
        "age": rng.normal(40.0, 20.0, n),
    }
    y, w = rng.choice(list("abc"), n), rng.choice([0.5, 1.0, 2.0], n) if weighted else None
    schema = tb.Schema.infer(X).with_extra(UNITS, *READS)
    names = ["colour x size", "age in 3 parts", "colour x size x age in 3 parts", "size is missing"]
    assert list(schema.names_of(schema.groups[-1])) == names

    def some(rows):
        return {k: v[rows] for k, v in X.items()}

    def tally(rows):
        weights = None if w is None else w[rows]
        return tb.Tally.of(some(rows), y[rows], weights, schema=schema)

    held = LeaveOneOut(LabelledRows.of(as_source(X), schema, y, w)).predictions(Recipe())
    for row in range(n):
        rest = np.delete(np.arange(n), row)
        alone = Recipe().model(tally(rest)).posterior(some([row]))[0]
        np.testing.assert_allclose(held.proba[row], alone, rtol=1e-9)
    first, rest = np.arange(20), np.arange(20, n)
    assert (tally(first) + tally(rest)).blocks[-1] == tally(np.arange(n)).blocks[-1]
    assert (tally(np.arange(n)) - tally(first)).blocks[-1] == tally(rest).blocks[-1]
    assert tb.Tally.from_bytes(tally(first).to_bytes()) == tally(first)


def test_cells_have_names_and_examples():
    kind = Joint(((AGE, SIZE),))
    assert [kind.named(k) for k in (0, 4, 8, -1)] == [
        "(-inf, 18], big", "(18, 65], small", "(65, inf), missing", "not known",
    ]  # fmt: skip
    assert kind.example(4) == (41.5, "small")
    assert kind.example(8)[1] is None
    assert kind.holds((-1, 8))
    assert not kind.holds((9,))
    assert not kind.holds(("x",))
    assert PAIR.fits(kind)
    assert kind.title(["age", "size"]) == "age x size in 3 parts"


@pytest.mark.parametrize("options", [{"m": 0.0}, {"alpha": -1.0}, {"m": "much"}])
def test_what_cannot_be_added_is_refused(options):
    (name,) = options
    with pytest.raises(tb.TallyBayesError, match=f"^{name} is"):
        Interaction(**options)
