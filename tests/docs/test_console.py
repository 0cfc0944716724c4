"""The commands on the pages run, and print what the pages show."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tallybayes.cli.main import main

ROOT = Path(__file__).parents[2]


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
