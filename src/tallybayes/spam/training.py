"""Making a filter of folders of mail: all of it is counted, and its tokens are weighed.

Naive Bayes takes every token for a witness of its own. So each gets a weight, fitted on what the
tokens of each message say by the counts of all other messages (`calibration="words"`). Weights that
were fitted on the same messages are too sure of themselves: how sure the filter may be is found on
messages that were held out, by which all log-odds z become a z + b.
"""

from __future__ import annotations

import math
import os
import random
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallybayes.arrays import Floats
from tallybayes.errors import TallyBayesError, TallyBayesWarning
from tallybayes.kernels.progress import listener
from tallybayes.sources import as_source
from tallybayes.spam.features import as_table, features
from tallybayes.spam.mail_filter import Learnt, MailFilter, recipe_of, scaled, schema
from tallybayes.spam.mailboxes import messages_in
from tallybayes.spam.messages import Message
from tallybayes.spam.token_table import CLASSES, HAM, SPAM
from tallybayes.spam.verdict import Cutoffs, probability_of
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.validation.calibration import calibrated
from tallybayes.validation.progress import progress
from tallybayes.validation.word_weights import Pulls

MOST_WEIGHED = 20_000  # messages that weights are fitted on: of more, some drawn by chance
MOST_HELD_OUT = 6_000  # messages on which is found how sure the filter may be
FEWEST = 20  # messages of each class from which on weights are fitted
FOLDS = 4
STEPS = 50
GROWTH = 1.3  # times as much mail has come when tokens are weighed again
ENOUGH = 100  # messages of each class from which on weights may be below 0
# tokens of mail differ more than words of other texts, and come in company
PULLS = Pulls(word=0.05, mean=2.0, least=-math.inf)


@dataclass(slots=True)
class HeldOut:
    """What a filter said of messages that it had not seen: their log-odds and what they are."""

    log_odds: Floats
    spam: NDArray[np.bool_]

    def counts(self, cutoffs: Cutoffs) -> dict[str, int]:
        """Return how often it was wrong, and how often unsure."""
        answers = [cutoffs.answer(probability_of(each)) for each in self.log_odds.tolist()]
        said = np.array(answers, dtype=object)
        return {
            "ham": int((~self.spam).sum()),
            "spam": int(self.spam.sum()),
            "false_alarms": int(((said == "spam") & ~self.spam).sum()),
            "misses": int(((said == "ham") & self.spam).sum()),
            "unsure_ham": int(((said == "unsure") & ~self.spam).sum()),
            "unsure_spam": int(((said == "unsure") & self.spam).sum()),
        }

    @property
    def area_missed(self) -> float:
        """The share of pairs of a ham and a spam that stand in the wrong order: 1 - AUC."""
        ham, spam = np.sort(self.log_odds[~self.spam]), self.log_odds[self.spam]
        below, upto = (np.searchsorted(ham, spam, side) for side in ("left", "right"))
        return float(1.0 - (below + upto).sum() / 2.0 / max(len(ham) * len(spam), 1))


@dataclass(slots=True)
class Training:
    """A filter that was made, and what was seen on the way.

    `known` counts the messages that were there twice; those that were in the folders of `both`
    classes count as what they were first.
    """

    filter: MailFilter
    known: int = 0
    both: list[str] = field(default_factory=list)
    held_out: HeldOut | None = None

    def learn(self, label: str, paths: Sequence[str], sample: MailSample) -> None:
        """Learn all messages of some places."""
        told = listener()
        told.begin(f"reading {label}", None)
        try:
            for found in messages_in(paths):
                message = Message(found.raw)
                columns = features(message)
                if message.digest in self.filter.digests:
                    self.known += 1
                    if self.filter.digests[message.digest] != label:
                        self.both.append(found.name)
                else:
                    self.filter.learn_columns(message.digest, columns, label)
                    sample.add(columns, label)
                told.advance(1, len(found.raw))
        finally:
            told.end()


class MailSample:
    """At most so many messages of all that pass by, each as likely to stay as any other."""

    def __init__(self, most: int = MOST_WEIGHED, seed: int = 0) -> None:
        self.most, self.seen, self._draw = most, 0, random.Random(seed)
        self.columns: list[dict[str, str]] = []
        self.labels: list[Any] = []

    def add(self, columns: dict[str, str], label: Any) -> None:
        """Let a message pass by."""
        self.seen += 1
        if len(self.labels) < self.most:
            self.columns.append(columns)
            self.labels.append(label)
        elif (place := self._draw.randrange(self.seen)) < self.most:
            self.columns[place], self.labels[place] = columns, label


class GrowingFilter:
    r"""A filter that weighs its tokens anew whenever there is a third more mail to weigh them by.

    Parameters
    ----------
    filter
        What learns; an empty one when not given.

    Examples
    --------
    >>> growing = GrowingFilter()
    >>> growing.learn(Message(b"Subject: win\n\nlottery"), "spam")
    'learnt'
    >>> growing.filter.lookup.spam
    1
    """

    def __init__(self, filter: MailFilter | None = None) -> None:  # noqa: A002
        self.filter = MailFilter() if filter is None else filter
        self._sample, self._next = MailSample(), 2 * FEWEST

    def learn(self, message: Message, label: str) -> Learnt:
        """Learn a message, and weigh the tokens if it is time."""
        return self.learn_columns(message.digest, features(message), label)

    def learn_columns(self, digest: bytes, columns: dict[str, str], label: str) -> Learnt:
        """Learn a message of which the digest and the columns are known."""
        answer = self.filter.learn_columns(digest, columns, label)
        if answer == "learnt":
            self._sample.add(columns, digest)
        if self._sample.seen >= self._next:
            self._next = int(GROWTH * self._sample.seen)
            known = zip(self._sample.columns, self._sample.labels, strict=True)
            labels = self.filter.digests  # as they are now, after corrections
            some = [(one, labels[its]) for one, its in known if its in labels]
            weigh(self.filter, *zip(*some, strict=True))
        return answer


def train(
    ham: Iterable[str | os.PathLike[str]],
    spam: Iterable[str | os.PathLike[str]],
    cutoffs: Cutoffs | None = None,
) -> Training:
    """Make a filter of mail that was sorted.

    Parameters
    ----------
    ham, spam
        Files, mboxes, Maildirs or folders.
    cutoffs
        Up to which probability mail is ham, and from which on spam.
    """
    training, sample = Training(MailFilter()), MailSample()
    for label, places in ((HAM, ham), (SPAM, spam)):
        paths = [os.fspath(place) for place in places]
        training.learn(label, paths, sample)
        if label not in sample.labels:
            raise TallyBayesError(
                f"there is no message in {', '.join(paths)}; a filter needs some {label} to begin "
                "with"
            )
    if cutoffs is not None:
        training.filter.cutoffs = cutoffs
    training.held_out = weigh(training.filter, sample.columns, sample.labels)
    return training


def weigh(
    mail: MailFilter, columns: Sequence[Mapping[str, str]], labels: Sequence[str]
) -> HeldOut | None:
    """Fit the weights of a filter's tokens on messages, and how sure it may be.

    Returns what was said of messages that were held out; None where they are too few for weights,
    so that all tokens keep the same.
    """
    y = np.array(labels)
    fewer = min((y == label).sum() for label in CLASSES)
    if fewer < FEWEST:
        return None
    pulls = PULLS if fewer >= ENOUGH else PULLS._replace(least=0.0)
    calibration = calibrated(labelled(columns, y), recipe_of(None), "words", pulls=pulls)
    some = np.arange(len(y))
    if len(y) > MOST_HELD_OUT:
        some = np.sort(np.random.default_rng(0).choice(len(y), MOST_HELD_OUT, replace=False))
    held = held_out([columns[k] for k in some.tolist()], y[some], pulls)
    by, shift = scale(held)
    held = HeldOut(by * held.log_odds + shift, held.spam)
    signed = np.where(held.spam, held.log_odds, -held.log_odds)
    loss, right = float(np.logaddexp(0.0, -signed).mean()), float((signed > 0.0).mean())
    mail.weigh(scaled(calibration, by, shift, loss=loss, accuracy=right, rows=len(y)))
    mail.note(held_out={**held.counts(mail.cutoffs), "area_missed": held.area_missed})
    return held


def held_out(columns: Sequence[Mapping[str, str]], y: NDArray[Any], pulls: Pulls) -> HeldOut:
    """Judge each message by a filter that was made of others."""
    spam, log_odds = y == SPAM, np.zeros(len(y))
    fold = np.empty(len(y), np.int64)  # each class is shared out evenly
    for label in CLASSES:
        here = np.random.default_rng(1).permutation(np.flatnonzero(y == label))
        fold[here] = np.arange(len(here)) % FOLDS
    for k in progress(range(FOLDS), "weighing tokens"):
        rows, rest = (np.flatnonzero(part).tolist() for part in (fold == k, fold != k))
        data = labelled([columns[row] for row in rest], y[rest])
        with warnings.catch_warnings():  # which are about these folds only
            warnings.simplefilter("ignore", TallyBayesWarning)
            calibration = calibrated(data, recipe_of(None), "words", pulls=pulls)
        model = recipe_of(calibration).model(data.tally())
        joint = model.joint_log_likelihood(as_table(columns[row] for row in rows))
        log_odds[rows] = joint[:, 1] - joint[:, 0]
    return HeldOut(log_odds, spam)


def labelled(columns: Sequence[Mapping[str, str]], y: NDArray[Any]) -> LabelledRows:
    """Encode messages, given as their columns."""
    return LabelledRows.of(as_source(as_table(columns)), schema(), y)


def scale(held: HeldOut) -> tuple[float, float]:
    """Return by what log-odds are multiplied, and what is added, for the least log-loss.

    Both are drawn a little, to 1 and 0; the first is not above 1.
    """
    z, sign, found = held.log_odds, np.where(held.spam, 1.0, -1.0), np.array([1.0, 0.0])
    design = np.stack([z, np.ones(len(z))], axis=1)
    for _ in range(STEPS):
        p = 1.0 / (1.0 + np.exp(np.clip(sign * (design @ found), -500.0, 500.0)))
        slope = -(sign * p) @ design + found - [1.0, 0.0]
        curve = (design * (p * (1.0 - p))[:, None]).T @ design + np.eye(2)
        step = np.linalg.solve(curve, slope)
        found = found - step / max(1.0, float(np.abs(step).max()) / 0.5)
    return float(np.clip(found[0], 0.1, 1.0)), float(found[1])
