"""What a command that fails says, where, and with which exit code."""

import errno
import json
import os
import signal
import subprocess
import sys
import warnings

import click
import pytest

from tallybayes.cli.command import command, option
from tallybayes.cli.main import main
from tallybayes.cli.session import Session
from tallybayes.cli.speaking import output_options
from tallybayes.errors import TallyBayesError, TallyBayesWarning, warn


def group_of(function):
    """A group whose one command, `try`, does what the function does."""

    @click.group()
    def group():
        pass

    @group.command("try")
    @output_options
    @click.pass_obj
    def attempt(session):
        function(session)

    return group


def raising(error):
    def fail(session):
        raise error

    return group_of(fail)


@pytest.fixture
def run(capsys):
    """Run `try` of a group; give back the exit code, standard output and standard error."""

    def run_it(group, *args):
        code = main(["try", *args], group)
        out, err = capsys.readouterr()
        return code, out, err

    return run_it


def test_an_error_of_the_user_is_one_line_and_exit_code_1(run):
    code, out, err = run(raising(TallyBayesError("alpha is -1;\nit must be at least 0")))
    assert (code, out) == (1, "")
    assert err == "tallybayes: error: alpha is -1; it must be at least 0\n"


def test_as_json_the_error_is_an_object_on_standard_error(run):
    code, out, err = run(raising(TallyBayesError("no column 'é'")), "--json")
    assert (code, out) == (1, "")
    assert json.loads(err) == {"error": "no column 'é'", "warnings": []}


def test_quiet_commands_still_say_errors(run):
    assert run(raising(TallyBayesError("no")), "-q") == (1, "", "tallybayes: error: no\n")


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


def test_control_c_says_that_no_file_is_half_written(run):
    code, out, err = run(raising(KeyboardInterrupt()))
    assert (code, out) == (130, "")
    assert err == "tallybayes: error: interrupted; no file was left half-written\n"


def test_control_c_after_a_file_was_written_names_it(run):
    def fail(session):
        session.written.append("a.tally")
        raise KeyboardInterrupt

    assert "already written: a.tally" in run(group_of(fail))[2]


SCRIPT = """
import sys, signal, os, click
from tallybayes.cli.main import main
@click.group()
def group(): pass
@group.command()
def attempt():
    try:
        os.kill(os.getpid(), signal.{signal})
    finally:
        print("tidied", flush=True)
sys.exit(main(["attempt"], group))
"""


@pytest.mark.parametrize(
    ("sent", "code", "said"),
    [
        ("SIGINT", 130, "tallybayes: error: interrupted; no file was left half-written\n"),
        ("SIGTERM", 143, ""),
    ],
)
def test_a_signal_lets_the_command_tidy_up(sent, code, said):
    script = [sys.executable, "-c", SCRIPT.format(signal=sent)]
    done = subprocess.run(script, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (code, "tidied\n", said)


def test_the_callers_own_signal_handler_is_put_back(run):
    before = signal.getsignal(signal.SIGTERM)
    run(raising(TallyBayesError("no")))
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["fti"], "There is no command 'fti'; did you mean 'fit'? Try 'tallybayes --help'."),
        (["completion"], "Missing argument"),
        (["completion", "bash", "--jsn"], "No such option"),
        (["completion", "bsh"], "'bsh' is not one of"),
    ],
    ids=["command", "argument", "option", "choice"],
)
def test_a_wrong_command_line_has_exit_code_2(capsys, args, said):
    assert main(args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    usage, line = err.splitlines()
    assert usage.startswith("Usage: tallybayes")
    assert line.startswith("tallybayes: error: ")
    assert said in line


def test_a_wrong_command_line_as_json(capsys):
    assert main(["completion", "bsh", "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "'bsh' is not one of" in json.loads(err)["error"]


def warning_twice(session):
    warn("look at this", TallyBayesWarning)
    warn("look at this", TallyBayesWarning)
    warnings.warn("of another package", DeprecationWarning, stacklevel=1)
    session.result("done", {"done": True})


def test_warnings_of_the_library_are_messages_said_once(run):
    code, out, err = run(group_of(warning_twice))
    assert (code, out, err) == (0, "done\n", "tallybayes: warning: look at this\n")


def test_as_json_warnings_are_part_of_the_object(run):
    code, out, err = run(group_of(warning_twice), "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {"done": True, "warnings": ["look at this"]}


def test_as_json_an_error_keeps_the_warnings_before_it(run):
    def fail(session):
        warn("look at this", TallyBayesWarning)
        raise TallyBayesError("no")

    assert json.loads(run(group_of(fail), "--json")[2]) == {
        "error": "no",
        "warnings": ["look at this"],
    }


def test_with_debug_warnings_of_other_packages_are_heard_too(run):
    err = run(group_of(warning_twice), "--debug")[2]
    assert "tallybayes: warning: of another package\n" in err


def test_warnings_are_as_before_once_the_command_is_done(run):
    before = warnings.showwarning, list(warnings.filters)
    run(group_of(warning_twice))
    assert (warnings.showwarning, list(warnings.filters)) == before


def test_quiet_leaves_messages_and_reports_out_but_no_results(run):
    def speak(session):
        session.say("a message")
        session.report("a report", {})
        session.result("a result", {})

    assert run(group_of(speak)) == (0, "a report\na result\n", "tallybayes: a message\n")
    assert run(group_of(speak), "--quiet") == (0, "a result\n", "")


def test_the_options_of_all_commands_may_stand_before_the_command(capsys):
    assert main(["--json", "completion", "bash"]) == 0
    assert json.loads(capsys.readouterr().out)["shell"] == "bash"


pipes = pytest.mark.skipif(os.name == "nt", reason="pipes of Unix")


@pipes
def test_a_reader_that_has_gone_ends_the_command_in_silence(tallybayes):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "tallybayes", "--help"],
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=300,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "tallybayes", "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
        )
    assert done.returncode == 1
    assert done.stderr == (
        "tallybayes: error: no space left on device; make room, or write elsewhere\n"
    )


def test_text_that_a_terminal_cannot_show_is_no_error(tallybayes):
    done = tallybayes("予測", env={"PYTHONIOENCODING": "latin-1"})
    assert done.returncode == 2
    assert "There is no command '\\u4e88\\u6e2c'" in done.stderr


def test_a_session_of_its_own_for_every_run(run):
    seen = []
    group = group_of(seen.append)
    run(group, "--json")
    run(group)
    assert [each.json for each in seen] == [True, False]
    assert isinstance(seen[0], Session)


def test_a_command_without_explanations_is_fine_too():
    @command()
    @option("--n", type=int)
    def small(n):
        """Do little."""

    assert "--n" in small.get_help(click.Context(small))
