"""Counts of words against brute force: `collections.Counter` over the terms of each document."""

from collections import Counter, defaultdict
from math import log1p, sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tallybayes as tb
from limited import limited_to
from tallybayes.kernels import threads
from tallybayes.tokenizer import bags
from tiers import scaled

DOCUMENTS = [
    "Buy! Win the lottery!", "you buy, you win: lottery lottery", "see you at lunch",
    "", "!?", "a b c", "Über Straße naïve", "दिल्ली में Ελλάδα", "x" * 300 + " yy",
    "the the the the", "snake_case 42 4 42", None,
]  # fmt: skip
ROWS = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from([0.0, 0.25, 1.0, 2.0, 3.0]),
        st.lists(st.sampled_from([d for d in DOCUMENTS if d]), max_size=3).map(" ".join)
        | st.sampled_from(DOCUMENTS),
    ),
    max_size=10,
)
KINDS = [
    tb.Words(),
    tb.Words(ngrams=(1, 2), stop_words=("the", "you")),
    tb.Words(tokens="unicode"),
    tb.Words(tokens="whitespace", lowercase=False, min_length=3),
    tb.Words(tokens="characters", ngrams=(2, 3)),
    tb.Words(tf="log"),
    tb.Words(norm="l2"),
    tb.Words(idf=tb.Idf({"lottery": 2.5, "you": 0.75, "über": 1.0, "never": 3.0}), norm="l2"),
    tb.Words(tf="log", idf=tb.Idf({"lottery": 2.5, "you": 0.75}), norm="l2"),
    tb.Words(tokens=str.split),
]
law = scaled(0.48)
READERS = ["plain", "compiled", "threads"]


@pytest.fixture(scope="module", params=READERS)
def reader(request):
    return request.param


def tally(rows, words):
    """Count rows of a label, a weight and documents."""
    schema = tb.Schema.of(("mail",), [words])
    labels, weights, documents = zip(*rows, strict=True) if rows else ((), (), ())
    return tb.Tally.of({"mail": list(documents)}, labels, weights, schema=schema)


def read_by(reader, rows, words):
    """Count with the plain reader, the compiled one, or several compiled ones at once."""
    with pytest.MonkeyPatch.context() as patch:
        worth = float("inf") if reader == "plain" else 0
        patch.setattr(bags, "WORTH_LOADING", worth)
        patch.setattr(bags, "WORTH_CALLING", worth)
        patch.setattr(threads, "SMALLEST_SHARE", 1 if reader == "threads" else 10**9)
        with limited_to(5):
            return tally(rows, words)


def what_counts(terms, words):
    """Return what each term of a document counts."""
    known = words.idf.weights if words.idf else {}
    found = Counter(term for term in terms if not words.idf or term in known)
    counts = {t: log1p(f) if words.tf == "log" else float(f) for t, f in found.items()}
    counts = {t: f * known.get(t, 1.0) for t, f in counts.items()}
    norm = sqrt(sum(f * f for f in counts.values())) if words.norm else 1.0
    return {t: f / (norm or 1.0) for t, f in counts.items()}


def brute_force(rows, words):
    """Return by class the rows and weight of documents, and the sums of each word."""
    head = defaultdict(lambda: np.zeros(2))
    sums = defaultdict(lambda: np.zeros(3))
    for label, weight, document in rows:
        if document is None or not weight:
            continue
        counts = what_counts(words.terms(document), words)
        head[label] += (1, weight)
        for term, count in counts.items():
            sums[label, term] += (1, weight, weight * count)
    return head, sums


def assert_counted(got, rows, words):
    """The block holds what brute force finds, and nothing else."""
    head, sums = brute_force(rows, words)
    (block,) = got.blocks
    assert got.classes == tuple(sorted({label for label, weight, _ in rows if weight}))
    for c, label in enumerate(got.classes):
        ours = [block.rows[c, 0], block.weight[c, 0]]
        assert ours == head[label].tolist()
    pairs = block.pairs
    assert (np.diff(pairs.keys) > 0).all()
    labels = [got.classes[c] for c in pairs.classes]
    terms = [block.terms.texts[number] for number in pairs.words]
    found = dict(zip(zip(labels, terms, strict=True), pairs.sums.tolist(), strict=True))
    assert found.keys() == sums.keys()
    assert set(block.without_unused().terms.texts) == {term for _, term in sums}
    for pair, three in sums.items():
        assert found[pair] == pytest.approx(three.tolist(), rel=1e-12)
        assert found[pair][:2] == three[:2].tolist()


@pytest.mark.parametrize("words", KINDS, ids=range(len(KINDS)))
@law
@given(rows=ROWS.filter(bool))
def test_words_are_counted_as_a_counter_counts_them(reader, words, rows):
    if callable(words.tokens) and reader != "plain":
        return
    assert_counted(read_by(reader, rows, words), rows, words)


def test_long_lists_are_read_in_pieces_and_shares_as_one(reader, monkeypatch):
    rng = np.random.default_rng(5)
    vocabulary = np.array([f"w{k}" for k in range(3000)])
    rows = [
        (int(k % 3), 1.0, " ".join(vocabulary[rng.integers(0, 3000, rng.integers(0, 60))]))
        for k in range(400)
    ]
    monkeypatch.setattr(bags, "BYTES_IN_A_PIECE", 500)
    words = tb.Words()
    got = read_by(reader, rows, words)
    assert_counted(got, rows, words)
    # blocks of more than 2000 words are added by compiled loops, once those are loaded
    parts = [read_by(reader, rows[k::2], words) for k in range(2)]
    assert parts[0] + parts[1] == got
    assert got - parts[1] == parts[0]


RECORDED = [("a", 1.0, "one two"), ("a", 1.0, "one three"), ("b", 1.0, "five"), ("c", 1.0, None)]
RECORDED += [("d", 1.0, "one"), ("d", 3.0, "one two")]
REFUSED = {
    "a word never counted": (("a", 1.0, "one four"), r"'mail'.*'a'.*'four'"),
    "a word of another class": (("a", 1.0, "five"), "'mail'.*'a'.*'five'"),
    "more often than counted": (("a", 1.0, "one one one one"), "not counted"),
    "another weight": (("b", 2.0, "five"), "not counted"),
    "a weight that leaves too little": (("d", 2.0, "one"), "'mail'.*'d'.*'two'.*not counted"),
    "a class never counted": (("z", 1.0, "one"), "never counted"),
    "a class without documents": (("c", 1.0, "one"), "not counted"),
    "an empty document, where none was": (("a", 1.0, ""), "not counted"),
    "a missing document, where none was": (("a", 1.0, None), "not counted"),
    "a document, where one was missing": (("c", 1.0, ""), "not counted"),
}


@pytest.mark.parametrize(("row", "message"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("words", [tb.Words(), tb.Words(tf="log")], ids=["count", "log"])
def test_what_was_never_counted_cannot_be_forgotten(row, message, words):
    got = tally(RECORDED, words)
    before = got.to_bytes()
    with pytest.raises(tb.TallyBayesError, match=message):
        got.forget({"mail": [row[2]]}, [row[0]], [row[1]])
    assert got.to_bytes() == before


@pytest.mark.parametrize("kept", ["body", "mail"])
def test_a_column_without_documents_may_go_and_the_others_keep_their_words(kept):
    table = {"body": [None], "mail": [None], kept: ["one two"]}
    schema = tb.Schema.of(("body", "mail"), [tb.Words()] * 2)
    got = tb.Tally.of(table, ["a"], schema=schema).with_schema(tb.Schema.of((kept,), [tb.Words()]))
    assert sorted(got.blocks[0].terms.texts) == ["one", "two"]
    assert got.blocks[0].rows.tolist() == [[1]]


IDF = tb.Words(idf=tb.Idf({"one": 1.0}))


@pytest.mark.parametrize(
    ("mine", "other"),
    [(tb.Words(), tb.Words(ngrams=(1, 2))), (tb.Words(), IDF),
     (IDF, tb.Words(idf=tb.Idf({"one": 2.0, "two": 1.0})))],
    ids=["pairs", "idf", "another idf"],
)  # fmt: skip
def test_words_counted_in_different_ways_do_not_add_up(mine, other):
    mine, theirs = (tally([("a", 1.0, "one")], words) for words in (mine, other))
    told = "idf" if theirs.schema.kind("mail").idf else "'mail' was counted as"
    for operation in (lambda a, b: a + b, lambda a, b: a - b):
        with pytest.raises(tb.TallyBayesError, match=told):
            operation(mine, theirs)
    with pytest.raises(tb.TallyBayesError, match="'mail'"):
        mine.schema.joined(theirs.schema)


def learnt(tally, document, label, weights=None):
    return tally + tb.Tally.of({"mail": [document]}, [label], weights, schema=tally.schema)


def test_learning_a_document_shares_all_that_it_does_not_change(reader):
    rows = [(label, 1.0, " ".join(f"{label}{k}" for k in range(300))) for label in "abc"]
    before = read_by(reader, rows, tb.Words())
    after = learnt(before, "a7 a8 b9 new", "a")
    (old,), (new,) = before.blocks, after.blocks
    assert new.terms.number_of is old.terms.number_of
    assert new.pieces[0].sums is old.pieces[0].sums
    assert_counted(after, [*rows, ("a", 1.0, "a7 a8 b9 new")], tb.Words())
    assert_counted(before, rows, tb.Words())
    left = after - tb.Tally.of({"mail": ["a7 a8 b9 new"]}, ["a"], schema=before.schema)
    assert left.blocks[0].terms.number_of is old.terms.number_of
    assert left == before


def test_what_is_learnt_document_by_document_is_added_up_now_and_then():
    rng = np.random.default_rng(1)
    rows = [
        (int(k % 2), float(rng.integers(1, 4)), " ".join(f"w{j}" for j in rng.integers(0, 500, 40)))
        for k in range(120)
    ]
    got, settled = tally(rows[:20], tb.Words()), 0
    for label, weight, document in rows[20:]:
        got = learnt(got, document, label, [weight])
        first, *recent = got.blocks[0].pieces
        assert 4 * sum(len(piece.keys) for piece in recent) <= len(first.keys)
        settled += not recent
    assert 2 < settled < 50
    assert_counted(got, rows, tb.Words())
    assert got == tally(rows, tb.Words())


def test_two_lines_of_learning_do_not_see_each_other():
    base = tally([("a", 1.0, "one two"), ("b", 1.0, "two three")], tb.Words())
    left, right = learnt(base, "four", "a"), learnt(base, "five four", "b")
    left, right = learnt(left, "six", "b"), learnt(right, "one", "a")
    for got, words in ((left, "one two three four six"), (right, "one two three four five")):
        assert sorted(got.blocks[0].without_unused().terms.texts) == sorted(words.split())
        model = tb.estimate(got, tb.Text())
        assert len(model.factors[0].parameters.terms) == len(words.split())


def test_a_window_that_slides_over_documents_does_not_keep_all_words():
    documents = [f"w{k} w{k + 1} w{k + 2}" for k in range(400)]
    got = tb.Tally.of({"text": documents[:5]}, list("ababa"), columns={"text": tb.Words()})
    for k in range(5, 400):
        got.update({"text": [documents[k]]}, ["ab"[k % 2]])
        got.forget({"text": [documents[k - 5]]}, ["ab"[(k - 5) % 2]])
    assert len(got.blocks[0].terms) < 60
    assert got == tb.Tally.of({"text": documents[-5:]}, list("babab"), schema=got.schema)
