"""Where rows may be: folders, patterns, lists, pipes, standard input, compressed, elsewhere."""

import bz2
import gzip
import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from sources.files.reading import (
    RECORDS,
    TABLE,
    N,
    all_of,
    assert_same_tally,
    in_memory,
    message_of,
    rows_of,
    small_blocks,
    tally_of,
    written,
)
from tallybayes.model.specification import ModelSpec
from tallybayes.sources import open_rows
from tallybayes.workflows import train

HALVES = [{n: v[:50] for n, v in TABLE.items()}, {n: v[50:] for n, v in TABLE.items()}]
YEARS = ["2020"] * 50 + ["2021"] * (N - 50)
BY_YEAR = [{**record, "year": year} for record, year in zip(RECORDS, YEARS, strict=True)]
FIFO = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
COMPRESSIONS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


def in_columns(write):
    sink = io.BytesIO()
    write(sink)
    return sink.getvalue()


def as_stream(sink):
    with ipc.new_stream(sink, pa.table(TABLE).schema) as writer:
        writer.write_table(pa.table(TABLE))


FORMATS = {
    "csv": written(TABLE).encode(),
    "tsv": written(TABLE, delimiter="\t").encode(),
    "jsonl": "\n".join(map(json.dumps, RECORDS)).encode(),
    "json": json.dumps(RECORDS).encode(),
    "arrow": in_columns(as_stream),
    "parquet": in_columns(lambda sink: parquet.write_table(pa.table(TABLE), sink)),
}
PIPED = {**FORMATS, "csv.gz": gzip.compress(FORMATS["csv"])}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of two files of data and of others that are not."""
    root = tmp_path / "data"
    for place, half in enumerate(HALVES):
        inside = root / f"year=202{place}"
        inside.mkdir(parents=True)
        (inside / "rows.csv").write_text(written(half))
        (inside / "_rows.csv").write_text("junk")
        (inside / ".rows.csv").write_text("junk")
    for hidden in (".cache", "_temporary"):
        (root / hidden).mkdir()
        (root / hidden / "rows.csv").write_text("junk")
    (root / "_SUCCESS").touch()
    (root / "notes.pdf").write_text("junk")
    monkeypatch.chdir(tmp_path)
    return root


FOLDERS = {
    "its name": "data",
    "its name with a dot and a slash": "./data/",
    "by a detour": "data/../data",
    "a pattern": "data/*/r*.csv",
    "a pattern with a dot": "./data/*/r*.csv",
    "a pattern of two stars": "data/**/r*.csv",
    "a pattern within the name of a column": "data/year=*/rows.csv",
    "a pattern of letters": "data/year=202[01]/rows.csv",
}


@pytest.mark.parametrize("name", FOLDERS.values(), ids=FOLDERS)
def test_folders_named_for_a_column_add_it(folder, name):
    if "*" in name:  # a pattern takes what it says
        (folder / "_temporary" / "rows.csv").unlink()
    rows = open_rows(name)
    assert rows.names == (*TABLE, "year")
    assert [Path(file).resolve() for file in rows.files] == [
        folder / f"year=202{place}" / "rows.csv" for place in range(2)
    ]
    assert rows_of(name) == BY_YEAR
    found = train(name, "y", scores=False).stored.fitted.tally
    assert_same_tally(found, in_memory({**TABLE, "year": YEARS}, "auto"))


def test_the_folder_one_is_in(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert open_rows(".").files == ("year=2020/rows.csv", "year=2021/rows.csv")
    assert open_rows(".").names == open_rows("year*/rows.csv").names == (*TABLE, "year")


def test_what_folders_say_may_be_declared_as_numbers(folder):
    columns = {"year": "gaussian"}
    spec = ModelSpec(columns=columns, only=("year",))
    found = train("data", "y", spec, scores=False).stored.fitted.tally
    years = [float(year) for year in YEARS]
    assert_same_tally(found, in_memory({"year": years, "y": TABLE["y"]}, columns))


def test_a_folder_whose_name_is_no_number_is_named(folder):
    (folder / "year=old").mkdir()
    (folder / "year=old" / "rows.csv").write_text(written(HALVES[0]))
    spec = ModelSpec(columns={"year": "gaussian"})
    said = message_of(lambda: train("data", "y", spec))
    assert "year=old" in said
    assert "columns={'year': 'categorical'}" in said


def test_names_of_folders_are_decoded_and_the_default_one_is_missing(tmp_path):
    for name in ("city=S%C3%A3o%20Paulo", "city=__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rows.csv").write_text("x,y\n1,a\n")
    assert [row["city"] for row in rows_of(tmp_path)] == ["São Paulo", None]


def test_files_by_name_come_in_their_order_without_columns_of_folders(folder, tmp_path):
    first, second = (folder / f"year=202{place}" / "rows.csv" for place in range(2))
    assert rows_of([str(second), first]) == RECORDS[50:] + RECORDS[:50]
    odd = first.rename(tmp_path / "rows[1].csv")
    parquet.write_table(pa.table(HALVES[1]), tmp_path / "rows.parquet")
    assert_same_tally(tally_of([odd, tmp_path / "rows.parquet"]), in_memory(TABLE))


WHERE = {
    "a folder without data": (".", "has no file of a known format"),
    "a misspelt file": ("rowz.csv", "did you mean 'rows.csv'?"),
    "a misspelt folder": ("folder/rows.csv", "there is no folder 'folder' either"),
    "no name": ("", "empty"),
    "a name that is too long": ("x" * 5000, "file name too long"),
    "the text itself": ("x,y\n1,2\n", "several lines"),
    "no files": ([], "no columns"),
    "an unknown scheme": ("nowhere://rows.csv", "nowhere"),
    "an address that is none": ("file://rows.csv", "is no address"),
    "a file that is not in memory": ("memory://no/rows.csv", "there is no file"),
    "a pattern that nothing matches": ("*/*.txt", "no file matches '*/*.txt'"),
    "a pattern in memory": ("memory://no/*.csv", "there is no file"),
}


@pytest.mark.parametrize(("data", "said"), WHERE.values(), ids=WHERE)
def test_what_is_not_there(tmp_path, monkeypatch, data, said):
    monkeypatch.chdir(tmp_path)
    if data != ".":
        (tmp_path / "rows.csv").write_text(written(TABLE))
    assert said in message_of(lambda: open_rows(data))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "jsonl"])
def test_a_file_that_may_not_be_read(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    path.write_text(written(TABLE))
    path.chmod(0)
    said = message_of(lambda: open_rows(path))
    assert str(path) in said
    assert "permission denied" in said.lower()


@pytest.fixture
def store():
    """A store of objects in memory, behind fsspec."""
    store = fsspec.filesystem("memory")
    for place, half in enumerate(HALVES):
        store.pipe(f"/lake/year=202{place}/rows.csv", written(half).encode())
    store.pipe("/lake/year=2020/.rows.csv", b"junk")
    store.pipe("/rows.csv.gz", PIPED["csv.gz"])
    store.pipe("/rows.parquet", PIPED["parquet"])
    yield store
    store.store.clear()


def test_files_behind_fsspec(store):
    for name in ("memory://rows.parquet", "memory://rows.csv.gz", "memory://r*.gz"):
        assert_same_tally(tally_of(name), in_memory(TABLE))
    files = tuple(f"memory://lake/year=202{place}/rows.csv" for place in range(2))
    for name in ("memory://lake", "memory://lake/year*/*.csv", "memory://**/rows.csv"):
        assert open_rows(name).files == files
        assert rows_of(name) == BY_YEAR
    store.pipe("/lake/_temporary/rows.csv", b"junk")
    assert open_rows("memory://lake/").files == files


def test_the_file_system_of_pyarrow(folder):
    for name in (folder.as_uri(), f"{folder.as_uri()}/year*/r*.csv"):
        files = tuple(f"{folder.as_uri()}/year=202{place}/rows.csv" for place in range(2))
        assert tuple(file.replace("%3D", "=") for file in open_rows(name).files) == files
    name = (folder / "year=2020" / "rows.csv").as_uri().replace("%3D", "=")
    assert rows_of(name) == RECORDS[:50]


@pytest.mark.parametrize("ending", COMPRESSIONS)
@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_compressed_in_every_way(tmp_path, kind, ending):
    path = tmp_path / f"rows.{kind}.{ending}"
    path.write_bytes(COMPRESSIONS[ending](FORMATS[kind]))
    assert open_rows(path).n_bytes is None
    for size in (100, 1 << 20):
        with small_blocks(size):
            assert_same_tally(tally_of(path), in_memory(TABLE))


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_the_first_bytes_tell_whatever_the_name_says(tmp_path, ending):
    compress = COMPRESSIONS[ending]
    halves = FORMATS["csv"][:777], FORMATS["csv"][777:]
    files = {
        **dict.fromkeys(
            ["rows.csv", "rows.csv.zst", "rows.txt.gz", "r.x"], compress(FORMATS["csv"])
        ),
        f"lines.{ending}": compress(FORMATS["jsonl"]),
        f"plain.csv.{ending}": FORMATS["csv"],
        f"parts.csv.{ending}": b"".join(map(compress, halves)),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        assert rows_of(tmp_path / name) == RECORDS, name


def test_zstd_without_a_size_in_front(tmp_path):
    path = tmp_path / "rows.csv.zst"
    with pa.CompressedOutputStream(str(path), "zstd") as out:
        out.write(FORMATS["csv"])
    assert rows_of(path) == RECORDS


@pytest.mark.parametrize("ending", COMPRESSIONS)
@pytest.mark.parametrize("left", [0.2, 0.6, 0.99])
def test_a_compressed_file_that_is_cut_or_damaged_is_one_clear_error(tmp_path, ending, left):
    path = tmp_path / f"rows.csv.{ending}"
    data = COMPRESSIONS[ending](FORMATS["csv"])
    at = int(len(data) * left)
    for broken in (data[:at], data[: at - 20] + bytes(40) + data[at + 20 :]):
        path.write_bytes(broken)
        for size in (100, 1 << 20):
            with small_blocks(size):
                said = message_of(lambda: tally_of(path, bad_rows="skip"))
            assert said.startswith(str(path))
    path.write_bytes(COMPRESSIONS[ending](b""))
    assert f"{path} is empty" in message_of(lambda: open_rows(path))


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


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet"])
def test_standard_input(kind):
    assert in_a_process("-", input=PIPED[kind]) == RECORDS


@FIFO
def test_standard_input_by_its_other_name(tmp_path):
    assert in_a_process("/dev/stdin", input=PIPED["csv"]) == RECORDS
    path = tmp_path / "rows.csv"
    path.write_bytes(PIPED["csv"])
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
            for byte in PIPED["csv.gz"]:
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
