"""Test what changed, and the layers above it: `make quick`.

What changed is what git has not committed yet; in a clean tree, the last commit; with an argument,
everything since that commit. The layers are those of the contract in pyproject.toml. Tests that are
named after no layer, such as the lectures', are about all of them.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

SUBJECTS = {"browser": "report", "docs": "cli", "laws": "tallies", "parity": "estimators"}


def git(*words: str) -> list[str]:
    """Return the lines that git prints."""
    return subprocess.run(["git", *words], stdout=-1, text=True, check=True).stdout.splitlines()


def changed_files(since: str) -> list[Path]:
    """Return the files that changed."""
    files = git("diff", "--name-only", since)
    files += git("ls-files", "--others", "--exclude-standard")
    return [Path(file) for file in files or git("show", "--name-only", "--format=")]


def layers() -> list[set[str]]:
    """Return the packages of each layer, from the top down."""
    settings = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["importlinter"]
    contract = next(each for each in settings["contracts"] if each["type"] == "layers")
    return [{name.strip(" ()") for name in layer.split("|")} for layer in contract["layers"]]


def with_layers_above(packages: set[str], order: list[set[str]]) -> set[str]:
    """Return the packages, and those of the layers above the lowest of them."""
    lowest = max((depth for depth, layer in enumerate(order) if layer & packages), default=0)
    return packages.union(*order[:lowest])


def tests_of(files: list[Path]) -> list[Path]:
    """Return the files and folders of tests to run."""
    order, source, tests = layers(), Path("src/tallybayes"), Path("tests")
    changed = {Path(file.parts[2]).stem for file in files if file.is_relative_to(source)}
    packages = with_layers_above(changed, order)
    paths = {each for name in packages for each in (source / name, source / f"{name}.py")}
    for entry in (*tests.glob("[a-z]*/"), *tests.glob("test_*.py")):
        name = entry.stem.removeprefix("test_")
        subject = SUBJECTS.get(name, name)
        if subject in packages or (changed and not any(subject in layer for layer in order)):
            paths.add(entry)
    for file in files:
        if file.suffix == ".md":
            paths.add(tests / "docs")
        elif file.is_relative_to(tests):  # what tests share concerns their whole folder
            shared = not file.name.startswith("test_")
            paths.add(Path(*file.parts[: min(2, len(file.parts) - 1)]) if shared else file)
    return sorted(path for path in paths if path.exists())


def main() -> int:
    """Run the tests; return the exit code of pytest."""
    paths = tests_of(changed_files(sys.argv[1] if sys.argv[1:] else "HEAD"))
    if not paths:
        print("nothing changed that has tests")
        return 0
    print("testing", *paths, flush=True)
    command = ["-m", "pytest", "-n", "auto", "--dist", "worksteal", *map(str, paths)]
    code = subprocess.run([sys.executable, *command], check=False).returncode
    return 0 if code == 5 else code  # 5: the files hold no tests


if __name__ == "__main__":
    sys.exit(main())
