"""A filter that judges, learns and unlearns messages: a model of ten columns of text.

What it learnt is a tally, in a `.tally` file that every other command of tallybayes reads too. It
is judged with by way of a `TokenTable`, which is kept in step. Of each message that was learnt a
digest of its content is kept, so that none is learnt twice, and each can be unlearnt as what it was
learnt as.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np
from msgspec import structs

from tallybayes.errors import TallyBayesError
from tallybayes.families import Text
from tallybayes.model import Fitted, Recipe
from tallybayes.model.calibration import Calibration
from tallybayes.modelfile import Provenance, Stored, changing, load, save
from tallybayes.schema import Schema
from tallybayes.sources import as_source
from tallybayes.sources.atomic_file import replacing
from tallybayes.spam.features import COLUMNS, as_table, features
from tallybayes.spam.messages import Message
from tallybayes.spam.token_table import (
    CLASSES,
    HAM,
    SPAM,
    ColumnSums,
    Rules,
    TokenTable,
    beside,
    stamp_of,
)
from tallybayes.spam.verdict import Cutoffs, Verdict, judge
from tallybayes.tallies import Tally, WordCounts
from tallybayes.tallies.word_counts import WEIGHT
from tallybayes.tokenizer import Words

TEXT = Text(
    Words(tokens="whitespace", lowercase=False, min_length=1),
    event="boolean",
    alpha=0.2,
    length_power=0.5,
    length_offset=50.0,
)
FIRST = 0.3  # the weight of all tokens until there is enough mail to weigh them
DIGEST = 16  # bytes
SETTLED = 256  # messages that are counted together
MOST_TOKENS = 500_000  # beyond, those that were met once are dropped
KEPT = "mail"  # where the filter's own data are in a model file

Learnt = Literal["learnt", "known", "corrected"]


class MailFilter:
    r"""A filter.

    Parameters
    ----------
    stored
        What is in its file; an empty filter when not given.

    Examples
    --------
    >>> spam, ham = Message(b"Subject: win\n\nlottery"), Message(b"Subject: lunch\n\nat one?")
    >>> filter = MailFilter()
    >>> filter.learn(spam, "spam"), filter.learn(ham, "ham"), filter.learn(ham, "ham")
    ('learnt', 'learnt', 'known')
    >>> filter.classify(Message(b"\nwin the lottery")).log_odds > 0
    True
    """

    def __init__(self, stored: Stored | None = None) -> None:
        self._stored = _nothing() if stored is None else stored
        kept = _kept(self._stored)
        self.cutoffs = (
            Cutoffs(*kept.get("cutoffs", ())) if "cutoffs" in kept else Cutoffs.of_costs()
        )
        self.digests: dict[bytes, str] = {
            raw[k : k + DIGEST]: label
            for label in CLASSES
            for raw in [bytes(kept.get(label, b""))]
            for k in range(0, len(raw), DIGEST)
        }
        self.lookup = lookup_of(self._stored.fitted)
        self._waiting: list[tuple[dict[str, str], str, int]] = []
        self._since = [0, 0]  # learnt and unlearnt since it was loaded
        self._room = MOST_TOKENS  # until some are dropped

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> MailFilter:
        """Load a filter from its file."""
        return cls(load(path))

    def classify(self, message: Message) -> Verdict:
        """Judge a message."""
        return judge(self.lookup, features(message), self.cutoffs)

    def label_of(self, digest: bytes) -> str | None:
        """Return as what a message was learnt."""
        return self.digests.get(digest)

    def learn(self, message: Message, label: str) -> Learnt:
        """Learn a message, unless it was learnt before; one that was learnt as the other corrects.

        Parameters
        ----------
        message
            The message.
        label
            "ham" or "spam".
        """
        return self.learn_columns(message.digest, features(message), label)

    def learn_columns(self, digest: bytes, columns: dict[str, str], label: str) -> Learnt:
        """Learn a message of which the digest and the columns are known."""
        if label not in CLASSES:
            raise TallyBayesError(f"a message is learnt as ham or spam, not as {label!r}")
        before = self.digests.get(digest)
        if before == label:
            return "known"
        if before is not None:
            self._count(columns, before, -1)
        self.digests[digest] = label
        self._count(columns, label, 1)
        return "learnt" if before is None else "corrected"

    def unlearn(self, message: Message) -> str | None:
        """Take a message away again; return as what it was learnt, or None if it never was."""
        label = self.digests.pop(message.digest, None)
        if label is not None:
            self._count(features(message), label, -1)
        return label

    def _count(self, columns: dict[str, str], label: str, times: int) -> None:
        self.lookup.add(columns, label, times)
        self._waiting.append((columns, label, times))
        self._since[times < 0] += 1
        if len(self._waiting) >= SETTLED:
            self.settle()

    def settle(self) -> None:
        """Count in the tally what was learnt lately."""
        tally = self._stored.fitted.tally
        for times in (1, -1):
            some = [(columns, label) for columns, label, n in self._waiting if n == times]
            if times > 0 and some:
                tally = tally + tally_of(*zip(*some, strict=True))
            elif some:
                known = [_known(tally, columns, label) for columns, label in some]
                tally = tally - tally_of(known, [label for _, label in some])
        self._waiting = []
        fitted = Fitted(tally, self._stored.fitted.recipe)
        self._stored = replace(self._stored, fitted=fitted)
        if self._tokens > self._room:
            self.drop_rare(self._room)
            self._room = max(MOST_TOKENS, 5 * self._tokens // 4)

    @property
    def _tokens(self) -> int:
        return sum(column.tokens for column in self.lookup.columns.values())

    def drop_rare(self, most: int) -> int:
        """Drop the tokens that one message has, if there are more than that; return how many.

        A message whose tokens were dropped is unlearnt but for those.
        """
        if self._waiting:
            self.settle()
        before = self._tokens
        if before <= most:
            return 0
        self.lookup.drop_rare()
        tally, recipe = self._stored.fitted.tally, self._stored.fitted.recipe
        parts = tally.schema, tally.classes, tally.rows, tally.weight
        blocks: list[Any] = list(tally.blocks)
        del tally
        self._stored = replace(self._stored, fitted=_nothing().fitted)  # lets go of the old counts
        for k, block in enumerate(blocks):
            blocks[k] = block.of_documents(2)
        self._stored = replace(self._stored, fitted=Fitted(Tally(*parts, blocks), recipe))
        return before - self._tokens

    @property
    def fitted(self) -> Fitted:
        """The tally and the recipe, as every other part of tallybayes reads them."""
        self.settle()
        return self._stored.fitted

    def weigh(self, calibration: Calibration) -> None:
        """Take over weights of tokens."""
        fitted = self.fitted
        recipe = replace(fitted.recipe, calibration=calibration)
        self._stored = replace(self._stored, fitted=Fitted(fitted.tally, recipe))
        self.lookup = lookup_of(self._stored.fitted)

    def stored(self, said: str = "") -> Stored:
        """Return what is written into its file.

        Parameters
        ----------
        said
            A line of its history: what was learnt since when not given.
        """
        fitted = self.fitted
        learnt, unlearnt = self._since
        provenance = self._stored.provenance
        if learnt or unlearnt:
            line = said or f"spam: {learnt} learnt, {unlearnt} unlearnt"
            provenance = provenance.then(line, learnt - unlearnt)
            self._since = [0, 0]
        kept: dict[str, Any] = {
            **_kept(self._stored),
            "cutoffs": [self.cutoffs.ham, self.cutoffs.spam],
            **{
                label: b"".join(sorted(d for d, one in self.digests.items() if one == label))
                for label in CLASSES
            },
        }
        estimator = {"name": "NaiveBayes", "state": {KEPT: kept}}
        self._stored = Stored(fitted, provenance, estimator)
        return self._stored

    def note(self, **facts: Any) -> None:
        """Keep further plain data in its file."""
        kept = {**_kept(self._stored), **facts}
        estimator = {"name": "NaiveBayes", "state": {KEPT: kept}}
        self._stored = replace(self._stored, estimator=estimator)

    @property
    def provenance(self) -> Provenance:
        """Where it comes from."""
        return self._stored.provenance

    @property
    def noted(self) -> Mapping[str, Any]:
        """The plain data that are kept in its file."""
        return _kept(self._stored)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the filter to a file, whole or not at all, and its table beside it."""
        save(path, self.stored())
        self.save_lookup(path)

    def save_lookup(self, path: str | os.PathLike[str]) -> None:
        """Write the table from which single processes judge; where that cannot be, they wait."""
        self.lookup.extra = {"cutoffs": [self.cutoffs.ham, self.cutoffs.spam]}
        with suppress(OSError, TallyBayesError), replacing(beside(path)) as file:
            file.writelines(self.lookup.parts(stamp_of(path)))


@contextmanager
def changing_filter(path: str | os.PathLike[str]) -> Iterator[MailFilter]:
    """Open a filter for a change; it is saved at the end, and nobody else changes it meanwhile."""
    with changing(path) as change:
        mail = MailFilter(change.stored)
        yield mail
        change.save(mail.stored())
        mail.save_lookup(path)


def quick(path: str | os.PathLike[str]) -> TokenTable:
    """Return what judges, from the model itself; the table beside it is made anew."""
    mail = MailFilter.open(path)
    mail.save_lookup(path)
    return mail.lookup


def tally_of(rows: Sequence[Mapping[str, str]], labels: Sequence[str]) -> Tally:
    """Count messages, given as their columns."""
    return Tally.of(as_table(rows), list(labels), schema=schema())


def schema() -> Schema:
    """Return what the columns are."""
    empty: dict[str, list[str]] = {column: [] for column in COLUMNS}
    return Schema.infer(as_source(empty), dict.fromkeys(COLUMNS, TEXT.words))


def first_weights() -> Calibration:
    """Return weights for the time in which there is too little mail to fit any."""
    return Calibration("words", dict.fromkeys(COLUMNS, FIRST), FIRST)


def recipe_of(calibration: Calibration | None) -> Recipe:
    """Return what makes a model of a tally."""
    return Recipe((TEXT,), calibration=calibration)


def lookup_of(fitted: Fitted) -> TokenTable:
    """Return the table of a model."""
    tally, calibration = fitted.tally, fitted.recipe.calibration or first_weights()
    constants = calibration.constants
    text: Any = fitted.recipe.families[0] if fitted.recipe.families else TEXT
    if tally.schema.names != COLUMNS or not isinstance(text.kind, Words):
        raise TallyBayesError("this model is no mail filter; make one with: tallybayes spam train")
    rules = Rules(
        float(text.alpha or 0.0),
        float(text.length_power or 0.0),
        text.length_offset,
        constants.get(SPAM, 0.0) - constants.get(HAM, 0.0),
        calibration.prior,
    )
    rows = dict(zip(tally.classes, tally.rows.tolist(), strict=True))
    lookup = TokenTable(rules, {}, rows.get(HAM, 0), rows.get(SPAM, 0))
    for name, block in columns_of(tally):
        mean = calibration.exponents.get(name, calibration.default)
        lookup.columns[name] = ColumnSums(weight=mean)
        lookup.enter(name, _tokens(block, tally.classes, calibration, name, mean))
    return lookup


def _tokens(
    block: WordCounts, classes: Sequence[Any], calibration: Calibration, name: str, mean: float
) -> Iterator[tuple[str, int, int, float]]:
    """Go through the tokens of a column, with their counts and weights."""
    counts = np.zeros((2, len(block.terms)), np.int64)
    place = np.array([CLASSES.index(label) for label in classes], np.int64)
    pairs = block.pairs
    counts[place[pairs.classes], pairs.words] = pairs.sums[:, WEIGHT]
    weights = calibration.words.get(name)
    known = {} if weights is None else weights.weights
    texts = block.terms.texts
    for text, h, s in zip(texts, *counts.tolist(), strict=True):
        if h or s:
            yield text, h, s, known.get(text, mean)


def _known(tally: Tally, columns: Mapping[str, str], label: str) -> dict[str, str]:
    """Return the tokens of a message that the tally has in a class: others were dropped."""
    if label not in tally.classes:
        return dict.fromkeys(columns, "")
    here, kept = tally.classes.index(label), {}
    for name, block in columns_of(tally):
        kept[name] = " ".join(block.having(here, columns[name].split()))
    return kept


def columns_of(tally: Tally) -> Iterator[tuple[str, WordCounts]]:
    """Go through the columns and what was counted of each."""
    for group, block in zip(tally.schema.groups, tally.blocks, strict=True):
        (name,) = tally.schema.names_of(group)
        yield name, cast(WordCounts, block)


def _kept(stored: Stored) -> dict[str, Any]:
    """Return the filter's own data in a model file."""
    state = (stored.estimator or {}).get("state")
    kept = state.get(KEPT) if isinstance(state, dict) else None
    return dict(kept) if isinstance(kept, dict) else {}


def _nothing() -> Stored:
    """Return what is in the file of a filter that learnt nothing."""
    fitted = Fitted(Tally(schema()), recipe_of(first_weights()))
    return Stored(fitted, Provenance.now(None, 0, said="an empty mail filter"))


def scaled(calibration: Calibration, by: float, shift: float, **more: Any) -> Calibration:
    """Return a calibration whose log-odds are multiplied, and shifted towards spam."""
    constants = {label: by * calibration.constants.get(label, 0.0) for label in CLASSES}
    constants[SPAM] += shift / 2.0
    constants[HAM] -= shift / 2.0
    return structs.replace(
        calibration,
        exponents={name: by * one for name, one in calibration.exponents.items()},
        default=by * calibration.default,
        prior=by * calibration.prior,
        constants=constants,
        words={
            name: type(one)({word: by * weight for word, weight in one.weights.items()})
            for name, one in calibration.words.items()
        },
        **more,
    )
