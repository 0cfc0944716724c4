"""A service in a process of its own, for many tests; and models with columns of every kind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np

import tallybayes as tb
from tallybayes.model import Fitted, Recipe
from tallybayes.modelfile import Provenance, Stored, load, save
from tallybayes.workflows.planning import with_target

ADDRESS = re.compile(r"is served at (http://\S+),")
PATIENCE = 240.0  # seconds for what takes one on a machine at rest


@dataclass
class Served:
    """A service that runs, and a client of it."""

    url: str
    folder: Path
    process: subprocess.Popen
    log: Path
    client: httpx.Client

    def __getattr__(self, name):
        return getattr(self.client, name)

    @property
    def port(self):
        return int(self.url.rpartition(":")[2])

    def stored(self, model):
        return load(self.folder / f"{model}.tally")

    def ask(self, path, **body):
        answer = self.client.post(path, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def stop(self, by=signal.SIGTERM):
        self.process.send_signal(by)
        return self.process.wait(PATIENCE)


@contextmanager
def serving(folder, *options, **client):
    """Run `tallybayes serve` on a free port until the block is left."""
    log = Path(folder) / f"{len(list(Path(folder).glob('*.log')))}.log"
    command = [sys.executable, "-m", "tallybayes", "serve", str(folder), "--port", "0", *options]
    if not any(str(option).startswith("seconds=") for option in options):
        command += ["--limit", f"seconds={PATIENCE:g}"]
    with log.open("wb") as file:
        process = subprocess.Popen(
            command, stderr=file, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
    try:
        found, start = None, time.monotonic()
        while found is None:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() - start < PATIENCE
            time.sleep(0.02)
            found = ADDRESS.search(log.read_text())
        url = found.group(1)
        with httpx.Client(base_url=url, timeout=PATIENCE, **client) as client:
            yield Served(url, Path(folder), process, log, client)
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has ended
        return b""


def mixed_table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 12, n)
    table = {
        "age": np.where(rng.random(n) < 0.1, np.nan, age).tolist(),
        "visits": rng.poisson(3, n).tolist(),
        "plan": rng.choice(["free", "plus", "pro"], n).tolist(),
        "new": (rng.random(n) < 0.5).tolist(),
    }
    y = np.where(age + 5 * rng.normal(size=n) > 40, "stay", "leave").tolist()
    return table, y


def made(folder):
    """Write models: of mixed columns (best and plain), of texts, of whole numbers as classes."""
    table, y = mixed_table()
    models = {
        "mixed": with_target(tb.NaiveBayes(positive="leave").fit(table, y), "status"),
        "best": with_target(tb.SemiNaiveBayes().fit(table, y), "status"),
        "numbers": Fitted(tb.Tally.of({"a": [1.0, 2.0, 3.0, 5.0]}, [0, 0, 1, 1], target="n")),
    }
    texts = ["win money now", "dinner at eight", "money money", "see you at dinner"]
    spam = tb.Tally.of(
        {"mail": texts}, ["spam", "ham"] * 2, columns={"mail": tb.Text()}, target="y"
    )
    models["texts"] = Fitted(spam)
    raw = Recipe((tb.Categorical(alpha=0),))
    both = {"a": ["x", "y"], "b": ["x", "y"]}
    models["raw"] = Fitted(tb.Tally.of(both, ["Yes", "No"], target="cheat"), raw)
    for name, fitted in models.items():
        rows = int(fitted.tally.rows.sum())
        save(folder / f"{name}.tally", Stored(fitted, Provenance.now("a table", rows)))


RECORDS = [
    {"age": 51.5, "visits": 2, "plan": "pro", "new": True},
    {"age": None, "visits": 9, "plan": "free", "new": False},
    {"age": 12, "plan": "never seen"},
    {},
    {"age": 300},
]
