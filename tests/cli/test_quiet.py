"""What the library says of its own on a terminal is silenced with the command."""

import io
from types import SimpleNamespace

import click
import pytest

from tallybayes.cli.main import main
from tallybayes.cli.speaking import output_options
from tallybayes.kernels import compilation
from tallybayes.validation import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@click.group()
def group():
    pass


@group.command("wait")
@output_options
def wait():
    """Load kernels that have not been compiled, and leave rows out."""
    compilation._announce()
    assert list(progress.progress([1, 2, 3], "leaving rows out")) == [1, 2, 3]


@pytest.fixture
def terminal(monkeypatch):
    """Stand in for a terminal; the library is impatient."""
    written = Terminal()
    monkeypatch.setattr(compilation, "_told", set())
    for module in (compilation, progress):
        monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=written))
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(progress, "EVERY", -1.0)
    return written


def test_the_library_says_why_one_waits(terminal):
    assert main(["wait"], group) == 0
    assert "compiling loops" in terminal.getvalue()
    assert "leaving rows out, 1 of 3" in terminal.getvalue()


@pytest.mark.parametrize("word", ["-q", "--quiet", "--json", "--no-progress"])
def test_a_quiet_command_silences_the_library_too(terminal, word):
    assert main(["wait", word], group) == 0
    assert terminal.getvalue() == ""


def test_silence_ends_with_the_command(terminal):
    main(["wait", "-q"], group)
    main(["wait"], group)
    assert "compiling loops" in terminal.getvalue()
