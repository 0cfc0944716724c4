"""Test what changed, and the layers above it: `make quick`.

What changed is what git has not committed yet; in a clean tree, the last commit; with an argument,
everything since that commit. The layers are those of the contract in pyproject.toml. First comes
what changed, then the layers above from the bottom up; when time is up the rest is skipped.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

SECONDS = 100  # with lint and types before it, two minutes
# What folders are about that are not named after a layer; others are about all of them.
SUBJECTS = {"browser": "report", "laws": "tallies", "parity": "estimators"}
SOURCE, TESTS = Path("src/tallybayes"), Path("tests")


def git(*words: str) -> list[str]:
    """Return the lines that git prints."""
    return subprocess.run(["git", *words], stdout=-1, text=True, check=True).stdout.splitlines()


def changed_files(since: str) -> list[Path]:
    """Return the files that changed."""
    files = git("diff", "--name-only", since)
    files += git("ls-files", "--others", "--exclude-standard")
    return [Path(file) for file in files or git("show", "--name-only", "--format=")]


def layers() -> list[set[str]]:
    """Return the packages of each layer, from the bottom up."""
    settings = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["importlinter"]
    contract = next(each for each in settings["contracts"] if each["type"] == "layers")
    return [{name.strip(" ()") for name in layer.split("|")} for layer in contract["layers"][::-1]]


def tests_of_files(files: list[Path]) -> list[Path]:
    """Return the tests among the files, the folder of what tests share, and those of pages."""
    paths = []
    for file in files:
        if file.suffix == ".md":
            paths.append(TESTS / "docs")
        elif file.is_relative_to(TESTS):
            folder = Path(*file.parts[: min(2, len(file.parts) - 1)])
            paths.append(file if file.name.startswith("test_") else folder)
    return paths


def tests_of_packages(changed: list[str]) -> list[Path]:
    """Return the tests and examples of packages, and of all layers above the lowest of them."""
    order = layers()
    lowest = min((k for k, layer in enumerate(order) if layer & set(changed)), default=len(order))
    above = [name for layer in order[lowest + 1 :] for name in sorted(layer)]
    entries = (*TESTS.glob("[a-z]*/"), *TESTS.glob("test_*.py"))
    about_all = {path.stem.removeprefix("test_") for path in entries}
    about_all -= {"docs"}.union(SUBJECTS, *order)
    paths = []
    for name in (*changed, *sorted(about_all), *above):
        for subject in (name, *(folder for folder, about in SUBJECTS.items() if about == name)):
            paths += [TESTS / subject, TESTS / f"test_{subject}.py"]
        paths += [SOURCE / name, SOURCE / f"{name}.py"]
    return paths


def tests_of(files: list[Path]) -> list[str]:
    """Return what to run, in order."""
    changed = [Path(file.parts[2]).stem for file in files if file.is_relative_to(SOURCE)]
    paths = tests_of_files(files) + (tests_of_packages(changed) if changed else [])
    return list(dict.fromkeys(str(path) for path in paths if path.exists()))


def pytest_runtest_setup() -> None:
    """Skip what there is no time for; pytest calls this before each test."""
    if time.time() > float(os.environ["QUICK_UNTIL"]):
        pytest.skip("the time of make quick is up; make test runs everything")


def main() -> int:
    """Run the tests; return the exit code of pytest."""
    paths = tests_of(changed_files(sys.argv[1] if sys.argv[1:] else "HEAD"))
    if not paths:
        print("nothing changed that has tests")
        return 0
    print("testing", *paths, flush=True)
    in_order = ["-p", "no:randomly", "-n", "auto", "--dist", "load", "--maxschedchunk", "20"]
    command = [sys.executable, "-m", "pytest", "-p", "tools.quick", "-rs", *in_order, *paths]
    environment = os.environ | {"QUICK_UNTIL": str(time.time() + SECONDS)}
    code = subprocess.run(command, env=environment, check=False).returncode
    return 0 if code == pytest.ExitCode.NO_TESTS_COLLECTED else code


if __name__ == "__main__":
    sys.exit(main())
