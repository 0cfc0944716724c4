"""Text from raw strings: speed and memory beside the peers, public methods with all their checks."""

from __future__ import annotations

import ctypes
import gc
import json
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import tallybayes as tb
from benchmarks import text_workloads as workloads
from benchmarks.estimators import status
from benchmarks.text_peers import Nltk, Polars, ScikitLearn, TextBlob
from benchmarks.text_workloads import NOT_THERE, Corpus
from benchmarks.timing import best_of, per_call, say

SAMPLES = {Nltk: 500, TextBlob: 100}  # documents; more take minutes
MB_A_SECOND = {"ASCII": 300, "the five scripts in turn": 200}
WARM_UP = 4_000  # documents: enough that the compiled reader is loaded


class Ours:
    """`TextNB` with its defaults, from a list of strings."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.model = tb.TextNB()

    def fit(self) -> Any:
        return self.model.fit(self.corpus.documents, self.corpus.labels)

    def predict(self) -> Any:
        return self.model.predict(self.corpus.documents)


COMPETITORS = {"tallybayes": Ours, "scikit-learn": ScikitLearn, "Polars": Polars}
MAKERS: dict[str, Callable[[], Corpus]] = {
    "random": workloads.zipf,
    "newsgroups": workloads.newsgroups,
    "many words": workloads.many_words,
}


def corpora() -> Iterator[Corpus]:
    yield workloads.zipf()
    if workloads.has("newsgroups"):
        yield workloads.newsgroups()


def note() -> list[str]:
    """Say that a corpus is left out, where it is."""
    return [] if workloads.has("newsgroups") else ["", NOT_THERE]


def seconds(t: float) -> str:
    return f"{t * 1e3:.0f} ms" if t < 1.0 else f"{t:.1f} s"


def row(*cells: Any) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def fitting(turns: int = 3) -> list[str]:
    lines = [
        "| documents | step | tallybayes | scikit-learn | ratio | target | Polars | ratio | target |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for corpus in corpora():
        say(f"text: {corpus.name}")
        ours, theirs, polars = Ours(corpus), ScikitLearn(corpus), Polars(corpus)
        a, b, c = best_of(turns, ours.fit, theirs.fit, polars.fit)
        found = seconds(a), seconds(b), f"{b / a:.1f}x", "25x", seconds(c), f"{c / a:.1f}x", "5x"
        lines.append(row(corpus.name, "fit", *found))
        a, b = best_of(turns, ours.predict, theirs.predict)
        found = seconds(a), seconds(b), f"{b / a:.1f}x", "20x", "", "", ""
        lines.append(row(corpus.name, "predict", *found))
    return lines + note()


def samples() -> list[str]:
    """Compare with the peers that are too slow for all documents, on a few of them."""
    lines = [
        "| fit on a sample | documents | tallybayes | peer | ratio | the peer on all, extrapolated |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for corpus in corpora():
        for peer, n in SAMPLES.items():
            say(f"text: {peer.__name__}, {n} documents")
            some = corpus.first(n)
            a, b = best_of(1, Ours(some).fit, peer(some).fit)
            whole = b * len(corpus.documents) / n
            found = f"{a * 1e3:.1f} ms", seconds(b), f"{b / a:,.0f}x", f"{whole / 60:,.0f} minutes"
            lines.append(row(f"{peer.__name__}, {corpus.name}", n, *found))
    return lines + note()


def from_arrow(turns: int = 5) -> list[str]:
    lines = [
        "| Arrow memory | size | counted in | MB/s | target |",
        "|---|---:|---:|---:|---:|",
    ]
    made = [workloads.zipf(script) for script in workloads.SYLLABLES]
    named = dict(zip(workloads.SYLLABLES, made, strict=True))
    mixed = workloads.mixed_scripts()
    named[mixed.name] = mixed
    if workloads.has("newsgroups"):
        named["20 Newsgroups"] = workloads.newsgroups()
    for name, corpus in named.items():
        say(f"text: Arrow, {name}")
        tokens: Any = "words" if name in ("ASCII", "20 Newsgroups") else "unicode"
        column, size = {"text": corpus.arrow}, corpus.n_bytes / 1e6
        count = partial(tb.Tally.of, column, corpus.labels, columns={"text": tb.Words(tokens)})
        took = best_of(turns, count)[0]
        target = MB_A_SECOND.get(name, "")
        lines.append(
            row(name, f"{size:.0f} MB", f"{took * 1e3:.0f} ms", f"{size / took:.0f}", target)
        )
    return lines + note()


def one_document() -> list[str]:
    lines = ["| one document of 1,000 words, 20 classes | time | target |", "|---|---:|---:|"]
    say("text: one document")
    corpus = workloads.zipf()
    document = " ".join(corpus.documents[:5])
    ours, theirs = Ours(corpus).fit(), ScikitLearn(corpus).fit()
    model = ours.model_
    calls = {
        "`TextNB.predict_proba`": (partial(ours.predict_proba, [document]), 300, "150 us"),
        "`posterior_of`": (partial(model.posterior_of, {"text": document}), 300, "150 us"),
        "scikit-learn": (partial(theirs.predict_proba, [document]), 50, ""),
    }
    for name, (call, n, target) in calls.items():
        lines.append(row(name, f"{per_call(call, n):.0f} us", target))
    return lines


def memory() -> list[str]:
    lines = [
        "| documents | fit | peak memory added | the first fit of a process | of scikit-learn's | target |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for maker in ("random", "newsgroups"):
        if maker == "newsgroups" and not workloads.has(maker):
            continue
        found = {}
        for who in COMPETITORS:
            say(f"text: memory, {maker}, {who}")
            found[who] = [in_a_process(who, maker, when)["fit MB"] for when in ("later", "first")]
        theirs, name = found["scikit-learn"], MAKERS[maker]().name
        for who, (later, first) in found.items():
            share = f"{later / theirs[0]:.0%}, {first / theirs[1]:.0%}"
            cells = f"{later:.0f} MB", f"{first:.0f} MB", "" if who == "scikit-learn" else share
            lines.append(row(name, who, *cells, "33 %" if who == "tallybayes" else ""))
    return lines + note()


def many_words() -> list[str]:
    lines = [
        f"| {MAKERS['many words']().name} | tallybayes | scikit-learn |",
        "|---|---:|---:|",
    ]
    found = []
    for who in ("tallybayes", "scikit-learn"):
        say(f"text: many words, {who}")
        found.append(in_a_process(who, "many words", "and predict"))
    for part, label in (
        ("fit s", "fit"),
        ("fit MB", "fit, peak memory added"),
        ("predict s", "predict 1,000 documents, the first time"),
        ("predict MB", "predict, peak memory added"),
        ("again s", "predict 1,000 documents again"),
        ("tally MB", "the tally, in bytes"),
    ):
        cells = [_with_unit(each.get(part), part) for each in found]
        lines.append(row(label, *cells))
    return lines


def _with_unit(value: float | None, part: str) -> str:
    if value is None:
        return ""
    return seconds(value) if part.endswith(" s") else f"{value:.0f} MB"


def in_a_process(who: str, maker: str, when: str) -> dict[str, float]:
    """Return what `measure` found, in a process of its own.

    It gets the documents as a file: making them there would leave freed memory behind, which a fit
    could use without growing.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus"
        path.write_bytes(pickle.dumps(tuple(MAKERS[maker]())))
        command = [sys.executable, "-m", "benchmarks.text", who, str(path), when]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measure(who: str, path: str, when: str) -> dict[str, float]:
    """Measure one fit with the documents loaded, after a warm-up unless it is to be the first."""
    corpus = Corpus(*pickle.loads(Path(path).read_bytes()))
    competitor = COMPETITORS[who](corpus)
    if when != "first":
        COMPETITORS[who](corpus.first(WARM_UP)).fit()
    found: dict[str, float] = {}
    _watched(found, "fit", competitor.fit)
    if when == "and predict":
        some = corpus.documents[:1_000]
        _watched(found, "predict", partial(competitor.model.predict, some))
        _watched(found, "again", partial(competitor.model.predict, some))
        if who == "tallybayes":
            found["tally MB"] = len(competitor.model.tally_.to_bytes()) / 1e6
    return found


def _watched(found: dict[str, float], what: str, work: Callable[[], Any]) -> None:
    """Add how long some work takes, and by how much the process grows at most."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # gives back what was freed: else it could be used unseen
    Path("/proc/self/clear_refs").write_text("5")  # sets the high-water mark back
    before, start = status("VmRSS"), time.perf_counter()
    kept = work()
    found[f"{what} s"] = time.perf_counter() - start
    found[f"{what} MB"] = status("VmHWM") - before
    del kept


def section() -> list[str]:
    """Return the whole section of docs/benchmarks.md."""
    return [
        "## Text, from raw strings",
        "",
        "`TextNB()` against `CountVectorizer` with `MultinomialNB`, both from a list of Python strings; "
        "and against the same count (no model) in Polars expressions, from a frame that was made "
        "beforehand: lower case, `extract_all`, explode, group by label and word. Random documents have "
        "sentences of words drawn by Zipf's law from a vocabulary of 30,000.",
        "",
        *fitting(),
        "",
        "NLTK and TextBlob get a sample: the ratio is measured on it, with the same documents for both. "
        "The last column is *not* measured but the sample's time in proportion to the documents; TextBlob's "
        "time grows faster than that. Neither's tokenizer is timed (both want a download): they get words "
        "found by a regular expression. TextBlob makes its default features.",
        "",
        *samples(),
        "",
        "Counting alone, `Tally.of` from an Arrow column of large strings on all threads. Words of ASCII "
        'and 20 Newsgroups are `tokens="words"`, of other scripts `tokens="unicode"`. Chinese has no blanks: '
        "what stands between two marks of punctuation is a word, and most of them occur once.",
        "",
        *from_arrow(),
        "",
        *one_document(),
        "",
        "Memory is what a process of its own adds at its peak to the documents that it holds, freed memory given back before; once after a "
        f"warm-up on {WARM_UP:,} documents, and once as the first fit, which also loads the compiled kernels "
        "(and whatever the others load).",
        "",
        *memory(),
        "",
        *many_words(),
        "",
    ]


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
