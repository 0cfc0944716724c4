"""What each token says, in a table that a process finds in a millisecond and that learns in place.

A model of hundreds of thousands of words takes a fraction of a second to load, which is too long
for a process per mail. So what scoring needs of it stands in flat arrays: for each token (by 59
bits of its hash) the messages of each class that have it, and its weight. They are searched where
they are in a file, without NumPy, and give the log-odds that the model gives:

    log-odds = start + sum over columns of  1 / (n + offset)^power  sum over its n known tokens of
               weight * (log (s + alpha) / (S + alpha V) - log (h + alpha) / (H + alpha V)),

s and h being the spam and ham that have the token, S and H their sums over the V tokens.

The file is a cache beside the model and is made anew when that has changed.
"""

from __future__ import annotations

import json
import math
import mmap
import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

BEGINNING = b"tallybayes lookup 2\n"
ROOM = 1.5  # slots a token, at first,
FULL = 0.85  # and the share of them that is filled before there are more
FEWEST = 1_024
ALIGNED = 64
LONGEST_HEAD = 1 << 20
DIGEST = 32  # bytes
CODES = "QIId"  # of the arrays of keys, ham, spam and weights
PERSON = 16  # bytes of a column's name that go into the hashes of its tokens
HASHED = 59  # bits of a key that are of the token; the others are the number of its column
CLASSES = HAM, SPAM = "ham", "spam"


@dataclass(slots=True)
class ColumnSums:
    """What the tokens of a column have in common."""

    ham: int = 0
    spam: int = 0
    tokens: int = 0
    weight: float = 1.0  # of tokens that came later


@dataclass(slots=True)
class Rules:
    """How counts become log-odds."""

    alpha: float
    power: float
    offset: float
    start: float  # the log-odds of a message before anything of it is read, but for the prior
    prior: float  # the exponent of the prior


def slots_of(size: int) -> list[Any]:
    """Return empty slots: the arrays of keys, ham, spam and weights."""
    return [array(code, bytes(array(code).itemsize * size)) for code in CODES]


class Score(NamedTuple):
    """The log-odds of spam against ham, and what each column says."""

    log_odds: float
    evidence: dict[str, float]


@dataclass(slots=True)
class Own:
    """What a user's own mail adds to the table of a site.

    `share` is what a count is worth beside one of the site's, and `new` the number of tokens of
    each column that the site has not met.
    """

    table: TokenTable
    share: float
    new: dict[str, int]


@dataclass(slots=True)
class TokenTable:
    """The table.

    Parameters
    ----------
    rules
        How counts become log-odds.
    columns
        The sums of each column.
    ham, spam
        How many messages of each class were learnt.
    keys, hams, spams, weights
        The slots: 0 where nobody is, then the counts and the weight of each token.
    extra
        What else those who judge want at hand: plain data.
    """

    rules: Rules
    columns: dict[str, ColumnSums]
    ham: int = 0
    spam: int = 0
    keys: Any = ()
    hams: Any = ()
    spams: Any = ()
    weights: Any = ()
    extra: dict[str, Any] = field(default_factory=dict)
    _used: int = 0
    _key: int = 0  # that was last looked for

    def __post_init__(self) -> None:
        if not self.keys:
            self.keys, self.hams, self.spams, self.weights = slots_of(FEWEST)

    def _find(self, person: tuple[Any, int], token: str) -> int:
        """Return the slot of a token, or minus one more than the slot where it would be."""
        begun, column = person
        hashed = begun.copy()
        hashed.update(token.encode("utf-8", "replace"))
        told = int.from_bytes(hashed.digest(), "little")
        return self.find((told >> 64 - HASHED or 1) | column)

    def find(self, key: int) -> int:
        """Return the slot of a key, or minus one more than the slot where it would be."""
        keys = self.keys
        size = len(keys)
        place = key % size
        round_again = False
        while there := keys[place]:
            if there == key:
                return place
            place += 1
            if place == size:
                if round_again:
                    raise ValueError("a table without an empty slot")
                place, round_again = 0, True
        self._key = key
        return -1 - place

    def person(self, name: str) -> tuple[Any, int]:
        """Return what tells the tokens of a column from those of others: a hash that is begun."""
        return blake2b(digest_size=8, person=name.encode()[:PERSON]), list(self.columns).index(
            name
        ) << HASHED

    def prior(self, own: Own | None = None) -> float:
        """Return the log-odds of a message of which nothing is known."""
        ham, spam = float(self.ham), float(self.spam)
        if own is not None:
            ham, spam = ham + own.share * own.table.ham, spam + own.share * own.table.spam
        return self.rules.start + (self.rules.prior * math.log(spam / ham) if ham and spam else 0.0)

    def terms(
        self, name: str, text: str, own: Own | None = None
    ) -> tuple[list[tuple[str, float]], float]:
        """Return what each known token of a column says, and what that is divided by."""
        column, rules = self.columns[name], self.rules
        alpha, person, find = rules.alpha, self.person(name), self._find
        hams, spams, weights, log = self.hams, self.spams, self.weights, math.log
        ham, spam, tokens = float(column.ham), float(column.spam), column.tokens
        if own is not None:
            more = own.table.columns[name]
            ham, spam = ham + own.share * more.ham, spam + own.share * more.spam
            tokens += own.new[name]
        below = alpha * tokens
        rest = log(ham + below) - log(spam + below) if tokens else 0.0
        said = []
        for token in text.split():
            place = find(person, token)
            h, s = (hams[place], spams[place]) if place >= 0 else (0, 0)
            if own is not None and (there := own.table._find(person, token)) >= 0:
                h += own.share * own.table.hams[there]
                s += own.share * own.table.spams[there]
            if h or s:
                weight = weights[place] if place >= 0 else column.weight
                said.append((token, weight * (log((s + alpha) / (h + alpha)) + rest)))
        return said, (len(said) + rules.offset) ** rules.power if said else 1.0

    def score(self, columns: Mapping[str, str], own: Own | None = None) -> Score:
        """Score a message, given as the tokens of its columns."""
        evidence = {}
        for name in self.columns:
            said, below = self.terms(name, columns.get(name, ""), own)
            evidence[name] = sum([one for _, one in said]) / below
        return Score(self.prior(own) + sum(evidence.values()), evidence)

    def owned(self, table: TokenTable, share: float) -> Own:
        """Return what another table adds to this one, each of its counts a share of one here."""
        new = [0] * len(self.columns)
        for key, ham, spam in zip(table.keys, table.hams, table.spams, strict=True):
            if ham or spam:
                place = self.find(key)
                if place < 0 or not (self.hams[place] or self.spams[place]):
                    new[key >> HASHED] += 1
        return Own(table, share, dict(zip(self.columns, new, strict=True)))

    def enter(self, name: str, tokens: Iterable[tuple[str, int, int, float]]) -> None:
        """Take in the tokens of a column, each with its ham, its spam and its weight."""
        column, person = self.columns[name], self.person(name)
        for token, ham, spam, weight in tokens:
            place = self._place(person, token)
            self.hams[place], self.spams[place], self.weights[place] = ham, spam, weight
            column.ham += ham
            column.spam += spam
            column.tokens += 1

    def add(self, columns: Mapping[str, str], label: str, times: int = 1) -> None:
        """Count a message, or with times = -1 take away one that was counted."""
        ham, spam = (0, times) if label == SPAM else (times, 0)
        for name, column in self.columns.items():
            person = self.person(name)
            for token in columns.get(name, "").split():
                place = self._place(person, token, column.weight)
                before = self.hams[place] + self.spams[place]
                if times < 0 and not (self.spams if spam else self.hams)[place]:
                    continue  # it was dropped, as those may be that were met once
                self.hams[place] += ham
                self.spams[place] += spam
                column.ham += ham
                column.spam += spam
                column.tokens += (before == 0) - (before + times == 0)
        self.ham += ham
        self.spam += spam

    def _place(self, person: tuple[bytes, int], token: str, weight: float = 0.0) -> int:
        """Return the slot of a token, which is made if there is none."""
        place = self._find(person, token)
        if place < 0:
            if self._used >= FULL * len(self.keys):
                self._widen()
                place = self._find(person, token)
            place = -1 - place
            self.keys[place], self.weights[place] = self._key, weight
            self._used += 1
        return place

    def _widen(self) -> None:
        """Make room for twice as many tokens; those that nobody has any more are left out."""
        old = self.keys, self.hams, self.spams, self.weights
        kept = sum(1 for key, h, s, _ in zip(*old, strict=True) if key and (h or s))
        size = max(FEWEST, int(2 * ROOM * kept) | 1)
        self.keys, self.hams, self.spams, self.weights = arrays = slots_of(size)
        keys = arrays[0]
        for row in zip(*old, strict=True):
            if not (row[0] and (row[1] or row[2])):
                continue
            place = row[0] % size
            while keys[place]:
                place = place + 1 if place + 1 < size else 0
            for each, value in zip(arrays, row, strict=True):
                each[place] = value
        self._used = kept

    def drop_rare(self) -> None:
        """Drop the tokens that one message has."""
        columns = list(self.columns.values())
        for place, key in enumerate(self.keys):
            if key and self.hams[place] + self.spams[place] == 1:
                column = columns[key >> HASHED]
                column.ham -= self.hams[place]
                column.spam -= self.spams[place]
                column.tokens -= 1
                self.hams[place] = self.spams[place] = 0
        self._widen()

    def reweigh(self, by: Sequence[float], keys: bytes, weights: bytes) -> None:
        """Give tokens other weights by their keys; those of others change by a factor a column."""
        for place, key in enumerate(self.keys):
            if key:
                self.weights[place] *= by[key >> HASHED]
        for key, weight in zip(array("Q", keys), array("d", weights), strict=True):
            if (place := self.find(key)) >= 0:
                self.weights[place] = weight

    def thawed(self) -> TokenTable:
        """Return a copy that can learn."""
        held = self.keys, self.hams, self.spams, self.weights
        copies: Any = [array(code, each.tobytes()) for code, each in zip(CODES, held, strict=True)]
        columns = {name: ColumnSums(**asdict(each)) for name, each in self.columns.items()}
        used = sum(1 for key in self.keys if key)
        keys, hams, spams, weights = copies
        return TokenTable(
            self.rules, columns, self.ham, self.spam, keys, hams, spams, weights, self.extra, used
        )

    def parts(self, stamp: str = "") -> Iterator[bytes | memoryview]:
        """Go through what a file of the table holds."""
        head = {
            "stamp": stamp,
            "rules": asdict(self.rules),
            "columns": {name: asdict(each) for name, each in self.columns.items()},
            "learnt": [self.ham, self.spam],
            "slots": len(self.keys),
            "extra": self.extra,
        }
        line = BEGINNING + json.dumps(head).encode()
        yield line + b" " * (-(len(line) + 1) % ALIGNED) + b"\n"
        for each in (self.keys, self.hams, self.spams, self.weights):
            yield memoryview(each).cast("B")

    @classmethod
    def of_parts(cls, content: memoryview, stamp: str = "") -> TokenTable | None:
        """Return the table in some bytes, which stays there; None if it is not that of a stamp."""
        try:
            begin = bytes(content[: len(BEGINNING) + LONGEST_HEAD])
            end = begin.find(b"\n", len(BEGINNING)) + 1
            if not begin.startswith(BEGINNING) or not end:
                return None
            head = json.loads(begin[len(BEGINNING) : end])
            slots = int(head["slots"])
            if head["stamp"] != stamp or slots < 1:
                return None
            parts = list[Any]()
            form: Any
            for form in CODES:
                start, end = end, end + array(form).itemsize * slots
                parts.append(content[start:end].cast(form))
            if end != len(content):
                return None
            columns = {name: ColumnSums(**each) for name, each in head["columns"].items()}
            ham, spam = head["learnt"]
            keys, hams, spams, weights = parts
            rules, extra = Rules(**head["rules"]), head["extra"]
            return cls(rules, columns, ham, spam, keys, hams, spams, weights, extra)
        except (ValueError, KeyError, TypeError, RecursionError):
            return None


def opened(path: str | os.PathLike[str]) -> TokenTable | None:
    """Open the table beside a model file; None if there is none, or it is of another model."""
    try:
        with beside(path).open("rb") as file:
            content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return TokenTable.of_parts(content, stamp_of(path))
    except (OSError, ValueError):
        return None


def stamp_of(path: str | os.PathLike[str]) -> str:
    """Return what tells a model file from one that takes its place: the digest at its end."""
    with Path(path).open("rb") as file:
        file.seek(-min(DIGEST, file.seek(0, os.SEEK_END)), os.SEEK_END)
        return file.read().hex()


def beside(path: str | os.PathLike[str]) -> Path:
    """Return where the table of a model file is kept."""
    place = Path(path)
    return place.with_name(f".{place.name}.lookup")
