"""Help: of all commands without loading any, of each with its options; the page; completion."""

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from runpy import run_path

import click
import pytest

import tallybayes as tb
from tallybayes.cli import options
from tallybayes.cli.commands.mail import COMMANDS
from tallybayes.cli.main import SECTIONS, Command, main, tallybayes as group
from tallybayes.families import FAMILIES
from tallybayes.model.specification import ModelSpec, parse_family
from tallybayes.sources import ReadOptions

reference = run_path(str(Path(__file__).parents[2] / "tools" / "commands.py"))["reference"]
PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
TOP = [name for entries in SECTIONS.values() for name in entries]
GROUPS = {"spam": COMMANDS}  # commands that have commands of their own
NAMES = [
    full for name in TOP for full in [f"{name} {each}" for each in GROUPS.get(name, ())] or [name]
]


def command_called(name):
    found = group
    for word in name.split():
        found = found.get_command(click.Context(found, info_name="tallybayes"), word)
    return found


def test_help_loads_no_command_and_nothing_heavy():
    """One process: what is loaded after the general help, and after that of all commands."""
    code = f"""
import sys
from tallybayes.cli.main import main
codes = [main(["--help"])]
print(*sorted(sys.modules), file=sys.stderr)
codes += [main([*name.split(), "--help"]) for name in {NAMES!r}]
print(*sorted(sys.modules), file=sys.stderr)
sys.exit(max(codes))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0
    first, then = map(set, map(str.split, done.stderr.splitlines()[-2:]))
    assert "click" in first
    assert not first & {"numpy", "rich", "pyarrow", "numba", "sklearn", "scipy", "pandas", "csv"}
    assert not [name for name in first if name.startswith("tallybayes.cli.commands")]
    assert not then & {"rich", "pyarrow", "numba", "sklearn", "scipy", "pandas"}


def test_help_names_every_command_with_what_it_does_in_the_order_of_work(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    places = [shown.index(f"\n{section}:") for section in SECTIONS]
    assert places == sorted(places)
    for name, about in (each for entries in SECTIONS.values() for each in entries.items()):
        assert re.search(rf"^  {name} +{re.escape(about)}$", shown, flags=re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command_fits_a_page_and_ends_with_examples(capsys, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*name.split(), "-h"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: tallybayes {name} ")
    about, examples = shown.split("\nExamples:\n")
    assert "tallybayes " in examples
    assert max(map(len, about.splitlines())) <= 80


@pytest.mark.parametrize("name", NAMES)
def test_everything_is_explained_once_and_examples_are_understood(name):
    command = command_called(name)
    assert isinstance(command, Command)
    assert command.help
    for parameter in command.params:
        about = getattr(parameter, "about", None) or getattr(parameter, "help", None)
        assert about.split("  [default")[0].endswith("."), parameter.name
    flags = [flag for each in command.params for flag in each.opts]
    assert len(flags) == len(set(flags))
    assert {"--as", "--json", "-q", "--quiet", "--debug", "--no-progress"} <= set(flags)
    lines = "\n".join(command.examples).replace("\\\n", "").splitlines()
    for line in (line for line in lines if not line.startswith("#")):
        for piece in line.replace('eval "$(', "").replace(')"', "").split(" | "):
            words = shlex.split(piece.split(" > ")[0])
            if words[0] == "tallybayes":
                called, rest = words[1], words[2:]
                if called in GROUPS:
                    called, rest = f"{called} {words[2]}", words[3:]
                context = command_called(called).make_context(called, rest)
                assert context.args == []


@pytest.mark.parametrize(
    ("group", "struct", "otherwise"),
    [
        (options.READING, ReadOptions, {"no_header": "header", "na": "missing"}),
        (options.SPECIFICATION, ModelSpec, {}),
    ],
    ids=["reading", "specification"],
)
def test_options_are_the_fields_of_what_the_workflows_take(group, struct, otherwise):
    known = {each.name: each.default for each in fields(struct)}
    made = group.options
    assert {otherwise.get(each.name, each.name) for each in made} == set(known)
    for each in made:
        said = re.search(r"\[default: (.*)\]", each.help)
        default = known[otherwise.get(each.name, each.name)]
        if said and each.name != "encoding":  # for which UTF-16 is found out too
            assert said[1] == (f"{default:g}" if isinstance(default, float) else default)
        elif each.name not in ("na", "no_header", "encoding"):
            assert default in (None, (), False, "auto")


def test_the_version_is_printed(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"tallybayes {tb.__version__}\n"


def test_no_command_at_all_shows_the_help_as_an_error_of_usage(capsys):
    assert main([]) == 2
    out, err = capsys.readouterr()
    assert (out, "Learn a model from data" in err) == ("", True)


def test_the_page_is_up_to_date_whatever_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    shown = PAGE.read_text(encoding="utf-8")
    assert shown == reference(), "run: python tools/commands.py > docs/commands.md"
    assert all(f"\n### tallybayes {name}\n" in shown for name in NAMES)


def test_options_of_families_can_be_typed_as_they_are_shown():
    table = reference().split("## Families")[1].split("## Learn")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", table, flags=re.MULTILINE))
    assert list(rows) == sorted(FAMILIES)
    for name, shown in rows.items():
        typed = [each for each in re.findall(r"`([^`]*)`", shown) if "=" in each]
        stated, bare = (parse_family(each) for each in (f"{name}:{','.join(typed)}", name))
        for option in bare.__struct_fields__:
            meant = {"alpha": 1.0, "unseen": "ignore"}.get(option, getattr(bare, option))
            assert getattr(stated, option) == meant


@pytest.fixture
def ask(monkeypatch, capsys):
    """Ask like bash; the last word is the one to complete."""

    def ask(*words):
        monkeypatch.setenv("_TALLYBAYES_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", " ".join(("tallybayes", *words)))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        assert main([]) == 0
        return capsys.readouterr().out.split()

    return ask


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["for"], ["plain,forget"]),
        (["fit", "--calib"], ["plain,--calibration"]),
        (["fit", "--calibration", "we"], ["plain,weights"]),
        (["fit", "lo"], ["file,lo"]),
        (["predict", "lo"], ["file,lo"]),
        (["fit", "-o", "mo"], ["file,mo"]),
    ],
    ids=" ".join,
)
def test_commands_options_and_choices_are_completed_and_files_left_to_the_shell(
    ask, words, offered
):
    assert ask(*words) == offered


@pytest.mark.parametrize("option", ["--target", "--drop", "--column", "--weight"])
def test_nothing_that_stands_in_a_file_reaches_the_command_line(ask, data, option):
    (data / "evil.csv").write_text("income$(touch${IFS}PWNED),b,y\n1,x,p\n2,z,q\n")
    assert ask("fit", "evil.csv", option, "inc") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_takes_the_script(done, shell):
    script = done("completion", shell)
    assert "_TALLYBAYES_COMPLETE" in script
    if shutil.which(shell) is not None:
        subprocess.run([shell, "-n"], input=script, text=True, check=True, timeout=300)
