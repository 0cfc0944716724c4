"""Rows that were set aside: with --bad-rows report, all of them are named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tallybayes.cli.session import Session

if TYPE_CHECKING:
    from tallybayes.sources.files import ReadOptions
    from tallybayes.workflows.streams import Aside


def tell_aside(session: Session, aside: Aside, read: ReadOptions) -> None:
    """Say which rows were set aside, or how many."""
    if read.bad_rows == "report":
        for line in aside.lines:
            session.say(f"set aside: {line}")
    elif aside.rows:
        session.say(f"rows set aside: {aside.rows:,}, the first of them {aside.lines[0]}")


def with_aside(facts: Mapping[str, Any], aside: Aside, read: ReadOptions) -> dict[str, Any]:
    """Return facts with all rows that were set aside, if they are to be reported."""
    named = {"bad_examples": aside.lines} if read.bad_rows == "report" else {}
    return {**facts, **named}
