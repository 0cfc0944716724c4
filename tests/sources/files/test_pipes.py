"""Rows that come through pipes, standard input and files that are open already."""

import gzip
import io
import json
import os
import subprocess
import sys
import threading

import pyarrow as pa
import pytest
from pyarrow import parquet

from sources.files.reading import RECORDS, TABLE, all_of, message_of, rows_of, small_blocks, written
from tallybayes.sources.rows import open_rows

FIFO = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
READ = """
import json, sys
from tallybayes.sources.arrow_files import plain_types
from tallybayes.sources.rows import open_rows
rows = open_rows(sys.argv[1])
fragments = rows.fragments(plain_types(rows.sample.schema))
pieces = [piece for fragment in fragments for piece in fragment.decode()]
json.dump([record for piece in pieces for record in piece.table.to_pylist()], sys.stdout)
"""


def in_a_process(name, **how):
    command = [sys.executable, "-c", READ, name]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, **how).stdout)


def parquet_bytes():
    sink = io.BytesIO()
    parquet.write_table(pa.table(TABLE), sink)
    return sink.getvalue()


PIPED = {
    "CSV": written(TABLE).encode(),
    "CSV compressed": gzip.compress(written(TABLE).encode()),
    "JSON lines": "\n".join(map(json.dumps, RECORDS)).encode(),
    "JSON lines compressed": gzip.compress("\n".join(map(json.dumps, RECORDS)).encode()),
    "Parquet": parquet_bytes(),
}


@pytest.mark.parametrize("kind", ["CSV", "JSON lines compressed", "Parquet"])
def test_standard_input(kind):
    assert in_a_process("-", input=PIPED[kind]) == RECORDS


@FIFO
def test_standard_input_by_its_other_name(tmp_path):
    assert in_a_process("/dev/stdin", input=PIPED["CSV"]) == RECORDS
    path = tmp_path / "rows.csv"
    path.write_bytes(PIPED["CSV"])
    with path.open("rb") as file:
        assert in_a_process("/dev/stdin", stdin=file) == RECORDS


def test_a_process_without_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert "there is no standard input" in message_of(lambda: open_rows("-"))


@FIFO
@pytest.mark.parametrize("data", PIPED.values(), ids=PIPED)
def test_a_named_pipe_is_read_once(tmp_path, data):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(data,))
    writer.start()
    rows = open_rows(path)
    assert not rows.rereadable
    records = [
        r
        for c in rows.fragments(all_of(rows))
        for piece in c.decode()
        for r in piece.table.to_pylist()
    ]
    writer.join()
    assert records == RECORDS
    assert "can be read only once" in message_of(lambda: list(rows.fragments(all_of(rows))))


@FIFO
def test_a_pipe_may_hand_out_a_byte_at_a_time(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def drip():
        with path.open("wb", buffering=0) as pipe:
            for byte in PIPED["CSV compressed"]:
                pipe.write(bytes([byte]))

    writer = threading.Thread(target=drip)
    writer.start()
    assert rows_of(path) == RECORDS
    writer.join()


@pytest.mark.parametrize("data", PIPED.values(), ids=PIPED)
def test_open_files_are_read_and_left_open(data):
    file = io.BytesIO(data)
    with small_blocks(100):
        assert rows_of(file) == RECORDS
    assert not file.closed


def test_files_open_for_text_are_refused(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(written(TABLE))
    assert "mode 'rb'" in message_of(lambda: open_rows(io.StringIO("x,y\n1,2\n")))
    with path.open() as file:
        assert f"{path} is open for text" in message_of(lambda: open_rows(file))
