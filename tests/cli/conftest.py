"""The real command in a process of its own, in a folder of its own."""

import io
import os
import subprocess
import sys

import pytest

from tallybayes.cli.demos import DEMOS
from tallybayes.cli.main import main

COMMAND = [sys.executable, "-m", "tallybayes"]
PLAIN = ("NO_COLOR", "TERM", "FORCE_COLOR", "COLUMNS", "_TALLYBAYES_COMPLETE")


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if name not in PLAIN}
    return {**kept, "PYTHONIOENCODING": "utf-8", **more}


@pytest.fixture
def tallybayes(tmp_path):
    """Run a command; give back its exit code and what it wrote."""

    def run(*args, stdin="", env=None, **more):
        return subprocess.run(
            [*COMMAND, *map(str, args)],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=tmp_path,
            env=environment(**(env or {})),
            timeout=300,
            **more,
        )

    return run


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder, which is the current one, with the data of the lectures."""
    for demo in DEMOS.values():
        demo.save(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cli(data, capsys):
    """Run a command in this process; give back its exit code, standard output and error."""

    def run(*args):
        code = main([str(each) for each in args])
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def done(cli):
    """Run a command that must succeed; give back standard output."""

    def run(*args):
        code, out, err = cli(*args)
        assert code == 0, err
        return out

    return run


@pytest.fixture
def loan(done):
    """A model of the ten loans."""
    done("fit", "loan.csv", "-t", "cheat", "-o", "loan.tally", "-q", "--no-scores")
    return "loan.tally"


@pytest.fixture
def piped(data, monkeypatch):
    """Make a file standard input."""

    def run(name):
        pipe = io.BufferedReader(io.BytesIO((data / name).read_bytes()))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(pipe))

    return run
