"""The mail filter: a mail classified and learnt, a process for each mail, memory after many."""

from __future__ import annotations

import os
import pickle
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy.mail import CORPUS, Mail, corpus, ours
from benchmarks.cases import NOT_THERE, vocabulary
from benchmarks.peers.mail import PEERS
from benchmarks.run import SMALLER, Part, Table, held_to, in_a_process, say
from tallybayes.spam.mail_filter import MailFilter
from tallybayes.spam.messages import Message

TURNS = 3
MANY, WORDS, DISTINCT = 100_000 // SMALLER, 200, 200_000
MOST_MS, MOST_START, MOST_MB = 2.0, 150.0, 300.0


def part() -> Iterator[Part]:
    yield "## Mail"
    if not CORPUS.exists():
        yield NOT_THERE
        return
    with corpus() as mails:
        yield from a_mail(mails)
        yield from a_process(mails)
    yield from many()


def a_mail(mails: list[Mail]) -> Iterator[Part]:
    """One process that learns half of the corpus and judges the other half."""
    train, test = mails[::2], mails[1::2]
    raws = {mail.path: mail.path.read_bytes() for mail in mails}
    learning, judging = [], []
    say("mail: tallybayes, learning and judging")
    made = ours(mails, np.arange(0, len(mails), 2))
    for _ in range(TURNS):
        judging.append(cpu(lambda: [made.classify(Message(raws[mail.path])) for mail in test]))
        fresh = MailFilter()
        learning.append(cpu(lambda: _learnt(fresh, train, raws)))  # noqa: B023
    table = Table("filter | to learn a mail | to judge a mail")
    figures = [1e3 * min(times) / len(test) for times in (learning, judging)]
    table.add("tallybayes", *(held_to(f"{ms:.2f} ms", ms <= MOST_MS) for ms in figures))
    paths, label = [mail.path for mail in train], [mail.spam for mail in train]
    for kind in filter(lambda one: one.there() and one.bulk, PEERS):
        say(f"mail: {kind.name}, learning and judging")
        folder = Path(tempfile.mkdtemp())
        peer = kind(folder)
        learn = cpu(lambda: peer.train(paths, label), peer.pid)  # noqa: B023
        judge = min(
            cpu(lambda: peer.judge([mail.path for mail in test]), peer.pid)  # noqa: B023
            for _ in range(TURNS)
        )
        peer.close()
        shutil.rmtree(folder)
        table.add(kind.name, *(f"{1e3 * t / len(test):.2f} ms" for t in (learn, judge)))
    yield (
        f"Processor time of a mail of the SpamAssassin corpus (half of it is learnt, half judged), reading and parsing "
        f"included, in a process that runs on. At most {MOST_MS:g} ms are meant to be."
    )
    yield table


def _learnt(made: MailFilter, mails: list[Mail], raws: dict[Path, bytes]) -> None:
    for mail in mails:
        made.learn(Message(raws[mail.path]), "spam" if mail.spam else "ham")
    made.settle()


def cpu(work: Callable[[], Any], pid: int | None = None) -> float:
    """Return the processor time of some work, of this process and of those that it waits for."""
    before = _used(pid)
    work()
    return _used(pid) - before


def _used(pid: int | None) -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = time.process_time() + children.ru_utime + children.ru_stime
    if pid is not None:
        parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        used += (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")
    return used


def a_process(mails: list[Mail]) -> Iterator[Part]:
    """Start a process for each mail, as procmail and maildrop do."""
    folder = Path(tempfile.mkdtemp())
    model, raw = folder / "mail.tally", mails[1].path.read_bytes()
    ours(mails, np.arange(0, len(mails), 2)).save(model)
    command = [sys.executable, "-m", "tallybayes", "spam", "filter", str(model)]
    times = {"`tallybayes spam filter`": _started(command, raw)}
    if shutil.which("bogofilter"):
        subprocess.run(["bogofilter", "-C", "-d", folder, "-n"], input=raw, check=False)
        times["`bogofilter -p`"] = _started(["bogofilter", "-C", "-p", "-d", str(folder)], raw)
    shutil.rmtree(folder)
    table = Table("a process for each mail | elapsed, best | processor time | target")
    for name, (elapsed, used) in times.items():
        target = f"{MOST_START:g} ms" if "tally" in name else ""
        table.add(name, f"{elapsed:.0f} ms", f"{used:.0f} ms", target)
    yield table


def _started(command: list[str], raw: bytes) -> tuple[float, float]:
    elapsed, used = [], []
    for _ in range(15):
        start = time.perf_counter()
        used.append(
            cpu(lambda: subprocess.run(command, input=raw, capture_output=True, check=False))
        )
        elapsed.append(time.perf_counter() - start)
    return 1e3 * min(elapsed), 1e3 * min(used)


def many() -> Iterator[Part]:
    """Memory and speed when many mails were learnt."""
    say(f"mail: {MANY:,} mails")
    found = in_a_process("speed.mail_memory")
    table = Table(
        "mails learnt | words drawn from | tokens kept | memory | target | size of the file | to learn a mail"
    )
    megabytes = held_to(f"{found['peak']:.0f} MB", found["peak"] <= MOST_MB)
    table.add(
        f"{MANY:,}", f"{DISTINCT:,}", f"{found['tokens']:,}", megabytes, f"{MOST_MB:g} MB",
        f"{found['size']:.0f} MB", f"{found['ms']:.2f} ms",
    )  # fmt: skip
    yield (
        f"Mails of {WORDS} words on average, drawn by Zipf's law, each with a word of its own, and with senders, hosts and ids "
        "drawn by chance. Memory is the most that the process had while it learnt, judged and saved."
    )
    yield table


def drawn(n: int) -> Iterator[tuple[bytes, str]]:
    """Draw mails and what they are."""
    rng = np.random.default_rng(0)
    words = vocabulary("ASCII", DISTINCT, rng)
    share = 1.0 / np.arange(10, DISTINCT + 10)
    chances = np.cumsum(share / share.sum())
    for k in range(n):
        spam = bool(rng.random() < 0.5)
        size = int(rng.geometric(1.0 / WORDS)) + 20
        places = np.minimum(np.searchsorted(chances, rng.random(size)), DISTINCT - 1)
        if spam:  # speaks of other things
            places = np.where(rng.random(size) < 0.3, DISTINCT - 1 - places, places)
        text = " ".join(words[places])
        a, b, host, name = (int(x) for x in rng.integers(0, 256, 4))
        head = (
            f"Received: from h{host}.example (h{host}.example [10.{a}.{b}.{host}]) by mx.example with ESMTP id {k:x}; "
            f"Mon, 1 Jan 2024 10:00:00 +0000\nFrom: {words[name]} <{words[name]}@h{host}.example>\nTo: you@mx.example\n"
            f"Subject: {' '.join(words[places[:6]])}\nMessage-ID: <{k:x}@h{host}.example>\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n"
        )
        yield (
            f"{head}\n{text} unique{k}\nhttp://h{host}.example/{k}\n".encode(),
            "spam" if spam else "ham",
        )


def main() -> None:
    """Write mails for the process that learns them (`mail_memory`)."""
    for each in drawn(MANY):
        pickle.dump(each, sys.stdout.buffer)
    pickle.dump(None, sys.stdout.buffer)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
