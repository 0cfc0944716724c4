"""Several files are one table; where they disagree, the file and the column are named."""

import pytest
from pyarrow import parquet

from plain_model import ModelSpec, train
from sources.files.reading import (
    assert_same_tally,
    in_memory,
    message_of,
    rows_of,
    small_blocks,
    stored,
    tally_of,
    written,
)
from tallybayes.sources import open_rows, rows
from tallybayes.workflows import predict

COLUMNS = {"x": "gaussian", "s": "categorical"}
ONE = {"x": [0.5, 1.5, 2.5, 3.5] * 10, "s": list("uvwu") * 10, "y": list("abab") * 10}


@pytest.fixture(params=["csv", "jsonl", "parquet"])
def save(request, tmp_path):
    def save(*tables):
        paths = [tmp_path / f"file{place}.{request.param}" for place in range(len(tables))]
        for path, table in zip(paths, tables, strict=True):
            path.write_bytes(stored(request.param, table))
        return paths

    save.kind = request.param
    return save


def together(*tables):
    return {name: [v for table in tables for v in table[name]] for name in tables[0]}


WHOLE = {**ONE, "x": [1, 2, 3, 4] * 10}
EMPTY = {**ONE, "x": [None] * 40}
TABLES = {
    "many": [{**ONE, "x": [value + 10 * k for value in ONE["x"]]} for k in range(12)],
    "whole numbers before decimals": [WHOLE, ONE],
    "decimals before whole numbers": [ONE, WHOLE],
    "columns in another order": [ONE, {name: ONE[name] for name in ("y", "s", "x")}],
    "a column that is empty in the first": [EMPTY, ONE],
}


@pytest.mark.parametrize("tables", TABLES.values(), ids=TABLES)
def test_several_files_are_one_table(save, tables, tmp_path):
    paths, whole = save(*tables), together(*tables)
    with small_blocks(200):
        assert_same_tally(tally_of(paths, COLUMNS), in_memory(whole, COLUMNS))
        assert [row["x"] for row in rows_of(paths, {"x": "float"})] == whole["x"]
    stored = train(paths, "y", scores=False).stored
    assert_same_tally(stored.fitted.tally, in_memory(whole, "auto"))
    predict(stored, paths, tmp_path / "out.parquet", keep=["x"])
    assert parquet.read_table(tmp_path / "out.parquet")["x"].to_pylist() == whole["x"]


def test_files_without_rows_are_passed_over(tmp_path):
    paths = [tmp_path / f"{k}.csv" for k in range(3)]
    for path, text in zip(paths, ["", written(ONE), "x,s,y\n"], strict=True):
        path.write_text(text)
    assert_same_tally(train(tmp_path, "y").stored.fitted.tally, in_memory(ONE, "auto"))
    assert "is empty" in message_of(lambda: open_rows(paths[0]))


def lacking(name):
    return {other: values for other, values in ONE.items() if other != name}


@pytest.mark.parametrize("name", ["x", "y"])
def test_a_column_that_a_file_lacks(save, name):
    paths = save(ONE, lacking(name))
    if save.kind == "jsonl":  # where a record may lack a field
        if name == "x":
            tally = tally_of(paths, COLUMNS)
            assert tally.blocks[0].rows.sum() == 40
        else:
            said = message_of(lambda: train(paths, "y"))
            assert said.startswith(f"{paths[1]}, row 1: the label is missing")
        return
    said = message_of(lambda: train(paths, "y"))
    assert said.startswith(f"{paths[1]} has no column {name!r}")


def test_a_column_that_only_one_file_has(save):
    paths = save(ONE, {**ONE, "more": [1.5] * 40})
    if save.kind == "jsonl":
        assert train(paths, "y").stored.fitted.tally.schema.names == ("x", "s", "more")
        return
    assert message_of(lambda: train(paths, "y")).startswith(f"{paths[0]} has no column 'more'")
    found = train(paths, "y", ModelSpec(drop=("more",))).stored.fitted.tally
    assert_same_tally(found, in_memory(together(ONE, ONE), "auto"))


OTHERS = [("x", ["low", "high"] * 20), ("s", [1, 2] * 20), ("y", [1, 2] * 20)]


@pytest.mark.parametrize(("name", "values"), OTHERS, ids=["x", "s", "y"])
@pytest.mark.parametrize("sampled", [8, 1], ids=["seen at first", "seen late"])
def test_text_in_one_file_where_another_has_numbers(save, monkeypatch, name, values, sampled):
    monkeypatch.setattr(rows, "MOST_SAMPLED", sampled)
    paths = save(ONE, {**ONE, name: values})
    if save.kind == "csv" and name != "x":  # where numbers are text as well
        texts = {**ONE, name: list(map(str, values))}
        found = train(paths, "y").stored.fitted.tally
        assert_same_tally(found, in_memory(together(ONE, texts), "auto"))
        return
    said = message_of(lambda: train(paths, "y"))
    where = ": " if save.kind == "parquet" else ", row 1, "
    assert said.startswith(f"{paths[1]}{where}column {name!r}")
    assert ("a number" if name == "x" else "text") in said
