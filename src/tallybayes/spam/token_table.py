"""What each token says, in a table that a process finds in a millisecond and that learns in place.

A model of hundreds of thousands of words takes a fraction of a second to load, which is too long
for a process per mail. So what scoring needs of it stands in flat arrays: for each token (by 64
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
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from tallybayes.sources.atomic_file import replacing

BEGINNING = b"tallybayes lookup 1\n"
ROOM = 1.5  # slots a token, at first,
FULL = 0.85  # and the share of them that is filled before there are more
FEWEST = 1_024
ALIGNED = 64
LONGEST_HEAD = 1 << 20
DIGEST = 32  # bytes
CODES = "QIId"  # of the arrays of keys, ham, spam and weights
PERSON = 16  # bytes of a column's name that go into the hashes of its tokens
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

    def _find(self, column: bytes, token: str) -> int:
        """Return the slot of a token, or minus one more than the slot where it would be."""
        keys = self.keys
        told = blake2b(token.encode("utf-8", "replace"), digest_size=8, person=column).digest()
        key = int.from_bytes(told, "little") or 1
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

    @property
    def prior(self) -> float:
        """The log-odds of a message of which nothing is known."""
        both = self.ham and self.spam
        return self.rules.start + (
            self.rules.prior * math.log(self.spam / self.ham) if both else 0.0
        )

    def terms(self, name: str, text: str) -> tuple[list[tuple[str, float]], float]:
        """Return what each known token of a column says, and what that is divided by."""
        column, rules = self.columns[name], self.rules
        alpha, person, find = rules.alpha, name.encode()[:PERSON], self._find
        hams, spams, weights, log = self.hams, self.spams, self.weights, math.log
        below = alpha * column.tokens
        rest = log(column.ham + below) - log(column.spam + below) if column.tokens else 0.0
        said = []
        for token in text.split():
            place = find(person, token)
            if place >= 0:
                h, s = hams[place], spams[place]
                if h or s:
                    ratio = log((s + alpha) / (h + alpha)) + rest
                    said.append((token, weights[place] * ratio))
        return said, (len(said) + rules.offset) ** rules.power if said else 1.0

    def score(self, columns: Mapping[str, str]) -> Score:
        """Score a message, given as the tokens of its columns."""
        evidence = {}
        for name in self.columns:
            said, below = self.terms(name, columns.get(name, ""))
            evidence[name] = sum([one for _, one in said]) / below
        return Score(self.prior + sum(evidence.values()), evidence)

    def enter(self, name: str, tokens: Iterable[tuple[str, int, int, float]]) -> None:
        """Take in the tokens of a column, each with its ham, its spam and its weight."""
        column, person = self.columns[name], name.encode()[:PERSON]
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
            person = name.encode()[:PERSON]
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

    def _place(self, person: bytes, token: str, weight: float = 0.0) -> int:
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
        old = zip(self.keys, self.hams, self.spams, self.weights, strict=True)
        kept = [row for row in old if row[0] and (row[1] or row[2])]
        size = max(FEWEST, int(2 * ROOM * len(kept)) | 1)
        self.keys, self.hams, self.spams, self.weights = arrays = slots_of(size)
        keys = arrays[0]
        for row in kept:
            place = row[0] % size
            while keys[place]:
                place = place + 1 if place + 1 < size else 0
            for each, value in zip(arrays, row, strict=True):
                each[place] = value
        self._used = len(kept)

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

    def save(self, path: str | os.PathLike[str], stamp: str) -> None:
        """Write the table to a file, whole or not at all."""
        head = {
            "stamp": stamp,
            "rules": asdict(self.rules),
            "columns": {name: asdict(each) for name, each in self.columns.items()},
            "learnt": [self.ham, self.spam],
            "slots": len(self.keys),
            "extra": self.extra,
        }
        line = BEGINNING + json.dumps(head).encode()
        line += b" " * (-(len(line) + 1) % ALIGNED) + b"\n"
        with replacing(path) as file:
            file.write(line)
            for each in (self.keys, self.hams, self.spams, self.weights):
                file.write(each.tobytes())

    @classmethod
    def open(cls, path: str | os.PathLike[str], stamp: str) -> TokenTable | None:
        """Open the table in a file, where it stays; None if it is not that of this model."""
        try:
            with Path(path).open("rb") as file:
                if file.readline(len(BEGINNING)) != BEGINNING:
                    return None
                head = json.loads(file.readline(LONGEST_HEAD))
                start, slots = file.tell(), int(head["slots"])
                if head["stamp"] != stamp or slots < 1:
                    return None
                content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            parts, at = list[Any](), start
            form: Any
            for form in CODES:
                end = at + array(form).itemsize * slots
                parts.append(content[at:end].cast(form))
                at = end
            if at != len(content):
                return None
            columns = {name: ColumnSums(**each) for name, each in head["columns"].items()}
            ham, spam = head["learnt"]
            keys, hams, spams, weights = parts
            rules, extra = Rules(**head["rules"]), head["extra"]
            return cls(rules, columns, ham, spam, keys, hams, spams, weights, extra)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None


def opened(path: str | os.PathLike[str]) -> TokenTable | None:
    """Open the table beside a model file; None if there is none, or it is of another model."""
    try:
        return TokenTable.open(beside(path), stamp_of(path))
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
