"""The real commands as processes: what they load, pipes, kernels."""

import ast
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tallybayes.kernels
from tiers import deep

HEAVY = {"numba", "sklearn", "pandas", "scipy", "polars", "rich", "matplotlib"}
SMALL = [
    ["fit", "loan.csv", "-t", "cheat", "-o", "new.tally"],
    ["predict", "loan.tally", "applicants.csv"],
    ["explain", "loan.tally", "--set", "income=120"],
    ["inspect", "loan.tally"],
    ["update", "loan.tally", "loan.csv"],
    ["merge", "loan.tally", "loan.tally", "-o", "new.tally"],
]


@pytest.mark.parametrize("args", SMALL, ids=lambda args: args[0])
def test_small_work_loads_no_heavy_package(loan, args):
    code = f"""
import sys
from tallybayes.cli.main import main
assert main({args!r}) == 0
print(*(name for name in {sorted(HEAVY)!r} if name in sys.modules), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stderr.splitlines()[-1] == ""


def test_a_pipeline_of_commands(tallybayes, data):
    model = subprocess.run(
        [sys.executable, "-m", "tallybayes", "fit", "-", "-t", "cheat", "-o", "-", "--no-scores"],
        input=(data / "loan.csv").read_bytes(),
        capture_output=True,
        check=True,
        timeout=300,
    )
    (data / "piped.tally").write_bytes(model.stdout)
    rows = (data / "applicants.csv").read_text()
    done = tallybayes("predict", "piped.tally", "-", "--to", "jsonl", "-q", stdin=rows)
    assert (done.returncode, done.stderr) == (0, "")
    found = [json.loads(line)["prediction"] for line in done.stdout.splitlines()]
    assert found == ["No", "Yes", "No"]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of Unix")
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_a_reader_that_has_seen_enough_ends_the_stream_in_silence(loan, data, unbuffered):
    with (data / "many.csv").open("w") as file:
        file.write("owner,status,income\n" + "No,Married,120\n" * 200_000)
    command = [sys.executable, "-m", "tallybayes", "predict", loan, "many.csv", "-q"]
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=env, **pipes) as process:
        assert b"prediction" in process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (141, b"")


STREAMS = [
    ["fit", "-", "-t", "cheat", "-o", "out.tally"],
    ["predict", "loan.tally", "-", "-o", "out.csv"],
    ["update", "loan.tally", "-"],
]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["int", "term"])
@pytest.mark.parametrize("args", STREAMS, ids=lambda args: args[0])
def test_a_command_that_is_stopped_while_it_reads_leaves_the_files_as_they_were(
    loan, data, args, number
):
    rows = (data / "loan.csv").read_bytes()
    before = {path.name: path.read_bytes() for path in data.iterdir()}
    command = [sys.executable, "-m", "tallybayes", *args, "--format", "csv"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        # more than a pipe holds: once it is all taken, the command is at work and wants more
        process.stdin.write(rows + rows.split(b"\n", 1)[1] * 20_000)
        process.stdin.flush()
        process.send_signal(number)
        process.stdin.close()
        said = process.stderr.read().decode()
    assert process.returncode == 128 + number
    assert said == (
        "tallybayes: error: interrupted; no file was left half-written\n"
        if number == signal.SIGINT
        else ""
    )
    after = {path.name: path.read_bytes() for path in data.iterdir() if path.suffix != ".lock"}
    assert after == before


def test_predictions_without_a_standard_output_are_an_error(loan):
    script = f"""
import sys
from tallybayes.cli.main import main
sys.stdout = None
sys.exit(main(["predict", {loan!r}, "applicants.csv"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 1
    assert "standard output is closed" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of Unix")
@pytest.mark.parametrize(
    "args",
    [
        ["predict", "loan.tally", "applicants.csv", "--to", "parquet"],
        ["merge", "loan.tally", "loan.tally", "-o", "-"],
    ],
    ids=["rows", "model"],
)
def test_a_terminal_gets_no_binary_data(loan, args):
    import pty

    master, slave = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "tallybayes", *args],
        stdout=slave,
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
    )
    os.close(slave)
    os.close(master)
    assert done.returncode == 2
    assert "Binary data is not for a terminal" in done.stderr


def defined_in(module):
    """The names of the functions of a module of kernels."""
    source = (Path(tallybayes.kernels.__file__).parent / f"{module}.py").read_text()
    return {each.name for each in ast.parse(source).body if isinstance(each, ast.FunctionDef)}


@deep
def test_warming_up_leaves_no_kernel_to_compile():
    script = """
import tallybayes.workflows.warmup as warmup
steps = list(warmup.warm_up())
assert [step.what for step in steps] == list(warmup.STEPS)
ready = warmup.versions()
print(*(name for name, n in ready.items() if n))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=600
    )
    wanted = {f"compiled.{name}" for name in defined_in("compiled")}
    assert len(wanted) > 10
    wanted |= {f"compiled_text.{name}" for name in ("odd", "bags", "enter_all", "add_bags")}
    assert wanted <= set(done.stdout.split())


def test_warming_up_says_that_nothing_can_be_kept(monkeypatch, capsys):
    from tallybayes.cli.main import main
    from tallybayes.kernels import compilation
    from tallybayes.workflows import warmup

    monkeypatch.setattr(compilation, "_told", set())
    full = {"numbers": lambda: compilation._tell("compiled loops cannot be kept in /cache")}
    monkeypatch.setattr(warmup, "STEPS", full)
    assert main(["warmup"]) == 0
    assert "set NUMBA_CACHE_DIR to a folder" in capsys.readouterr().err


def test_warming_up_says_what_is_ready(monkeypatch, capsys):
    from tallybayes.cli.main import main
    from tallybayes.workflows import warmup

    monkeypatch.setattr(warmup, "STEPS", {"nothing": lambda: None})
    assert main(["warmup"]) == 0
    out, err = capsys.readouterr()
    assert "compiled loops are ready" in out
    assert err.startswith("tallybayes: nothing: ")
    assert main(["warmup", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [step["what"] for step in facts["steps"]] == ["nothing"]
