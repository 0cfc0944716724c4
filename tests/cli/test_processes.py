"""The real commands as processes: what they load, pipes, signals, terminals."""

import ast
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tallybayes.kernels
from tallybayes.cli.main import main
from tiers import deep

pty = pytest.importorskip("pty")  # pipes, signals and terminals of Unix

COMMAND = [sys.executable, "-m", "tallybayes"]
HEAVY = {"numba", "sklearn", "pandas", "scipy", "polars", "rich", "matplotlib"}
SMALL = [
    ["fit", "loan.csv", "-t", "cheat", "-o", "new.tally"],
    ["predict", "loan.tally", "applicants.csv"],
    ["explain", "loan.tally", "--set", "income=120"],
    ["inspect", "loan.tally"],
    ["update", "loan.tally", "loan.csv"],
    ["merge", "loan.tally", "loan.tally", "-o", "both.tally"],
]


def run(*args, stdin=None, **more):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 300}
    return subprocess.run(list(args), input=stdin, **{**pipes, **more})


def test_small_work_loads_no_heavy_package(loan):
    code = f"""
import sys
from tallybayes.cli.main import main
assert max(main(args) for args in {SMALL!r}) == 0
print("heavy:", *(name for name in {sorted(HEAVY)!r} if name in sys.modules), file=sys.stderr)
"""
    done = run(sys.executable, "-c", code, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "heavy:"


def test_a_pipeline_of_commands(data):
    rows = (data / "loan.csv").read_bytes()
    model = run(*COMMAND, "fit", "-", "-t", "cheat", "-o", "-", "--no-scores", stdin=rows)
    assert model.stderr.startswith(b"tallybayes: 10 rows in ")
    shown = run(*COMMAND, "inspect", "-", "--json", stdin=model.stdout)
    assert (json.loads(shown.stdout)["path"], json.loads(shown.stdout)["rows"]) == (None, 10)
    (data / "piped.tally").write_bytes(model.stdout)
    rows = (data / "applicants.csv").read_bytes()
    done = run(*COMMAND, "predict", "piped.tally", "-", "--to", "jsonl", "-q", stdin=rows)
    assert (done.returncode, done.stderr) == (0, b"")
    found = [json.loads(line)["prediction"] for line in done.stdout.splitlines()]
    assert found == ["No", "Yes", "No"]


def test_standard_output_may_be_closed_or_have_another_name(cli, loan, data, monkeypatch):
    rows = run(*COMMAND, "predict", loan, "applicants.csv", "-o", "/dev/stdout", "-q").stdout
    assert rows.startswith(b"prediction,probability\nNo,0.99")
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["inspect", loan]) == main(["predict", loan, "applicants.csv"]) == 1


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_a_reader_that_has_seen_enough_ends_the_stream_in_silence(loan, data, unbuffered):
    with (data / "many.csv").open("w") as file:
        file.write("owner,status,income\n" + "No,Married,120\n" * 200_000)
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(
        [*COMMAND, "predict", loan, "many.csv", "-q"], env=env, **pipes
    ) as process:
        assert b"prediction" in process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (141, b"")


STOPPED = [
    (["fit", "-", "-t", "cheat", "-o", "out.tally"], signal.SIGINT),
    (["predict", "loan.tally", "-", "-o", "out.csv"], signal.SIGTERM),
    (["predict", "loan.tally", "-", "-o", "out.csv"], signal.SIGHUP),
    (["update", "loan.tally", "-"], signal.SIGINT),
]


@pytest.mark.parametrize(("args", "number"), STOPPED, ids=lambda each: str(each))
def test_a_command_that_is_stopped_while_it_reads_leaves_the_files_as_they_were(
    loan, data, args, number
):
    rows = (data / "loan.csv").read_bytes()
    before = {path.name: path.read_bytes() for path in data.iterdir()}
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [*COMMAND, *args, "--format", "csv"]
    # whoever runs the tests may ignore the signal, as nohup does, and hand that on
    before_it = signal.signal(number, signal.SIG_DFL)
    try:
        process = subprocess.Popen(command, **pipes)
    finally:
        signal.signal(number, before_it)
    with process:
        # more than a pipe holds: once it is all taken, the command is at work and wants more
        process.stdin.write(rows + rows.split(b"\n", 1)[1] * 20_000)
        process.stdin.flush()
        process.send_signal(number)
        process.stdin.close()
        said = process.stderr.read().decode()
    assert process.returncode == 128 + number
    interrupted = "tallybayes: error: interrupted; no file was left half-written\n"
    assert said == (interrupted if number == signal.SIGINT else "")
    after = {path.name: path.read_bytes() for path in data.iterdir() if path.suffix != ".lock"}
    assert after == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line():
    with Path("/dev/full").open("w") as full:
        done = run(*COMMAND, "--help", stdout=full)
    assert done.returncode == 1
    said = b"tallybayes: error: no space left on device; make room, or write elsewhere\n"
    assert done.stderr == said


def test_text_that_a_terminal_cannot_show_is_no_error():
    done = run(*COMMAND, "予測", env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    assert done.returncode == 2
    assert b"There is no command '\\u4e88\\u6e2c'" in done.stderr


@pytest.mark.parametrize(
    "args",
    [
        ["predict", "loan.tally", "applicants.csv", "--to", "parquet"],
        ["merge", "loan.tally", "loan.tally", "-o", "-"],
    ],
    ids=["rows", "model"],
)
def test_a_terminal_gets_no_binary_data(cli, loan, args, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    code, _, err = cli(*args)
    assert code == 2
    assert "Binary data is not for a terminal" in err


# progress

SCRIPT = """
import sys
from tallybayes.cli import console
from tallybayes.cli.main import command, main
console.PATIENCE = {patience}
@command("# nothing")
def read(session):
    with session.progress() as bar:
        if bar is not None:
            bar.begin("reading a.csv", {total})
            for _ in range(3):
                bar.advance(1000, 25)
            bar._bar and bar._bar.refresh()
            session.say("a message")
            bar.advance(1000, 25)
            bar.end()
print(main({args!r}, read), "rich" in sys.modules)
"""


def on_a_terminal(*args, patience=-1, total=100, **variables):
    """Run the script with a terminal as standard error; give back what it got, and if rich came."""
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM", "FORCE_COLOR")}
    main_end, end = pty.openpty()
    script = SCRIPT.format(args=[*args], patience=patience, total=total)
    env = {**kept, "TERM": "xterm-256color", "COLUMNS": "120", **variables}
    done = run(sys.executable, "-c", script, stderr=end, env=env, text=True)
    os.close(end)
    written = b""
    try:
        while piece := os.read(main_end, 4096):
            written += piece
    except OSError:  # the other end is closed
        pass
    os.close(main_end)
    code, rich = done.stdout.split()
    assert code == "0", written
    return written.decode(), rich == "True"


def test_a_bar_shows_rows_speed_share_and_time_left():
    written, rich = on_a_terminal()
    assert rich
    for word in ("reading a.csv", "75%", "3,000 rows", "rows/s", "0:00", "\x1b["):
        assert word in written
    assert "tallybayes: a message\r\n" in written


def test_work_of_a_moment_shows_nothing_and_loads_no_rich():
    assert on_a_terminal(patience=3600) == ("tallybayes: a message\r\n", False)


def test_a_dumb_terminal_gets_no_escape_codes():
    assert "\x1b" not in on_a_terminal(TERM="dumb")[0]


@pytest.mark.parametrize("option", ["--quiet", "--json", "--no-progress"])
def test_no_bar_when_none_is_wanted(option):
    assert on_a_terminal(option)[1] is False


def defined_in(module):
    """The names of the functions of a module of kernels."""
    source = (Path(tallybayes.kernels.__file__).parent / f"{module}.py").read_text()
    return {each.name for each in ast.parse(source).body if isinstance(each, ast.FunctionDef)}


@deep
def test_warming_up_leaves_no_kernel_to_compile():
    script = """
import sys
import tallybayes.workflows.warmup as warmup
assert [what for what, seconds in warmup.warm_up()] == list(warmup.STEPS)
for name in ("compiled", "compiled_text"):
    home = f"tallybayes.kernels.{name}"
    for loop in vars(sys.modules[home]).values():
        if getattr(loop, "signatures", ()) and loop.__module__ == home:
            print(f"{name}.{loop.__name__}")
"""
    done = run(sys.executable, "-c", script, text=True, check=True, timeout=600)
    wanted = {f"compiled.{name}" for name in defined_in("compiled")}
    assert len(wanted) > 10
    wanted |= {f"compiled_text.{name}" for name in ("odd", "bags", "enter_all", "add_bags")}
    assert wanted <= set(done.stdout.split())


def test_warming_up_says_what_is_ready_and_that_nothing_can_be_kept(monkeypatch, cli):
    from tallybayes.kernels import compilation
    from tallybayes.workflows import warmup

    monkeypatch.setattr(compilation, "_told", set())
    full = {"numbers": lambda: compilation._tell("compiled loops cannot be kept in /cache")}
    monkeypatch.setattr(warmup, "STEPS", full)
    code, out, err = cli("warmup")
    assert (code, "All kernels are ready" in out) == (0, True)
    assert "tallybayes: numbers: " in err
    assert "set NUMBA_CACHE_DIR to a folder" in err
