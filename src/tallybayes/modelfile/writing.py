"""Writing a model file, whole or not at all."""

from __future__ import annotations

import os
from io import BytesIO

from tallybayes.errors import TallyBayesError
from tallybayes.modelfile import archive
from tallybayes.modelfile.arrays import packed
from tallybayes.modelfile.manifest import LARGEST, describe, to_json
from tallybayes.modelfile.stored import Stored
from tallybayes.sources.atomic_file import replace_file


def save(path: str | os.PathLike[str], stored: Stored) -> None:
    """Write a model file; if that fails, what was there stays as it was.

    Parameters
    ----------
    path
        The file. One that is there is replaced and keeps its permissions; a link stays a link, and
        what it leads to is replaced.
    stored
        The model.

    Examples
    --------
    >>> import tempfile
    >>> from tallybayes import Tally
    >>> from tallybayes.model import Fitted
    >>> from tallybayes.modelfile import Provenance, load
    >>> tally = Tally.of({"status": ["Single", "Married"]}, ["Yes", "No"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(f"{folder}/loan.tally", Stored(Fitted(tally), Provenance.now("loan.csv", 2)))
    ...     load(f"{folder}/loan.tally").provenance.history
    ('fit loan.csv: 2 rows',)
    """
    parts = _parts(stored)
    replace_file(path, lambda file: archive.write(file, parts))


def dump_bytes(stored: Stored) -> bytes:
    """Return what `save` would write into a file.

    Parameters
    ----------
    stored
        The model.
    """
    file = BytesIO()
    archive.write(file, _parts(stored))
    return file.getvalue()


def _parts(stored: Stored) -> list[archive.Content]:
    """Return the members of the file: names and what is in them."""
    if not isinstance(stored, Stored):
        raise TallyBayesError(
            f"save() takes a Stored(fitted, provenance), not {type(stored).__name__}"
        )
    manifest, arrays = describe(stored)
    ready = [packed(array, number) for number, array in enumerate(arrays)]
    head = to_json({**manifest, "arrays": [each.described for each in ready]})
    if len(head) > LARGEST:
        raise TallyBayesError(
            f"what is to be stored beside the counts takes {len(head):,} bytes, more than the "
            f"{LARGEST:,} that a model file may have; declare fewer values, or shorten what the "
            "estimator keeps"
        )
    named = [(each.described["name"], (each.header, each.numbers)) for each in ready]
    return [(archive.MANIFEST, (head,)), *named]
