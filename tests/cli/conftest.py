"""Commands run in this process, in a folder of their own with the data of the lectures."""

import io
import sys

import pytest

from tallybayes.cli.demos import DEMOS
from tallybayes.cli.main import main


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
    done("fit", "loan.csv", "-t", "cheat", "-o", "loan.tally", "-q", "--no-scores", "--plain")
    return "loan.tally"


@pytest.fixture
def piped(data, monkeypatch):
    def run(name):
        pipe = io.BufferedReader(io.BytesIO((data / name).read_bytes()))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(pipe))

    return run
