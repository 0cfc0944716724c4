"""The registry that the laws go over, and what it means that two tallies are the same."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.sparse import csr_array

import tallybayes as tb
from laws.own import Both, Gaps, Pairs, Size, Sizes, Whether
from tallybayes.kinds import Joint, Part, Scatter
from tallybayes.tallies import Moments, Scatters, WordCounts

collect_ignore = ["own.py"]  # importing it twice would enter its kinds twice
NAN = float("nan")


def matrix(names, rows, dtype=float):
    return np.array(rows, dtype).reshape(-1, len(names))


def integers(names, rows):
    return matrix(names, rows, np.int64)


def sparse(names, rows):
    return csr_array(matrix(names, rows))


def table(names, rows):
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


@dataclass(frozen=True)
class Registered:
    """Columns of some kind: how their cells are drawn and in what they come."""

    name: str
    schema: tb.Schema
    cells: tuple[st.SearchStrategy[Any], ...]
    source: Callable[[tuple[str, ...], list[tuple[Any, ...]]], Any] = table
    families: tuple[tb.families.Family, ...] = ()

    def __repr__(self) -> str:
        return self.name

    def rows(self, min_size=0, max_size=8, classes="abc"):
        label, weight = st.sampled_from(classes), st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0])
        return st.lists(
            st.tuples(label, weight, st.tuples(*self.cells)), min_size=min_size, max_size=max_size
        )

    def data(self, rows):
        """Return the rows' cells as a user would pass them."""
        return self.source(self.schema.names, [cells for _, _, cells in rows])

    def tally(self, rows, weighted=True):
        weights = [weight for _, weight, _ in rows] if weighted else None
        return tb.Tally.of(
            self.data(rows), [label for label, _, _ in rows], weights, schema=self.schema
        )


# Eighths have exact sums, so that counts can be compared bit for bit.
NUMBERS = st.integers(-800, 800).map(lambda n: n / 8) | st.just(NAN) | st.sampled_from([1.0, 2.0])
POSITIVE = st.integers(1, 800).map(lambda n: n / 8) | st.sampled_from([NAN, 1.0, 1e-3, 1e6])
ANYWHERE = NUMBERS | st.sampled_from([0.0, float("inf"), -float("inf")])
COUNTS = st.sampled_from([0.0, 0.0, 1.0, 2.0, 7.0, 0.25])
WORDS = st.sampled_from(["red", "green", "blue", "", None])
DOCUMENTS = st.sampled_from([
    "Buy! Win the lottery!", "you buy, you win: lottery lottery", "see you at lunch", "über über",
    "", "!", "a b", None,
])  # fmt: skip
WEIGHED = tb.Idf({"lottery": 2.5, "you": 0.75, "lunch": 1.0, "never": 3.0})


def alike(name, names, kind, cells, source=table):
    names = names.split()
    schema = tb.Schema.of(names, [kind] * len(names))
    return Registered(name, schema, (cells,) * len(names), source)


REGISTRY = (
    alike("numeric", "x0 x1", tb.Numeric(), NUMBERS, matrix),
    alike("numeric far from zero", "x0 x1", tb.Numeric(), NUMBERS.map(lambda x: x + 1e6), matrix),
    alike("logarithms", "x0 x1", tb.Numeric(log=True), POSITIVE, matrix),
    Registered("intervals", tb.Schema.of(("x0", "x1", "x2"), [
        tb.Intervals((-2.5, 0.0, 10.0)), tb.Intervals((1.0,)), tb.Intervals(())]),
        (ANYWHERE,) * 3, matrix),
    Registered("logarithms and intervals beside others", tb.Schema.of(
        ("income", "age", "colour", "size"),
        [tb.Numeric(log=True), tb.Intervals((0.0, 50.0)), tb.Categories(("green",)), tb.Numeric()]),
        (POSITIVE, ANYWHERE, WORDS, NUMBERS)),
    alike("categories", "colour other", tb.Categories(), WORDS),
    alike("declared categories", "colour", tb.Categories(("green", "grey")), WORDS),
    Registered("integer categories", tb.Schema.of(("x0", "x1"), [tb.Categories()] * 2),
               (st.integers(-3, 3), st.sampled_from([5, 10**12])), integers),
    alike("binary", "x0 x1 x2", tb.Binary(0.5), COUNTS | st.just(NAN), matrix),
    alike("sparse binary", "x0 x1 x2", tb.Binary(1.0), COUNTS, sparse),
    alike("counts", "x0 x1 x2", tb.Count(), COUNTS | st.just(NAN), matrix),
    alike("sparse counts", "x0 x1 x2", tb.Count(), COUNTS, sparse),
    Registered("mixed", tb.Schema.of(
        ("visits", "colour", "on", "income", "mails"),
        [tb.Count("a"), tb.Categories(), tb.Binary(), tb.Numeric(), tb.Count("b")]),
        (COUNTS, WORDS, st.sampled_from([0, 1, None]), NUMBERS, st.sampled_from([0, 3, None]))),
    alike("text", "mail", tb.Words(), DOCUMENTS),
    alike("pairs of words by their log", "mail", tb.Words(ngrams=(1, 2), tf="log"), DOCUMENTS),
    alike("words by their idf", "mail", tb.Words(idf=WEIGHED, norm="l2"), DOCUMENTS),
    alike("two texts", "subject body", tb.Words(), DOCUMENTS),
    Registered("text beside others", tb.Schema.of(
        ("income", "mail", "colour"), [tb.Numeric(), tb.Words(), tb.Categories()]),
        (NUMBERS, DOCUMENTS, WORDS)),
    Registered("kinds of one's own", tb.Schema.of(
        ("income", "colour", "other"), [tb.Numeric(), tb.Categories(), tb.Categories()])
        .with_extra(Gaps(), "income", "colour").with_extra(Both(), ("colour", "other")),
        (NUMBERS, WORDS, WORDS), families=(Whether(), Pairs())),
    Registered("columns together, and cut in other ways", tb.Schema.of(
        ("income", "colour"), [tb.Numeric(), tb.Categories()]).with_extra(
        Joint(((Part(edges=(0.0, 10.0)), Part(values=("green", "red"), missing=True)),
               (Part(edges=(5.0,), name="2 parts"),), (Part(missing=True),))),
        ("income", "colour"), "income", "colour"), (NUMBERS, WORDS)),
    Registered("numbers as one bell curve", tb.Schema.of(
        ("x0", "x1"), [tb.Numeric()] * 2).with_extra(
        Scatter((1.0, 2.0), (10.0, 4.0)), ("x0", "x1")), (NUMBERS,) * 2, matrix),
    Registered("a block of one's own", tb.Schema.of(("x0", "x1"), [Size()] * 2), (NUMBERS,) * 2,
               matrix, families=(Sizes(),)),
)  # fmt: skip


EPS = np.finfo(float).eps


def assert_same(ours, expected, tolerance=1e-12):
    """Two tallies are the same: counts bit for bit, moments and logs within the tolerance.

    A mean is a float, known to eps |mean|: where that is much of the deviation, an M2 merged from
    means cannot be better than eps |mean| / deviation. An M2 of zero stays exactly zero.
    """
    assert ours.schema == expected.schema
    assert ours.classes == expected.classes
    np.testing.assert_array_equal(ours.rows, expected.rows, strict=True)
    np.testing.assert_array_equal(ours.weight, expected.weight, strict=True)
    for a, b in zip(ours.blocks, expected.blocks, strict=True):
        assert type(a) is type(b)
        np.testing.assert_array_equal(a.rows, b.rows, strict=True)
        np.testing.assert_array_equal(a.weight, b.weight, strict=True)
        if isinstance(a, WordCounts):
            assert_same_words(a, b, tolerance)
        elif isinstance(a, Scatters):
            a, b = a.without_unused(), b.without_unused()
            np.testing.assert_allclose(a.mean, b.mean, rtol=tolerance, atol=tolerance)
            size = np.abs(b.products).max(initial=1.0)
            np.testing.assert_allclose(a.products, b.products, atol=10 * tolerance * size)
        elif not isinstance(a, Moments):
            assert a == b
        else:
            deviation = np.sqrt(b.m2 / np.where(b.weight > 0.0, b.weight, 1.0))
            assert (np.abs(a.mean - b.mean) <= tolerance * (np.abs(b.mean) + deviation)).all()
            rounding = 8 * EPS * np.abs(b.mean) * np.sqrt(b.m2 * b.weight)
            assert (np.abs(a.m2 - b.m2) <= np.maximum(tolerance * b.m2, rounding)).all()


def assert_same_words(ours, expected, tolerance):
    """The same words and documents bit for bit; what words count may be logs."""
    for c in range(ours.n_classes):
        mine, theirs = words_of(ours, c), words_of(expected, c)
        assert mine.keys() == theirs.keys()
        for word, (*documents, count) in mine.items():
            assert documents == theirs[word][:2]
            assert count == pytest.approx(theirs[word][2], rel=tolerance, abs=0.0)
    ours, expected = ours.without_unused(), expected.without_unused()
    assert sorted(ours.terms.texts) == sorted(expected.terms.texts)


def words_of(block, c):
    """Return the three sums of each word of a class."""
    here = block.pairs.classes == c
    assert (np.diff(block.pairs.words[here]) > 0).all()
    texts = [block.terms.texts[number] for number in block.pairs.words[here].tolist()]
    return dict(zip(texts, block.pairs.sums[here].tolist(), strict=True))


@pytest.fixture(scope="session")
def registry():
    return REGISTRY


@pytest.fixture(scope="session", params=REGISTRY, ids=str)
def kind(request):
    return request.param


@pytest.fixture(scope="session")
def same():
    return assert_same
