"""CSV in all its dialects, and JSON lines, give the rows and the tally of the table in memory."""

import csv
import io
import json

import pytest
from hypothesis import example, given, strategies as st

from plain_model import ModelSpec, train
from sources.files.reading import (
    COLUMNS,
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
from tallybayes.sources import ReadOptions, open_rows, text_blocks
from tallybayes.sources.text_blocks import Quoting
from tiers import scaled

MISSING = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "?"]
QUOTING = {
    "where needed": csv.QUOTE_MINIMAL,
    "all": csv.QUOTE_ALL,
    "all but numbers": csv.QUOTE_NONNUMERIC,
}


DIALECTS = {
    "commas": ({}, {}),
    "semicolons": ({"delimiter": ";"}, {}),
    "tabs": ({"delimiter": "\t"}, {}),
    "bars": ({"delimiter": "|"}, {}),
    "bars that are stated": ({"delimiter": "|"}, {"delimiter": "|"}),
    "an unusual delimiter": ({"delimiter": "~"}, {"delimiter": "~"}),
    "another quote": ({"quotechar": "'"}, {"quote": "'"}),
    "decimal commas": ({"decimal": ",", "delimiter": ";"}, {"decimal": ","}),
    "lines that end in CRLF": ({"lineterminator": "\r\n"}, {}),
}


@pytest.mark.parametrize(("dialect", "options"), DIALECTS.values(), ids=DIALECTS)
def test_any_dialect_stated_or_found(path, dialect, options):
    path.write_bytes(written(TABLE, **dialect).encode())
    assert rows_of(path, **options) == RECORDS
    assert_same_tally(tally_of(path, **options), in_memory(TABLE))


@pytest.mark.parametrize("marker", MISSING)
def test_markers_of_missing_values(path, marker):
    for quoting in QUOTING.values():
        path.write_text(written(TABLE, missing=marker, quoting=quoting))
        assert_same_tally(tally_of(path), in_memory(TABLE))


SMALL = {
    "quotes that do not begin a field are letters": (
        'size,note,y\n5" pipe,a "b" c,p\n7",x,q\n"8""","c\nd",p\n',
        {},
        [('5" pipe', 'a "b" c', "p"), ('7"', "x", "q"), ('8"', "c\nd", "p")],
    ),
    "a stray quote in the first line": ('5" pipe,y\n1,a\n2,b\n', {}, [(1, "a"), (2, "b")]),
    "no quotes at all": ('a,b\n"x,1\ny",2\n', {"quote": ""}, [('"x', 1), ('y"', 2)]),
    "lines of delimiters alone": ("a\tb\n\t\n1\t\n", {"format": "tsv"}, [(None, None), (1, None)]),
    "markers of one's own": ("x,s\n1,NA\n-,-\n", {"missing": ("-",)}, [(1, "NA"), (None, None)]),
    "true and false": ("x,y\nTRUE,a\nfalse,b\n,a\n", {}, [(True, "a"), (False, "b"), (None, "a")]),
    "one column": ('word\nx\n""\ny\n', {}, [("x",), (None,), ("y",)]),
    "no names": ("1,a\n2,b\n", {"header": False}, [(1, "a"), (2, "b")]),
    "dates and times": ("d,t\n2024-01-31,10:00:00\n", {}, [("2024-01-31", "10:00:00")]),
    "large whole numbers": (f"x,y\n{2**63 - 1},{-(2**63)}\n", {}, [(2**63 - 1, -(2**63))]),
    "larger whole numbers": (f"x,y\n{2**70},a\n", {}, [(float(2**70), "a")]),
    "empty lines": ("\n\r\nx,y\n\n1,a\n\n\n2,b\n\n", {}, [(1, "a"), (2, "b")]),
    "no final line break": ("x,y\n1,a\n2,b", {}, [(1, "a"), (2, "b")]),
    "nothing but names": ("x,y\n\n", {}, []),
    "Latin-1": ("name,y\nJosé,a\n".encode("latin-1"), {"encoding": "latin-1"}, [("José", "a")]),
}


@pytest.mark.parametrize(("text", "options", "rows"), SMALL.values(), ids=SMALL)
def test_small_files(path, text, options, rows):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    for size in (5, 11, 1 << 20):
        with small_blocks(size):
            found = rows_of(path, **options)
        assert [tuple(record.values()) for record in found] == rows


def test_names_of_columns(path):
    for text, options, names in [
        (' x , "s",y\n1,u,a\n', {}, ("x", '"s"', "y")),
        (",x\n0,1\n", {}, ("index", "x")),
        ("1,2\n", {"header": False}, ("x0", "x1")),
    ]:
        path.write_text(text)
        assert open_rows(path, ReadOptions(**options)).names == names
    tabs = path.rename(path.with_suffix(".tsv"))
    tabs.write_text("a,b\tc,d\n1,2\t3\n")
    assert rows_of(tabs) == [{"a,b": "1,2", "c,d": 3}]


def test_decimal_numbers_are_read_to_the_last_bit(path):
    values = [0.1, 1 / 3, 1e-308, 5e-324, 1.7976931348623157e308, 2**53 + 1.0, -0.0]
    path.write_text("x,y\n" + "".join(f"{value!r},a\n" for value in values))
    assert [row["x"].hex() for row in rows_of(path)] == [value.hex() for value in values]


def test_only_the_columns_that_are_wanted_are_decoded(path):
    path.write_text(written(TABLE))
    assert rows_of(path, {"y": "categorical", "age": "float"}) == [
        {"y": record["y"], "age": float(record["age"])} for record in RECORDS
    ]
    said = message_of(lambda: rows_of(path, {"incom": "float"}))
    assert said == f"{path} has no column 'incom'; did you mean 'income'?"


REFUSED = {
    "nothing": ("", {}, "is empty"),
    "line breaks": ("\r\n\r\n", {}, "is empty"),
    "a mark": ("\ufeff", {}, "is empty"),
    "two columns of a name": ("x,x,y\n1,2,a\n", {}, "two columns are named 'x'"),
    "a column without a name": ("x,,y\n1,2,a\n", {}, "column 2 has no name"),
    "a quote that is never closed": ('a,b\n1,x\n2,"y\n3,z\n4,w\n', {}, "in the line '2,\"y'"),
    "a point for a comma": (
        "x;y\n" + "1,5;a\n2,5;b\n" * 20 + "1.500;a\n",
        {"decimal": ","},
        "row 41, column 'x': '1.500' is not a number",
    ),
}


@pytest.mark.parametrize(("text", "options", "why"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_table_is_one_clear_error(path, text, options, why):
    path.write_text(text)
    for size in (32, 1 << 20):
        with small_blocks(size):
            said = message_of(lambda: tally_of(path, {"x": "gaussian"}, **options))
        assert str(path) in said
        assert why in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"format": "cvs"}, "did you mean 'csv'"),
        ({"delimiter": ",,"}, "one ASCII character"),
        ({"delimiter": "\n"}, "one ASCII character"),
        ({"quote": "«"}, "one ASCII character"),
        ({"decimal": ";"}, "'.' or ','"),
        ({"decimal": ",", "delimiter": ","}, "both ','"),
        ({"quote": ";", "delimiter": ";"}, "both ';'"),
        ({"encoding": "utf-88"}, "no encoding 'utf-88'"),
        ({"encoding": "base64"}, "no encoding 'base64'"),
        ({"missing": "NA"}, "a tuple of texts"),
        ({"bad_rows": "ignore"}, "'error', 'skip' or 'report'"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, said):
    assert said in message_of(lambda: ReadOptions(**options))


MARKED = ["utf-8", "utf-8-sig", "utf-16", "utf-32"]
STATED = ["cp1252", "utf-16-le", "utf-16-be", "utf-7", "gb18030"]


@pytest.mark.parametrize("encoding", [*MARKED, *STATED])
@pytest.mark.parametrize("size", [9, 1 << 20])
def test_encodings_are_recognised_by_their_mark_or_stated(path, encoding, size):
    path.write_bytes(written(TABLE).encode(encoding))
    options = {"encoding": encoding} if encoding in STATED else {}
    with small_blocks(size):
        found = rows_of(path, {"status": "text"}, **options)
    assert found == [{"status": record["status"]} for record in RECORDS]


LATE = b"name,y\n" + b"x,a\n" * 50
WRONG = {
    "in a name": "naïve,y\n1,a\n".encode("latin-1"),
    "in the first rows": "name,y\nJosé,a\nÅsa,b\n".encode("latin-1"),
    "in a row that is too long": "name,y\nx,a\nJosé,b,c\n".encode("latin-1"),
    "in a late row": LATE + "José,a\n".encode("latin-1"),
    "in a late row that is too long": LATE + "é,a,b\n".encode("latin-1"),
    "in a late number": b"n,y\n" + b"1,a\n" * 50 + "é,a\n".encode("latin-1"),
    "UTF-16 without a mark": "name,y\nx,a\n".encode("utf-16-le"),
}
WRONG = {name: (data, None) for name, data in WRONG.items()}
for _stated in ("ascii", "cp1252", "utf-16", "utf-32", "utf-7"):
    WRONG[f"stated as {_stated}"] = ("name,y\nÁé\x81,a\n".encode("latin-1") * 20, _stated)


@pytest.mark.parametrize(("data", "stated"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("bad_rows", ["error", "skip"])
def test_a_wrong_encoding_is_an_error_that_names_file_and_option(path, data, stated, bad_rows):
    path.write_bytes(data)
    with small_blocks(16):
        said = message_of(lambda: rows_of(path, bad_rows=bad_rows, encoding=stated))
    assert str(path) in said
    assert "encoding=" in said


def as_python_writes(rows, how):
    text = io.StringIO(newline="")
    csv.writer(text, quoting=how, lineterminator="\n").writerows(rows)
    return text.getvalue()


pairs = st.lists(st.text('ab", \n;', max_size=5), min_size=2, max_size=2)
quoting = st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
sound = st.builds(as_python_writes, st.lists(pairs, max_size=12), quoting)


@given(
    st.one_of(sound, st.text('a",\n', max_size=60)),
    st.integers(1, 60),
    st.sampled_from([1, 2, 3, 8, 64]),
)
@example('5" pipe,1\n"c\nd",2\n"e\n', 60, 64)
@example('a,"b\nc","d\ne\n', 60, 64)
@example('"""\n",\n"', 60, 1)
@scaled(8)
def test_rows_are_those_that_python_reads_whatever_the_blocks(
    tmp_path_factory, text, size, segment
):
    if Quoting('"', ",").unclosed(text.encode()):
        text += '"'
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    path.write_text("p,q\n" + text)
    expected = [row for row in csv.reader(io.StringIO(text, newline="")) if len(row) == 2]
    with small_blocks(size), pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_blocks, "SEGMENT", segment)
        options = {"delimiter": ",", "missing": (), "bad_rows": "skip"}
        found = rows_of(path, {"p": "text", "q": "categorical"}, **options)
    assert [[row["p"], row["q"]] for row in found] == expected


WANTED = dict.fromkeys(TABLE, "text") | {"income": "float", "age": "integer", "owner": "boolean"}
SPARSE = [{name: value for name, value in r.items() if value is not None} for r in RECORDS]


@pytest.fixture
def jsonl(path):
    return path.with_suffix(".jsonl")


def lines(records, **options):
    return "\n".join(json.dumps(record, **options) for record in records)


FORMS = {
    "with nulls": lines(RECORDS),
    "without what is missing": lines(SPARSE),
    "letters as they are": lines(RECORDS, ensure_ascii=False),
    "with a final line break": lines(RECORDS) + "\n",
    "with empty lines": lines(RECORDS).replace("\n", "\n\n \r\n"),
    "with CRLF": lines(RECORDS).replace("\n", "\r\n"),
    "without blanks": lines(RECORDS, separators=(",", ":")),
    "one list": json.dumps(RECORDS),
    "one list over many lines": json.dumps(RECORDS, indent=2),
    "with a mark": "\ufeff" + lines(RECORDS),
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("size", [700, 1 << 20])
def test_records_of_any_form(jsonl, text, size):
    jsonl.write_bytes(text.encode())
    columns = {**COLUMNS, "owner": "bernoulli"}
    with small_blocks(size):
        assert rows_of(jsonl, WANTED) == RECORDS
        assert_same_tally(tally_of(jsonl, columns), in_memory(TABLE, columns))
    jsonl.write_bytes(text.encode("utf-16"))
    assert rows_of(jsonl, WANTED, encoding="utf-16") == RECORDS


def test_decimals_after_the_first_block_of_whole_numbers(jsonl):
    records = [{"x": k if k < 90 else k + 0.5, "y": "ab"[k % 2]} for k in range(100)]
    jsonl.write_text(lines(records))
    with small_blocks(500):
        table = {"x": [r["x"] for r in records], "y": [r["y"] for r in records]}
        columns = {"x": "gaussian"}
        assert_same_tally(tally_of(jsonl, columns), in_memory(table, columns))


def test_nested_values_are_refused_only_where_they_are_used(jsonl):
    nested = [{**record, "inside": {"z": 1}, "many": [1, 2]} for record in RECORDS]
    jsonl.write_text(lines(nested))
    spec = ModelSpec(drop=("inside", "many"))
    found = train(jsonl, "y", spec, scores=False).stored.fitted.tally
    assert_same_tally(found, in_memory(TABLE, "auto"))
    assert "column 'inside'" in message_of(lambda: train(jsonl, "y", ModelSpec(drop=("many",))))
    assert rows_of(jsonl) == RECORDS


@pytest.mark.parametrize("size", [700, 1 << 20])
def test_a_wrong_encoding_of_json_names_the_file_and_the_option(jsonl, size):
    text = lines([{"s": "plain", "y": "a"}] * 60 + [{"s": "é", "y": "b"}], ensure_ascii=False)
    jsonl.write_bytes(text.encode("latin-1"))
    with small_blocks(size):
        said = message_of(lambda: rows_of(jsonl))
    assert f"{jsonl} is not in UTF-8" in said
    assert "encoding=" in said


NOT_RECORDS = {
    "nothing": ("", "is empty"),
    "an empty list": ("[]", "is empty"),
    "numbers": ("1\n2\n", "is not JSON lines"),
    "a list of numbers": ("[1, 2]", "is not JSON lines"),
    "words": ("these are words\n" * 5, "is not JSON lines"),
    "a list that is cut": ('[{"a": 1}, {"a"', "is not valid JSON"),
    "lists in lines": ("[1, 2]\n[3, 4]\n", "is not valid JSON"),
    "brackets without end": ("[" * 100_000, "is not valid JSON"),
    "braces without end": ('{"a":' * 100_000, "is not JSON lines"),
}


@pytest.mark.parametrize(("text", "why"), NOT_RECORDS.values(), ids=NOT_RECORDS)
def test_what_holds_no_records_is_one_clear_error(jsonl, text, why):
    jsonl.write_text(text)
    assert f"{jsonl} {why}" in message_of(lambda: open_rows(jsonl))
