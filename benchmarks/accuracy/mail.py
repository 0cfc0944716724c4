"""The mail filter beside other learning filters, on a corpus that is not shipped."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from email.utils import mktime_tz, parsedate_tz
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.cases import NOT_THERE
from benchmarks.peers.mail import PEERS, Bogofilter, Peer, Said, SpamProbe, area_missed
from benchmarks.run import DATA, SMALLER, Part, Table, say
from tallybayes.spam.features import features
from tallybayes.spam.mail_filter import MailFilter
from tallybayes.spam.messages import Message
from tallybayes.spam.training import GrowingFilter, weigh
from tallybayes.spam.verdict import judge

CORPUS = DATA / "mail" / "spamassassin_half.tar.xz"
SEEDS = range(5)  # of random halves
NAMES = {"ham": False, "spam": True}
HEAD = "filter | 1 - AUC | false alarms | misses | unsure ham | unsure spam"

Array = Any


class Mail(NamedTuple):
    """A mail: where it is, what it is, its place among its kind, when it came, and its tokens."""

    path: Path
    spam: bool
    place: int
    came: float
    columns: dict[str, str]
    digest: bytes


def part() -> Iterator[Part]:
    yield "## Mail"
    if not CORPUS.exists():
        yield NOT_THERE
        return
    with corpus() as mails:
        ham = sum(not mail.spam for mail in mails)
        yield (
            f"Half of the SpamAssassin corpus (2002 and 2003; {ham:,} ham, {len(mails) - ham:,} spam), one file a mail, in the "
            "order of names. False alarms are ham that is called spam, misses spam that is called ham. All filters have "
            "their defaults and their own cutoffs; CRM114 learns where it is wrong or near it, the others learn all. "
            "spamprobe has one cutoff. SpamAssassin is its Bayes alone, with the probabilities from which its rules give most "
            "points as cutoffs. SpamBayes does not install on Python 3."
        )
        for some in (halves, splits, online):
            yield from some(mails)


@contextmanager
def corpus() -> Iterator[list[Mail]]:
    """Unpack the mails and read them."""
    folder = Path(tempfile.mkdtemp())
    try:
        with tarfile.open(CORPUS) as packed:
            packed.extractall(folder, filter="data")
        mails = []
        for name, spam in NAMES.items():
            paths = sorted((folder / name).iterdir())[::SMALLER]
            for place, path in enumerate(paths):
                raw = path.read_bytes()
                message = Message(raw)
                columns = features(message)
                mails.append(Mail(path, spam, place, came(message), columns, message.digest))
        yield mails
    finally:
        shutil.rmtree(folder)


def came(message: Message) -> float:
    """Return when a mail came: by the last station that stamped it, not by what it says."""
    for name in ("received", "date"):
        for stamp in (value.rpartition(";")[2] for key, value in message.headers if key == name):
            try:
                return float(mktime_tz(parsedate_tz(stamp)))  # type: ignore[arg-type]
            except (TypeError, ValueError, OverflowError, IndexError):
                continue
    return 0.0


def ours(mails: Sequence[Mail], some: Array) -> MailFilter:
    """Train a filter as `tallybayes spam train` does."""
    made = MailFilter()
    for k in some:
        made.learn_columns(mails[k].digest, mails[k].columns, "spam" if mails[k].spam else "ham")
    weigh(
        made, [mails[k].columns for k in some], ["spam" if mails[k].spam else "ham" for k in some]
    )
    return made


def judged(made: MailFilter, mail: Mail) -> Said:
    verdict = judge(made.lookup, mail.columns, made.cutoffs)
    return Said(verdict.answer, verdict.log_odds)


def cells(said: Sequence[Said], spam: Sequence[bool]) -> list[str]:
    """Return the figures of a line."""
    answers = np.array([one.answer for one in said])
    label = np.array(spam)
    counts = [
        int(((answers == answer) & (label == of)).sum())
        for answer, of in (("spam", False), ("ham", True), ("unsure", False), ("unsure", True))
    ]
    return [f"{100.0 * area_missed(said, spam):.4f} %", *map(str, counts)]


def halves(mails: list[Mail]) -> Iterator[Part]:
    """Odd files train, even files test."""
    train, test = split(mails, 0)
    # interleaved, for those that learn from errors
    train = np.array(sorted(train, key=lambda k: (mails[k].place / (mails[k].spam + 1), k)))
    spam = [mails[k].spam for k in test]
    table = Table(HEAD)
    say("mail: tallybayes, odd and even")
    made = ours(mails, train)
    table.add("tallybayes", *cells([judged(made, mails[k]) for k in test], spam))
    missing = []
    for peer in PEERS:
        if not peer.there():
            missing.append(peer.name)
            continue
        say(f"mail: {peer.name}, odd and even")
        said = _of_peer(peer, mails, train, test)
        table.add(peer.name, *cells(said, spam))
    yield f"### Odd files train, even files test: {len(test) - sum(spam):,} ham, {sum(spam):,} spam"
    yield table
    if missing:
        yield f"Not installed in this run: {', '.join(missing)}."


def _of_peer(kind: type[Peer], mails: list[Mail], train: Array, test: Array) -> list[Said]:
    folder = Path(tempfile.mkdtemp())
    peer = kind(folder)
    try:
        peer.train([mails[k].path for k in train], [mails[k].spam for k in train])
        return peer.judge([mails[k].path for k in test])
    finally:
        peer.close()
        shutil.rmtree(folder)


def split(mails: Sequence[Mail], of_test: int) -> tuple[Array, Array]:
    place = np.array([mail.place for mail in mails])
    return np.flatnonzero(place % 2 == of_test), np.flatnonzero(place % 2 != of_test)


def splits(mails: list[Mail]) -> Iterator[Part]:
    """Other ways to take the corpus apart, by which settings were chosen."""
    spam = np.array([mail.spam for mail in mails])
    ways = {"even files train, odd test": [split(mails, 1)]}
    ways[f"{len(SEEDS)} pairs of random halves"] = [
        part
        for seed in SEEDS
        for part in StratifiedKFold(2, shuffle=True, random_state=seed).split(spam, spam)
    ]
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(spam, spam)
    ways["five folds"] = list(folds)
    table = Table("split | filter | 1 - AUC | false alarms | misses | unsure ham | unsure spam", 2)
    for name, parts in ways.items():
        for kind in (None, *([Bogofilter] if Bogofilter.there() else [])):
            say(f"mail: {'tallybayes' if kind is None else kind.name}, {name}")
            said, label, areas = list[Said](), list[bool](), list[float]()
            for train, test in parts:
                if kind is None:
                    made = ours(mails, train)
                    found = [judged(made, mails[k]) for k in test]
                else:
                    found = _of_peer(kind, mails, train, test)
                said += found
                label += spam[test].tolist()
                areas.append(area_missed(found, spam[test].tolist()))
            _, *counts = cells(said, label)
            called = "tallybayes" if kind is None else kind.name
            table.add(name, called, f"{100.0 * np.mean(areas):.4f} %", *counts)
    yield "### Other splits"
    yield (
        "Settings were chosen by the mean over these splits and the one above. 1 - AUC is the mean of the parts, the counts are "
        "their sums."
    )
    yield table


def online(mails: list[Mail]) -> Iterator[Part]:
    """In the order in which they came: each is judged, then learnt."""
    mails = sorted(mails, key=lambda mail: (mail.came, mail.path.name))
    spam = [mail.spam for mail in mails]
    table = Table(HEAD)
    say("mail: tallybayes, online")
    growing, said = GrowingFilter(), list[Said]()
    for mail in mails:
        said.append(judged(growing.filter, mail))
        growing.learn_columns(mail.digest, mail.columns, "spam" if mail.spam else "ham")
    table.add("tallybayes", *cells(said, spam))
    kinds: tuple[type[Peer], ...] = Bogofilter, SpamProbe
    for kind in filter(lambda one: one.there(), kinds):
        say(f"mail: {kind.name}, online")
        folder = Path(tempfile.mkdtemp())
        peer, said = kind(folder), []
        for mail in mails:
            said += peer.judge([mail.path]) or [Said("unsure", 0.5)]
            peer.learn([mail.path], mail.spam)
        table.add(kind.name, *cells(said, spam))
        shutil.rmtree(folder)
    yield "### Online: in the order of their dates, each mail is judged and then learnt"
    yield table
