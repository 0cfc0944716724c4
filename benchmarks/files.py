"""Files and the command line: the real commands beside pandas, scikit-learn and bare reading.

    python -m benchmarks.files

measures everything and writes its section of docs/benchmarks.md. Every figure is that of a process
of its own (`benchmarks/process.py`). TALLYBAYES_SMALLER=100 takes a hundredth of the rows, for a try
that prints its section instead.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import tallybayes as tb
from benchmarks import make_files
from benchmarks.timing import say

SMALLER = int(os.environ.get("TALLYBAYES_SMALLER", "1"))
ROWS = 10_000_000 // SMALLER
GROWTH = (1_000_000 // SMALLER, ROWS, 50_000_000 // SMALLER)
TURNS = 3
MANY_TURNS = 8  # for what takes less than a second
HEAVY = ("numba", "sklearn", "pandas", "scipy")
GB = 1e9
HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
TITLE = "## Files and the command line"
LOAN = Path(tb.__file__).parent / "cli" / "demo_data" / "loan.csv"


class Run(NamedTuple):
    """What a process took, by its own clock too; memory and what was read from disk in bytes."""

    seconds: float
    user: float
    system: float
    from_disk: int
    peak: int
    inside: float | None


def environment() -> dict[str, str]:
    """Return the environment of commands: imports may be cached, as they are for users."""
    left_out = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")
    return {k: v for k, v in os.environ.items() if k not in left_out}


def run(command: Sequence[str]) -> Run:
    """Run a command once, after its files were read into the page cache."""
    for given in command[1:]:
        if given.endswith((".csv", ".parquet")) and Path(given).exists():
            _read(Path(given))
    measured = [sys.executable, "-I", "-S", str(HERE / "process.py"), *command]
    found = subprocess.run(
        measured, cwd=HERE.parent, env=environment(), check=True, stdout=subprocess.PIPE
    )
    facts: dict[str, Any] = json.loads(found.stdout)
    if facts["status"]:
        raise RuntimeError(f"{command} ended with {facts['status']}: {facts['said']}")
    said = facts["said"].strip()
    inside = json.loads(said).get("seconds") if said.startswith("{") else None
    taken = {name: facts[name] for name in Run._fields if name in facts}
    return Run(**taken, inside=inside)


def _read(path: Path) -> None:
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass


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
    for command, each in zip(commands, runs, strict=True):
        times = " ".join(f"{r.seconds:.2f}({r.user:.1f}+{r.system:.1f})" for r in each)
        say(f"  {' '.join(command[1:4])[-70:]}: {times}; disk {min(each).from_disk / 1e6:.0f} MB")
    return [min(each)._replace(peak=max(one.peak for one in each)) for each in runs]


def python(*given: str) -> list[str]:
    return [sys.executable, *given]


def tallybayes(*given: str) -> list[str]:
    return [str(Path(sys.executable).parent / "tallybayes"), *given]


def fitted(data: Path, out: Path, *more: str) -> list[str]:
    given = "fit", str(data), "--target", make_files.TARGET, "-o", str(out), "--force", "--json"
    return tallybayes(*given, *more)


def predicted(model: Path, data: Path, out: Path) -> list[str]:
    return tallybayes("predict", str(model), str(data), "-o", str(out), "--force", "--json")


def scan(name: str, data: Path) -> list[str]:
    return python("-m", "benchmarks.file_scans", name, str(data))


def peer(way: str, *given: str | Path) -> list[str]:
    return python("-m", "benchmarks.file_pipeline", way, *map(str, given))


def row(*cells: Any) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def seconds(t: float | None) -> str:
    if t is None:
        return ""
    return f"{t * 1e3:.0f} ms" if t < 1.0 else f"{t:.2f} s" if t < 10.0 else f"{t:.1f} s"


def size(n_bytes: float) -> str:
    return f"{n_bytes / 1e6:,.0f} MB" if n_bytes < GB else f"{n_bytes / GB:.2f} GB"


def held_to(text: str, held: bool) -> str:
    """Return a figure, in bold and called a miss if it misses what it is held to."""
    return text if held else f"**{text}: missed**"


def figures(found: Run) -> tuple[str, str, str, str]:
    return (
        seconds(found.seconds),
        seconds(found.inside),
        f"{found.user:.1f} + {found.system:.1f} s",
        size(found.peak),
    )


COLUMNS = "whole process | its own clock | processor: user + system | peak memory"
LINE = "---:|---:|---:|---:"


def work_folder() -> Path:
    """Return where models and predictions are written."""
    folder = make_files.folder() / "out"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def imported(command: Sequence[str]) -> list[str]:
    """Return the heavy packages that a command imports."""
    told = subprocess.run(
        [sys.executable, "-X", "importtime", command[0], *command[1:]],
        env=environment(),
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ).stderr
    found = set(re.findall(r"^import time:.*\|\s*(\w+)", told, re.MULTILINE))
    return [name for name in HEAVY if name in found]


def starting() -> list[str]:
    say("files: start")
    model = str(work_folder() / "loan.tally")
    fit = ["fit", str(LOAN), "--target", "cheat", "-o", model, "--force"]
    run(tallybayes(*fit))
    nothing, helped, small = best_of(
        MANY_TURNS, python("-c", "pass"), tallybayes("--help"), tallybayes(*fit)
    )
    ratio = helped.seconds / nothing.seconds
    heavy = imported(tallybayes(*fit))
    said = "imports none of " + ", ".join(HEAVY)
    if heavy:
        said = f"**imports {', '.join(heavy)}**"
    return [
        "| command | time | held to | |",
        "|---|---:|---:|---|",
        row("`python -c pass`", seconds(nothing.seconds), "", ""),
        row(
            "`tallybayes --help`",
            seconds(helped.seconds),
            "6x of that",
            held_to(f"{ratio:.1f}x", ratio <= 6.0),
        ),
        row(
            "`tallybayes fit` of ten rows of CSV, with scores",
            held_to(seconds(small.seconds), small.seconds <= 0.6),
            "600 ms",
            said,
        ),
    ]


def parquet() -> list[str]:
    data, out = make_files.made(ROWS), work_folder()
    model = out / "m.tally"
    say(f"files: {data.name}, ours and scans")
    ours, scored, batches, scanner = best_of(
        TURNS,
        fitted(data, model, "--no-scores"),
        fitted(data, out / "scored.tally"),
        scan("parquet_batches", data),
        scan("parquet_scanner", data),
    )
    scanned = min(batches, scanner)
    say(f"files: {data.name}, pandas and scikit-learn")
    (codes,) = best_of(1, peer("codes", "fit", data, out / "codes.pickle"))
    usual = run(peer("pipeline", "fit", data, out / "pipeline.pickle"))
    faster, slower = usual.seconds / ours.seconds, ours.seconds / scanned.seconds
    return [
        f"| {ROWS:,} x 20 Parquet, {size(data.stat().st_size)} | {COLUMNS} | beside `fit --no-scores` | held to |",
        f"|---|{LINE}|---:|---:|",
        row(
            "`tallybayes fit --no-scores`: one pass",
            *figures(ours)[:-1],
            held_to(size(ours.peak), ours.peak < GB),
            "",
            "peak below 1 GB",
        ),
        row(
            "`tallybayes fit`: a second pass, each row left out exactly",
            *figures(scored),
            f"{scored.seconds / ours.seconds:.1f}x its time",
            "",
        ),
        row(
            "pyarrow, `iter_batches`, nothing done with them",
            *figures(batches),
            _within(ours, batches, 2.0, scanned),
            "`fit` within 2x of the faster scan",
        ),
        row(
            "pyarrow, `dataset.Scanner`, nothing done with them",
            *figures(scanner),
            _within(ours, scanner, 2.0, scanned),
            "",
        ),
        row(
            "pandas and a scikit-learn pipeline (one run)",
            *figures(usual),
            held_to(f"`fit` {faster:.1f}x faster", faster >= 10.0),
            "10x faster",
        ),
        row(
            "pandas' categories, their codes to scikit-learn (best of 2)",
            *figures(codes),
            f"`fit` {codes.seconds / ours.seconds:.1f}x faster",
            "",
        ),
        "",
        f"In short: {slower:.2f}x of the faster scan, {faster:.1f}x faster than the pipeline.",
    ]


def _within(ours: Run, bare: Run, most: float, judged: Run) -> str:
    """Say how much longer ours takes; only against the one that is judged can it miss."""
    ratio = ours.seconds / bare.seconds
    return held_to(f"`fit` {ratio:.2f}x its time", bare is not judged or ratio <= most)


def predictions() -> list[str]:
    data, out = make_files.made(ROWS), work_folder()
    lines = [
        f"| predictions of {ROWS:,} rows, written | {COLUMNS} | `predict` is faster | held to |",
        f"|---|{LINE}|---:|---:|",
    ]
    for kind in ("parquet", "csv"):
        say(f"files: predictions as {kind}")
        written = out / f"ours.{kind}"
        (ours,) = best_of(TURNS, predicted(out / "m.tally", data, written))
        lines.append(row(f"`tallybayes predict -o out.{kind}`", *figures(ours), "", ""))
        for way, name, target in (
            ("pipeline", "pandas and the pipeline (one run)", 5.0),
            ("codes", "pandas' categories, their codes to scikit-learn (best of 2)", None),
        ):
            theirs = out / f"{way}.{kind}"
            command = peer(way, "predict", out / f"{way}.pickle", data, theirs)
            found = run(command) if way == "pipeline" else best_of(1, command)[0]
            ratio = found.seconds / ours.seconds
            said = held_to(f"{ratio:.1f}x", target is None or ratio >= target)
            lines.append(
                row(f"{name}, {kind}", *figures(found), said, f"{target:.0f}x" if target else "")
            )
            theirs.unlink()
        written.unlink()
    return lines


def csv() -> list[str]:
    data, out = make_files.made(ROWS, "csv"), work_folder()
    say(f"files: {data.name}")
    ours, table, stream, polars, pandas = best_of(
        TURNS,
        fitted(data, out / "csv.tally", "--no-scores"),
        scan("csv_table", data),
        scan("csv_stream", data),
        scan("csv_polars", data),
        scan("csv_pandas", data),
    )
    lines = [
        f"| {ROWS:,} x 20 CSV, {size(data.stat().st_size)} | {COLUMNS} | `fit` takes | held to |",
        f"|---|{LINE}|---:|---:|",
        row("`tallybayes fit --no-scores`", *figures(ours), "", ""),
    ]
    for name, found, target in (
        ("`pyarrow.csv.read_csv`, reading only", table, 1.5),
        ("`pyarrow.csv.open_csv`, reading only", stream, None),
        ("`polars.read_csv`, reading only", polars, None),
        ("`pandas.read_csv`, reading only", pandas, None),
    ):
        ratio = ours.seconds / found.seconds
        said = held_to(f"{ratio:.2f}x its time", target is None or ratio <= target)
        lines.append(row(name, *figures(found), said, f"within {target}x" if target else ""))
    return lines


def growth() -> list[str]:
    lines = [
        "| rows | Parquet | `fit --no-scores` | its own clock | us a row | peak memory | pyarrow, `iter_batches` | "
        "peak memory |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    found = []
    for n_rows in GROWTH:
        data = make_files.made(n_rows)
        say(f"files: growth, {data.name}")
        commands = (
            fitted(data, work_folder() / "g.tally", "--no-scores"),
            scan("parquet_batches", data),
        )
        ours, bare = best_of(TURNS, *commands)
        found.append(ours)
        cells = (
            f"{n_rows:,}",
            size(data.stat().st_size),
            seconds(ours.seconds),
            seconds(ours.inside),
            f"{ours.seconds / n_rows * 1e6:.2f}",
            size(ours.peak),
            seconds(bare.seconds),
            size(bare.peak),
        )
        lines.append(row(*cells))
    more_rows = GROWTH[2] / GROWTH[1]
    more_time = found[2].seconds / found[1].seconds
    more_memory = found[2].peak / found[1].peak
    return [
        *lines,
        "",
        f"From {GROWTH[1]:,} to {GROWTH[2]:,} rows: {more_rows:.0f}x the rows, "
        + held_to(f"{more_time:.1f}x the time", more_time <= 1.1 * more_rows)
        + ", "
        + held_to(f"{more_memory:.2f}x the memory", more_memory <= 1.2)
        + ". (Held to at most 1.1x linear time and 1.2x the memory.)",
    ]


def section() -> list[str]:
    """Return the whole section of docs/benchmarks.md."""
    packages = "numpy", "numba", "pyarrow", "pandas", "polars", "scikit-learn", "click"
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    run(tallybayes("warmup", "--quiet"))
    return [
        TITLE,
        "",
        *(
            []
            if SMALLER == 1
            else [f"**A try on 1/{SMALLER} of the rows: nothing to publish.**", ""]
        ),
        f"Machine: {platform.machine()}, {len(os.sched_getaffinity(0))} processors. Python "
        f"{platform.python_version()}, {versions}.",
        "",
        "Written by `python -m benchmarks.files`. Every figure is that of a process of its own, from its start to its end, "
        f"imports included: the best of {2 * TURNS} in two rounds (of {2 * MANY_TURNS} in the first table), where it does not say otherwise. "
        '"Its own clock" leaves out what comes before the work, such as imports and the command line: it is what `--json` prints as `seconds`, '
        "and for the readers the time after importing them. Processor time is split, because system time on a virtual machine is partly that of handing "
        "out memory, and varies. Peak memory is the highest of the process's resident set in all runs. "
        "Files are read once before each run, so that they come from the page cache; kernels are compiled beforehand (`tallybayes warmup`). "
        "Misses are in bold.",
        "",
        *starting(),
        "",
        "The table (`benchmarks/make_files.py`) has 9 columns of numbers (5 with two decimals, 4 with all that a float holds; 2, 10 and 30 % missing "
        "in three of them), 8 of text (2 to 40 values), 2 of small integers, a boolean, and 3 classes. Parquet has row groups of 1,048,576 rows, "
        "snappy, as pyarrow writes it; CSV has no quotes.",
        "",
        "The pipeline (`benchmarks/file_pipeline.py`) reads with `pandas.read_parquet`; `OrdinalEncoder` and `CategoricalNB` take text, small integers "
        "and the boolean, `SimpleImputer` and `GaussianNB` the numbers, and their joint log-likelihoods are added up. A second one has pandas read "
        "text as categories and hands scikit-learn their codes, which is more to write but spares it sorting text.",
        "",
        *parquet(),
        "",
        "Predictions are the class and its probability, two columns, read from Parquet.",
        "",
        *predictions(),
        "",
        "`pyarrow.csv.read_csv` uses all processors and holds the whole table; `open_csv` streams.",
        "",
        *csv(),
        "",
        *growth(),
        "",
    ]


def put(page: str, lines: Sequence[str]) -> str:
    """Return the page with this section in its place, or at its end."""
    text = "\n".join(lines)
    found = re.search(rf"^{TITLE}\n.*?(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    if found is None:
        return f"{page.rstrip()}\n\n{text}"
    between = "\n" if found.end() < len(page) else ""
    return page[: found.start()] + text + between + page[found.end() :]


def main() -> None:
    lines = section()
    if SMALLER == 1:
        PAGE.write_text(put(PAGE.read_text(), lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
