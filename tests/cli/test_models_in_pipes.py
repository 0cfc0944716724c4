"""A model can come from standard input, as fit writes it to standard output."""

import io
import json
import subprocess
import sys

import pytest

COMMAND = [sys.executable, "-m", "tallybayes"]


@pytest.fixture
def piped(cli, loan, data, monkeypatch):
    """Run a command with a model file as standard input."""

    def run(*args, model=loan):
        pipe = io.BufferedReader(io.BytesIO((data / model).read_bytes()))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(pipe))
        return cli(*args)

    return run


COMMANDS = [
    ["predict", "{}", "applicants.csv", "-q"],
    ["explain", "{}", "--set", "income=120"],
    ["explain", "{}", "applicants.csv", "--row", "2"],
    ["sample", "{}", "-n", "3", "--seed", "1"],
    ["evaluate", "{}", "loan.csv"],
    ["merge", "{}", "other.tally", "-o", "both.tally", "--force"],
]


@pytest.mark.parametrize("args", COMMANDS, ids=lambda args: " ".join(args[:3]))
def test_a_command_says_the_same_of_a_model_in_a_pipe(piped, done, loan, args):
    done("fit", "loan.csv", "-t", "cheat", "-qo", "other.tally", "--no-scores")
    code, out, err = piped(*[each.format("-") for each in args])
    assert code == 0, err
    assert out == done(*[each.format(loan) for each in args])


def test_inspect_shows_a_model_that_fit_has_just_written(data):
    made = subprocess.run(
        [*COMMAND, "fit", "-", "-t", "cheat", "-o", "-", "-q"],
        input=(data / "loan.csv").read_bytes(),
        capture_output=True,
        check=True,
        timeout=300,
    )
    shown = subprocess.run(
        [*COMMAND, "inspect", "-", "--json"],
        input=made.stdout,
        capture_output=True,
        check=True,
        timeout=300,
    )
    facts = json.loads(shown.stdout)
    assert facts["path"] is None
    assert facts["rows"] == 10


def test_compare_takes_one_model_from_a_pipe(piped, done, loan):
    done("fit", "loan.csv", "-t", "cheat", "-qo", "other.tally", "--no-scores", "--alpha", "0.1")
    code, out, err = piped("compare", "-", "other.tally", "loan.csv")
    assert code == 0, err
    assert out.startswith("standard input and other are right")


def test_data_in_a_pipe_are_still_data_to_evaluate(tallybayes, data):
    rows = (data / "loan.csv").read_text()
    found = tallybayes("evaluate", "-", "-t", "cheat", "--loo", "--json", stdin=rows)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["scores"]["accuracy"] == 0.8


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["predict", "-", "-"], "Standard input can be read only once"),
        (["explain", "-", "-", "--row", "1"], "Standard input can be read only once"),
        (["evaluate", "-", "-"], "Standard input can be read only once"),
        (["merge", "-", "-", "-o", "both.tally"], "Standard input can be read only once"),
        (["update", "-", "loan.csv"], "cannot be changed; name its file"),
        (["forget", "-", "loan.csv"], "cannot be changed; name its file"),
        (["merge", "loan.tally", "--into", "-"], "cannot be changed; name its file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_cannot_be_done_with_a_pipe_is_an_error_of_usage(piped, args, message):
    code, out, err = piped(*args)
    assert (code, out) == (2, "")
    assert message in err


def test_what_is_no_model_is_called_standard_input(piped):
    code, _, err = piped("inspect", "-", model="loan.csv")
    assert code == 1
    assert "standard input is not a model file" in err
