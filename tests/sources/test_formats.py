"""Formats are registered: one of a user's own is read and written like those that come along."""

import ast

import pytest

from tallybayes.cli.main import main
from tallybayes.sources import FORMATS, Format
from tallybayes.sources.arrow_files import ArrowFile, reader_of

ROWS = [
    {"income": 70.0 + 5 * k, "owner": "ny"[k % 2], "cheat": "ab"[k % 3 == 0]} for k in range(30)
]


def open_literals(ref, options):
    lines = ref.open().read().decode().splitlines()[1:]
    return ArrowFile(ref.name, reader_of([ast.literal_eval(line) for line in lines]), checked=True)


class LiteralWriter:
    """Writes a line that begins each file, then a dictionary of Python a row."""

    def __init__(self, file):
        self._file = file
        file.write(b"#literals\n")

    def encode(self, table):
        return "".join(f"{row!r}\n" for row in table.to_pylist()).encode()

    def write(self, encoded):
        self._file.write(encoded)

    def close(self):
        pass


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(
        FORMATS,
        "literals",
        Format("literals", ("lit",), open_literals, LiteralWriter, b"#literals"),
    )
    for name in ("rows.lit", "unnamed"):
        (tmp_path / name).write_text("#literals\n" + "".join(f"{row!r}\n" for row in ROWS))
    return tmp_path


@pytest.mark.parametrize("data", [["rows.lit"], ["unnamed"], ["unnamed", "--format", "literals"]])
def test_a_format_of_ones_own_goes_through_all_commands(folder, data, capsys):
    assert main(["fit", *data, "-t", "cheat", "-o", "m.tally"]) == 0
    assert main(["predict", "m.tally", *data, "--keep-all", "-o", "out.lit"]) == 0
    assert main(["evaluate", "m.tally", "out.lit"]) == 0
    capsys.readouterr()
    assert main(["predict", "m.tally", "out.lit", "--keep", "owner", "--to", "literals", "-q"]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "#literals"
    assert [ast.literal_eval(line)["owner"] for line in lines] == [row["owner"] for row in ROWS]


def test_a_format_that_nobody_registered_is_one_clear_error(folder, capsys):
    assert main(["fit", "rows.lit", "-t", "cheat", "-o", "m.tally", "--format", "literal"]) != 0
    assert "did you mean 'literals'?" in capsys.readouterr().err
