"""Documents for the benchmarks: random and seeded, or corpora that are not shipped.

The corpora are read from the folder that TALLYBAYES_DATA names, or from ../shared/data; a section
that needs one of them is left out where there is none.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

DATA = Path(os.environ.get("TALLYBAYES_DATA", Path(__file__).parents[2] / "shared" / "data"))
FILES = {
    "newsgroups": DATA / "text" / "20news_bydate.csv.gz",
    "sentences": DATA / "text" / "rt_polarity.csv",
    "messages": DATA / "text" / "sms_spam.csv",
}
NOT_THERE = "Left out in this run: the corpus was not there (TALLYBAYES_DATA names the folder)."

# what words are made of: syllables by script, so that letters, marks and lengths are as in text
SYLLABLES = {
    "ASCII": [c + v for c in "bcdfghjklmnprstvwz" for v in "aeiou"],
    "Cyrillic": [c + v for c in "бвгджзклмнпрстфхцчш" for v in "аеиоуыюя"],
    "Greek": [c + v for c in "βγδζθκλμνπρστφχψ" for v in "αεηιουωάέί"],
    "accented Latin": [c + v for c in "bcčdfghjlmnñprřsštvzž" for v in "aáeéèiíoóöuüů"],
    "Hindi": [
        c + v for c in "कखगघचजटडतदनपबमयरलवशसह" for v in ("", "ा", "ि", "ी", "ु", "े", "ो", "्र", "ं")
    ],
    "Chinese": [chr(0x4E00 + 7 * k) for k in range(2_500)],
}
SCRIPTS = tuple(SYLLABLES)[1:]
COMMA = "\uff0c"  # of Chinese
STOPS = {"Hindi": "।", "Chinese": "。"}


class Corpus(NamedTuple):
    """Documents and their labels."""

    name: str
    documents: list[str]
    labels: np.ndarray

    @property
    def n_bytes(self) -> int:
        return sum(len(document.encode()) for document in self.documents)

    @property
    def arrow(self) -> Any:
        """The documents as Arrow holds them."""
        import pyarrow

        return pyarrow.chunked_array([pyarrow.array(self.documents, pyarrow.large_string())])

    def first(self, n: int) -> Corpus:
        """Return some documents of all classes: every so manieth."""
        step = len(self.documents) // n
        return Corpus(self.name, self.documents[::step][:n], self.labels[::step][:n])


def vocabulary(script: str, n_words: int, rng: np.random.Generator) -> np.ndarray:
    """Return distinct words, frequent ones (first) shorter than rare ones."""
    syllables = np.array(SYLLABLES[script], dtype=object)
    words: dict[str, None] = {}
    while len(words) < n_words:
        longest = min(2 + int(np.log10(len(words) + 1)), 5)
        for size in rng.integers(1 + (script == "Chinese"), longest + 1, 1_000).tolist():
            words["".join(rng.choice(syllables, size))] = None
    return np.array([word for word in words if len(word) > 1][:n_words], dtype=object)


def written(words: np.ndarray, numbers: np.ndarray, script: str = "ASCII") -> list[str]:
    """Write documents (rows) of words (by number) in sentences of about a dozen words."""
    stop, blank = STOPS.get(script, "."), "" if script == "Chinese" else " "
    texts = []
    for row in words[numbers]:
        sentences = []
        for start in range(0, len(row), 12):
            some = row[start : start + 12].tolist()
            if script == "Chinese":  # no blanks: words run together up to the next comma
                sentences.append(
                    COMMA.join("".join(some[k : k + 3]) for k in range(0, len(some), 3))
                )
            else:
                some[0] = some[0].capitalize()
                sentences.append(" ".join(some[:5]) + ", " + " ".join(some[5:]))
        texts.append((stop + blank).join(sentences) + stop)
    return texts


def zipf(
    script: str = "ASCII",
    n_documents: int = 20_000,
    n_words: int = 30_000,
    n_classes: int = 20,
    length: int = 200,
) -> Corpus:
    """Return documents whose words follow Zipf's law, in another order in each class."""
    rng = np.random.default_rng(11)
    words = vocabulary(script, n_words, rng)
    share = 1.0 / np.arange(1, len(words) + 1)
    drawn = rng.choice(len(words), (n_documents, length), p=share / share.sum())
    labels = rng.integers(0, n_classes, n_documents)
    # the hundred most frequent words are those of the language; beyond, each class has its own
    own = np.stack([rng.permutation(np.arange(100, len(words))) for _ in range(n_classes)])
    topical = (drawn >= 100) & (rng.random(drawn.shape) < 0.3)
    drawn = np.where(topical, own[labels[:, None], np.maximum(drawn - 100, 0)], drawn)
    name = f"{n_documents:,} x {length} words, {script}, {n_classes} classes"
    return Corpus(name, written(words, drawn, script), np.array([f"class {c}" for c in labels]))


def mixed_scripts(n_documents: int = 4_000) -> Corpus:
    """Return documents in five scripts, one after the other."""
    parts = [zipf(script, n_documents) for script in SCRIPTS]
    documents = [text for row in zip(*(p.documents for p in parts), strict=True) for text in row]
    labels = np.stack([part.labels for part in parts], axis=1).ravel()
    return Corpus("the five scripts in turn", documents, labels)


def many_words(n_words: int = 1_000_000, n_classes: int = 100, length: int = 200) -> Corpus:
    """Return documents that have every word at least once: dealt out, then drawn thrice as many."""
    rng = np.random.default_rng(12)
    words = np.array([f"w{k:x}q" for k in range(n_words)], dtype=object)
    dealt = np.concatenate([rng.permutation(n_words), rng.integers(0, n_words, 3 * n_words)])
    numbers = rng.permutation(dealt).reshape(-1, length)
    labels = np.arange(len(numbers)) % n_classes
    name = f"{n_words:,} distinct words, {len(numbers):,} documents, {n_classes} classes"
    return Corpus(name, written(words, numbers), labels)


def has(corpus: str) -> bool:
    """Say whether a corpus is there."""
    return FILES[corpus].exists()


@cache
def table(corpus: str) -> Any:
    """Return a corpus as a pandas table with columns `text` and `label`."""
    import pandas as pd

    return pd.read_csv(FILES[corpus], keep_default_na=False)  # "null" is a text too


def newsgroups() -> Corpus:
    found = table("newsgroups")
    name = f"20 Newsgroups, {len(found):,} documents"
    return Corpus(name, found["text"].tolist(), found["label"].to_numpy(str))
