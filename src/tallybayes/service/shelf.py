"""The models of a service: the files in its folder, loaded when they are asked for, and again."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from threading import Lock

from tallybayes.errors import TallyBayesError, did_you_mean
from tallybayes.live import LiveModel, LiveState
from tallybayes.model import Fitted
from tallybayes.modelfile import Stored, load
from tallybayes.service.faults import Fault
from tallybayes.sources.atomic_file import cannot, replacing, writing

ENDING = ".tally"
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")

Look = tuple[int, int, int]


class Shelved:
    """A model as it is now: as in its file, its seed, or with what it has learnt since.

    Its log in the store is named by the file's content too: a file that is replaced begins anew.
    `live` is what learns, and may be ahead of `state`, which answers: that one is estimated.
    """

    __slots__ = ("live", "log", "look", "name", "path", "seed", "state")

    def __init__(self, name: str, path: str, look: Look, data: bytes) -> None:
        self.name, self.path, self.look = name, path, look
        self.log = f"{name}@{blake2b(data, digest_size=8).hexdigest()}"
        self.seed = load(BytesIO(data), path)
        self.live: LiveModel | None = None
        self.state: LiveState | None = None
        if self.fitted.tally.classes:
            self.fitted.model  # noqa: B018  (what cannot be estimated is refused now)

    @property
    def fitted(self) -> Fitted:
        """The tally and the recipe."""
        state = self.state
        return self.seed.fitted if state is None else state.fitted

    @property
    def stored(self) -> Stored:
        """The model with where it comes from, and what it has learnt since."""
        state = self.state
        return self.seed if state is None else state.export()


class Shelf:
    """The models in a folder, by name.

    Parameters
    ----------
    folder
        Where the files are. Those that are put there, changed or removed by anybody count at once.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     list(Shelf(folder).names())
    []
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._open: dict[str, Shelved] = {}
        self._loading = Lock()
        self.opened: Callable[[Shelved], None] = lambda shelved: None

    def names(self) -> Iterator[str]:
        """Go through the names of all models, in order."""
        names = (path.name.removesuffix(ENDING) for path in self.folder.glob(f"*{ENDING}"))
        return (name for name in sorted(names) if NAME.fullmatch(name))

    def at_hand(self, name: str) -> Shelved | None:
        """Return a model that is loaded, and whose file has not changed since."""
        shelved = self._open.get(name)
        return shelved if shelved and shelved.look == _look(shelved.path) else None

    def open(self, name: str) -> Shelved:
        """Return a model; one that is not there is refused."""
        with self._loading:
            if shelved := self.at_hand(name):
                return shelved
            path = str(self.folder / f"{name}{ENDING}")
            look = _look(path) if NAME.fullmatch(name) else None
            if look is None:
                self._open.pop(name, None)
                raise Fault(404, f"there is no model {name[:100]!r}; {self._known(name)}")
            try:
                shelved = Shelved(name, path, look, Path(path).read_bytes())
            except OSError as error:
                raise cannot("read", path, error) from None
            self.opened(shelved)
            self._open[name] = shelved
            return shelved

    def all_open(self) -> list[Shelved]:
        """Return the models that are loaded; let go of those whose file is gone or another."""
        for name, shelved in list(self._open.items()):
            if shelved.look != _look(shelved.path):
                self._open.pop(name, None)
        return list(self._open.values())

    def _known(self, name: str) -> str:
        names = list(self.names())
        return did_you_mean(name, names) if names else "there is none yet: upload one with PUT"

    def put(self, name: str, data: bytes) -> tuple[Shelved, bool]:
        """Keep a model that was sent, if it is one; say whether there was none of the name."""
        if not NAME.fullmatch(name):
            raise TallyBayesError(
                f"{name[:100]!r} is no name for a model; take up to 100 letters, digits, and _ . -"
            )
        Shelved(name, "the model", (0, 0, 0), data)
        path = self.folder / f"{name}{ENDING}"
        new = not path.exists()
        with replacing(path) as file:
            file.write(data)
        return self.open(name), new

    def remove(self, name: str) -> int:
        """Take a model away, also one that cannot be read; return how many rows it had counted."""
        rows = 0
        with suppress(TallyBayesError):
            rows = int(self.open(name).stored.fitted.tally.rows.sum())
        path = self.folder / f"{name}{ENDING}"
        with writing(str(path)):
            path.unlink(missing_ok=True)
        self._open.pop(name, None)
        return rows


def _look(path: str) -> Look | None:
    """Return what tells a file from one that took its place; None if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a path takes longer, and this is for every request
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
