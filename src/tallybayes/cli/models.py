"""Model files as commands read and write them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING

import click

from tallybayes.cli.outputs import standard_output
from tallybayes.cli.parameters import STANDARD
from tallybayes.cli.session import Session

if TYPE_CHECKING:
    from tallybayes.modelfile import Stored


class _Piped(BytesIO):
    """A model from standard input, as errors call it."""

    name = "standard input"


def load_model(name: str, data: Sequence[str] = ()) -> Stored:
    """Read the model to use, from a file or from standard input, which is then not data too."""
    from tallybayes.errors import TallyBayesError

    stored = read_model(name, data)
    if not stored.fitted.tally.classes:
        where = _Piped.name if name == STANDARD else name
        raise TallyBayesError(
            f"{where}: everything was forgotten that the model had learned, so it says nothing; "
            "update it with some rows first"
        )
    return stored


def read_model(name: str, others: Sequence[str] = ()) -> Stored:
    """Read a model, even if it has learned nothing; nobody else reads standard input then."""
    from tallybayes.modelfile import load

    if name != STANDARD:
        return load(name)
    if STANDARD in others:
        raise click.UsageError("Standard input can be read only once; name a file beside it.")
    return load(_Piped(_standard_input()))


def refuse_standard(name: str | None) -> None:
    """Refuse to change a model in a pipe, which cannot be written back."""
    if name == STANDARD:
        raise click.UsageError("A model from standard input cannot be changed; name its file.")


def _standard_input() -> bytes:
    """Return all of standard input."""
    from tallybayes.errors import TallyBayesError

    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise TallyBayesError("there is no standard input to read; give the name of a file")
    if stream.isatty():
        raise click.UsageError("A model cannot be typed; name its file, or pipe one in.")
    found: bytes = stream.read()
    return found


def save_model(session: Session, out: str, stored: Stored) -> None:
    """Write a model to a file, or to standard output."""
    from tallybayes.modelfile import dump_bytes, save

    if out == STANDARD:
        stream = standard_output(session, binary=True)
        stream.write(dump_bytes(stored))
        stream.flush()
        return
    save(out, stored)
    session.written.append(out)


def is_model(name: str) -> bool:
    """Tell whether a file is meant to be a model."""
    from tallybayes.modelfile import is_model_file

    if name == STANDARD:
        return _is_piped()
    return name.endswith(".tally") or is_model_file(name)


def _is_piped() -> bool:
    """Tell whether standard input begins like a model; what is looked at is still there after."""
    from tallybayes.tallies.container import BEGINNING, version_of

    peek = getattr(getattr(sys.stdin, "buffer", None), "peek", None)
    return peek is not None and version_of("model file", peek(BEGINNING)) is not None
