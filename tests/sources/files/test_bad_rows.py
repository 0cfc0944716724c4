"""A row that does not fit is named by file, row and column, or is counted and left out."""

import csv
import io
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sources.files.reading import (
    assert_same_tally,
    in_memory,
    message_of,
    small_blocks,
    tally_of,
    trained,
    written,
)
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.rows import open_rows
from tallybayes.workflows.prediction import predict
from tallybayes.workflows.training import train
from tiers import scaled

N = 2000
COLUMNS = {"x": "gaussian", "s": "categorical"}
GOOD = {
    "x": [float(v) for v in np.random.default_rng(1).normal(size=N).round(3)],
    "k": [i % 2 for i in range(N)],
    "s": ["uvw"[i % 3] for i in range(N)],
    "b": [i % 5 == 0 for i in range(N)],
    "y": ["pq"[i % 2] for i in range(N)],
}
LINES = written(GOOD).splitlines()
WRONG = {
    "a word among numbers": ("x", "oops", "'oops' is not a number"),
    "a decimal among whole numbers": ("k", "1.5", "'1.5' is not a whole number"),
    "a word among true and false": ("b", "maybe", "'maybe' is not true or false"),
    "a number too long to show": ("x", "7" * 50 + "x", f"'{'7' * 40}...' is not a number"),
}


def line(row, **changed):
    return ",".join(str(changed.get(name, GOOD[name][row])) for name in GOOD).lower()


def save(path, changed):
    """Write the table with some lines changed."""
    lines = list(LINES)
    for row, text in changed.items():
        lines[row] = text  # the names are line 0, so rows count from 1
    path.write_text("\n".join(lines) + "\n")


def without(rows):
    kept = [i for i in range(N) if i + 1 not in rows]
    return {name: [values[i] for i in kept] for name, values in GOOD.items()}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rows.csv"


@pytest.mark.parametrize(("column", "value", "why"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("row", [900, 1234, 2000])
def test_a_late_value_that_does_not_fit_is_named(path, column, value, why, row):
    save(path, {row: line(row - 1, **{column: value})})
    with small_blocks(1000):
        said = message_of(lambda: tally_of(path, COLUMNS))
        assert said.startswith(f"{path}, row {row:,}, column {column!r}: {why}")
        done = trained(path, COLUMNS, bad_rows="report")
    assert done.rejected.lines == [f"{path}, row {row:,}, column {column!r}: {why}"]
    assert_same_tally(done.stored.fitted.tally, in_memory(without({row}), COLUMNS))


def test_the_first_bad_row_is_the_one_that_is_named_whichever_thread_finds_one_first(path):
    save(path, {row: line(row - 1, x="oops") for row in (321, 322, 700, 1999)})
    with small_blocks(600):
        assert ", row 321," in message_of(lambda: tally_of(path, COLUMNS))


@pytest.mark.parametrize("text", ["1.5,2", "1.5", "1.5,2,u,false,p,more", '"1.5,2,u,false,p"'])
def test_too_few_and_too_many_fields(path, text):
    save(path, {1500: text})
    fields = len(next(csv.reader([text])))
    shown = "1 field" if fields == 1 else f"{fields} fields"
    with small_blocks(1000):
        said = message_of(lambda: tally_of(path, COLUMNS))
        assert said.startswith(f"{path}, row 1,500: it has {shown}, where 5 were expected")
        done = trained(path, COLUMNS, bad_rows="skip")
    assert done.rejected.count == 1
    assert_same_tally(done.stored.fitted.tally, in_memory(without({1500}), COLUMNS))


def test_bad_rows_in_the_first_lines_do_not_change_what_the_columns_are(path):
    save(path, {1: "1,2", 2: line(1, x="oops"), 3: "1,2,3,4,5,6,7"})
    done = train(path, "y", scores=False, read=ReadOptions(bad_rows="report"))
    assert [re.search(r"row (\d+)", text)[1] for text in done.rejected.lines] == ["1", "2", "3"]
    assert_same_tally(done.stored.fitted.tally, in_memory(without({1, 2, 3}), "auto"))


def test_every_kind_of_bad_row_at_once(path):
    changed = {
        700: line(699, x="oops"),
        701: line(700, y=""),
        702: line(701, x="inf"),
        703: "1,2",
        704: line(703, x="oops", k="oops", b="oops"),
        1400: line(1399, x="-inf"),
        1800: line(1799, y="?"),
    }
    save(path, changed)
    whys = {
        700: ", column 'x': 'oops' is not a number",
        701: ": the label is missing",
        702: ": column 'x' holds infinity",
        703: ": it has 2 fields",
        704: ", column 'x': 'oops' is not a number",
        1400: ": column 'x' holds infinity",
        1800: ": the label is missing",
    }
    for size in (600, 5000):
        with small_blocks(size):
            done = trained(path, COLUMNS, bad_rows="report")
        assert done.rejected.count == len(changed)
        for found, (row, why) in zip(done.rejected.lines, whys.items(), strict=True):
            assert found.startswith(f"{path}, row {row:,}{why}")
        assert_same_tally(done.stored.fitted.tally, in_memory(without(changed), COLUMNS))


def test_skipped_rows_are_all_counted_though_few_are_shown(path):
    save(path, {row: line(row - 1, x="?!") for row in range(1000, 1100)})
    done = trained(path, COLUMNS, bad_rows="skip")
    assert done.rejected.count == 100
    assert len(done.rejected.lines) == 5
    assert done.stored.provenance.skipped == 100
    assert len(trained(path, COLUMNS, bad_rows="report").rejected.lines) == 100


@pytest.mark.parametrize("weight", ["-1", "inf", "nan", "heavy"])
def test_a_weight_that_is_none(path, weight):
    table = {"x": GOOD["x"], "w": [2.0] * N, "y": GOOD["y"]}
    lines = written(table).splitlines()
    lines[1600] = f"0.5,{weight},p"
    path.write_text("\n".join(lines))
    with small_blocks(2000):
        said = message_of(lambda: tally_of(path, {"x": "gaussian"}, weight="w"))
        assert said.startswith(f"{path}, row 1,600")
        done = trained(path, {"x": "gaussian"}, weight="w", bad_rows="skip")
    assert done.rejected.count == 1
    assert done.stored.fitted.tally.weight.sum() == 2.0 * (N - 1)


def test_rows_are_counted_anew_in_every_file(tmp_path):
    paths = [tmp_path / name for name in ("a.csv", "b.csv", "c.csv")]
    for place, path in enumerate(paths):
        save(path, {5 + place: line(4, x="oops")})
    with small_blocks(900):
        done = trained(paths, COLUMNS, bad_rows="report")
        assert [text.split(", column")[0] for text in done.rejected.lines] == [
            f"{path}, row {5 + place}" for place, path in enumerate(paths)
        ]
        said = message_of(lambda: tally_of(paths[1:], COLUMNS))
    assert said.startswith(f"{paths[1]}, row 6, column 'x'")


def test_empty_lines_are_no_rows_in_the_count(path):
    save(path, {1200: "\n\n" + line(1199, x="oops") + "\n", 3: "\n" + LINES[3]})
    with small_blocks(800):
        assert ", row 1,200, column 'x'" in message_of(lambda: tally_of(path, COLUMNS))


def test_a_bad_line_of_json(tmp_path):
    path = tmp_path / "rows.jsonl"
    records = [{name: GOOD[name][i] for name in GOOD} for i in range(N)]
    lines = [json.dumps(record) for record in records]
    lines[1000] = '{"x": 1.5, "k": '
    lines[1001] = json.dumps({**records[1001], "x": "oops"})
    lines[1002] = json.dumps([1, 2])
    lines[1003] = json.dumps({**records[1003], "k": 1.5})
    lines[1004] = json.dumps({**records[1004], "y": None})
    lines[1005] = json.dumps({**records[1005], "s": 5})
    lines[1006] = '{"x": 1e5, "s": "\\ud800", "y": "p"}'
    lines[1007] = json.dumps({**records[1007], "k": 10**30})
    path.write_text("\n".join(lines))
    with small_blocks(4000):
        said = message_of(lambda: tally_of(path, COLUMNS))
        assert said.startswith(f"{path}, row 1,001: it is not valid JSON")
        done = trained(path, COLUMNS, bad_rows="report")
    whys = [
        ": it is not valid JSON",
        ", column 'x': 'oops' is not a number",
        ": it is not a JSON record",
        ", column 'k': 1.5 is not a whole number",
        ": the label is missing",
        ", column 's': 5 is not text",
        ": it is not valid JSON (JSON is malformed",
        ", column 'k': 1000000000000000000000000000000 is not a whole number",
    ]
    for place, (found, why) in enumerate(zip(done.rejected.lines, whys, strict=True)):
        assert found.startswith(f"{path}, row {1001 + place:,}{why}")
    left = without(set(range(1001, 1009)))
    assert_same_tally(done.stored.fitted.tally, in_memory(left, COLUMNS))


def test_predictions_leave_out_bad_rows_and_keep_the_others_in_order(path, tmp_path):
    save(path, {})
    stored = trained(path, COLUMNS).stored
    save(path, {row: line(row - 1, x="oops") for row in (200, 1100, 1101)})
    out = tmp_path / "out.csv"
    with small_blocks(700):
        said = message_of(lambda: predict(stored, path, out))
        assert said.startswith(f"{path}, row 200, column 'x'")
        assert not out.exists()
        done = predict(stored, path, out, keep=["x"], read=ReadOptions(bad_rows="skip"))
    assert (done.rows, done.rejected.count) == (N - 3, 3)
    kept = [float(row["x"]) for row in csv.DictReader(io.StringIO(out.read_text()))]
    assert kept == without({200, 1100, 1101})["x"]


def is_number(text):
    """Tell numbers from words as Arrow does: no blanks inside, no underscores."""
    return re.fullmatch(r"[ \t]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t]*", text) is not None


cells = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(
        ["", "NA", "oops", "1 2", "1,5", " 7 ", "0.5x", "--1", "1e", "+3", "é", '"', "."]
    ),
)


@given(
    st.lists(st.lists(cells, min_size=1, max_size=4), min_size=1, max_size=30),
    st.integers(1, 200),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
@scaled(2)
def test_bad_cells_are_those_that_python_finds(tmp_path_factory, rows, size, how):
    text = io.StringIO(newline="")
    csv.writer(text, quoting=how, lineterminator="\n").writerows([["p", "q", "r"], *rows])
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    path.write_text(text.getvalue())
    rows = [row for row in csv.reader(io.StringIO(text.getvalue(), newline="")) if row][1:]
    missing = ReadOptions().missing

    def fits(row):
        return len(row) == 3 and all(cell in missing or is_number(cell) for cell in row[:2])

    expected = [
        [None if cell in missing else float(cell) for cell in row[:2]]
        + [None if row[2] in missing else row[2]]
        for row in rows
        if fits(row)
    ]
    wanted = {"p": "number", "q": "number", "r": "text"}
    found, bad, before = [], [], 0
    with small_blocks(size):
        options = ReadOptions(delimiter=",", bad_rows="skip")
        for chunk in open_rows(path, options).fragments(wanted):
            for piece in chunk.decode():
                found += [list(row.values()) for row in piece.table.to_pylist()]
                bad += [before + each.row for each in piece.bad]
                before += piece.n_rows
    assert found == expected
    assert bad == [number for number, row in enumerate(rows) if not fits(row)]
    assert before == len(rows)
