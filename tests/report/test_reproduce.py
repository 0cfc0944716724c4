"""Commands on the page: a shell takes them as they stand."""

import subprocess

import pytest

from tallybayes.report.sections.reproduce import quoted


@pytest.mark.parametrize(
    "word",
    [
        "",
        "loan.csv",
        "my  loans.csv",
        "it's $HOME `x` \\\\n.csv",
        "x" * 5000,
        "two\nlines's\\end",
        "\u202eturned\x07a",
        "-d",
    ],
    ids=range(8),
)
def test_a_shell_reads_the_word_that_was_meant(word):
    shown = quoted(word)
    assert shown.isprintable()
    asked = ["bash", "-c", f"printf %s {shown}" if word != "-d" else f"printf -- {shown}"]
    assert subprocess.run(asked, capture_output=True, check=True).stdout.decode() == word
