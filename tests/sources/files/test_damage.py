"""Files that are cut, damaged or no data at all give one clear error that names them."""

import lzma
import os
import subprocess
import sys

import numpy as np
import pytest

from sources.files.reading import (
    RECORDS,
    TABLE,
    all_of,
    message_of,
    rows_of,
    small_blocks,
    stored,
    written,
)
from tallybayes.sources import open_rows
from tiers import crossed

WANTED = {"income": "number", "age": "number", "status": "category", "y": "category"}


WHOLE = {
    "rows.parquet": stored("parquet", rows=20),
    "file.arrow": stored("arrow", rows=20),
    "stream.arrow": stored("arrows", rows=20),
}


@pytest.mark.parametrize("left", [0.0, 0.01, 0.3, 0.7, 0.95, 0.999])
@pytest.mark.parametrize("name", WHOLE)
def test_a_file_that_is_cut(tmp_path, name, left):
    data = WHOLE[name]
    path = tmp_path / name
    path.write_bytes(data[: int(len(data) * left)])
    if name == "stream.arrow" and left == 0.999:  # the end mark of a stream may be left out
        assert rows_of(path) == RECORDS
        return
    said = message_of(lambda: rows_of(path, WANTED))
    assert said.startswith(f"{path} ")


FLIPPING = """
import sys
from pathlib import Path
import numpy as np
import tallybayes as tb
from sources.files.reading import tally_of
random = np.random.default_rng(3)
for name in sys.argv[1:]:
    whole = Path(name).read_bytes()
    refused = 0
    for _ in range(100):
        data = bytearray(whole)
        for place in random.integers(0, len(data), 4):
            data[place] ^= 1 << int(random.integers(8))
        Path(name).write_bytes(data)
        try:
            tally_of(name)
        except tb.TallyBayesError:
            refused += 1
    print(refused)
"""


def test_flipped_bits_never_raise_anything_else_and_crash_nothing(tmp_path):
    for name, data in WHOLE.items():
        (tmp_path / name).write_bytes(data)
    command = [sys.executable, "-c", FLIPPING, *WHOLE]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(int(refused) > 10 for refused in done.stdout.split())


RUBBISH = {
    "all bytes": bytes(range(256)) * 20,
    "random bytes": np.random.default_rng(1).bytes(300_000),
    "zeros": bytes(5000),
    "a line without end": b"x" * 300_000,
    "a quote without end": b'"' + b"x," * 100_000,
    "a zip archive": b"PK\x03\x04" + np.random.default_rng(3).bytes(3000),
    "xz": lzma.compress(written(TABLE).encode()),
    "Parquet": WHOLE["rows.parquet"],
    "Arrow": WHOLE["file.arrow"],
    "an Arrow stream": WHOLE["stream.arrow"],
    "a picture": b"\x89PNG\r\n\x1a\n" + np.random.default_rng(2).bytes(3000),
}


ENDINGS = ["csv", "tsv", "jsonl", "parquet", "arrow", "csv.gz"]


@pytest.mark.parametrize(
    ("what", "ending", "bad_rows"), crossed(RUBBISH, ENDINGS, ["error", "skip"], every=5)
)
def test_rubbish_under_any_name(tmp_path, what, ending, bad_rows):
    data = RUBBISH[what]
    right = {"parquet": RUBBISH["Parquet"], "arrow": (RUBBISH["Arrow"], RUBBISH["an Arrow stream"])}
    if data in right.get(ending, b""):
        pytest.skip("that is its right name")
    path = tmp_path / f"rows.{ending}"
    path.write_bytes(data)
    said = message_of(lambda: rows_of(path, WANTED, bad_rows=bad_rows))
    assert str(path) in said
    assert len(said) < 500


TOLD = {
    "a zip archive": (RUBBISH["a zip archive"], "a zip archive or an Excel workbook"),
    "xz": (RUBBISH["xz"], "compressed by xz"),
    "SQLite": (b"SQLite format 3\0" + bytes(100), "a database of SQLite"),
    "Parquet": (RUBBISH["Parquet"], "format='parquet'"),
    "Arrow": (RUBBISH["Arrow"], "format='arrow'"),
}


@pytest.mark.parametrize(("data", "what"), TOLD.values(), ids=TOLD)
def test_files_of_other_programs_are_told_by_their_first_bytes(tmp_path, data, what):
    path = tmp_path / "rows.csv"
    path.write_bytes(data)
    assert what in message_of(lambda: open_rows(path))


def test_a_stated_format_that_is_wrong(tmp_path):
    path = tmp_path / "rows"
    path.write_text(written(TABLE))
    for kind in ("parquet", "arrow", "jsonl"):
        assert str(path) in message_of(lambda kind=kind: rows_of(path, format=kind))
    path.write_bytes(WHOLE["rows.parquet"])
    assert rows_of(path, format="parquet") == RECORDS


def test_a_file_that_disappears(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(written(TABLE))
    rows = open_rows(path)
    list(rows.fragments(all_of(rows)))
    path.unlink()
    said = message_of(lambda: list(rows.fragments(all_of(rows))))
    assert said == f"{path} cannot be read: no such file or directory"


def test_a_file_that_shrinks_while_it_is_read(tmp_path):
    path = tmp_path / "rows.parquet"
    path.write_bytes(WHOLE["rows.parquet"])
    rows = open_rows(path)
    path.write_bytes(WHOLE["rows.parquet"][:200])
    with small_blocks(100):
        said = message_of(lambda: [list(chunk.decode()) for chunk in rows.fragments(WANTED)])
    assert said.startswith(str(path))
