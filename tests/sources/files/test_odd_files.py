"""Files that are cut, damaged or no data give one clear error; odd ones are read and written."""

import csv
import lzma
import os
import subprocess
import sys
import time
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest

from plain_model import train
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
from tallybayes.kernels.progress import listening
from tallybayes.sources import ReadOptions, map_rows, open_rows, text_blocks
from tallybayes.sources.files import find_files
from tallybayes.sources.row_writers import row_writer
from tallybayes.workflows import planning, predict
from tiers import crossed

WANTED = {"income": "float", "age": "float", "status": "categorical", "y": "categorical"}


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
def test_files_of_other_programs_are_told_by_their_first_bytes(path, data, what):
    path.write_bytes(data)
    assert what in message_of(lambda: open_rows(path))


def test_a_file_that_disappears(path):
    path.write_text(written(TABLE))
    rows = open_rows(path)
    list(rows.fragments(all_of(rows)))
    path.unlink()
    said = message_of(lambda: list(rows.fragments(all_of(rows))))
    assert said == f"{path} cannot be read: no such file or directory"


def read(path, types=None, **options):
    options = ReadOptions(**options)
    rows = open_rows(path, options)
    stream = map_rows(rows, types or all_of(rows), lambda table: table.to_pylist(), options)
    return [record for result in stream for record in result.value], stream.rejected


def write(path, *tables):
    with row_writer(path) as writer:
        for table in tables:
            writer.write(writer.encode(table))


def predicted(tmp_path, path, name, read=None):
    model = train(path, "y", scores=False, read=read).stored
    predict(model, path, tmp_path / name, keep=None, read=read)
    return (tmp_path / name).read_text()


@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_json_that_is_nested_deeply_names_its_row(tmp_path, brackets):
    path, depth = tmp_path / "rows.jsonl", 50_000
    deep = "[" * depth + "]" * depth if brackets == "[]" else '{"a":' * depth + "1" + "}" * depth
    good = '{"x": 1.5, "y": "a"}\n'
    path.write_text(f'{good}{{"x": 2.5, "zz": {deep}, "y": "b"}}\n{good}')
    start = time.process_time()
    said = message_of(lambda: read(path, {"x": "float"}))
    assert said.startswith(f"{path}, row 2: it is not valid JSON")
    found, rejected = read(path, {"x": "float"}, bad_rows="skip")
    assert (found, rejected.count) == ([{"x": 1.5}, {"x": 1.5}], 1)
    assert time.process_time() - start < 60  # it takes a tenth of a second, and an hour by squares


def test_half_a_surrogate_pair_in_a_name_of_json_is_a_bad_row(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1, "y": "q"}\n{"a": 1, "\\ud800": 1, "y": "p"}\n')
    assert read(path, {"a": "float"}, bad_rows="skip")[0][0] == {"a": 1.0}


def test_a_long_field_hides_no_delimiter(path):
    path.write_text(f"text;label\n{'word ' * 40_000};a\n{'w' * 200_000};b\n")
    assert open_rows(path).names == ("text", "label")
    path.write_text(f"{'n' * 200_000};label\n1;a\n")
    assert open_rows(path).names == ("n" * 200_000, "label")


def test_text_of_polars_is_kept_in_csv_and_lists_are_named(tmp_path):
    views = pa.table({"c": pa.array(["x", None], pa.string_view()), "y": ["p", "q"]})
    (tmp_path / "views.arrow").write_bytes(stored("arrow", views))
    assert predicted(tmp_path, tmp_path / "views.arrow", "out.csv").startswith("c,y,prediction")
    lists = pa.table({"l": [[1, 2]]})
    said = message_of(lambda: write(tmp_path / "lists.csv", lists))
    assert said.startswith("column 'l' holds list<")
    assert not (tmp_path / "lists.csv").exists()


def test_names_and_values_are_quoted_so_that_pythons_csv_reads_them(tmp_path):
    texts = ["p\r", "a\nb", 'say "so"', "a,b", "", None, "plain", " x "]
    tables = [
        pa.table({"x\r1": texts, "n": range(8)}),
        pa.table({"x\r1": ["plain"] * 8, "n": range(8)}),
    ]
    for name, delimiter in (("out.csv", ","), ("out.tsv", "\t")):
        write(tmp_path / name, *tables)
        with (tmp_path / name).open(newline="") as file:
            rows = list(csv.reader(file, delimiter=delimiter))
        assert rows[0] == ["x\r1", "n"]
        assert [row[0] for row in rows[1:9]] == [text or "" for text in texts]
    lines = (tmp_path / "out.csv").read_bytes().split(b"\n")
    assert b'"",4' in lines  # text that is empty
    assert b",5" in lines  # no text
    assert lines.count(b"plain,6") == 2  # whatever else is in its block


def test_a_file_that_was_changed_is_not_read_once_more(path):
    path.write_text("x,y\n1,a\n2,b\n")
    rows = open_rows(path)
    assert len(list(rows.fragments(all_of(rows)))) == len(list(rows.fragments(all_of(rows)))) == 1
    path.write_text("x,y\n1,a\n2,b\n3,c\n")
    assert "was changed while it was read" in message_of(lambda: list(rows.fragments(all_of(rows))))


def test_a_file_that_was_changed_costs_the_scores_not_the_model(path, monkeypatch):
    path.write_text("x,y\n" + "1.5,a\n2.5,b\n" * 50)
    monkeypatch.setattr(planning, "KEPT_BYTES", -1)

    # progress that adds a row of another class when the first pass is done
    growing = Mock(end=lambda: path.write_text(path.read_text() + "3.5,c\n"))
    with listening(growing):
        trained = train(path, "y")
    assert trained.scores is None
    assert "was changed while it was read" in trained.no_scores
    assert trained.stored.fitted.classes == ("a", "b")


def test_a_million_columns_are_refused(path):
    path.write_text(",".join(f"c{k}" for k in range(1_000_000)) + "\n1\n")
    assert "has 1,000,000 columns, more than 100,000" in message_of(lambda: open_rows(path))


def test_a_link_that_leads_nowhere_is_said_to(path):
    path.symlink_to("gone.csv")
    said = message_of(lambda: find_files(path))
    assert "the link leads to" in said
    assert "did you mean" not in said


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs /dev")  # noqa: PTH110
def test_what_is_no_ordinary_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "link.csv").symlink_to(tmp_path / "pipe.csv")
    for name in ("pipe.csv", "link.csv"):
        said = message_of(lambda name=name: write(tmp_path / name, pa.table({"x": [1]})))
        assert "it is not an ordinary file; name another" in said


def test_a_long_record_is_looked_at_a_few_times_not_for_every_part(path, monkeypatch):
    looked, real, long = [], text_blocks.Quoting.record_end, "word " * 40_000

    def record_end(self, data):
        looked.append(len(data))
        return real(self, data)

    monkeypatch.setattr(text_blocks.Quoting, "record_end", record_end)
    path.write_text(f'x,y\n1,"{long}"\n2,b\n')
    with small_blocks(1000):
        assert [row["y"] for row in read(path)[0]] == [long, "b"]
    assert sum(looked) < 10 * len(long)
