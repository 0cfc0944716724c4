"""Accuracy on text beside published figures and scikit-learn, on corpora that are not shipped."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score, precision_recall_fscore_support
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import tallybayes as tb
from benchmarks.accuracy.text_folds import (
    Folds,
    Options,
    called,
    estimated,
    losses,
    most_chosen,
    words_of,
)
from benchmarks.cases import NOT_THERE, has, table
from benchmarks.peers import scikit_learn
from benchmarks.run import Part, Table, say

Array = Any

FOUR = ("alt.atheism", "comp.graphics", "sci.space", "talk.religion.misc")
COMPLEMENT: Options = {"event": "complement", "prior": "uniform"}
TF_IDF: Options = {"alpha": 0.01, "idf": True, "norm": "l2"}
LOG_L2: Options = {"tf": "log", "norm": "l2"}


def part() -> Iterator[Part]:
    yield "## Text"
    yield (
        "Plain scikit-learn is `CountVectorizer` with `MultinomialNB`, both with their defaults, on the same "
        "folds. Folds are counted once: training tallies are the total less those of held-out folds."
    )
    if has("newsgroups"):
        yield from newsgroups(FOUR)
        yield from newsgroups()
        yield from uneven()
    if has("sentences"):
        yield from sentences()
    if has("messages"):
        yield from messages()
    if not all(map(has, ("newsgroups", "sentences", "messages"))):
        yield NOT_THERE


def presence(longest: int) -> Any:
    """Return scikit-learn's model of whether words occur, as Wang and Manning count them."""
    return scikit_learn.text(token_pattern=r"\S+", binary=True, ngram_range=(1, longest))


def percent(share: float) -> str:
    return f"{100.0 * share:.2f} %"


def crossed(ways: Sequence[Options], views: Sequence[Options]) -> list[Options]:
    return [{**way, **view} for way in ways for view in views]


def against(ours: Array, theirs: Array) -> str:
    """Say how often one is right where the other is wrong, and how surprising that is."""
    more, fewer = int((ours & ~theirs).sum()), int((theirs & ~ours).sum())
    p = binomtest(more, more + fewer).pvalue if more + fewer else 1.0
    return (
        f"right where plain scikit-learn is wrong on {more:,} documents, and wrong where it is right on "
        f"{fewer:,} (sign test: p = {p:.1g})"
    )


def sentences() -> Iterator[Part]:
    """Rotten Tomatoes sentences, ten-fold."""
    rows = table("sentences")
    folds = Folds(rows["text"].to_numpy(object), rows["label"].to_numpy(str))
    yield f"### Rotten Tomatoes: {len(rows):,} sentences, ten-fold"
    found = Table("accuracy | published | tallybayes | scikit-learn")

    def accuracy(posterior: Array) -> str:
        return percent(folds.right(posterior).mean())

    others = []
    for longest, published in ((1, "77.9 %"), (2, "79.0 %")):
        options: Options = {"event": "boolean", "tokens": "whitespace", "ngrams": (1, longest)}
        say(f"text: sentences, {called(options)}")
        ours, theirs = folds.ours(options), folds.peer(presence(longest))
        found.add(called(options), published, accuracy(ours), accuracy(theirs))
        others.append(_shuffled(folds, options))
    peer = folds.peer(scikit_learn.text())
    found.add("`TextNB()`", "", accuracy(folds.ours({})), accuracy(peer))
    ways = crossed(
        [{"tokens": "words"}, {"tokens": "whitespace"}], [{"ngrams": (1, n)} for n in (1, 2)]
    )
    events = [{"event": event} for event in ("boolean", "multinomial", "bernoulli")]
    views = crossed(events, [{"alpha": alpha} for alpha in (0.5, 1.0, 2.0)])
    views += [{"event": "boolean", "best": 20_000}, {"event": "boolean", "min_df": 2}]
    chosen, _ = folds.chosen(ways, views)
    ours = folds.right(folds.ours(*chosen))
    error = np.sqrt(ours.mean() * (1.0 - ours.mean()) / len(ours))
    found.add("chosen on the training folds", "", percent(ours.mean()), "")
    yield found
    yield (
        "Published: Wang and Manning (2012), MNB with unigrams and with bigrams, on folds of their own. "
        f"Over ten other shufflings ours is {others[0]} with unigrams and {others[1]} with bigrams. One "
        f"such figure has a standard error of {100.0 * error:.1f} points."
    )
    yield (
        f"For each fold one of {len(ways) * len(views)} candidates was chosen by cross-validation over the "
        "other nine (tokens, pairs of words or not, event, alpha, min_df, the 20,000 words of most mutual "
        f"information): {most_chosen(chosen)} of ten folds. It is "
        f"{against(ours, folds.right(peer))}."
    )


def _shuffled(folds: Folds, options: Options) -> str:
    """Return mean and range of the accuracy over other ways to make folds."""
    found = []
    for seed in range(1, 11):
        again = Folds(folds.documents, folds.labels, seed=seed)
        found.append(again.right(again.ours(options)).mean())
    return f"{percent(np.mean(found))} ({percent(min(found))} to {percent(max(found))})"


def messages() -> Iterator[Part]:
    """SMS Spam, ten-fold, every text once."""
    say("text: messages")
    rows = table("messages").drop_duplicates("text")
    folds = Folds(rows["text"].to_numpy(object), rows["label"].to_numpy(str))
    spam = folds.classes.tolist().index("spam")
    peer = folds.peer(scikit_learn.text())
    ways: list[Options] = [
        {"tokens": "words"},
        {"tokens": "words", "min_length": 1, "ngrams": (1, 2)},
        {"tokens": "whitespace"},
        {"tokens": "whitespace", "ngrams": (1, 2)},
        {"tokens": "characters", "ngrams": (3, 4)},
    ]
    events = [{"event": event} for event in ("multinomial", "boolean", "bernoulli")]
    views = crossed(events, [{"alpha": alpha} for alpha in (0.1, 0.3, 1.0)])
    views += [{"event": "boolean", "alpha": 0.3, "best": 2_000}]
    views += [{"event": "boolean", "alpha": 0.3, "min_df": 2}]
    by_accuracy, by_loss = folds.chosen(ways, views)
    accurate, sure = folds.ours(*by_accuracy), folds.ours(*by_loss)
    yield f"### SMS Spam: {len(rows):,} distinct messages, ten-fold"
    found = Table("model | accuracy | spam: precision | recall | F1 | log-loss")
    for name, posterior in (
        ("plain scikit-learn", peer),
        ("`TextNB()`", folds.ours({})),
        ("chosen on the training folds by accuracy", accurate),
        ("chosen on the training folds by log-loss", sure),
    ):
        guess = posterior.argmax(axis=1) == spam
        *shares, _ = precision_recall_fscore_support(folds.truth == spam, guess, average="binary")
        loss = f"{losses(posterior, folds.truth).mean():.4f}"
        found.add(name, *map(percent, (folds.right(posterior).mean(), *shares)), loss)
    yield found
    yield (
        "We know of no published figure for the messages without their 403 duplicates. For each fold one of "
        f"{len(ways) * len(views)} candidates was chosen by the other nine. By accuracy it was "
        f"{most_chosen(by_accuracy)} of ten folds, and is "
        f"{against(folds.right(accurate), folds.right(peer))}. By log-loss it was {most_chosen(by_loss)}, and "
        f"is {against(folds.right(sure), folds.right(peer))}. Overlapping runs of characters repeat the same "
        "evidence, so what is most often right with them can be far too sure of itself where it is wrong: "
        "look at both columns."
    )


class ByDate:
    """20 Newsgroups or some of them: learn from earlier documents, be judged by later ones."""

    def __init__(self, groups: Sequence[str] = ()) -> None:
        rows = table("newsgroups")
        rows = rows[rows["label"].isin(groups)] if groups else rows
        parts = [rows[rows["split"] == split] for split in ("train", "test")]
        self.train, self.test = (
            (part["text"].to_numpy(object), part["label"].to_numpy(str)) for part in parts
        )

    def predicted(self, model: Any) -> Array:
        return model.fit(*self.train).predict(self.test[0])

    def cells(self, guess: Array) -> tuple[str, str]:
        f1 = f1_score(self.test[1], guess, average="macro")
        return percent((guess == self.test[1]).mean()), f"{f1:.3f}"

    def chosen(self, ways: Sequence[Options], views: Sequence[Options]) -> Options:
        """Return the candidate that is best in three-fold cross-validation within training."""
        folds = Folds(*self.train, n=3)
        score: Counter[int] = Counter()
        for (w, way), fold in product(enumerate(ways), range(3)):
            say(f"text: {len(self.train[1]):,} documents, choosing, {called(way)}")
            tally, words = _counted(folds, fold, way)
            for v, view in enumerate(views):
                score[w * len(views) + v] += folds.hits(estimated(tally, words, view), fold)
        return crossed(ways, views)[score.most_common(1)[0][0]]


def _counted(folds: Folds, fold: int, way: Options) -> tuple[tb.Tally, Any]:
    """Count all folds but one; the idf of the others has to be known first, so anew."""
    if not way.get("idf"):
        words = words_of(way)
        return folds.counted(words).without(fold), words
    train = folds.train(fold)
    tally = tb.TextNB(**way).fit(folds.documents[train], folds.labels[train]).tally_
    return tally, tally.schema.kind("text")


def newsgroups(groups: Sequence[str] = ()) -> Iterator[Part]:
    """20 Newsgroups by date, or some of them."""
    problem = ByDate(groups)
    truth = problem.test[1]
    weighings: list[Options] = [{}, {"tf": "log"}, LOG_L2, {**LOG_L2, "idf": True}]
    ways = crossed(weighings, [{"ngrams": (1, n)} for n in (1, 2)])
    views: list[Options] = [{"alpha": alpha} for alpha in (0.01, 0.1, 1.0)]
    views += [{**COMPLEMENT, "alpha": alpha} for alpha in (0.1, 1.0)]
    steps: list[Options] = [
        {"alpha": 0.01},
        {"event": "boolean", "alpha": 0.01},
        {"tf": "log", "alpha": 0.01},
        COMPLEMENT,
        {**COMPLEMENT, **LOG_L2},
        {**COMPLEMENT, "ngrams": (1, 2), "alpha": 0.1},
    ]
    yield f"### 20 Newsgroups by date: {', '.join(groups) or 'all 20 classes'}"
    yield f"{len(problem.train[1]):,} documents to learn from, {len(truth):,} later ones to be judged by."
    best = problem.chosen(ways, views)
    tf_idf = make_pipeline(TfidfVectorizer(), MultinomialNB(alpha=0.01))
    models = {
        "plain scikit-learn": scikit_learn.text(),
        called({}): tb.TextNB(),
        "scikit-learn, tf-idf, alpha = 0.01": tf_idf,
        **{called(step): tb.TextNB(**step) for step in (TF_IDF, *steps)},
        f"chosen within training: {called(best)}": tb.TextNB(**best),
    }
    found = Table("model | accuracy | macro-F1 | published")
    guesses = []
    for name, model in models.items():
        say(f"text: {len(problem.train[1]):,} documents, {name}")
        guesses.append(problem.predicted(model))
        published = "0.882 macro-F1" if groups and model is tf_idf else ""
        found.add(name, *problem.cells(guesses[-1]), published)
    yield found
    yield (
        f"The last is the best of {len(ways) * len(views)} candidates in three-fold cross-validation within "
        "the earlier documents (weights of words, pairs of words or not, event, alpha); the lines above it "
        "show single steps and chose nothing. It is "
        f"{against(guesses[-1] == truth, guesses[0] == truth)}."
    )


def uneven() -> Iterator[Part]:
    """Newsgroups by the first part of their names: classes of very different sizes, calibrated."""
    problem = ByDate()
    (documents, groups), (later, truth) = problem.train, problem.test
    y, truth = (np.array([name.split(".")[0] for name in of]) for of in (groups, truth))
    names, counts = np.unique(y, return_counts=True)
    shares = dict(zip(names.tolist(), (counts / len(y)).tolist(), strict=True))
    models = {
        "`TextNB()`": tb.TextNB(),
        "calibrated, the shares of the classes stated as the prior, whose exponent is 1 then": (
            tb.TextNB(prior=shares, calibration="temperature")
        ),
        '`TextNB(calibration="temperature")`': tb.TextNB(calibration="temperature"),
    }
    yield "### 20 Newsgroups by date: the first part of the groups' names"
    yield (
        f"{len(names)} classes, of {100 * min(shares.values()):.0f} to {100 * max(shares.values()):.0f} % of the "
        "documents. Long documents repeat their evidence, so that a calibration discounts it to a few hundredths; "
        "beside that, a prior that counts in full leaves rare classes out."
    )
    found = Table("model | accuracy | macro-F1 | log-loss | exponents of prior and words")
    for name, model in models.items():
        say(f"text: uneven classes, {name}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that accuracy is lost, which is what this shows
            model.fit(documents, y)
        guess = model.predict(later)
        loss = losses(model.predict_proba(later), np.searchsorted(model.classes_, truth)).mean()
        f1 = f1_score(truth, guess, average="macro")
        of = model.calibration_
        exponents = "" if of is None else f"{of.prior:.2f} and {of.default:.3f}"
        found.add(name, percent((guess == truth).mean()), f"{f1:.3f}", f"{loss:.3f}", exponents)
    yield found
