"""Files and the command line: the real commands beside pandas, scikit-learn and bare reading.

Every figure is that of a process of its own (`benchmarks/process.py`).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import tallybayes as tb
from benchmarks import mixed_files
from benchmarks.run import HERE, SMALLER, Part, Table, held_to, say, seconds

ROWS = 10_000_000 // SMALLER
GROWTH = (1_000_000 // SMALLER, ROWS, 50_000_000 // SMALLER)
TURNS = 3
MANY_TURNS = 8  # for what takes less than a second
HEAVY = ("numba", "sklearn", "pandas", "scipy")
GB = 1e9
LOAN = Path(tb.__file__).parent / "cli" / "demo_data" / "loan.csv"
COLUMNS = "whole process | its own clock | processor: user + system | peak memory"


def part() -> Iterator[Part]:
    run(tallybayes("warmup", "--quiet"))
    yield "## Files and the command line"
    yield (
        "Every figure is that of a process of its own, from its start to its end, "
        f"imports included: the best of {2 * TURNS} in two rounds (of {2 * MANY_TURNS} in the first table), where it does not say otherwise. "
        '"Its own clock" leaves out what comes before the work, such as imports and the command line: it is what `--json` prints as `seconds`, '
        "and for the readers the time after importing them. Processor time is split, because system time on a virtual machine is partly that of handing "
        "out memory, and varies. Peak memory is the highest of the process's resident set in all runs. "
        "Files are read once before each run, so that they come from the page cache; kernels are compiled beforehand (`tallybayes warmup`). "
        "Misses are in bold."
    )
    yield starting()
    yield (
        "The table (`benchmarks/mixed_files.py`) has 9 columns of numbers (5 with two decimals, 4 with all that a float holds; 2, 10 and 30 % missing "
        "in three of them), 8 of text (2 to 40 values), 2 of small integers, a boolean, and 3 classes. Parquet has row groups of 1,048,576 rows, "
        "snappy, as pyarrow writes it; CSV has no quotes."
    )
    yield (
        "The pipeline (`benchmarks/peers/pandas_pipeline.py`) reads with `pandas.read_parquet`; `OrdinalEncoder` and `CategoricalNB` take text, small integers "
        "and the boolean, `SimpleImputer` and `GaussianNB` the numbers, and their joint log-likelihoods are added up. A second one has pandas read "
        "text as categories and hands scikit-learn their codes, which is more to write but spares it sorting text."
    )
    yield from parquet()
    yield "Predictions are the class and its probability, two columns, read from Parquet."
    yield predictions()
    yield "`pyarrow.csv.read_csv` uses all processors and holds the whole table; `open_csv` streams."
    yield csv()
    yield from growth()


class Run(NamedTuple):
    """What a process took, by its own clock too; memory and what was read from disk in bytes."""

    seconds: float
    user: float
    system: float
    from_disk: int
    peak: int
    inside: float | None

    @property
    def cells(self) -> tuple[str, str, str, str]:
        processor = f"{self.user:.1f} + {self.system:.1f} s"
        return seconds(self.seconds), seconds(self.inside), processor, size(self.peak)


def environment() -> dict[str, str]:
    """Return the environment of commands: imports may be cached, as they are for users."""
    left_out = "PYTHONDONTWRITEBYTECODE", "PYTHONPATH"
    return {k: v for k, v in os.environ.items() if k not in left_out}


def run(command: Sequence[str]) -> Run:
    """Run a command once, after its files were read into the page cache."""
    for given in command[1:]:
        if given.endswith((".csv", ".parquet")) and Path(given).exists():
            with Path(given).open("rb") as file:
                while file.read(1 << 24):
                    pass
    measured = [sys.executable, "-I", "-S", str(HERE / "process.py"), *command]
    found = subprocess.run(
        measured, cwd=HERE.parent, env=environment(), check=True, stdout=subprocess.PIPE
    )
    facts: dict[str, Any] = json.loads(found.stdout)
    if facts["status"]:
        raise RuntimeError(f"{command} ended with {facts['status']}: {facts['said']}")
    said = facts["said"].strip()
    inside = json.loads(said).get("seconds") if said.startswith("{") else None
    return Run(*(facts[name] for name in Run._fields[:-1]), inside)


def best_of(turns: int, *commands: Sequence[str]) -> list[Run]:
    """Return the fastest run of each command, with the highest peak of all its runs.

    All get the same number of turns, in two rounds. Those of one round follow each other: a system
    may hand out memory slowly that it has not handed out lately, and taking turns would make that
    the burden of whoever needs most.
    """
    runs: list[list[Run]] = [[] for _ in commands]
    for _ in range(2):
        for found, command in zip(runs, commands, strict=True):
            found += [run(command) for _ in range(turns)]
    for command, found in zip(commands, runs, strict=True):
        times = " ".join(f"{r.seconds:.2f}({r.user:.1f}+{r.system:.1f})" for r in found)
        say(f"  {' '.join(command[1:4])[-70:]}: {times}; disk {min(found).from_disk / 1e6:.0f} MB")
    return [min(found)._replace(peak=max(one.peak for one in found)) for found in runs]


def tallybayes(*given: object) -> list[str]:
    return [str(Path(sys.executable).parent / "tallybayes"), *map(str, given)]


def fitted(data: Path, out: Path, *more: str) -> list[str]:
    return tallybayes("fit", data, "--target", mixed_files.TARGET, "-o", out, "--force", "--json", *more)  # fmt: skip


def peer(name: str, *given: object) -> list[str]:
    return [sys.executable, "-m", f"benchmarks.peers.{name}", *map(str, given)]


def size(n_bytes: float) -> str:
    return f"{n_bytes / 1e6:,.0f} MB" if n_bytes < GB else f"{n_bytes / GB:.2f} GB"


def work_folder() -> Path:
    """Return where models and predictions are written."""
    folder = mixed_files.folder() / "out"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def imported(command: Sequence[str]) -> list[str]:
    """Return the heavy packages that a command imports."""
    traced = [sys.executable, "-X", "importtime", *command]
    told = subprocess.run(traced, env=environment(), check=True, capture_output=True, text=True)
    found = set(re.findall(r"^import time:.*\|\s*(\w+)", told.stderr, re.MULTILINE))
    return [name for name in HEAVY if name in found]


def starting() -> Table:
    say("files: start")
    table = Table("command | time | held to | what else")
    fit = tallybayes(
        "fit", "--plain", LOAN, "--target", "cheat", "-o", work_folder() / "loan.tally", "--force"
    )
    run(fit)
    python = [sys.executable, "-c", "pass"]
    nothing, helped, small = best_of(MANY_TURNS, python, tallybayes("--help"), fit)
    ratio, heavy = helped.seconds / nothing.seconds, imported(fit)
    table.add("`python -c pass`", seconds(nothing.seconds), "", "")
    said = held_to(f"{ratio:.1f}x", ratio <= 6.0)
    table.add("`tallybayes --help`", seconds(helped.seconds), "6x of that", said)
    said = held_to(f"imports {', '.join(heavy) or 'none of ' + ', '.join(HEAVY)}", not heavy)
    took = held_to(seconds(small.seconds), small.seconds <= 0.6)
    table.add("`tallybayes fit --plain` of ten rows of CSV, with scores", took, "600 ms", said)
    return table


def parquet() -> Iterator[Part]:
    data, out = mixed_files.made(ROWS), work_folder()
    say(f"files: {data.name}, ours and scans")
    ours, scored, batches, scanner = best_of(
        TURNS,
        fitted(data, out / "m.tally", "--plain", "--no-scores"),
        fitted(data, out / "scored.tally", "--plain"),
        peer("scans", "parquet_batches", data),
        peer("scans", "parquet_scanner", data),
    )
    best = run(fitted(data, out / "best.tally"))
    say(f"files: {data.name}, pandas and scikit-learn")
    (codes,) = best_of(1, peer("pandas_pipeline", "codes", "fit", data, out / "codes.pickle"))
    usual = run(peer("pandas_pipeline", "pipeline", "fit", data, out / "pipeline.pickle"))
    faster = usual.seconds / ours.seconds
    slower = ours.seconds / min(batches, scanner).seconds
    table = Table(
        f"{ROWS:,} x 20 Parquet, {size(data.stat().st_size)} | {COLUMNS} | beside `fit --plain --no-scores` | held to"
    )
    peak = held_to(size(ours.peak), ours.peak < GB)
    name = "`tallybayes fit --plain --no-scores`: one pass"
    table.add(name, *ours.cells[:-1], peak, "", "peak below 1 GB")
    name = "`tallybayes fit --plain`: a second pass, each row left out exactly"
    table.add(name, *scored.cells, f"{scored.seconds / ours.seconds:.1f}x its time", "")
    name = "`tallybayes fit` of the best model: one pass draws and weighs, one counts (one run)"
    table.add(name, *best.cells, f"{best.seconds / ours.seconds:.1f}x its time", "")
    for how, found, held in (
        ("iter_batches", batches, "`fit` within 2x of the faster scan"),
        ("dataset.Scanner", scanner, ""),
    ):
        ratio = ours.seconds / found.seconds
        said = held_to(f"`fit` {ratio:.2f}x its time", ratio < slower or slower <= 2.0)
        table.add(f"pyarrow, `{how}`, nothing done with them", *found.cells, said, held)
    said = held_to(f"`fit` {faster:.1f}x faster", faster >= 10.0)
    table.add("pandas and a scikit-learn pipeline (one run)", *usual.cells, said, "10x faster")
    said = f"`fit` {codes.seconds / ours.seconds:.1f}x faster"
    name = "pandas' categories, their codes to scikit-learn (best of 2)"
    table.add(name, *codes.cells, said, "")
    yield table
    yield f"In short: {slower:.2f}x of the faster scan, {faster:.1f}x faster than the pipeline."


def predictions() -> Table:
    data, out = mixed_files.made(ROWS), work_folder()
    table = Table(
        f"predictions of {ROWS:,} rows, written | {COLUMNS} | `predict` is faster | held to"
    )
    for kind in ("parquet", "csv"):
        say(f"files: predictions as {kind}")
        written = out / f"predicted.{kind}"
        command = tallybayes("predict", out / "m.tally", data, "-o", written, "--force", "--json")
        (ours,) = best_of(TURNS, command)
        table.add(f"`tallybayes predict -o out.{kind}`", *ours.cells, "", "")
        for way, name, target in (
            ("pipeline", "pandas and the pipeline (one run)", 5.0),
            ("codes", "pandas' categories, their codes to scikit-learn (best of 2)", 0.0),
        ):
            command = peer("pandas_pipeline", way, "predict", out / f"{way}.pickle", data, written)
            found = run(command) if way == "pipeline" else best_of(1, command)[0]
            ratio = found.seconds / ours.seconds
            said = held_to(f"{ratio:.1f}x", ratio >= target)
            table.add(f"{name}, {kind}", *found.cells, said, f"{target:.0f}x" if target else "")
        written.unlink()
    return table


def csv() -> Table:
    data, out = mixed_files.made(ROWS, "csv"), work_folder()
    say(f"files: {data.name}")
    table = Table(
        f"{ROWS:,} x 20 CSV, {size(data.stat().st_size)} | {COLUMNS} | `fit` takes | held to"
    )
    scans = {
        "csv_table": "pyarrow.csv.read_csv",
        "csv_stream": "pyarrow.csv.open_csv",
        "csv_polars": "polars.read_csv",
        "csv_pandas": "pandas.read_csv",
    }
    commands = [peer("scans", scan, data) for scan in scans]
    ours, *others = best_of(
        TURNS, fitted(data, out / "csv.tally", "--plain", "--no-scores"), *commands
    )
    table.add("`tallybayes fit --plain --no-scores`", *ours.cells, "", "")
    for (scan, name), found in zip(scans.items(), others, strict=True):
        ratio, judged = ours.seconds / found.seconds, scan == "csv_table"
        said = held_to(f"{ratio:.2f}x its time", not judged or ratio <= 1.5)
        table.add(f"`{name}`, reading only", *found.cells, said, "within 1.5x" if judged else "")
    return table


def growth() -> Iterator[Part]:
    table = Table(
        "rows | Parquet | `fit --plain --no-scores` | its own clock | us a row | peak memory | pyarrow, `iter_batches` | "
        "peak memory",
        left=0,
    )
    found = []
    for n_rows in GROWTH:
        data = mixed_files.made(n_rows)
        say(f"files: growth, {data.name}")
        fit = fitted(data, work_folder() / "g.tally", "--plain", "--no-scores")
        ours, bare = best_of(TURNS, fit, peer("scans", "parquet_batches", data))
        found.append(ours)
        clock, own, _, peak = ours.cells
        a_row = f"{ours.seconds / n_rows * 1e6:.2f}"
        cells = clock, own, a_row, peak, seconds(bare.seconds), size(bare.peak)
        table.add(f"{n_rows:,}", size(data.stat().st_size), *cells)
    yield table
    more_rows = GROWTH[2] / GROWTH[1]
    more_time, more_memory = (found[2][k] / found[1][k] for k in (0, Run._fields.index("peak")))
    time = held_to(f"{more_time:.1f}x the time", more_time <= 1.1 * more_rows)
    memory = held_to(f"{more_memory:.2f}x the memory", more_memory <= 1.2)
    yield (
        f"From {GROWTH[1]:,} to {GROWTH[2]:,} rows: {more_rows:.0f}x the rows, {time}, {memory}. "
        "(Held to at most 1.1x linear time and 1.2x the memory.)"
    )
