"""Text from raw strings: speed and memory beside the peers, public methods with all their checks."""

from __future__ import annotations

import json
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import tallybayes as tb
from benchmarks import cases
from benchmarks.cases import NOT_THERE, Corpus, corpora, has
from benchmarks.peers.text import Nltk, Polars, ScikitLearn, TallyBayes, TextBlob
from benchmarks.run import Part, Table, best_of, in_a_process, per_call, say, seconds, watched

SAMPLES = {Nltk: 500, TextBlob: 100}  # documents; more take minutes
MB_A_SECOND = {"ASCII": 300, "the five scripts in turn": 200}
WARM_UP = 4_000  # documents: enough that the compiled reader is loaded
COMPETITORS: dict[str, Any] = {
    "tallybayes": TallyBayes,
    "scikit-learn": ScikitLearn,
    "Polars": Polars,
}
MAKERS: dict[str, Callable[[], Corpus]] = {
    "random": cases.zipf,
    "newsgroups": cases.newsgroups,
    "many words": cases.many_words,
}


def part() -> Iterator[Part]:
    yield "## Text, from raw strings"
    if not has("newsgroups"):
        yield NOT_THERE
    yield (
        "`TextNB()` against `CountVectorizer` with `MultinomialNB`, both from a list of Python strings; "
        "and against the same count (no model) in Polars expressions, from a frame that was made "
        "beforehand: lower case, `extract_all`, explode, group by label and word. Random documents have "
        "sentences of words drawn by Zipf's law from a vocabulary of 30,000."
    )
    yield fitting()
    yield (
        "NLTK and TextBlob get a sample: the ratio is measured on it, with the same documents for both. "
        "The last column is *not* measured but the sample's time in proportion to the documents; TextBlob's "
        "time grows faster than that. Neither's tokenizer is timed (both want a download): they get words "
        "found by a regular expression. TextBlob makes its default features."
    )
    yield samples()
    yield (
        "Counting alone, `Tally.of` from an Arrow column of large strings on all threads. Words of ASCII "
        'and 20 Newsgroups are `tokens="words"`, of other scripts `tokens="unicode"`. Chinese has no blanks: '
        "what stands between two marks of punctuation is a word, and most of them occur once."
    )
    yield from_arrow()
    yield one_document()
    yield (
        "Memory is what a process of its own adds at its peak to the documents that it holds, freed memory given back before; once after a "
        f"warm-up on {WARM_UP:,} documents, and once as the first fit, which also loads the compiled kernels "
        "(and whatever the others load)."
    )
    yield memory()
    yield many_words()


def fitting() -> Table:
    table = Table(
        "documents | step | tallybayes | scikit-learn | ratio | target | Polars | ratio | target",
        left=2,
    )
    for corpus in corpora():
        say(f"text: {corpus.name}")
        ours, theirs, polars = TallyBayes(corpus), ScikitLearn(corpus), Polars(corpus)
        a, b, c = best_of(3, ours.fit, theirs.fit, polars.fit)
        cells = seconds(a), seconds(b), f"{b / a:.1f}x", "25x", seconds(c), f"{c / a:.1f}x", "5x"
        table.add(corpus.name, "fit", *cells)
        a, b = best_of(3, ours.predict, theirs.predict)
        cells = seconds(a), seconds(b), f"{b / a:.1f}x", "20x", "", "", ""
        table.add(corpus.name, "predict", *cells)
    return table


def samples() -> Table:
    """Compare with the peers that are too slow for all documents, on a few of them."""
    table = Table(
        "fit on a sample | documents | tallybayes | peer | ratio | the peer on all, extrapolated"
    )
    for corpus in corpora():
        for peer, n in SAMPLES.items():
            say(f"text: {peer.__name__}, {n} documents")
            some = corpus.first(n)
            a, b = best_of(1, TallyBayes(some).fit, peer(some).fit)
            whole = b * len(corpus.documents) / n
            cells = f"{a * 1e3:.1f} ms", seconds(b), f"{b / a:,.0f}x", f"{whole / 60:,.0f} minutes"
            table.add(f"{peer.__name__}, {corpus.name}", n, *cells)
    return table


def from_arrow() -> Table:
    table = Table("Arrow memory | size | counted in | MB/s | target")
    named = {script: cases.zipf(script) for script in cases.SYLLABLES}
    named["the five scripts in turn"] = cases.mixed_scripts()
    if has("newsgroups"):
        named["20 Newsgroups"] = cases.newsgroups()
    for name, corpus in named.items():
        say(f"text: Arrow, {name}")
        tokens: Any = "words" if name in ("ASCII", "20 Newsgroups") else "unicode"
        column, size = {"text": corpus.arrow}, corpus.n_bytes / 1e6
        count = partial(tb.Tally.of, column, corpus.labels, columns={"text": tb.Words(tokens)})
        (took,) = best_of(5, count)
        cells = f"{size:.0f} MB", f"{took * 1e3:.0f} ms", f"{size / took:.0f}"
        table.add(name, *cells, MB_A_SECOND.get(name, ""))
    return table


def one_document() -> Table:
    table = Table("one document of 1,000 words, 20 classes | time | target")
    say("text: one document")
    corpus = cases.zipf()
    document = " ".join(corpus.documents[:5])
    ours, theirs = TallyBayes(corpus).fit(), ScikitLearn(corpus).fit()
    calls = {
        "`TextNB.predict_proba`": (partial(ours.predict_proba, [document]), 300, "150 us"),
        "`posterior_of`": (partial(ours.model_.posterior_of, {"text": document}), 300, "150 us"),
        "scikit-learn": (partial(theirs.predict_proba, [document]), 50, ""),
    }
    for name, (call, n, target) in calls.items():
        table.add(name, f"{per_call(call, n):.0f} us", target)
    return table


def memory() -> Table:
    table = Table(
        "documents | fit | peak memory added | the first fit of a process | of scikit-learn's | target",
        left=2,
    )
    for maker in ("random", *(["newsgroups"] if has("newsgroups") else [])):
        found = {}
        for who in COMPETITORS:
            say(f"text: memory, {maker}, {who}")
            found[who] = [alone(who, maker, when)["fit MB"] for when in ("later", "first")]
        theirs, name = found["scikit-learn"], MAKERS[maker]().name
        for who, (later, first) in found.items():
            share = f"{later / theirs[0]:.0%}, {first / theirs[1]:.0%}"
            cells = f"{later:.0f} MB", f"{first:.0f} MB", "" if who == "scikit-learn" else share
            table.add(name, who, *cells, "33 %" if who == "tallybayes" else "")
    return table


def many_words() -> Table:
    table = Table(f"{MAKERS['many words']().name} | tallybayes | scikit-learn")
    say("text: many words")
    found = [alone(who, "many words", "and predict") for who in ("tallybayes", "scikit-learn")]
    for what, name in (
        ("fit s", "fit"),
        ("fit MB", "fit, peak memory added"),
        ("predict s", "predict 1,000 documents, the first time"),
        ("predict MB", "predict, peak memory added"),
        ("again s", "predict 1,000 documents again"),
        ("tally MB", "the tally, in bytes"),
    ):
        write = seconds if what.endswith(" s") else "{:.0f} MB".format
        table.add(name, *(write(each[what]) if what in each else "" for each in found))
    return table


def alone(who: str, maker: str, when: str) -> dict[str, float]:
    """Return what `measure` finds, in a process of its own.

    It gets the documents as a file: making them there would leave freed memory behind, which a fit
    could use without growing.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus"
        path.write_bytes(pickle.dumps(tuple(MAKERS[maker]())))
        found: dict[str, float] = in_a_process("speed.text", who, str(path), when)
    return found


def measure(who: str, path: str, when: str) -> dict[str, float]:
    """Measure one fit with the documents loaded, after a warm-up unless it is to be the first."""
    corpus = Corpus(*pickle.loads(Path(path).read_bytes()))
    competitor = COMPETITORS[who](corpus)
    if when != "first":
        COMPETITORS[who](corpus.first(WARM_UP)).fit()
    steps = {"fit": competitor.fit}
    if when == "and predict":
        again = partial(competitor.model.predict, corpus.documents[:1_000])
        steps |= {"predict": again, "again": again}
    found: dict[str, float] = {}
    for step, work in steps.items():
        found[f"{step} s"], found[f"{step} MB"] = watched(work)
    if when == "and predict" and who == "tallybayes":
        found["tally MB"] = len(competitor.model.tally_.to_bytes()) / 1e6
    return found


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
