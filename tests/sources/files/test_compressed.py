"""Compressed files are known by their first bytes, whatever their names say."""

import bz2
import gzip
import io
import json

import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from sources.files.reading import (
    RECORDS,
    TABLE,
    assert_same_tally,
    in_memory,
    message_of,
    rows_of,
    small_blocks,
    tally_of,
    written,
)
from tallybayes.sources.rows import open_rows


def zstd(data):
    return pa.compress(data, "zstd", asbytes=True)


COMPRESSIONS = {"gz": gzip.compress, "bz2": bz2.compress, "zst": zstd}
TEXTS = {
    "csv": written(TABLE).encode(),
    "tsv": written(TABLE, delimiter="\t").encode(),
    "jsonl": "\n".join(map(json.dumps, RECORDS)).encode(),
    "json": json.dumps(RECORDS).encode(),
}


@pytest.mark.parametrize("ending", COMPRESSIONS)
@pytest.mark.parametrize("kind", TEXTS)
def test_every_text_format_compressed_in_every_way(tmp_path, kind, ending):
    path = tmp_path / f"rows.{kind}.{ending}"
    path.write_bytes(COMPRESSIONS[ending](TEXTS[kind]))
    for size in (100, 1 << 20):
        with small_blocks(size):
            assert_same_tally(tally_of(path), in_memory(TABLE))


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_the_first_bytes_tell_whatever_the_name_says(tmp_path, ending):
    compress = COMPRESSIONS[ending]
    halves = TEXTS["csv"][:777], TEXTS["csv"][777:]
    files = {
        **dict.fromkeys(["rows.csv", "rows.csv.zst", "rows.txt.gz", "r.x"], compress(TEXTS["csv"])),
        f"lines.{ending}": compress(TEXTS["jsonl"]),
        f"plain.csv.{ending}": TEXTS["csv"],
        f"parts.csv.{ending}": b"".join(map(compress, halves)),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        assert rows_of(tmp_path / name) == RECORDS, name


def test_zstd_without_a_size_in_front(tmp_path):
    path = tmp_path / "rows.csv.zst"
    with pa.CompressedOutputStream(str(path), "zstd") as out:
        out.write(TEXTS["csv"])
    assert rows_of(path) == RECORDS


def test_arrow_and_parquet_may_be_compressed_from_outside_as_well(tmp_path):
    sink = io.BytesIO()
    with ipc.new_stream(sink, pa.table(TABLE).schema) as writer:
        writer.write_table(pa.table(TABLE))
    path = tmp_path / "rows.arrow.gz"
    path.write_bytes(gzip.compress(sink.getvalue()))
    assert rows_of(path) == RECORDS
    sink = io.BytesIO()
    parquet.write_table(pa.table(TABLE), sink)
    assert rows_of(io.BytesIO(gzip.compress(sink.getvalue()))) == RECORDS


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_an_empty_file_is_empty_compressed_too(tmp_path, ending):
    path = tmp_path / f"rows.csv.{ending}"
    path.write_bytes(COMPRESSIONS[ending](b""))
    assert f"{path} is empty" in message_of(lambda: open_rows(path))


def test_how_much_there_is_to_read_is_not_known_of_compressed_files(tmp_path):
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(TEXTS["csv"]))
    assert open_rows(path).n_bytes is None


@pytest.mark.parametrize("ending", COMPRESSIONS)
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("left", [0.2, 0.6, 0.99])
def test_a_file_that_is_cut_is_one_clear_error(tmp_path, kind, ending, left):
    data = COMPRESSIONS[ending](TEXTS[kind])
    path = tmp_path / f"rows.{kind}.{ending}"
    path.write_bytes(data[: int(len(data) * left)])
    for size in (100, 1 << 20):
        with small_blocks(size):
            said = message_of(lambda: rows_of(path))
        assert said.startswith(f"{path} cannot be read: ")


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_a_file_that_is_damaged_is_one_clear_error(tmp_path, ending):
    data = bytearray(COMPRESSIONS[ending](TEXTS["csv"] * 20))
    middle = len(data) // 2
    data[middle : middle + 40] = bytes(40)
    path = tmp_path / f"rows.csv.{ending}"
    path.write_bytes(data)
    with small_blocks(1000):
        said = message_of(lambda: tally_of(path, bad_rows="skip"))
    assert said.startswith(str(path))
