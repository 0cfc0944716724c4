"""What the documents say is true: their code runs, and every public name and option is in them."""

import html
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tallybayes as tb
from tallybayes import plots

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text()
ESTIMATORS = (ROOT / "docs" / "estimators.md").read_text()
TEXT = (ROOT / "docs" / "text.md").read_text()
EXPLANATIONS = (ROOT / "docs" / "explanations.md").read_text()
ARITHMETIC = (ROOT / "docs" / "arithmetic.md").read_text()
EVERYTHING = "".join(page.read_text() for page in (ROOT / "docs").glob("*.md"))


def python_blocks(text):
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/tutorial.md",
        "docs/guide.md",
        "docs/estimators.md",
        "docs/text.md",
        "docs/validation.md",
        "docs/files.md",
        "docs/explanations.md",
    ],
)
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
    index = (ROOT / "docs" / "README.md").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index, page.name


@pytest.mark.parametrize("name", tb.__all__)
def test_every_public_name_is_documented(name):
    assert re.search(rf"\b{name}\b", README + EVERYTHING)


@pytest.mark.parametrize(
    "name",
    [
        *plots.__all__,
        *("explain", "explain_all", "counterfactuals", "diagnose", "report", "most_informative"),
    ],
)
def test_every_picture_and_every_way_to_explain_is_on_its_page(name):
    assert re.search(rf"\b{name}\b", EXPLANATIONS)


@pytest.mark.parametrize("name", [name for name in tb.__all__ if name.endswith("NB")])
def test_every_drop_in_is_on_its_page(name):
    assert f"`{name}`" in ESTIMATORS


@pytest.mark.parametrize("option", inspect.signature(tb.NaiveBayes).parameters)
def test_every_option_of_naive_bayes_is_on_the_page(option):
    assert re.search(rf"^\| `{option}` \|", ESTIMATORS, flags=re.MULTILINE)


@pytest.mark.parametrize("options", [tb.Words, tb.Text], ids=lambda each: each.__name__)
def test_every_option_of_text_is_on_its_page(options):
    for option in options.__struct_fields__:
        if option != "words":
            assert re.search(rf"^\|.*`{option}`.*\|", TEXT, flags=re.MULTILINE), option


FAMILIES = [
    *(tb.Gaussian, tb.Categorical, tb.Bernoulli, tb.Multinomial, tb.Complement, tb.Poisson),
    *(tb.Text, tb.Words, tb.LogNormal, tb.Numeric, tb.Bins, tb.Intervals),
]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_every_option_of_a_family_says_when_it_binds(family):
    table = ARITHMETIC.split("## When an option binds")[1].split("## Rules")[0]
    for option in family.__struct_fields__:
        assert re.search(rf"^\|.*\b{option}\b.*\|", table, flags=re.MULTILINE), option


def test_the_lecture_examples_print_the_lectures_numbers():
    run = [sys.executable, str(ROOT / "examples" / "lectures.py")]
    printed = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    for number in ("1/57344", "0.0000296", "0.0000169", "0.6363", "0.0192754", "0.0157799"):
        assert number in printed
    assert "0.7 x 0.571 x 0.571 x 0.00719" in printed


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
