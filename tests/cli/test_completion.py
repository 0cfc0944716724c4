"""Completion: what a shell is told when it asks through the environment how a word goes on."""

import os
import shutil
import subprocess
import sys

import pytest

from tallybayes.cli.headers import column_names
from tallybayes.cli.parameters import FAMILIES
from tallybayes.families import FAMILIES as KNOWN

SHELLS = ["bash", "zsh", "fish"]
HEADER = "home owner,income,inclination,cheat"


@pytest.fixture
def bash(tallybayes, tmp_path):
    """Ask like bash, which cuts words at = and : ; the last word is the one to complete."""
    (tmp_path / "loan.csv").write_text(f"{HEADER}\nYes,125,up,No\n")

    def ask(*words):
        env = {
            "_TALLYBAYES_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(("tallybayes", *words)),
            "COMP_CWORD": str(len(words)),
        }
        done = tallybayes(env=env)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.split("\n")[:-1]

    return ask


def test_commands_are_completed(bash):
    assert bash("for") == ["plain,forget"]


def test_options_are_completed(bash):
    assert bash("fit", "--calib") == ["plain,--calibration"]


def test_choices_are_completed(bash):
    assert bash("fit", "--families", "b") == ["plain,best"]
    assert bash("fit", "--prior", "u") == ["plain,uniform"]


def test_files_are_left_to_the_shell(bash):
    assert bash("fit", "lo") == ["file,lo"]
    assert bash("predict", "lo") == ["file,lo"]
    assert bash("fit", "-o", "mo") == ["file,mo"]


def test_columns_are_completed_from_the_data(bash):
    assert bash("fit", "loan.csv", "--target", "che") == ["plain,cheat"]
    assert bash("fit", "loan.csv", "-o", "x.tally", "--target", "che") == ["plain,cheat"]
    assert bash("predict", "m.tally", "loan.csv", "--keep", "inco") == ["plain,income"]
    assert bash("fit", "loan.csv", "--drop", "") == [f"plain,{name}" for name in HEADER.split(",")]


def test_families_are_completed_behind_the_sign(bash):
    assert bash("fit", "loan.csv", "--column", "income", "=", "ga") == ["plain,gaussian"]
    assert bash("fit", "loan.csv", "--column", "inco") == [
        f"plain,income={family}" for family in FAMILIES
    ]
    assert bash("fit", "loan.csv", "--column", "inc") == ["plain,income", "plain,inclination"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_keep_the_whole_word(tallybayes, shell):
    env = {
        "_TALLYBAYES_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": "tallybayes fit --column income=ga",
        "COMP_CWORD": "3" if shell == "zsh" else "income=ga",
    }
    done = tallybayes(env=env)
    assert done.returncode == 0
    assert "income=gaussian" in done.stdout


def test_all_families_are_offered_and_no_other():
    assert set(FAMILIES) == {*KNOWN, "best"}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_names_the_command_and_the_variable(tallybayes, shell):
    done = tallybayes("completion", shell)
    assert done.returncode == 0
    assert "_TALLYBAYES_COMPLETE" in done.stdout
    assert "tallybayes" in done.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_takes_the_script(tallybayes, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    script = tallybayes("completion", shell).stdout
    subprocess.run([shell, "-n"], input=script, text=True, check=True, timeout=300)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_with_the_script(tallybayes, tmp_path):
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "tallybayes"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tallybayes "$@"\n')
    command.chmod(0o755)
    asking = """
COMP_WORDS=(tallybayes fit --column income = ga)
COMP_CWORD=5
_tallybayes_completion tallybayes
echo "${COMPREPLY[@]}"
"""
    script = tallybayes("completion", "bash").stdout + asking
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash"],
        input=script,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
        timeout=300,
    )
    assert done.stdout.strip() == "gaussian"


@pytest.mark.parametrize("asked", ["csh_complete", "bash_sing", "x"])
def test_what_no_shell_asks_is_refused(tallybayes, asked):
    assert tallybayes("--help", env={"_TALLYBAYES_COMPLETE": asked}).returncode == 1


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.csv", '\ufeffx,"y, z"\n1,2\n', ["x", "y, z"]),
        ("a.csv", "x;y,z;w\n", ["x", "y,z", "w"]),
        ("a.tsv", "x y\tz\n", ["x y", "z"]),
        ("a.jsonl", '{"x": 1, "y": 2}\n{"z": 3}\n', ["x", "y"]),
        ("a.jsonl", "[1]\n", []),
        ("a.jsonl", "{nonsense\n", []),
        ("a.parquet", "PAR1\n", []),
        ("a.csv", "", []),
    ],
    ids=["quotes", "semicolons", "tabs", "json", "no object", "no json", "binary", "empty"],
)
def test_column_names_are_read_from_the_first_line(tmp_path, name, text, expected):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert column_names([tmp_path / "none.csv", tmp_path / name]) == expected


def test_a_folder_and_standard_input_have_no_names_to_offer(tmp_path):
    assert column_names([tmp_path, "-"]) == []
