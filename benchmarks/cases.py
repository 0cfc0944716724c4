"""The data of the benchmarks, the same for every competitor: random and seeded, or corpora.

The corpora are not shipped; they are read from the folder that TALLYBAYES_DATA names, or from
../shared/data. What needs one that is not there is left out.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import sklearn.naive_bayes
from scipy.sparse import csr_matrix

import tallybayes as tb
from benchmarks.run import DATA, SMALLER


class Case(NamedTuple):
    """Rows and labels, and the `kind` of estimator that they are for, ours and scikit-learn's."""

    name: str
    kind: str
    X: Any
    y: np.ndarray
    weights: np.ndarray | None = None

    @property
    def ours(self) -> Any:
        return getattr(tb, self.kind)()

    @property
    def peer(self) -> Any:
        return getattr(sklearn.naive_bayes, self.kind)()


def gaussian(n_rows: int = 1_000_000 // SMALLER, n_columns: int = 50, n_classes: int = 5) -> Case:
    rng = np.random.default_rng(1)
    y = rng.integers(0, n_classes, n_rows)
    X = rng.normal(size=(n_rows, n_columns))
    X += rng.normal(size=(n_classes, n_columns))[y]
    return Case(f"Gaussian {n_rows:,} x {n_columns}, {n_classes} classes", "GaussianNB", X, y)


def with_missing(work: Case, share: float = 0.05) -> Case:
    X = work.X.copy()
    X[np.random.default_rng(2).random(X.shape) < share] = np.nan
    return work._replace(name=f"{work.name}, {share:.0%} missing", X=X)


def with_weights(work: Case) -> Case:
    weights = np.random.default_rng(3).uniform(0.5, 2.0, len(work.y))
    return work._replace(name=f"{work.name}, weighted", weights=weights)


def categorical(n_rows: int = 500_000 // SMALLER, n_columns: int = 20, n_classes: int = 5) -> Case:
    rng = np.random.default_rng(4)
    X = rng.integers(0, 12, (n_rows, n_columns))
    name = f"Categorical {n_rows:,} x {n_columns}, 12 values, {n_classes} classes"
    return Case(name, "CategoricalNB", X, rng.integers(0, n_classes, n_rows))


def bernoulli(n_rows: int = 200_000 // SMALLER, n_columns: int = 100, n_classes: int = 5) -> Case:
    rng = np.random.default_rng(5)
    X = (rng.random((n_rows, n_columns)) < 0.3).astype(np.float64)
    name = f"Bernoulli dense {n_rows:,} x {n_columns}, {n_classes} classes"
    return Case(name, "BernoulliNB", X, rng.integers(0, n_classes, n_rows))


def multinomial(
    n_rows: int = 100_000 // SMALLER, n_columns: int = 50_000, n_classes: int = 20, a_row: int = 100
) -> Case:
    rng = np.random.default_rng(6)
    # words by a power law, as in text: a few are everywhere, most are rare
    ranks = np.arange(1, n_columns + 1) ** -0.7
    words = rng.choice(n_columns, (n_rows, a_row), p=ranks / ranks.sum()).astype(np.int32)
    counts = rng.integers(1, 4, n_rows * a_row).astype(np.float64)
    pointers = np.arange(n_rows + 1) * a_row
    X = csr_matrix((counts, words.ravel(), pointers), shape=(n_rows, n_columns))
    name = f"Multinomial CSR {n_rows:,} x {n_columns:,}, {a_row * n_rows:,} stored, "
    return Case(
        f"{name}{n_classes} classes", "MultinomialNB", X, rng.integers(0, n_classes, n_rows)
    )


CASES = gaussian, categorical, bernoulli, multinomial


def records(n_classes: int, n_rows: int = 5_000) -> tuple[dict[str, Any], list[str]]:
    """Return a table of ten numeric and ten categorical columns, and labels."""
    rng = np.random.default_rng(7)
    table: dict[str, Any] = {f"number {j}": rng.normal(size=n_rows) for j in range(10)}
    for j in range(10):
        values = rng.integers(0, 12, n_rows)
        table[f"category {j}"] = np.array([f"level {v}" for v in values], dtype=object)
    return table, [f"class {c}" for c in rng.integers(0, n_classes, n_rows)]


LEVELS = (8, 16, 7, 14, 6, 5, 2, 41)  # of the columns of text in UCI Adult
RANGES = (73, 28_000, 16, 120, 99, 96)  # of its columns of integers


def people(n_rows: int = 48_842 // SMALLER) -> tuple[Any, Any]:
    """Return a pandas table with the shape of UCI Adult, and labels."""
    import pandas as pd

    table, labels, categorical = people_as_numbers(n_rows)
    rng = np.random.default_rng(10)
    columns = {}
    for j in range(table.shape[1]):
        values = table[:, j].astype(np.int64)
        if j in categorical:
            text = np.array([f"level {k}" for k in range(LEVELS[j])], dtype=object)[values]
            if j in (1, 3, 7):  # where Adult has gaps
                text[rng.choice(n_rows, 2_155 * n_rows // 48_842, replace=False)] = None
            columns[f"text {j}"] = pd.Series(text, dtype="str")
        else:
            columns[f"number {j}"] = values
    return pd.DataFrame(columns), pd.Series(np.array(["<=50K", ">50K"])[labels], name="income")


def people_as_numbers(n_rows: int = 48_842 // SMALLER) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return the same as one array of floats, labels 0 and 1, and the categorical columns."""
    rng = np.random.default_rng(9)
    labels = (rng.random(n_rows) < 0.24).astype(np.int64)
    text = [
        rng.choice(k, n_rows, p=rng.dirichlet(np.ones(k))) * (1 - labels)
        + rng.choice(k, n_rows, p=rng.dirichlet(np.ones(k))) * labels
        for k in LEVELS
    ]
    numbers = [
        np.clip(rng.normal(0.4 + 0.1 * labels, 0.2), 0.0, 1.0) * most // 1 for most in RANGES
    ]
    return np.stack([*text, *numbers], axis=1).astype(np.float64), labels, list(range(len(text)))


# documents

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
        step = max(1, len(self.documents) // n)
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
    n_documents: int = 20_000 // SMALLER,
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


def mixed_scripts(n_documents: int = 4_000 // SMALLER) -> Corpus:
    """Return documents in five scripts, one after the other."""
    parts = [zipf(script, n_documents) for script in SCRIPTS]
    documents = [text for row in zip(*(p.documents for p in parts), strict=True) for text in row]
    labels = np.stack([part.labels for part in parts], axis=1).ravel()
    return Corpus("the five scripts in turn", documents, labels)


def many_words(
    n_words: int = 1_000_000 // SMALLER, n_classes: int = 100, length: int = 200
) -> Corpus:
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
    corpus = Corpus(name, found["text"].tolist(), found["label"].to_numpy(str))
    return corpus if SMALLER == 1 else corpus.first(len(found) // SMALLER)


def corpora() -> list[Corpus]:
    """Return the documents that most of the figures are of."""
    return [zipf(), *([newsgroups()] if has("newsgroups") else [])]
