"""The recipes of docs/spam.md for procmail and maildrop, tried with these programs."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spam.mail_serving import trained
from spam.mails import mail

PAGE = Path(__file__).parents[2] / "docs" / "spam.md"
SENT = {"Yes": mail(True, 900, words=150), "No": mail(False, 901, words=150)}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("mail"))


def recipe(program):
    """Return the recipe of the page for a program."""
    (found,) = re.findall(rf"{program}:\n\n```\n(.*?)```", PAGE.read_text(), re.S)
    assert "/home/ann/mail.tally" in found
    assert "tallybayes spam filter" in found
    return found


@pytest.mark.parametrize("program", ["procmail", "maildrop"])
def test_a_recipe_sorts_mail(program, model, tmp_path):
    if shutil.which(program) is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(
            f"there is no {program} here; on Debian, root installs it with apt-get install "
            f"{program}, or make system"
        )
    for folder in ("", ".Junk"):
        for part in ("cur", "new", "tmp"):
            (tmp_path / "Maildir" / folder / part).mkdir(parents=True)
    command = shlex.join([sys.executable, "-m", "tallybayes", "spam", "filter"])
    rules = tmp_path / ".rules"
    rules.write_text(
        recipe(program)
        .replace("tallybayes spam filter", command)
        .replace("/home/ann/mail.tally", str(model))
    )
    rules.chmod(0o600)
    run = {
        "procmail": ["procmail", "SHELL=/bin/sh", f"HOME={tmp_path}", str(rules)],
        "maildrop": ["maildrop", rules.name],
    }[program]
    for raw in SENT.values():
        subprocess.run(
            run,
            input=raw, check=True, timeout=120, cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path)},
        )  # fmt: skip
    for answer, folder in (("Yes", ".Junk"), ("No", "")):
        (path,) = (tmp_path / "Maildir" / folder / "new").iterdir()
        got = path.read_bytes()
        assert re.search(rf"^X-Spam-Status: {answer}, ".encode(), got, re.M)
        assert SENT[answer].rstrip() in got
