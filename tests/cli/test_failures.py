"""What a command that fails says, where, and with which exit code; warnings, and what is quiet."""

import errno
import io
import json
import signal
import warnings
from types import SimpleNamespace

import pytest

from tallybayes.cli.main import command, main
from tallybayes.errors import TallyBayesError, TallyBayesWarning, warn
from tallybayes.kernels import compilation, progress as reporting
from tallybayes.validation import progress


@pytest.fixture
def run(capsys):
    """Run what a function does as a command; give back exit code, output and errors."""

    def run_it(function, *args):
        made = command("# nothing")(lambda session: function(session))
        code = main([*args], made)
        out, err = capsys.readouterr()
        return code, out, err

    return run_it


def raising(error):
    def fail(session):
        raise error

    return fail


def test_as_json_the_error_is_an_object_on_standard_error(run):
    def fail(session):
        warn("look at this", TallyBayesWarning)
        raise TallyBayesError("no column 'é'")

    code, out, err = run(fail, "--json")
    assert (code, out) == (1, "")
    assert json.loads(err) == {"error": "no column 'é'", "warnings": ["look at this"]}


@pytest.mark.parametrize("error", [TallyBayesError("no"), KeyError("x"), OSError("no")])
def test_debug_shows_where_an_error_arose(run, error):
    code, out, err = run(raising(error), "--debug")
    assert (code, out) == (1, "")
    assert err.startswith("Traceback (most recent call last)")
    assert "in fail" in err


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (TallyBayesError("alpha is -1;\nit must be at least 0"), 1, "alpha is -1; it must be at"),
        (FileNotFoundError(errno.ENOENT, "No such file", "x.csv"), 1, "'x.csv': no such file; che"),
        (PermissionError(errno.EACCES, "Permission denied", b"x.csv"), 1, "'x.csv': permission"),
        (OSError(errno.ENOSPC, "No space left on device"), 1, "no space left on device; make room"),
        (IsADirectoryError(errno.EISDIR, "Is a directory", "d"), 1, "'d': is a directory; name a"),
        (OSError("arrow says no"), 1, "arrow says no"),
        (MemoryError(), 1, "there is not enough memory"),
        (KeyboardInterrupt(), 130, "interrupted; no file was left half-written"),
        (
            KeyError("x"),
            1,
            "this is a bug in tallybayes (KeyError: 'x'); run the command again with",
        ),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, BaseException) else "",
)
def test_whatever_goes_wrong_is_one_sentence_also_if_quiet(run, error, code, said):
    found, out, err = run(raising(error), "-q")
    assert (found, out, err.count("\n")) == (code, "", 1)
    assert err.startswith(f"tallybayes: error: {said}")
    assert ("bug" in err) is isinstance(error, KeyError)


def warning_twice(session):
    warn("look at this", TallyBayesWarning)
    warn("look at this", TallyBayesWarning)
    warnings.warn("of another package", DeprecationWarning, stacklevel=1)
    session.show("done", done=True)


def test_warnings_of_the_library_are_messages_said_once(run):
    assert run(warning_twice) == (0, "done\n", "tallybayes: warning: look at this\n")
    code, out, err = run(warning_twice, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {"done": True, "warnings": ["look at this"]}
    assert "tallybayes: warning: of another package\n" in run(warning_twice, "--debug")[2]


def test_warnings_and_signals_are_as_before_once_the_command_is_done(run):
    def state():
        return warnings.showwarning, list(warnings.filters), signal.getsignal(signal.SIGTERM)

    before = state()
    run(warning_twice)
    assert state() == before


def test_quiet_leaves_messages_and_reports_out_but_no_results(run):
    def speak(session):
        session.say("a message")
        session.report("a report")
        session.show("a result")

    assert run(speak) == (0, "a report\na result\n", "tallybayes: a message\n")
    assert run(speak, "--quiet") == (0, "a result\n", "")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Stand in for a terminal; the library is impatient."""
    written = Terminal()
    monkeypatch.setattr(compilation, "_told", set())
    for module in (compilation, progress, reporting):
        monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=written))
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(progress, "EVERY", -1.0)
    return written


def wait(session):
    """Load kernels that have not been compiled, and leave rows out."""
    compilation._announce()
    assert list(progress.progress([1, 2, 3], "leaving rows out")) == [1, 2, 3]


@pytest.mark.parametrize("word", ["-q", "--quiet", "--json", "--no-progress"])
def test_a_quiet_command_silences_the_library_too_until_it_ends(run, terminal, word):
    run(wait, word)
    assert terminal.getvalue() == ""
    run(wait)
    assert "compiling loops" in terminal.getvalue()
    assert "leaving rows out, 1 of 3" in terminal.getvalue()
