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

from sources.files.reading import (
    RECORDS,
    TABLE,
    all_of,
    assert_same_tally,
    in_memory,
    message_of,
    records_of,
    rows_of,
    small_blocks,
    stored,
    tally_of,
    written,
)
from tallybayes.sources import open_rows

HALVES = [{n: v[:50] for n, v in TABLE.items()}, {n: v[50:] for n, v in TABLE.items()}]
NO_DATA = ("notes.pdf", "_SUCCESS", "_old/rows.csv", ".cache/rows.csv", "a/_x.csv", "b/.x.csv")
FOLDER = {"a/rows.csv": written(HALVES[0]), "b/rows.csv": written(HALVES[1])}
FOLDER |= dict.fromkeys(NO_DATA, "junk")
FIFO = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
COMPRESSIONS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}
FORMATS = {kind: stored(kind) for kind in ("csv", "tsv", "jsonl", "json", "arrows", "parquet")}
PIPED = {**FORMATS, "csv.gz": gzip.compress(FORMATS["csv"])}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    root = tmp_path / "data"
    for name, text in FOLDER.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return root


FOLDERS = ["data", "./data/", "data/../data", "*/?/r*.csv", "./data/*/r*.csv", "data/[ab]/r*.csv"]


@pytest.mark.parametrize("name", FOLDERS)
def test_folders_and_patterns(folder, name):
    for hidden in ("_old", ".cache") if "*" in name else ():  # a pattern takes what it says
        (folder / hidden / "rows.csv").unlink()
    rows = open_rows(name)
    assert [Path(file).resolve() for file in rows.files] == [
        folder / "a" / "rows.csv",
        folder / "b" / "rows.csv",
    ]
    assert rows_of(name) == RECORDS


def test_the_folder_one_is_in_and_all_below_a_pattern(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert open_rows(".").files == open_rows("[ab]/**/r*.csv").files == ("a/rows.csv", "b/rows.csv")


def test_files_by_name_come_in_their_order(folder, tmp_path):
    first, second = folder / "a" / "rows.csv", folder / "b" / "rows.csv"
    assert rows_of([str(second), first]) == RECORDS[50:] + RECORDS[:50]
    odd = first.rename(tmp_path / "rows[1].csv")
    (tmp_path / "rows.parquet").write_bytes(stored("parquet", HALVES[1]))
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
    "a pattern elsewhere": ("memory://*.csv", "that of a file or of a folder"),
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
    store.pipe({f"/lake/{name}": text.encode() for name, text in FOLDER.items()})
    store.pipe({"/rows.csv.gz": PIPED["csv.gz"], "/rows.parquet": PIPED["parquet"]})
    yield store
    store.store.clear()


def test_files_behind_fsspec(store):
    for name in ("memory://rows.parquet", "memory://rows.csv.gz"):
        assert_same_tally(tally_of(name), in_memory(TABLE))
    for name in ("memory://lake", "memory://lake/"):
        assert open_rows(name).files == ("memory://lake/a/rows.csv", "memory://lake/b/rows.csv")
        assert rows_of(name) == RECORDS


def test_the_file_system_of_pyarrow(folder):
    names = tuple((folder / place / "rows.csv").as_uri() for place in "ab")
    assert open_rows(folder.as_uri()).files == names
    assert rows_of(names[0]) == RECORDS[:50]


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
from sources.files.reading import rows_of
json.dump(rows_of(sys.argv[1]), sys.stdout)
"""


def in_a_process(name, **how):
    command = [sys.executable, "-c", READ, name]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment, **how)
    return json.loads(done.stdout)


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
@pytest.mark.parametrize("kind", [*PIPED, "a byte at a time"])
def test_a_named_pipe_is_read_once(tmp_path, kind):
    path, data = tmp_path / "pipe", PIPED.get(kind, PIPED["csv.gz"])
    os.mkfifo(path)

    def write():
        with path.open("wb", buffering=0) as pipe:
            step = len(data) if kind in PIPED else 1
            for start in range(0, len(data), step):
                pipe.write(data[start : start + step])

    writer = threading.Thread(target=write)
    writer.start()
    rows = open_rows(path)
    assert not rows.rereadable
    assert records_of(rows, all_of(rows)) == RECORDS
    writer.join()
    assert "can be read only once" in message_of(lambda: list(rows.fragments(all_of(rows))))


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
