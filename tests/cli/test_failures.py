"""What a command that fails says, where, and with which exit code; warnings, and what is quiet."""

import errno
import io
import json
import signal
import subprocess
import sys
import warnings
from types import SimpleNamespace

import pytest

from tallybayes.cli.main import command, main
from tallybayes.errors import TallyBayesError, TallyBayesWarning, warn
from tallybayes.kernels import compilation
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


def test_an_error_of_the_user_is_one_line_and_exit_code_1(run):
    code, out, err = run(raising(TallyBayesError("alpha is -1;\nit must be at least 0")), "-q")
    assert (code, out) == (1, "")
    assert err == "tallybayes: error: alpha is -1; it must be at least 0\n"


def test_as_json_the_error_is_an_object_on_standard_error(run):
    def fail(session):
        warn("look at this", TallyBayesWarning)
        raise TallyBayesError("no column 'é'")

    code, out, err = run(fail, "--json")
    assert (code, out) == (1, "")
    assert json.loads(err) == {"error": "no column 'é'", "warnings": ["look at this"]}


def test_a_bug_is_one_line_that_names_the_remedy(run):
    code, out, err = run(raising(KeyError("x")))
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("tallybayes: error: this is a bug in tallybayes (KeyError: 'x')")
    assert "--debug" in err


@pytest.mark.parametrize("error", [TallyBayesError("no"), KeyError("x"), OSError("no")])
def test_debug_shows_where_an_error_arose(run, error):
    code, out, err = run(raising(error), "--debug")
    assert (code, out) == (1, "")
    assert err.startswith("Traceback (most recent call last)")
    assert "in fail" in err


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "x.csv"), "'x.csv': no such"),
        (PermissionError(errno.EACCES, "Permission denied", b"x.csv"), "'x.csv': permission"),
        (OSError(errno.ENOSPC, "No space left on device"), "no space left on device; make room"),
        (IsADirectoryError(errno.EISDIR, "Is a directory", "d"), "'d': is a directory; name a"),
        (OSError("arrow says no"), "arrow says no"),
        (MemoryError(), "there is not enough memory"),
    ],
    ids=["missing", "forbidden", "full", "folder", "other", "memory"],
)
def test_what_the_system_refuses_is_a_sentence(run, error, said):
    code, out, err = run(raising(error))
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"tallybayes: error: {said}")
    assert "bug" not in err


@pytest.mark.parametrize(
    ("sent", "code", "said"),
    [
        ("SIGINT", 130, "tallybayes: error: interrupted; no file was left half-written\n"),
        ("SIGTERM", 143, ""),
    ],
)
def test_a_signal_lets_the_command_tidy_up(sent, code, said):
    script = f"""
import sys, signal, os
from tallybayes.cli.main import command, main
# whoever runs the tests may ignore the signal and hand that on
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
@command("# nothing")
def attempt(session):
    try:
        os.kill(os.getpid(), signal.{sent})
    finally:
        print("tidied", flush=True)
sys.exit(main([], attempt))
"""
    args = [sys.executable, "-c", script]
    done = subprocess.run(args, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (code, "tidied\n", said)


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
    for module in (compilation, progress):
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
