"""Files that were found to be read or written wrongly, each of them once."""

import csv
import io
import json
import os
import time
from unittest.mock import Mock

import pyarrow as pa
import pytest
from pyarrow import ipc

from sources.files.reading import all_of, message_of, small_blocks
from tallybayes.kernels.progress import listening
from tallybayes.sources import ReadOptions, map_rows, open_rows, text_blocks
from tallybayes.sources.files import find_files
from tallybayes.sources.row_writers import row_writer
from tallybayes.workflows import planning, predict, train

KEPT = """id,code,price,flag,note,y
9007199254740993,007,1.10,TRUE,NA,p
9007199254740995,012,2.50,FALSE,"a, b",q
9007199254740997,007,3.00,TRUE,,p
9007199254740999,012,1e3,FALSE,z,q
"""


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
    stored = train(path, "y", scores=False, read=read).stored
    predict(stored, path, tmp_path / name, keep=None, read=read)
    return (tmp_path / name).read_text()


@pytest.mark.parametrize("bad", ["", "1,2\n"], ids=["sound", "with a row that does not fit"])
def test_columns_that_are_kept_pass_through_as_they_are_written(tmp_path, bad):
    path, skip = tmp_path / "rows.csv", ReadOptions(bad_rows="skip")
    path.write_text(KEPT + bad)
    out = io.StringIO(predicted(tmp_path, path, "out.csv", read=skip))
    assert [row[:6] for row in csv.reader(out)] == list(csv.reader(io.StringIO(KEPT)))


def test_whole_numbers_of_json_stay_whole(tmp_path):
    path = tmp_path / "rows.jsonl"
    ids = [2**53 + k for k in (1, 3, 5, 7)]
    path.write_text("".join(json.dumps({"id": i, "y": "pq"[i % 4 == 1]}) + "\n" for i in ids))
    out = predicted(tmp_path, path, "out.jsonl").splitlines()
    assert [json.loads(line)["id"] for line in out] == ids


@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_json_that_is_nested_deeply_names_its_row(tmp_path, brackets):
    path, depth = tmp_path / "rows.jsonl", 50_000
    deep = "[" * depth + "]" * depth
    if brackets == "{}":
        deep = '{"a":' * depth + "1" + "}" * depth
    good = '{"x": 1.5, "y": "a"}\n'
    path.write_text(f'{good}{{"x": 2.5, "zz": {deep}, "y": "b"}}\n{good}')
    start = time.process_time()
    said = message_of(lambda: read(path, {"x": "number"}))
    assert said.startswith(f"{path}, row 2: it is not valid JSON")
    found, rejected = read(path, {"x": "number"}, bad_rows="skip")
    assert (found, rejected.count) == ([{"x": 1.5}, {"x": 1.5}], 1)
    assert time.process_time() - start < 5


def test_half_a_surrogate_pair_in_a_name_of_json_is_a_bad_row(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1, "y": "q"}\n{"a": 1, "\\ud800": 1, "y": "p"}\n')
    assert read(path, {"a": "number"}, bad_rows="skip")[0][0] == {"a": 1.0}


def test_a_long_field_hides_no_delimiter(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(f"text;label\n{'word ' * 40_000};a\n{'w' * 200_000};b\n")
    assert open_rows(path).names == ("text", "label")
    path.write_text(f"{'n' * 200_000};label\n1;a\n")
    assert open_rows(path).names == ("n" * 200_000, "label")


def test_text_of_polars_is_kept_in_csv_and_lists_are_named(tmp_path):
    views = pa.table({"c": pa.array(["x", None], pa.string_view()), "y": ["p", "q"]})
    with ipc.new_file(tmp_path / "views.arrow", views.schema) as file:
        file.write_table(views)
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


def test_a_file_that_was_changed_is_not_read_once_more(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1,a\n2,b\n")
    rows = open_rows(path)
    assert len(list(rows.fragments(all_of(rows)))) == len(list(rows.fragments(all_of(rows)))) == 1
    path.write_text("x,y\n1,a\n2,b\n3,c\n")
    assert "was changed while it was read" in message_of(lambda: list(rows.fragments(all_of(rows))))


def test_a_file_that_was_changed_costs_the_scores_not_the_model(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "1.5,a\n2.5,b\n" * 50)
    monkeypatch.setattr(planning, "KEPT_BYTES", -1)

    # progress that adds a row of another class when the first pass is done
    growing = Mock(end=lambda: path.write_text(path.read_text() + "3.5,c\n"))
    with listening(growing):
        trained = train(path, "y")
    assert trained.scores is None
    assert "was changed while it was read" in trained.no_scores
    assert trained.stored.fitted.classes == ("a", "b")


def test_a_million_columns_are_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(",".join(f"c{k}" for k in range(1_000_000)) + "\n1\n")
    assert "has 1,000,000 columns, more than 100,000" in message_of(lambda: open_rows(path))


def test_a_link_that_leads_nowhere_is_said_to(tmp_path):
    link = tmp_path / "rows.csv"
    link.symlink_to(tmp_path / "gone.csv")
    said = message_of(lambda: find_files(link))
    assert "the link leads to" in said
    assert "did you mean" not in said


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs /dev")  # noqa: PTH110
def test_what_is_no_ordinary_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "link.csv").symlink_to(tmp_path / "pipe.csv")
    for name in ("pipe.csv", "link.csv"):
        said = message_of(lambda name=name: write(tmp_path / name, pa.table({"x": [1]})))
        assert "it is not an ordinary file; name another" in said


def test_a_long_record_is_looked_at_a_few_times_not_for_every_part(tmp_path, monkeypatch):
    looked, real = [], text_blocks.Quoting.record_end

    def record_end(self, data):
        looked.append(len(data))
        return real(self, data)

    monkeypatch.setattr(text_blocks.Quoting, "record_end", record_end)
    path, long = tmp_path / "rows.csv", "word " * 40_000
    path.write_text(f'x,y\n1,"{long}"\n2,b\n')
    with small_blocks(1000):
        assert [row["y"] for row in read(path)[0]] == [long, "b"]
    assert sum(looked) < 10 * len(long)
