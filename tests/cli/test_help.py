"""Help: of all commands without loading any, of each with its options and examples."""

import shlex
import subprocess
import sys

import click
import pytest

import tallybayes as tb
from tallybayes.cli.catalogue import SECTIONS
from tallybayes.cli.command import Command
from tallybayes.cli.main import main
from tallybayes.cli.main import tallybayes as group

NAMES = [name for entries in SECTIONS.values() for name in entries]
WANTED = (
    *("fit", "predict", "evaluate", "compare", "tune", "explain", "inspect"),
    *("sample", "report", "update", "forget", "merge", "warmup", "demo", "completion"),
)


def command_called(name):
    return group.get_command(click.Context(group, info_name="tallybayes"), name)


def loaded_after(*commands):
    """The modules that a process has loaded once it has run some commands."""
    code = f"""
import sys
from tallybayes.cli.main import main
code = max(main(args) for args in {list(commands)!r})
print(code, *sorted(sys.modules), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    code, *modules = done.stderr.splitlines()[-1].split()
    assert code == "0"
    return set(modules)


def test_help_loads_no_command_and_nothing_heavy():
    loaded = loaded_after(["--help"])
    assert "click" in loaded
    assert not loaded & {"numpy", "rich", "pyarrow", "numba", "sklearn", "scipy", "pandas", "csv"}
    assert not [name for name in loaded if name.startswith("tallybayes.cli.commands")]


def test_help_of_the_commands_loads_neither_numpy_nor_rich():
    loaded = loaded_after(*([name, "--help"] for name in NAMES))
    assert not loaded & {"numpy", "rich", "pyarrow", "numba", "sklearn"}


def test_all_commands_are_there_each_once():
    assert sorted(NAMES) == sorted(WANTED)


def test_help_names_every_command_with_what_it_does(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out.splitlines()
    for entries in SECTIONS.values():
        for name, entry in entries.items():
            assert any(line.split()[:1] == [name] and entry.about in line for line in shown), name


def test_commands_stand_in_sections_in_the_order_of_work(capsys):
    main(["--help"])
    shown = capsys.readouterr().out
    places = [shown.index(f"\n{section}:") for section in ("Learn", "Use", "Judge", "Change")]
    assert places == sorted(places)


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command_ends_with_examples(capsys, name, flag):
    assert main([name, flag]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: tallybayes {name} ")
    assert "tallybayes " in shown.split("\nExamples:\n")[1]


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_understood(name):
    command = command_called(name)
    assert isinstance(command, Command)
    for _, line in command.examples:
        for piece in line.replace('eval "$(', "").replace(')"', "").split(" | "):
            words = shlex.split(piece.split(" > ")[0])
            if words[0] == "tallybayes":
                other = command_called(words[1])
                context = other.make_context(words[1], words[2:], resilient_parsing=False)
                assert context.args == []


@pytest.mark.parametrize("name", NAMES)
def test_everything_is_explained(name):
    command = command_called(name)
    assert command.help
    for parameter in command.params:
        about = getattr(parameter, "about", None) or getattr(parameter, "help", None)
        assert about, parameter.name
        assert about.split("  [default")[0].endswith("."), parameter.name


@pytest.mark.parametrize("name", NAMES)
def test_every_command_can_speak_json_and_be_quiet(name):
    options = {flag for each in command_called(name).params for flag in each.opts}
    assert {"--json", "-q", "--quiet", "--debug", "--no-progress"} <= options


@pytest.mark.parametrize("name", NAMES)
def test_no_option_is_there_twice(name):
    flags = [flag for each in command_called(name).params for flag in each.opts]
    assert len(flags) == len(set(flags))


@pytest.mark.parametrize("name", NAMES)
def test_help_fits_the_width_of_a_page(capsys, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    main([name, "--help"])
    shown = capsys.readouterr().out.split("\nExamples:\n")[0]
    assert max(map(len, shown.splitlines())) <= 80


def test_the_version_is_printed(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"tallybayes {tb.__version__}\n"


def test_no_command_at_all_shows_the_help_as_an_error_of_usage(tallybayes):
    done = tallybayes()
    assert (done.returncode, done.stdout) == (2, "")
    assert "Learn a model from data" in done.stderr
