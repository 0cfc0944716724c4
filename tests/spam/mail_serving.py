"""`tallybayes spam serve` in a process of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from spam.mails import mails, write_folder
from tallybayes.spam.training import train

PATIENCE = 240.0  # seconds for what takes one on a machine at rest


@dataclass
class Serving:
    """A server that runs."""

    process: subprocess.Popen
    log: Path
    places: dict = field(default_factory=dict)

    def events(self, kind):
        lines = [line for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [each for line in lines if (each := json.loads(line))["event"] == kind]

    def wait_for(self, kind, n=1):
        until = time.monotonic() + PATIENCE
        while len(self.events(kind)) < n:
            assert time.monotonic() < until, self.log.read_text()
            time.sleep(0.02)
        return self.events(kind)

    def stop(self, by=signal.SIGTERM):
        self.process.send_signal(by)
        return self.process.wait(PATIENCE)


@contextmanager
def mail_serving(folder, *options, doors=1, **environment):
    """Run the server until the block is left."""
    number = len(list(Path(folder).glob("*.log")))
    log = Path(folder) / f"{number}.log"
    command = [sys.executable, "-m", "tallybayes", "spam", "serve", f"{folder}/mail.db"]
    with log.open("wb") as file:
        process = subprocess.Popen(
            [*command, *map(str, options)],
            stderr=file,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
        )
    try:
        served, until = Serving(process, log), time.monotonic() + PATIENCE
        while len(served.places) < doors:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.02)
            found = re.findall(r"(\w+) at (\S+)|(watching) (\S+)", log.read_text())
            served.places = {a or c: b or d for a, b, c, d in found}
        yield served
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()


def trained(folder, n=100):
    """Make a filter of mails that are told apart with ease."""
    ham = write_folder(Path(folder) / "ham", mails(n, False))
    spam = write_folder(Path(folder) / "spam", mails(n, True))
    made = train([ham], [spam])
    made.filter.save(Path(folder) / "mail.tally")
    return Path(folder) / "mail.tally"
