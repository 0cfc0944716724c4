"""Model files as commands read and write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tallybayes.cli.outputs import standard_output
from tallybayes.cli.parameters import STANDARD
from tallybayes.cli.session import Session

if TYPE_CHECKING:
    from tallybayes.modelfile import Stored


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

    return name.endswith(".tally") or is_model_file(name)
