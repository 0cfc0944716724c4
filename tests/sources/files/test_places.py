"""Where rows may be: folders, patterns, lists, pipes, standard input, other file systems."""

import gzip
import io
import os
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest
from pyarrow import fs, parquet

from sources.files.reading import (
    RECORDS,
    TABLE,
    N,
    assert_same_tally,
    in_memory,
    message_of,
    rows_of,
    small_blocks,
    tally_of,
    written,
)
from tallybayes.model.specification import ModelSpec
from tallybayes.sources import files
from tallybayes.sources.rows import open_rows
from tallybayes.workflows.training import train

HALVES = [{n: v[:50] for n, v in TABLE.items()}, {n: v[50:] for n, v in TABLE.items()}]
FIFO = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")


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


YEARS = ["2020"] * 50 + ["2021"] * (N - 50)
FOLDERS = {
    "its name": "data",
    "its name with a dot": "./data",
    "its name with a slash": "data/",
    "by a detour": "data/../data",
    "a pattern": "data/*/r*.csv",
    "a pattern with a dot": "./data/*/r*.csv",
    "a pattern of two stars": "data/**/r*.csv",
    "a pattern within the name of a column": "data/year=*/rows.csv",
    "a pattern of letters": "data/year=202[01]/rows.csv",
    "a pattern of one letter": "data/year=202?/rows.csv",
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
    records = [{**record, "year": year} for record, year in zip(RECORDS, YEARS, strict=True)]
    assert rows_of(name) == records
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


def test_a_file_alone_has_no_columns_from_its_folders(folder):
    assert open_rows(folder / "year=2020" / "rows.csv").names == tuple(TABLE)


def test_a_list_of_paths_is_read_in_its_order(folder):
    first, second = (folder / f"year=202{place}" / "rows.csv" for place in range(2))
    assert rows_of([str(second), first]) == RECORDS[50:] + RECORDS[:50]


def test_a_folder_may_hold_several_formats(tmp_path):
    (tmp_path / "a.csv").write_text(written(HALVES[0]))
    parquet.write_table(pa.table(HALVES[1]), tmp_path / "b.parquet")
    assert_same_tally(tally_of(tmp_path), in_memory(TABLE))


@pytest.mark.parametrize("name", ["data/*/*.txt", "data/nowhere*", "[x].csv"])
def test_a_pattern_that_nothing_matches(folder, name):
    assert f"no file matches {name!r}" in message_of(lambda: open_rows(name))


def test_a_name_with_signs_of_patterns_that_is_a_file_is_that_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("rows[1].csv", "what?.csv"):
        (tmp_path / name).write_text(written(TABLE))
        assert rows_of(name) == RECORDS


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
    store.pipe("/lake/_temporary/rows.csv", b"junk")
    store.pipe("/lake/year=2020/.rows.csv", b"junk")
    store.pipe("/rows.csv.gz", gzip.compress(written(TABLE).encode()))
    with store.open("/rows.parquet", "wb") as file:
        parquet.write_table(pa.table(TABLE), file)
    yield store
    store.store.clear()


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    "name", ["memory://rows.parquet", "memory://rows.csv.gz", "memory://r*.gz"]
)
def test_a_file_behind_fsspec(name):
    assert rows_of(name) == RECORDS
    assert_same_tally(tally_of(name), in_memory(TABLE))


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    "name", ["memory://lake", "memory://lake/", "memory://lake/year*/*.csv", "memory://**/rows.csv"]
)
def test_a_folder_behind_fsspec(store, name):
    store.rm("/lake/_temporary/rows.csv")
    files = tuple(f"memory://lake/year=202{place}/rows.csv" for place in range(2))
    assert open_rows(name).files == files
    records = [{**record, "year": year} for record, year in zip(RECORDS, YEARS, strict=True)]
    assert rows_of(name) == records


def test_what_is_hidden_behind_fsspec_is_no_data(store):
    assert len(open_rows("memory://lake").files) == 2


def test_the_file_system_of_pyarrow(folder):
    for name in (folder.as_uri(), f"{folder.as_uri()}/year*/r*.csv"):
        files = tuple(f"{folder.as_uri()}/year=202{place}/rows.csv" for place in range(2))
        assert tuple(file.replace("%3D", "=") for file in open_rows(name).files) == files
    name = (folder / "year=2020" / "rows.csv").as_uri().replace("%3D", "=")
    assert rows_of(name) == RECORDS[:50]


class Counted(fs.FileSystemHandler):
    """A file system made up for the purpose: names of numbers are files with so many rows."""

    def get_type_name(self):
        return "counted"

    def normalize_path(self, path):
        return path

    def get_file_info(self, paths):
        kind = {True: fs.FileType.File, False: fs.FileType.NotFound}
        return [fs.FileInfo(path, kind[path.strip("/").isdigit()]) for path in paths]

    def open_input_file(self, path):
        rows = "".join(f"{k},{'ab'[k % 2]}\n" for k in range(int(path.strip("/"))))
        return pa.PythonFile(io.BytesIO(f"x,y\n{rows}".encode()), mode="r")

    def get_file_info_selector(self, selector):
        raise NotImplementedError

    create_dir = delete_dir = delete_dir_contents = delete_root_dir_contents = None
    delete_file = move = copy_file = open_input_stream = open_output_stream = None
    open_append_stream = None


Counted.__abstractmethods__ = frozenset()


def test_a_made_up_file_system(monkeypatch):
    system = fs.PyFileSystem(Counted())
    monkeypatch.setattr(files, "_file_system", lambda name: (system, name.split("://")[1]))
    with small_blocks(64):
        assert [row["x"] for row in rows_of("counted://100")] == list(range(100))
    assert "there is no file 'counted://many'" in message_of(lambda: open_rows("counted://many"))
