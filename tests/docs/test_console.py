"""The commands on the pages run, and print what the pages show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def steps(page: str) -> list[tuple[str, str]]:
    """Return the commands of a page, each with the output that is shown."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = step.partition("\n")
            found.append((command, shown))
    return found


PAGES = ["README.md", *(f"docs/{name}.md" for name in ("command_line", "explanations", "files"))]


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_on_a_page_print_what_it_shows(page: str, tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "100"}
    assert steps(page)
    for command, shown in steps(page):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        # three dots on a page stand for whatever is there: times, and long output
        expected = ".*".join(re.escape(part) for part in shown.split("..."))
        assert re.fullmatch(expected, done.stdout, flags=re.DOTALL), (command, done)
