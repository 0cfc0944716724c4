"""What a demonstration is: data, commands, and what the lecture has to say about their output."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from tallybayes.errors import TallyBayesError


@dataclass(frozen=True, slots=True)
class Step:
    """A command, why it is run, and what to look at in what it prints."""

    about: str
    command: str
    note: str


@dataclass(frozen=True, slots=True)
class Demo:
    """An example of a lecture.

    Parameters
    ----------
    name, title
        What it is called, and what it is about.
    files
        The data, shipped with the package.
    opening
        What the lecture wants to know.
    steps
        What to do about it, in order, in a folder that has the files.

    Examples
    --------
    >>> from tallybayes.workflows.demos import DEMOS
    >>> DEMOS["loan"].text("loan.csv").splitlines()[:2]
    ['owner,status,income,cheat', 'Yes,Single,125,No']
    """

    name: str
    title: str
    files: tuple[str, ...]
    opening: str
    steps: tuple[Step, ...]

    def text(self, name: str) -> str:
        """Return what is in one of the files."""
        return (files(__package__) / name).read_text(encoding="utf-8")

    def save(self, folder: str | Path) -> list[Path]:
        """Write the data to a folder; a file that is there already is never changed."""
        place = Path(folder)
        if place.exists() and not place.is_dir():
            raise TallyBayesError(f"{str(folder)!r} is a file; name a folder for the data")
        place.mkdir(parents=True, exist_ok=True)
        written = [place / name for name in self.files]
        for path in written:
            text = self.text(path.name)
            if path.exists() and path.read_text(encoding="utf-8", errors="replace") != text:
                raise TallyBayesError(
                    f"{str(path)!r} exists and holds something else; name another folder"
                )
        for path in written:
            path.write_text(self.text(path.name), encoding="utf-8", newline="\n")
        return written
