"""Completion: what a shell is told when it asks through the environment how a word goes on."""

import shutil
import subprocess

import pytest

from tallybayes.cli.main import main


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
