"""What the documents say is true: their code and commands run, every public name is there."""

from __future__ import annotations

import html
import importlib.util
import inspect
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tallybayes as tb
from tallybayes import plots
from tallybayes.cli.main import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
DOCS = {page.stem: page.read_text() for page in (ROOT / "docs").glob("*.md")}
TUTORIAL, ESTIMATORS, TEXT = DOCS["tutorial"], DOCS["estimators"], DOCS["text"]


def python_blocks(text):
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


RUN = ("tutorial", "guide", "estimators", "text", "validation", "files", "explanations", "service")


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{name}.md" for name in RUN)])
def test_the_code_on_a_page_runs_from_top_to_bottom(page):
    space = {}
    for block in python_blocks((ROOT / page).read_text()):
        exec(block, space)


def test_the_answers_of_the_readme_and_the_tutorial_are_what_comes_out():
    space = {}
    exec(python_blocks(README)[0], space)
    call = re.search(r"^model\.predict_proba\(.*\)$", README, flags=re.MULTILINE).group()
    shown = re.search(r"^# array\((.*)\)$", README, flags=re.MULTILINE).group(1)
    np.testing.assert_allclose(eval(call, space), eval(shown), rtol=1e-6)
    for block in python_blocks(TUTORIAL):
        exec(block, space)
    call = re.search(r"^model\.posterior_of\(.*\)$", TUTORIAL, flags=re.MULTILINE).group()
    shown = re.search(r"^# (\{.*\})$", TUTORIAL, flags=re.MULTILINE).group(1)
    assert eval(call, space) == pytest.approx(eval(shown))
    schema = [line[2:] for line in python_blocks(TUTORIAL)[0].splitlines() if line[:2] == "# "]
    assert str(space["tally"].schema).splitlines() == schema


def test_the_readme_is_short_and_its_picture_is_of_its_own_example():
    assert len(README.splitlines()) <= 150
    spec = importlib.util.spec_from_file_location("picture", ROOT / "tools" / "picture.py")
    picture = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(picture)
    drawn = (ROOT / "docs" / "explained.svg").read_text()
    assert html.escape(picture.display().alt_text, quote=False) in drawn


def test_every_page_can_be_found_from_the_index():
    assert [name for name in DOCS if f"({name}.md)" not in DOCS["README"]] == ["README"]


EXPLAINED = ("explain", "explain_all", "counterfactuals", "diagnose", "report", "most_informative")
FAMILIES = [
    *(tb.Gaussian, tb.Categorical, tb.Bernoulli, tb.Multinomial, tb.Complement, tb.Poisson),
    *(tb.Text, tb.Words, tb.LogNormal, tb.Numeric, tb.Bins, tb.Intervals),
]
BINDS = DOCS["arithmetic"].split("## When an option binds")[1].split("## Rules")[0]
NAMED = {  # where, how, and what
    "names": (README + "".join(DOCS.values()), r"\b{}\b", tb.__all__),
    "pictures": (DOCS["explanations"], r"\b{}\b", [*plots.__all__, *EXPLAINED]),
    "drop-ins": (ESTIMATORS, "`{}`", [name for name in tb.__all__ if name.endswith("NB")]),
    "options": (ESTIMATORS, r"^\| `{}` \|", inspect.signature(tb.NaiveBayes).parameters),
    "text": (
        TEXT,
        r"^\|.*`{}`.*\|",
        {*tb.Words.__struct_fields__, *tb.Text.__struct_fields__} - {"words"},
    ),
    "binding": (BINDS, r"^\|.*\b{}\b.*\|", {o for f in FAMILIES for o in f.__struct_fields__}),
}


@pytest.mark.parametrize("what", NAMED)
def test_every_public_name_and_option_is_on_its_page(what):
    page, pattern, names = NAMED[what]
    assert [n for n in names if not re.search(pattern.format(n), page, re.MULTILINE)] == []


def test_the_lecture_examples_print_the_lectures_numbers():
    run = [sys.executable, str(ROOT / "examples" / "lectures.py")]
    printed = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    for number in ("1/57344", "0.0000296", "0.0000169", "0.6363", "0.0192754", "0.0157799"):
        assert number in printed
    assert "0.7 x 0.571 x 0.571 x 0.00719" in printed


def test_the_main_job_is_shown_from_training_to_the_report(tmp_path):
    run = [sys.executable, str(ROOT / "examples" / "loan.py")]
    place = {**os.environ, "TMPDIR": str(tmp_path)}
    printed = subprocess.run(run, capture_output=True, text=True, check=True, env=place).stdout
    assert "10 rows, to predict" in printed
    assert "accuracy\n0.8\n" in printed
    assert "The answer is No" in printed
    (page,) = tmp_path.rglob("loan.html")
    assert str(page) in printed
    assert "<title>Naive Bayes for" in page.read_text(encoding="utf-8")


def test_the_summary_on_the_estimators_page_is_what_is_printed():
    block = python_blocks(ESTIMATORS)[0]
    shown = [line[2:] for line in block.splitlines() if line.startswith("# ")]
    space = {}
    exec(block, space)
    assert space["model"].summary().splitlines() == shown


def test_the_telling_words_on_the_page_are_what_is_printed(capsys):
    space = {}
    blocks = python_blocks(TEXT)
    exec(blocks[0], space)
    capsys.readouterr()
    exec(blocks[1], space)
    shown = [line[2:] for line in blocks[1].splitlines() if line.startswith("# ")]
    assert capsys.readouterr().out.splitlines() == shown
    posterior = space["model"].predict_proba(["You! Lottery! Lottery! Lottery!!"])
    assert posterior.tolist() == [[pytest.approx(0.36, abs=0.005), pytest.approx(0.64, abs=0.005)]]


def steps(page: str) -> list[tuple[str, str]]:
    """Return the commands of a page, each with the output that is shown."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = step.partition("\n")
            found.append((command, shown))
    return found


NAMES = "command_line", "explanations", "files", "spam"
PAGES = ["README.md", *(f"docs/{name}.md" for name in NAMES)]


FOR_A_SHELL = set("|<>&;()$")


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_on_a_page_print_what_it_shows(page, tmp_path, monkeypatch, capsys):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    monkeypatch.setenv("PATH", path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)

    def printed(command: str) -> str:
        if command.startswith("tallybayes ") and not FOR_A_SHELL & set(command):
            main(shlex.split(command)[1:])  # a process of its own takes most of the time
            return capsys.readouterr().out
        run = ["bash", "-c", command]
        return subprocess.run(run, capture_output=True, text=True, timeout=300).stdout

    assert steps(page)
    for command, shown in steps(page):
        # three dots on a page stand for whatever is there: times, and long output
        expected = ".*".join(re.escape(part) for part in shown.split("..."))
        out = printed(command)
        assert re.fullmatch(expected, out, flags=re.DOTALL), (command, out)
