"""What columns say together, and where they are cut: against fractions, refits and definitions."""

from fractions import Fraction
from itertools import product
from math import exp, log, prod

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tallybayes as tb
from tallybayes.batches import Cells
from tallybayes.evidence.search import ALONE, equal_parts
from tallybayes.families.interaction import Interaction
from tallybayes.kinds import GAP, Joint, Part
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


SMOOTH = Part(edges=(10.0, 18.0, 40.0, 65.0), smooth=0.3, alone=(1,), missing=True, name="smooth")


def test_rows_count_in_neighbouring_intervals_by_a_bell_curve_over_their_numbers():
    ages, labels = [5.0, 12.0, 15.0, 30.0, 30.0, 50.0, 70.0, None], list("aaabbbab")
    schema = tb.Schema.of(("age",), [tb.Numeric()]).with_extra(Joint(((SMOOTH,),)), "age")
    model = Recipe().model(tb.Tally.of({"age": ages}, labels, schema=schema))
    interval = [0, 1, 1, 2, 2, 3, 4, 5]  # the last is that of missing values

    def share(of, at):
        """Return how much a row of an interval counts in another."""
        if of == at or 1 in (of, at) or 5 in (of, at):  # 1 is alone
            near = float(of == at)
        else:
            near = exp(-0.5 * ((of - at) / 5 / 0.3) ** 2)
        return near / sum(
            exp(-0.5 * ((of - k) / 5 / 0.3) ** 2) if of != 1 and k != 1 and of < 5 else of == k
            for k in (range(5) if of < 5 else (5,))
        )

    worth = sum(share(k, k) for k in range(6))  # intervals
    for column, label in enumerate("ab"):
        own = [place for place, c in zip(interval, labels, strict=True) if c == label]
        expected = [
            log((sum(share(of, at) for of in own) + worth / 6) / (len(own) + worth))
            for at in interval
        ]
        found = model.column("age in smooth").log_prob(ages)[:, column]
        np.testing.assert_allclose(found, expected, rtol=1e-12)


UNITS = Joint(
    ((COLOUR, SIZE), (AGE,), (COLOUR, SIZE, AGE), (Part(missing=True),), (SMOOTH,), (SIZE, SMOOTH))
)
READS = ("colour", "size"), "age", ("colour", "size", "age"), "size", "age", ("size", "age")


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
    names += ["age in smooth", "size x age in smooth"]
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


@pytest.mark.parametrize("n_rows", [60, 70_000])  # few go through NumPy, many through loops
@pytest.mark.parametrize("as_matrix", [False, True])
def test_the_cells_of_rows_are_those_of_the_codes_of_their_values(n_rows, as_matrix):
    rng = np.random.default_rng(n_rows)
    ages = np.where(rng.random(n_rows) < 0.1, np.nan, rng.integers(10, 80, n_rows))
    hours = np.where(rng.random(n_rows) < 0.1, np.inf, rng.normal(size=n_rows))
    table = {"age": ages, "hours": hours}
    older = Part(edges=(18.5, 40.0), missing=True)
    fine = Part(edges=tuple(np.arange(10.0, 80.0)), missing=True)
    units = [(AGE,), (older,), (fine,), (GAP,), (Part(edges=()), older), (Part(edges=(0.0,)), AGE)]
    reads = [("age",)] * 4 + [("hours", "age")] * 2
    if not as_matrix:
        table["colour"] = rng.choice(["red", "blue", "green", None], n_rows).astype(object)
        units += [(COLOUR,), (GAP,), (older, COLOUR, SIZE)]
        table["size"] = rng.choice(["big", None], n_rows).astype(object)
        reads += [("colour",), ("size",), ("age", "colour", "size")]
    source = as_source(np.stack([ages, hours], axis=1) if as_matrix else table)
    place = {name: k for k, name in enumerate(table)}
    places = tuple(tuple(place[name] for name in names) for names in reads)
    of_rows = Cells(source, list(source.names), places, (), slice(0, n_rows))
    cells = Joint(tuple(units)).encode(of_rows).codes
    for row in [*range(50), *range(n_rows - 10, n_rows)]:
        for unit, (parts, names) in enumerate(zip(units, reads, strict=True)):
            codes = [part.code(table[name][row]) for part, name in zip(parts, names, strict=True)]
            shape = [part.size for part in parts]
            expected = -1 if min(codes) < 0 else np.ravel_multi_index(codes, shape)
            assert cells[row, unit] == expected


@pytest.mark.parametrize("options", [{"m": 0.0}, {"alpha": -1.0}, {"m": "much"}])
def test_what_cannot_be_added_is_refused(options):
    (name,) = options
    with pytest.raises(tb.TallyBayesError, match=f"^{name} is"):
        Interaction(**options)


ODD = {
    "colour": [None, "blue", "red", "never seen"],
    "size": [None, "big", "small"],
    "age": [None, np.nan, -300.0, 18, 18.5, np.float32(40.5), True],
}


def test_a_single_record_is_scored_as_a_row_of_a_table():
    rng = np.random.default_rng(1)
    X = {
        "colour": rng.choice(COLOURS, 60),
        "size": rng.choice([*SIZES, None], 60),
        "age": rng.normal(40.0, 20.0, 60),
    }
    schema = tb.Schema.infer(X).with_extra(UNITS, *READS)
    model = Recipe().model(tb.Tally.of(X, rng.choice(list("abc"), 60), schema=schema))
    every = [dict(zip(ODD, values, strict=True)) for values in product(*ODD.values())]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(model), "posterior", None)  # the careful path is not asked
        fast = [model.posterior_of(record) for record in every]
    table = {name: [record[name] for record in every] for name in ODD}
    table["age"] = [np.nan if value is None else float(value) for value in table["age"]]
    found = [[record[label] for label in model.classes] for record in fast]
    np.testing.assert_allclose(found, model.posterior(table), rtol=1e-9, atol=1e-12)
    assert model.posterior_of({"size": "big"}) == model.posterior_of({"size": "big", "age": None})
    with pytest.raises(tb.TallyBayesError, match="column 'age'"):
        model.posterior_of({"age": "much"})


@pytest.mark.parametrize(
    ("numbers", "edges", "alone"),
    [
        (np.arange(100.0), (19.0, 39.0, 59.0, 79.0), ()),
        ([*[0.0] * 96, 1.0, 2.0, 3.0, 4.0], (0.0, 1.0, 2.0, 3.0), ()),
        ([*[0.0] * 996, 1.0, 2.0, 3.0, np.nan], (0.0, 1.0, 2.0), ()),
        ([1.0, 1.0, 2.0, 2.0, 3.0, 3.0], (1.0, 2.0), ()),
        ([7.0, 7.0], (), ()),
        ([np.nan], (), ()),
        ([], (), ()),
    ],
)
def test_frequent_numbers_are_parts_and_the_others_are_cut_evenly(numbers, edges, alone):
    assert equal_parts(np.array(numbers, np.float64), 5) == (edges, alone)


@given(
    st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.0, 1.5, 2.0, 5.0, 9.0, np.nan]), max_size=80),
    st.integers(2, 12),
)
def test_parts_are_as_even_as_numbers_allow(numbers, n):
    x = np.array(numbers, np.float64)
    edges, alone = equal_parts(x, n)
    there = x[~np.isnan(x)]
    assert list(edges) == sorted(set(edges))
    sizes = np.bincount(np.searchsorted(edges, there), minlength=len(edges) + 1)
    if len(there):
        assert (sizes > 0).all()
        assert len(sizes) <= max(n + 1, 2) * 2
    for part, size in enumerate(sizes.tolist()):
        values, counts = np.unique(there[np.searchsorted(edges, there) == part], return_counts=True)
        if len(values) > 1:  # none of them is frequent, and they are not many more than a share
            assert (counts * n <= len(there)).all()
            assert size <= 2 * len(there) / n + 1
        assert (part in alone) == (len(values) == 1 and size * len(sizes) > ALONE * len(there))
