"""What was found, as people read it: a training, a message explained, what a filter has learnt."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tallybayes.rendering import Part, Renderable, Table
from tallybayes.rendering.words import counted, odds, probability
from tallybayes.spam.features import COLUMNS, features
from tallybayes.spam.mail_filter import MailFilter, columns_of
from tallybayes.spam.messages import Message
from tallybayes.spam.token_table import HAM, SPAM, TokenTable
from tallybayes.spam.training import Training
from tallybayes.spam.verdict import Cutoffs, Verdict, judge, shown_of

if TYPE_CHECKING:
    from tallybayes.spam.shared_filter import SharedFilter

BITS = 1.0 / math.log(2.0)  # a nat
SHOWN = 5  # tokens of a column,
QUIET = 0.005  # and what is too little to show
LISTED = 10  # tokens of a report, for each class


@dataclass(frozen=True, slots=True)
class TrainedFilter(Renderable):
    """What came of a training."""

    training: Training

    def document(self) -> Iterator[Part]:
        """Show how much was learnt, and how good the filter is."""
        of, mail = self.training, self.training.filter
        ham, spam = (counted(n, "message") for n in (mail.lookup.ham, mail.lookup.spam))
        yield f"Learnt {ham} as ham and {spam} as spam."
        if of.known:
            yield f"{counted(of.known, 'message')} had been there before and count once."
        if of.both:
            shown = ", ".join(of.both[:3])
            yield f"{counted(len(of.both), 'message')} is ham and spam; it stays ham: {shown}."
        held = mail.noted.get("held_out")
        if held is None:
            yield (
                "All tokens have the same weight as yet: with 20 messages of each class or more "
                "each gets its own."
            )
        else:
            yield from _quality(held, mail.cutoffs)

    def to_dict(self) -> dict[str, Any]:
        mail = self.training.filter
        return {
            "learnt": {HAM: mail.lookup.ham, SPAM: mail.lookup.spam},
            "known": self.training.known,
            "both": self.training.both,
            "cutoffs": {HAM: mail.cutoffs.ham, SPAM: mail.cutoffs.spam},
            "held_out": mail.noted.get("held_out"),
        }


def _quality(held: Mapping[str, Any], cutoffs: Cutoffs) -> Iterator[Part]:
    """Show how a filter did on messages that it had not seen."""
    rows = [
        (name, held[name], held[wrong], held[f"unsure_{name}"])
        for name, wrong in ((HAM, "false_alarms"), (SPAM, "misses"))
    ]
    yield Table.of(
        "Messages judged by filters that had not seen them",
        [("class", "label"), ("messages", "count"), ("wrong", "count"), ("unsure", "count")],
        rows,
    )
    yield (
        f"Spam from a probability of {probability(cutoffs.spam)} on, ham up to "
        f"{probability(cutoffs.ham)}. Of {100.0 * held['area_missed']:.3g} % of all pairs of a ham "
        "and a spam the ham is thought the likelier spam (1 - AUC)."
    )


@dataclass(frozen=True, slots=True)
class Explained(Renderable):
    """Why a message is judged as it is."""

    name: str
    verdict: Verdict
    tokens: dict[str, list[tuple[str, float]]] = field(repr=False)

    @classmethod
    def of(cls, lookup: TokenTable, cutoffs: Cutoffs, name: str, message: Message) -> Explained:
        """Judge a message, and find what speaks for what."""
        columns = features(message)
        verdict, tokens = judge(lookup, columns, cutoffs), {}
        for column, text in columns.items():
            said, below = lookup.terms(column, text)
            said.sort(key=lambda item: -abs(item[1]))
            loud = [(token, weight / below) for token, weight in said[:SHOWN]]
            tokens[column] = [(token, weight) for token, weight in loud if abs(weight) >= QUIET]
        return cls(name, verdict, tokens)

    def document(self) -> Iterator[Part]:
        """Show what each part of the message says, and by which tokens."""
        found = self.verdict
        ham, spam = found.learnt
        yield (
            f"{self.name}: {found.answer}, with a probability of {probability(found.probability)} "
            f"of spam ({odds(BITS * found.log_odds)}), after {ham:,} ham and {spam:,} spam."
        )
        loudest = [column for column, weight in found.strongest if weight][:1]
        if loudest:
            weight = found.evidence[loudest[0]]
            side = SPAM if weight > 0.0 else HAM
            yield f"The {loudest[0]} speak{'s' * (loudest[0][-1] != 's')} loudest, " + (
                f"{odds(abs(BITS * weight))} for {side}."
            )
        rows = [
            (
                column,
                BITS * weight,
                "  ".join(
                    f"{token} {weight:+.2f}" for token, weight in self.tokens.get(column, ())
                ),
            )
            for column, weight in found.strongest
            if abs(weight) >= QUIET
        ]
        heads = [
            ("part", "label"),
            ("odds of spam", "odds"),
            ("tokens that say most, in nats", "text"),
        ]
        yield Table.of("What speaks for spam, and what against it", heads, rows)

    def to_dict(self) -> dict[str, Any]:
        return {
            **shown_of(self.name, self.verdict),
            "evidence": self.verdict.evidence,
            "tokens": {
                column: [{"token": token, "log_odds": weight} for token, weight in said]
                for column, said in self.tokens.items()
            },
        }


@dataclass(frozen=True, slots=True)
class FilterReport(Renderable):
    """What a filter has learnt.

    `tokens` are those of each part that may be shown. A store keeps tokens by their hashes, so
    those of the latest messages in its log stand for all.
    """

    name: str
    table: TokenTable
    cutoffs: Cutoffs
    held: Mapping[str, Any] | None
    tokens: Mapping[str, Collection[str]] = field(repr=False)
    history: Sequence[str] = ()

    @classmethod
    def of(cls, name: str, mail: MailFilter) -> FilterReport:
        """Report on a filter in a file."""
        blocks = columns_of(mail.fitted.tally)
        tokens = {part: block.terms.texts for part, block in blocks}
        history = mail.provenance.history
        return cls(name, mail.lookup, mail.cutoffs, mail.noted.get("held_out"), tokens, history)

    @classmethod
    def of_store(cls, name: str, mail: SharedFilter) -> FilterReport:
        """Report on a filter in a store."""
        tokens: dict[str, set[str]] = {part: set() for part in COLUMNS}
        for change in mail.latest():
            for part, text in change.columns.items():
                tokens[part].update(text.split())
        return cls(name, mail.table, mail.cutoffs, mail.facts.get("held_out"), tokens)

    def document(self) -> Iterator[Part]:
        """Show how much it learnt, how good it was, and the tokens that tell most."""
        table = self.table
        tokens = sum(column.tokens for column in table.columns.values())
        yield f"{self.name}: {table.ham:,} ham and {table.spam:,} spam, {tokens:,} tokens."
        if self.held:
            yield from _quality(self.held, self.cutoffs)
        heads = [("part", "label"), ("tokens", "count"), ("weight", "score")]
        columns = [(part, table.columns[part]) for part in COLUMNS]
        rows = [(part, column.tokens, column.weight) for part, column in columns]
        yield Table.of("Parts of a message, and the mean weight of their tokens", heads, rows)
        heads = [("token", "label"), ("part", "label"), ("ham", "count"), ("spam", "count")]
        for label, best in self._telling().items():
            yield Table.of(f"Tokens that speak for {label}", heads, best)

    def _telling(self) -> dict[str, list[tuple[str, str, int, int]]]:
        """Return for each class the tokens that say most over all messages that have them."""
        table, found = self.table, list[tuple[float, str, str, int, int]]()
        for name, tokens in self.tokens.items():
            person = table.person(name)
            for token in tokens if name != "letters" else ():  # which words stand for
                place = table._find(person, token)
                if place >= 0:
                    h, s = table.hams[place], table.spams[place]
                    told = table.weights[place] * math.sqrt(h + s)
                    share = (s + 0.5) / (table.spam + 1), (h + 0.5) / (table.ham + 1)
                    found.append((told * math.log(share[0] / share[1]), token, name, h, s))
        found.sort()
        return {
            HAM: [(t, name, h, s) for _, t, name, h, s in found[:LISTED]],
            SPAM: [(t, name, h, s) for _, t, name, h, s in reversed(found[-LISTED:])],
        }

    def to_dict(self) -> dict[str, Any]:
        return {
            "learnt": {HAM: self.table.ham, SPAM: self.table.spam},
            "cutoffs": {HAM: self.cutoffs.ham, SPAM: self.cutoffs.spam},
            "tokens": {name: each.tokens for name, each in self.table.columns.items()},
            "held_out": self.held,
            "history": list(self.history),
            "telling": self._telling(),
        }
