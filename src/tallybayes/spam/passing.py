"""A message on its way through a pipe: header fields are added in front, all else stays as it is.

The first part of a message is kept until it is judged; the rest passes through, however long it is.
Nothing that a message says gets into the fields, which are of a few fixed words and numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from shutil import copyfileobj
from typing import IO

from tallybayes.spam.messages import MOST_BYTES, Message
from tallybayes.spam.verdict import Verdict

SHOWN = 4  # columns that are named as reasons
_ENVELOPE = re.compile(rb"From [^\r\n]*\r?\n")
_SAYS = {"spam": "Yes", "ham": "No", "unsure": "Unsure"}


def fields_of(verdict: Verdict) -> list[str]:
    r"""Return the header fields that say what was found.

    Examples
    --------
    >>> found = Verdict("spam", 0.9991, 7.0, {"links": 5.0, "prior": 2.0}, learnt=(9, 8))
    >>> print("\n".join(fields_of(found)))
    X-Spam-Status: Yes, probability=0.9991
    X-Tallybayes: spam, log-odds=7.00, learnt=9+8
    X-Tallybayes-Reasons: links +5.00, prior +2.00
    """
    ham, spam = verdict.learnt
    odds, p = max(min(verdict.log_odds, 1e4), -1e4), verdict.probability
    fields = [
        f"X-Spam-Status: {_SAYS[verdict.answer]}, probability={p:.4f}",
        f"X-Tallybayes: {verdict.answer}, log-odds={odds:.2f}, learnt={ham}+{spam}",
    ]
    told = [(name, weight) for name, weight in verdict.strongest if abs(weight) >= 0.005]
    said = [f"{name} {weight:+.2f}" for name, weight in told[:SHOWN]]
    return [*fields, f"X-Tallybayes-Reasons: {', '.join(said)}"] if said else fields


def marked(raw: bytes, fields: list[str]) -> tuple[bytes, bytes, bytes]:
    """Return a message in three parts: what stands before the fields, the fields, and the rest."""
    envelope = _ENVELOPE.match(raw)
    at = envelope.end() if envelope else 0
    end = "\r\n" if raw[: raw.find(b"\n") + 1].endswith(b"\r\n") else "\n"
    return raw[:at], "".join(field + end for field in fields).encode("ascii"), raw[at:]


def pass_on(source: IO[bytes], target: IO[bytes], judge: Callable[[Message], Verdict]) -> Verdict:
    """Judge a message and pass it on with what was found; if it cannot be judged, as it is.

    Parameters
    ----------
    source, target
        Where the message comes from, and where it goes.
    judge
        What judges it. What it raises is raised again when the message is through.
    """
    raw = source.read(MOST_BYTES)
    try:
        verdict = judge(Message(raw))
        parts = marked(raw, fields_of(verdict))
    except BaseException:
        _send(target, source, raw)
        raise
    _send(target, source, *parts)
    return verdict


def _send(target: IO[bytes], source: IO[bytes], *parts: bytes) -> None:
    for part in parts:
        target.write(part)
    copyfileobj(source, target)
    target.flush()
