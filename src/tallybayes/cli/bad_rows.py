"""Rows that were set aside: with --bad-rows report, all of them are named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tallybayes.cli.session import Session

if TYPE_CHECKING:
    from tallybayes.sources.files import ReadOptions
    from tallybayes.workflows.streams import Aside

EXAMPLES = 5


def tell_aside(session: Session, aside: Aside, read: ReadOptions) -> None:
    """Say which rows were set aside, or how many."""
    if read.bad_rows == "report":
        for line in aside.lines:
            session.say(f"set aside: {line}")
    elif aside.rows:
        session.say(f"rows set aside: {aside.rows:,}, the first of them {aside.lines[0]}")


def with_aside(facts: Mapping[str, Any], aside: Aside, read: ReadOptions) -> dict[str, Any]:
    """Return facts with what was set aside: all rows if they are to be reported, or the first."""
    named = aside.lines if read.bad_rows == "report" else aside.lines[:EXAMPLES]
    return {**facts, "bad_rows": aside.rows, "bad_examples": named}
