"""CSV in all its dialects gives the rows and the tally of the same table in memory."""

import csv

import pytest

from sources.files.reading import (
    COLUMNS,
    RECORDS,
    TABLE,
    assert_same_tally,
    frame,
    in_memory,
    message_of,
    rows_of,
    small_blocks,
    tally_of,
    written,
)
from tallybayes.sources.formats import ReadOptions
from tallybayes.sources.rows import open_rows
from tallybayes.workflows.training import train

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
MISSING = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "?"]
QUOTING = {
    "where needed": csv.QUOTE_MINIMAL,
    "all": csv.QUOTE_ALL,
    "all but numbers": csv.QUOTE_NONNUMERIC,
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rows.csv"


@pytest.mark.parametrize("stated", [True, False], ids=["stated", "found"])
@pytest.mark.parametrize("delimiter", DELIMITERS.values(), ids=DELIMITERS)
def test_any_delimiter_stated_or_found(path, delimiter, stated):
    path.write_bytes(written(TABLE, delimiter=delimiter).encode())
    options = {"delimiter": delimiter} if stated else {}
    assert rows_of(path, **options) == RECORDS
    assert_same_tally(tally_of(path, **options), in_memory(TABLE))


def test_a_delimiter_that_is_not_among_the_usual_ones_is_stated(path):
    path.write_text(written(TABLE, delimiter="~"))
    assert rows_of(path, delimiter="~") == RECORDS


def test_columns_are_understood_as_those_of_a_table_in_memory(path):
    path.write_text(written(TABLE))
    found = train(path, "y", scores=False).stored.fitted.tally
    assert_same_tally(found, in_memory(TABLE, "auto"))


@pytest.mark.parametrize("size", [1, 2, 7, 64, 333, 4096])
@pytest.mark.parametrize("quoting", QUOTING.values(), ids=QUOTING)
def test_line_breaks_in_quotes_may_stand_at_the_edges_of_blocks(path, quoting, size):
    path.write_text(written(TABLE, quoting=quoting))
    with small_blocks(size):
        assert_same_tally(tally_of(path), in_memory(TABLE))


def test_another_quote(path):
    path.write_text(written(TABLE, quotechar="'"))
    assert rows_of(path, quote="'") == RECORDS


def test_quotes_that_do_not_begin_a_field_are_letters(path):
    lines = ["size,note,y", '5" pipe,a "b" c,p', '7",x,q', '"8""","c\nd",p', '9" and 10",z,q']
    path.write_text("\n".join(lines))
    expected = [
        {"size": '5" pipe', "note": 'a "b" c', "y": "p"},
        {"size": '7"', "note": "x", "y": "q"},
        {"size": '8"', "note": "c\nd", "y": "p"},
        {"size": '9" and 10"', "note": "z", "y": "q"},
    ]
    assert rows_of(path) == expected
    for size in range(1, 90):
        with small_blocks(size):
            assert rows_of(path) == expected


def test_a_stray_quote_in_the_first_line_does_not_swallow_the_others(path):
    path.write_text('5" pipe,y\n1,a\n2,b\n')
    assert rows_of(path) == [{'5" pipe': 1, "y": "a"}, {'5" pipe': 2, "y": "b"}]


def test_without_quoting_quotes_are_letters_and_line_breaks_end_rows(path):
    path.write_text('a,b\n"x,1\ny",2\n')
    assert rows_of(path, quote="") == [{"a": '"x', "b": 1}, {"a": 'y"', "b": 2}]


@pytest.mark.parametrize("size", [5, 1 << 20])
def test_a_quote_that_is_never_closed_is_an_error_not_a_huge_value(path, size):
    path.write_text('a,b\n1,x\n2,"y\n3,z\n4,w\n')
    with small_blocks(size):
        said = message_of(lambda: rows_of(path))
    assert str(path) in said
    assert '2,"y' in said
    assert "quote=''" in said


def test_decimal_commas(path):
    path.write_text(written(TABLE, decimal=",", delimiter=";"))
    assert_same_tally(tally_of(path, decimal=","), in_memory(TABLE))


def test_a_point_is_no_decimal_mark_where_the_comma_is(path):
    path.write_text("x;y\n" + "1,5;a\n2,5;b\n" * 20 + "1.500;a\n")
    with small_blocks(32):
        said = message_of(lambda: tally_of(path, {"x": "gaussian"}, decimal=","))
    assert "row 41, column 'x': '1.500' is not a number" in said


def test_lines_of_delimiters_alone_are_rows_without_values(path):
    path.write_text("a\tb\tc\n" + "\t\t\n" * 30 + "1\t\t\n")
    with small_blocks(8):
        rows = rows_of(path, {"a": "number"}, format="tsv")
    assert rows == [{"a": None}] * 30 + [{"a": 1.0}]


def test_without_a_header_the_columns_are_numbered(path):
    path.write_text(written(TABLE, header=False))
    expected = [{f"x{k}": value for k, value in enumerate(r.values())} for r in RECORDS]
    assert rows_of(path, header=False) == expected


@pytest.mark.parametrize("text", ["", "\n", "\r\n\r\n", "\ufeff"])
def test_an_empty_file_is_an_error(path, text):
    path.write_text(text)
    said = message_of(lambda: open_rows(path))
    assert f"{path} is empty" in said


@pytest.mark.parametrize("text", ["x,y\n", "x,y", "x,y\n\n\n"])
def test_a_file_with_a_header_only_has_no_rows_to_learn_from(path, text):
    path.write_text(text)
    assert open_rows(path).names == ("x", "y")
    assert rows_of(path) == []
    said = message_of(lambda: train(path, "y"))
    assert f"{path} has no rows" in said


@pytest.mark.parametrize(
    "marker", ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "?"]
)
@pytest.mark.parametrize("quoting", QUOTING.values(), ids=QUOTING)
def test_markers_of_missing_values(path, marker, quoting):
    path.write_text(written(TABLE, missing=marker, quoting=quoting))
    assert_same_tally(tally_of(path), in_memory(TABLE))


def test_own_markers_of_missing_values_replace_the_usual_ones(path):
    path.write_text("x,s,y\n1,NA,a\n-,u,b\n3,-,a\n")
    rows = rows_of(path, missing=("-",))
    assert [row["x"] for row in rows] == [1, None, 3]
    assert [row["s"] for row in rows] == ["NA", "u", None]


def test_dates_and_times_stay_text(path):
    days = ["2024-01-31", "2024-02-29", "2023-12-01"]
    lines = [f"{day},{day}T10:00:00Z,{day} 10:00:00,10:00:0{k},a" for k, day in enumerate(days)]
    path.write_text("\n".join(["day,zulu,moment,time,y", *lines]))
    assert [row["day"] for row in rows_of(path)] == days
    assert {type(value) for row in rows_of(path) for value in row.values()} == {str}


@pytest.mark.parametrize("yes", ["true", "True", "TRUE"])
def test_true_and_false(path, yes):
    no = {"true": "false", "True": "False", "TRUE": "FALSE"}[yes]
    path.write_text(f"x,y\n{yes},a\n{no},b\n,a\n")
    assert [row["x"] for row in rows_of(path)] == [True, False, None]


def test_true_and_false_may_be_declared_as_numbers_as_in_memory(path):
    columns = {**COLUMNS, "age": "poisson", "owner": "bernoulli"}
    path.write_text(written(TABLE))
    assert_same_tally(tally_of(path, columns), in_memory(TABLE, columns))
    with small_blocks(300):
        assert_same_tally(tally_of(path, columns), in_memory(TABLE, columns))


def test_whole_numbers_of_any_size(path):
    values = [9223372036854775807, -9223372036854775808, 0, 123456789012345678]
    path.write_text("x,y\n" + "".join(f"{value},a\n" for value in values))
    assert [row["x"] for row in rows_of(path)] == values
    path.write_text("x,y\n" + "".join(f"{value}000,a\n" for value in values))
    assert [row["x"] for row in rows_of(path)] == [float(1000 * value) for value in values]


def test_one_column(path):
    path.write_text('word\nx\n""\ny\n')
    assert [row["word"] for row in rows_of(path)] == ["x", None, "y"]


def test_three_thousand_columns(path):
    names = [f"c{k}" for k in range(3000)]
    table = {name: [float(k), k + 1.5, k * k] for k, name in enumerate(names)} | {"y": list("aba")}
    path.write_text(written(table))
    assert_same_tally(tally_of(path, "gaussian"), in_memory(table, "gaussian"))


def test_names_are_taken_without_the_blanks_around_them(path):
    path.write_text(' x , "s",y\n1,u,a\n')
    assert open_rows(path).names == ("x", '"s"', "y")


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("x,x,y", "two columns are named 'x'"),
        ("x,,y", "column 2 has no name"),
        ("x,,y", "column 2"),
    ],
)
def test_names_that_occur_twice_or_are_empty_are_refused(path, header, said):
    path.write_text(f"{header}\n1,2,a\n")
    message = message_of(lambda: open_rows(path))
    assert str(path) in message
    assert said in message


def test_tsv_has_tabs_whatever_else_its_lines_hold(tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_text("a,b\tc,d\n1,2\t3\n4,5\t6\n")
    assert rows_of(path) == [{"a,b": "1,2", "c,d": 3}, {"a,b": "4,5", "c,d": 6}]


def test_decimal_numbers_are_read_to_the_last_bit(path):
    values = [0.1, 1 / 3, 1e-308, 5e-324, 1.7976931348623157e308, 2**53 + 1.0, -0.0]
    path.write_text("x,y\n" + "".join(f"{value!r},a\n" for value in values))
    assert [row["x"].hex() for row in rows_of(path)] == [value.hex() for value in values]


def test_pandas_reads_the_same(path):
    path.write_text(written(TABLE))
    table = frame(TABLE)
    assert_same_tally(tally_of(path), tally_of(table))


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


def test_only_the_columns_that_are_wanted_are_decoded(path):
    path.write_text(written(TABLE))
    assert rows_of(path, {"y": "category", "age": "number"}) == [
        {"y": record["y"], "age": float(record["age"])} for record in RECORDS
    ]


def test_a_column_that_is_not_there_is_named_with_the_file(path):
    path.write_text(written(TABLE))
    said = message_of(lambda: rows_of(path, {"incom": "number"}))
    assert said == f"{path} has no column 'incom'; did you mean 'income'?"
