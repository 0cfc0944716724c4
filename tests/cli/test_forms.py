"""Every command prints its result in every form, and never what a terminal takes for a command."""

import json
import shlex
from xml.etree import ElementTree

import pytest

from tallybayes.cli.console import FORMS
from tallybayes.cli.main import SECTIONS
from tallybayes.workflows import warmup

EVIL = "\x1b]0;PWN\x07", "\x1b[41m", "\x9b7m", "\u202e"
COMMANDS = {
    "fit": "fit {data} -t {target} -o new.tally --force",
    "fit, dry": "fit {data} -t {target} --dry-run",
    "tune": "tune {data} -t {target} --try alpha=1,2 --nested 0 --folds 2",
    "predict": "predict {model} {data} --proba --keep-all",
    "predict, file": "predict {model} {data} -o out.csv --force",
    "explain": "explain {model} {data} --row 1",
    "explain, working": "explain {model} {data} --row 1 --show working",
    "explain, changes": "explain {model} {data} --row 1 --show counterfactuals",
    "inspect": "inspect {model}",
    "sample": "sample {model} -n 3 --seed 1",
    "sample, file": "sample {model} -n 3 --seed 1 -o out.csv --force",
    "evaluate": "evaluate {model} {data}",
    "evaluate, folds": "evaluate {data} -t {target} --folds 2",
    "compare": "compare {model} other.tally {data}",
    "report": "report {model} -o page.html --force",
    "update": "update {model} {data}",
    "forget": "forget twice.tally {data}",
    "merge": "merge {model} {model} -o new.tally --force",
    "demo": "demo customers",
    "warmup": "warmup",
    "completion": "completion bash",
}


@pytest.fixture
def typed(done, data, monkeypatch, words_only):
    """A command with real names in it, and models that it may use."""
    monkeypatch.setattr(warmup, "STEPS", {"nothing": lambda: None})

    def names(name, data, target):
        for model in ("m.tally", "other.tally"):
            done("fit", data, "-t", target, "-qfo", model, "--no-scores")
        line = COMMANDS[name].format(data=data, target=shlex.quote(target), model="m.tally")
        for form in FORMS:
            done("merge", "m.tally", "m.tally", "-qfo", "twice.tally")
            yield form, shlex.split(line)

    return names


def test_no_command_is_forgotten():
    others = {"spam", "serve"}  # see test_spam; a service ends without a result
    every = {name for entries in SECTIONS.values() for name in entries} - others
    assert {name.split(",")[0] for name in COMMANDS} == every


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_every_form(typed, cli, name):
    for form, args in typed(name, "loan.csv", "cheat"):
        code, out, err = cli(*args, "--as", form, "--no-progress")
        assert (code, out != "") == (0, True), (form, err)
        if form == "json":
            assert isinstance(json.loads(out)["warnings"], list)
            assert err == ""
        elif form == "html":
            assert ElementTree.fromstring(out).tag == "section"
        elif form == "latex":
            assert out.count(r"\begin{") == out.count(r"\end{")


@pytest.mark.parametrize("name", COMMANDS)
def test_names_reach_a_terminal_without_their_escape_sequences(typed, cli, data, name):
    column, *others = EVIL
    lines = [f"{k},{'vw'[k % 2]}{others[k % 2]},class{k % 2}{others[k % 3]}" for k in range(24)]
    (data / "evil.csv").write_text("\n".join([f"num,cat{column},y{others[2]}", *lines]) + "\n")
    for form, args in typed(name, "evil.csv", f"y{others[2]}"):
        code, out, err = cli(*args, "--as", form, "--no-progress")
        assert code == 0, err
        said = (out + err).replace("\n", "").replace("\t", "")
        assert said.isprintable(), (form, [c for c in said if not c.isprintable()])


def test_rows_on_a_terminal_lose_them_too(cli, loan, data, monkeypatch, capsys):
    (data / "evil.csv").write_text("owner,status,income,id\nNo,Single,3,\x1b[41m7\n")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    rows = cli("predict", loan, "evil.csv", "--keep", "id", "-q")[1].splitlines()
    assert rows[1].startswith("\ufffd[41m7,")


def test_forms_have_short_ways_to_say_them_also_before_the_command(done, loan):
    assert done("inspect", loan, "--json") == done("--as", "json", "inspect", loan)
    assert done("inspect", loan) == done("inspect", loan, "--as", "text")
    shown = done("predict", loan, "applicants.csv", "--as", "markdown").splitlines()
    assert (shown[0], len(shown)) == ("| prediction | probability |", 5)
    working = ["explain", loan, "--set", "status=Married", "--show", "working", "--as"]
    for form, said in (
        ("text", "P(status = Married | Yes) = (0 + 1)/(3 + 3) = 1/6 = 0.1667"),
        ("latex", r"\frac{0 + 1}{3 + 3}"),
        ("markdown", "$"),
        ("html", '<span class="formula">'),
    ):
        assert said in done(*working, form)
