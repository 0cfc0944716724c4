"""How everything is timed, kept as JSON beside its page, and written to the page.

A page has parts, each a function that yields paragraphs and tables. What a run finds of a part is
kept in docs/NAME.json with the machine it ran on, and docs/NAME.md is written from that: parts that
were not run again stay as they are. A try prints what it finds and keeps nothing:
TALLYBAYES_SMALLER=100 takes a hundredth of the rows, TALLYBAYES_TABLES=zoo,wine only these tables and
TALLYBAYES_SEEDS=0 only this seed.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
DATA = Path(os.environ.get("TALLYBAYES_DATA", HERE.parents[1] / "shared" / "data"))
SMALLER = int(os.environ.get("TALLYBAYES_SMALLER", "1"))
TRIES = "TALLYBAYES_SMALLER", "TALLYBAYES_TABLES", "TALLYBAYES_SEEDS"
PACKAGES = ("numpy", "numba", "scipy", "scikit-learn", "mixed-naive-bayes", "pandas", "polars",
            "pyarrow", "interpret-core", "nltk", "textblob", "shap", "matplotlib", "click")  # fmt: skip


def say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


# time and memory


def best_of(turns: int, *competitors: Callable[[], Any]) -> list[float]:
    """Return each competitor's best time in seconds: on a shared machine the rest is noise.

    All get the same number of turns, in two rounds. A competitor's turns of one round follow each
    other, so that none is timed on caches that another has just filled.
    """
    best = [float("inf")] * len(competitors)
    for _ in range(2):
        for place, work in enumerate(competitors):
            best[place] = min(best[place], *(timed(work) for _ in range(turns)))
    return best


def side_by_side(turns: int, *competitors: Callable[[], Any]) -> list[float]:
    """Return each competitor's median time, taken in turn: for small differences between them."""
    times = [[timed(work) for work in competitors] for _ in range(turns)]
    return [median(several) for several in zip(*times, strict=True)]


def timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class Kept:
    """Some work that keeps its result, so that what was timed can be looked at too."""

    def __init__(self, work: Callable[..., Any], *given: Any, **options: Any) -> None:
        self.work = partial(work, *given, **options)
        self.result: Any = None

    def __call__(self) -> None:
        self.result = self.work()


def per_call(work: Callable[[], Any], calls: int = 5_000) -> float:
    """Return the best time of one call in microseconds."""

    def many() -> None:
        for _ in range(calls):
            work()

    many()
    return best_of(9, many)[0] / calls * 1e6


def watched(work: Callable[[], Any]) -> tuple[float, float]:
    """Return how long some work takes, and by how many MB the process grows at most."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # gives back what was freed: else it could be used unseen
    Path("/proc/self/clear_refs").write_text("5")  # sets the high-water mark back
    before, start = _status("VmRSS"), time.perf_counter()
    kept = work()
    took = time.perf_counter() - start
    del kept
    return took, _status("VmHWM") - before


def _status(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1e3 for line in lines if line.startswith(field))


def in_a_process(module: str, *given: str) -> Any:
    """Return what a module of the benchmarks prints as JSON, in a process of its own."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *given]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=HERE.parent)
    return json.loads(done.stdout)


# figures, tables and pages


def seconds(t: float | None) -> str:
    if t is None:
        return ""
    return f"{t * 1e3:.0f} ms" if t < 1.0 else f"{t:.2f} s" if t < 10.0 else f"{t:.1f} s"


def held_to(text: str, held: bool) -> str:
    """Return a figure, in bold if it misses what it is held to."""
    return text if held else f"**{text}**"


class Table:
    """A table: its head is written with bars, and all but the `left` columns are numbers."""

    def __init__(self, head: str, left: int = 1) -> None:
        self.head = [cell.strip() for cell in head.split("|")]
        self.align = ["---"] * left + ["---:"] * (len(self.head) - left)
        self.rows: list[list[str]] = []

    def add(self, *cells: Any) -> None:
        assert len(cells) == len(self.head), (cells, self.head)
        self.rows.append([str(cell) for cell in cells])


Part = str | Table


class Page(NamedTuple):
    """A page of docs/: its name, its title, what it says first, and its parts."""

    name: str
    title: str
    first: str
    parts: dict[str, Callable[[], Iterator[Part]]]

    def main(self) -> None:
        """Run the parts named on the command line, or all of them."""
        names = sys.argv[1:] or list(self.parts)
        if unknown := set(names) - set(self.parts):
            sys.exit(f"there is no {', '.join(unknown)}, only {', '.join(self.parts)}")
        stored = DOCS / f"{self.name}.json"
        found = json.loads(stored.read_text()) if stored.exists() else {}
        for name in names:
            content = [p if isinstance(p, str) else vars(p) for p in self.parts[name]()]
            found[name] = {"machine": machine(), "content": content}
            print(written(found[name]))
            if not any(name in os.environ for name in TRIES):
                stored.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
                self.write(found)

    def write(self, found: dict[str, Any]) -> None:
        """Write the page from what was found, in this run or before."""
        parts = [written(found[name]) for name in self.parts if name in found]
        text = "\n\n".join([f"# {self.title}", self.first, *parts])
        (DOCS / f"{self.name}.md").write_text(text + "\n")


def machine() -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    processors = len(os.sched_getaffinity(0))
    python = platform.python_version()
    return f"{platform.machine()}, {processors} processors. Python {python}, {versions}."


def written(part: dict[str, Any]) -> str:
    """Write what was found of a part as Markdown; the machine stands under its first heading."""
    heading, *rest = part["content"]
    ran_on = [f"Machine: {part['machine']}"] if part["machine"] else []
    return "\n\n".join([heading, *ran_on, *map(_markdown, rest)])


def _markdown(part: Any) -> str:
    if isinstance(part, str):
        return part
    head, *rows = (f"| {' | '.join(cells)} |" for cells in (part["head"], *part["rows"]))
    return "\n".join([head, f"|{'|'.join(part['align'])}|", *rows])
