"""A row that does not fit is named by file, row and column, or is counted and left out."""

import csv
import io
import json
import re

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tallybayes as tb
from plain_model import ModelSpec, train
from sources.files.reading import (
    assert_same_tally,
    in_memory,
    message_of,
    small_blocks,
    stored,
    tally_of,
    trained,
    written,
)
from tallybayes.sources import ReadOptions, map_rows, open_rows, text_blocks
from tallybayes.workflows import evaluate, predict
from tiers import scaled

N = 2000
SKIP, REPORT = ReadOptions(bad_rows="skip"), ReadOptions(bad_rows="report")
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
    "a word among numbers": ({"x": "oops"}, ", column 'x': 'oops' is not a number"),
    "a decimal among whole numbers": ({"k": "1.5"}, ", column 'k': '1.5' is not a whole number"),
    "a word among true and false": ({"b": "maybe"}, ", column 'b': 'maybe' is not true or false"),
    "too long to show": ({"x": "7" * 50 + "x"}, f", column 'x': '{'7' * 40}...' is not a number"),
    "too few fields": ("1.5,2", ": it has 2 fields, where 5 were expected"),
    "one field": ('"1.5,2,u,false,p"', ": it has 1 field, where 5 were expected"),
    "too many fields": ("1.5,2,u,false,p,more", ": it has 6 fields, where 5 were expected"),
    "empty lines around it": ("\n\n1,2\n", ": it has 2 fields, where 5 were expected"),
    "infinity": ({"x": "inf"}, ": column 'x' holds infinity"),
    "no label": ({"y": "?"}, ": the label is missing"),
}


def line(row, **changed):
    return ",".join(str(changed.get(name, GOOD[name][row])) for name in GOOD).lower()


def save(path, changed):
    lines = list(LINES)
    for row, text in changed.items():
        lines[row] = text  # the names are line 0, so rows count from 1
    path.write_text("\n".join(lines) + "\n")


def without(rows):
    kept = [i for i in range(N) if i + 1 not in rows]
    return {name: [values[i] for i in kept] for name, values in GOOD.items()}


@pytest.mark.parametrize(("changed", "why"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("row", [900, 2000])
def test_a_late_row_that_does_not_fit_is_named(path, changed, why, row):
    bad = changed if isinstance(changed, str) else line(row - 1, **changed)
    save(path, {row: bad, N: bad})
    with small_blocks(1000):  # whichever thread finds one first
        said = message_of(lambda: tally_of(path, COLUMNS))
    assert said.startswith(f"{path}, row {row:,}{why}")


@pytest.mark.parametrize("start", [700, N - len(WRONG) + 1])
@pytest.mark.parametrize("size", [1000, 5000])
def test_every_kind_of_bad_row_at_once(path, start, size):
    whys = dict(enumerate(WRONG.values(), start))
    changed = {row: w if isinstance(w, str) else line(row - 1, **w) for row, (w, _) in whys.items()}
    save(path, changed)
    with small_blocks(size):
        done = trained(path, COLUMNS, bad_rows="report")
    for said, (row, (_, why)) in zip(done.rejected.lines, whys.items(), strict=True):
        assert said.startswith(f"{path}, row {row:,}{why}")
    assert done.stored.provenance.skipped == done.rejected.count == len(WRONG)
    assert_same_tally(done.stored.fitted.tally, in_memory(without(changed), COLUMNS))


def test_bad_rows_in_the_first_lines_do_not_change_what_the_columns_are(path):
    save(path, {1: "1,2", 2: line(1, x="oops"), 3: "1,2,3,4,5,6,7"})
    done = train(path, "y", scores=False, read=REPORT)
    assert [re.search(r"row (\d+)", text)[1] for text in done.rejected.lines] == ["1", "2", "3"]
    assert_same_tally(done.stored.fitted.tally, in_memory(without({1, 2, 3}), "auto"))


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


def test_a_bad_line_of_json(tmp_path):
    path = tmp_path / "rows.jsonl"
    lines = stored("jsonl", GOOD).decode().splitlines()
    bad = {
        '{"x": 1.5, "k": ': ": it is not valid JSON",
        '{"x": "oops"}': ", column 'x': 'oops' is not a number",
        "[1, 2]": ": it is not a JSON record",
        '{"k": 1.5}': ", column 'k': 1.5 is not a whole number",
        '{"y": null}': ": the label is missing",
        '{"s": 5}': ", column 's': 5 is not text",
        '{"x": 1e5, "s": "\\ud800", "y": "p"}': ": it is not valid JSON (JSON is malformed",
        f'{{"k": {10**30}}}': f", column 'k': {10**30} is not a whole number",
    }
    lines[1000:1008] = bad
    path.write_text("\n".join(lines))
    with small_blocks(4000):
        said = message_of(lambda: tally_of(path, COLUMNS))
        assert said.startswith(f"{path}, row 1,001: it is not valid JSON")
        done = trained(path, COLUMNS, bad_rows="report")
    for place, (found, why) in enumerate(zip(done.rejected.lines, bad.values(), strict=True)):
        assert found.startswith(f"{path}, row {1001 + place:,}{why}")
    left = without(set(range(1001, 1009)))
    assert_same_tally(done.stored.fitted.tally, in_memory(left, COLUMNS))


MANY = 20_000


@pytest.fixture
def saved(tmp_path):
    """Write rows of which every fifth is bad in one column."""

    def save(**bad):
        path = tmp_path / "rows.csv"
        good = {"x": "1.5", "w": "2", "s": "u", "y": "a"}
        lines = [
            ",".join({**good, "y": "ab"[row % 2], **(bad if row % 5 == 3 else {})}.values())
            for row in range(MANY)
        ]
        path.write_text("\n".join([",".join(good), *lines]))
        return path

    return save


REFUSED_IN_TRAINING = {
    "a zero has no logarithm": ({"x": "0"}, {"x": "log_normal"}, "column 'x' holds 0.0, but only"),
    "a count is negative": ({"x": "-1"}, {"x": "poisson"}, "column 'x' is -1.0; counts must be"),
    "a number is infinite": ({"x": "inf"}, {"x": "gaussian"}, "column 'x' holds infinity; replace"),
    "a number is too large": ({"x": "1e200"}, {"x": "gaussian"}, "column 'x' holds numbers too"),
    "a weight is negative": ({"w": "-2"}, {}, "column 'w' is missing, negative or too large"),
    "a weight is none": ({"w": "nan"}, {}, "column 'w' is missing, negative or too large"),
    "a label is missing": ({"y": ""}, {}, "the label is missing; drop the row or label it"),
}


@pytest.mark.parametrize(
    ("bad", "columns", "why"), REFUSED_IN_TRAINING.values(), ids=REFUSED_IN_TRAINING
)
def test_thousands_of_rows_that_the_counting_refuses_are_rejected(saved, bad, columns, why):
    path = saved(**bad)
    spec = ModelSpec(columns={"x": "gaussian", "s": "categorical", **columns})
    trained = train(path, "y", spec, weight="w", read=REPORT, scores=False)
    assert trained.stored.fitted.tally.rows.sum() == MANY - MANY // 5
    assert trained.rejected.count == len(trained.rejected.lines) == MANY // 5
    assert trained.rejected.lines[1].startswith(f"{path}, row 9: {why}")
    skipped = train(path, "y", spec, weight="w", read=SKIP, scores=False)
    assert (skipped.rejected.count, len(skipped.rejected.lines)) == (MANY // 5, 5)
    said = message_of(lambda: train(path, "y", spec, weight="w", scores=False))
    assert said.startswith(f"{path}, row 4: {why}")


REFUSED_IN_SCORING = {
    "a class is unknown": ({"y": "c"}, "the class 'c' is unknown to the model; known: 'a', 'b'"),
    "a weight is negative": ({"w": "-2"}, "column 'w' is missing, negative or too large"),
    "a category is unseen": ({"s": "v"}, "column 's' holds 'v', which was never counted"),
}


@pytest.mark.parametrize(("bad", "why"), REFUSED_IN_SCORING.values(), ids=REFUSED_IN_SCORING)
def test_thousands_of_rows_that_the_scoring_refuses_are_rejected(saved, bad, why):
    spec = ModelSpec(drop=("w",), unseen="error")
    model = train(saved(), "y", spec, scores=False).stored
    path = saved(**bad)
    evaluated = evaluate(model, path, weight="w", read=REPORT)
    aside = evaluated.rejected
    assert evaluated.result.confusion.counts.sum() == 2.0 * (MANY - MANY // 5)
    assert aside.lines[-1].startswith(f"{path}, row {MANY - 1:,}: {why}")
    assert aside.count == len(aside.lines) == MANY // 5


def test_thousands_of_rows_that_cannot_be_predicted_are_rejected(saved, tmp_path):
    model = train(saved(), "y", ModelSpec(drop=("w",), unseen="error"), scores=False).stored
    out = tmp_path / "out.csv"
    predicted = predict(model, saved(s="v"), out, read=SKIP)
    assert (predicted.rows, predicted.rejected.count) == (MANY - MANY // 5, MANY // 5)
    assert out.read_text().count("\n") == 1 + predicted.rows


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
    wanted = {"p": "float", "q": "float", "r": "text"}
    found, bad, before = [], [], 0
    with small_blocks(size):
        options = ReadOptions(delimiter=",", bad_rows="skip")
        for chunk in open_rows(path, options).fragments(wanted):
            for piece in chunk.decode():
                found += [list(row.values()) for row in piece.value.to_pylist()]
                bad += [before + each.row for each in piece.bad]
                before += piece.n_read
    assert found == expected
    assert bad == [number for number, row in enumerate(rows) if not fits(row)]
    assert before == len(rows)


LINES_OF_JSON = [json.dumps({"n": k / 2, "c": "ab"[k % 2], "y": "pq"[k % 2]}) for k in range(20)]


def of_json(tmp_path, lines, read=SKIP):
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines))
    return train(path, "y", read=read)


@pytest.mark.parametrize("odd", ["null", "  null", '{"n": 1, "y": "p"} null', "3", '"a"'])
def test_a_line_that_is_no_record_is_a_bad_row(tmp_path, odd):
    for place in (0, 7, len(LINES_OF_JSON)):
        lines = [*LINES_OF_JSON[:place], odd, *LINES_OF_JSON[place:]]
        found = of_json(tmp_path, lines)
        assert found.rejected.count == 1
        assert found.stored.fitted.tally.rows.sum() == len(LINES_OF_JSON)
        with pytest.raises(tb.TallyBayesError, match=f"row {place + 1}"):
            of_json(tmp_path, lines, ReadOptions())


TWICE = ['{"n": 1, "c": "a", "y": "p", "n": 2}', '{"n": null, "n": 1, "y": "p"}',
         '{"n": 1, "y": "p", "y": "p"}']  # fmt: skip


@pytest.mark.parametrize("odd", TWICE)
def test_a_record_that_names_a_column_twice_is_a_bad_row(tmp_path, odd):
    for place in (0, 7, len(LINES_OF_JSON)):
        lines = [*LINES_OF_JSON[:place], odd, *LINES_OF_JSON[place:]]
        found = of_json(tmp_path, lines)
        assert found.rejected.count == 1
        assert found.stored.fitted.tally.rows.sum() == len(LINES_OF_JSON)
        for text in ("\n".join(lines), f"[{', '.join(lines)}]".replace(",", ",\n\r\n")):
            (tmp_path / "b.jsonl").write_text(text)
            with pytest.raises(tb.TallyBayesError, match=f"row {place + 1}, column '.': it is th"):
                train(tmp_path / "b.jsonl", "y")
    # no colon of a text, and no column of a record within it, is one
    fine = '{"n": 1, "c": "\\"n\\": 2", "y": "p", "z": {"n": 2, "y": "q"}}'
    assert not of_json(tmp_path, [*LINES_OF_JSON, fine, "null"]).rejected.count > 1


def test_a_record_that_is_broken_into_lines_is_none_wherever_a_block_ends(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    path.write_text(
        "\n".join([*LINES_OF_JSON[:5], '{"n": 1,', '"c": "a", "y": "p"}', *LINES_OF_JSON[5:]])
    )
    for size in (1 << 22, 64, 300):
        monkeypatch.setattr(text_blocks, "BLOCK", size)
        types = {"n": "float", "c": "text", "y": "text"}
        stream = map_rows(open_rows(path, SKIP), types, lambda table: table.num_rows, SKIP)
        assert sum(part.value for part in stream) == len(LINES_OF_JSON)
        assert stream.rejected.count == 2


def test_whole_numbers_that_no_decimal_equals_are_numbers_all_the_same(tmp_path):
    lines = [*LINES_OF_JSON, '{"n": 90071992547409933, "c": "a", "y": "p"}', "broken"]
    assert of_json(tmp_path, lines).stored.fitted.tally.rows.sum() == len(LINES_OF_JSON) + 1


def test_a_field_without_a_name_is_refused(tmp_path):
    with pytest.raises(tb.TallyBayesError, match="a field of a record has no name; give it one"):
        of_json(tmp_path, [*LINES_OF_JSON, '{"": 1, "y": "p"}'])


def test_a_nul_in_a_class_or_a_name_is_written_so_that_it_can_be_read(tmp_path):
    lines = [line.replace('"p"', '"p\\u0000x"') for line in LINES_OF_JSON]
    lines = [line.replace("{", '{"a\\u0000": 1, ', 1) for line in lines]
    stored = of_json(tmp_path, lines).stored
    predict(stored, tmp_path / "a.jsonl", tmp_path / "b.csv", proba=True, keep=("a\0",))
    assert open_rows(tmp_path / "b.csv").names == (
        "a\N{REPLACEMENT CHARACTER}",
        "prediction",
        "P(p\N{REPLACEMENT CHARACTER}x)",
        "P(q)",
    )
