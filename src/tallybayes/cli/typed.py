"""Records as they are typed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import click

EXAMPLE = """write for example '{"income": 120, "status": "Married"}'."""


def pairs_once(pairs: Iterable[tuple[str, Any]], option: str) -> dict[str, Any]:
    """Return pairs of names and values as a mapping; each name may come once."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise click.UsageError(f"{option} {name}=... is there twice.")
        found[name] = value
    return found


def json_record(text: str) -> dict[str, Any]:
    """Read a record that was typed as JSON."""
    try:
        record = json.loads(text)
    except ValueError as error:
        raise click.UsageError(f"The record is no JSON ({error}); {EXAMPLE}") from None
    if not isinstance(record, dict):
        raise click.UsageError(f"The record is not a JSON object; {EXAMPLE}")
    return record
