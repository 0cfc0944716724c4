"""The examples of three lectures: data, commands, and what the lecture says of their output."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from tallybayes.errors import TallyBayesError


def _text(name: str) -> str:
    return (files("tallybayes.cli") / "demo_data" / name).read_text(encoding="utf-8")


class Step(NamedTuple):
    """A command, why it is run, and what to look at in what it prints."""

    about: str
    command: str
    note: str


@dataclass(frozen=True, slots=True)
class Demo:
    """An example of a lecture, as it is written in a text beside its data.

    The text begins with the title and the names of the files. Paragraphs of the script behind them
    are what the example wants to know, and then its steps: why a command is run, the command behind
    a dollar, and what to look at.
    """

    title: str
    files: tuple[str, ...]
    script: str

    @classmethod
    def of(cls, name: str) -> Demo:
        """Read an example."""
        title, names, script = _text(f"{name}.txt").split("\n", 2)
        return cls(title, tuple(names.split()), script.strip("\n"))

    @property
    def opening(self) -> str:
        """What the example wants to know."""
        return " ".join(self.script.split("\n\n")[0].split())

    @property
    def steps(self) -> list[Step]:
        """What to do about it."""
        parts = re.findall(r"\n\n(.*?)\n\$ (.*?)\n(.*?)(?=\n\n|\Z)", self.script, re.DOTALL)
        return [Step(*(" ".join(text.split()) for text in part)) for part in parts]

    def text(self, name: str) -> str:
        """Return what is in one of the files."""
        return _text(name)

    def save(self, folder: str | Path) -> list[Path]:
        """Write the data to a folder; a file that is there already is never changed."""
        from tallybayes.sources.atomic_file import replacing

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
            with replacing(path) as file:
                file.write(self.text(path.name).encode())
        return written


DEMOS = {name: Demo.of(name) for name in ("spam", "customers", "loan")}
