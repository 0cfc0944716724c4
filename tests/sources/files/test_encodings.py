"""Text is text whatever its encoding and its line ends."""

import pytest

from sources.files.reading import (
    NO_LINE_BREAKS,
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


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rows.csv"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("size", [9, 1 << 20])
def test_encodings_with_a_mark_are_recognised(path, encoding, size):
    path.write_bytes(written(TABLE).encode(encoding))
    with small_blocks(size):
        assert rows_of(path, wanted={"status": "text"}) == [
            {"status": record["status"]} for record in RECORDS
        ]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-le", "utf-16-be", "utf-7", "gb18030"])
def test_encodings_without_a_mark_are_stated(path, encoding):
    path.write_bytes(written(TABLE).encode(encoding))
    assert_same_tally(tally_of(path, encoding=encoding), in_memory(TABLE))


def test_latin_1(path):
    path.write_bytes("name,y\nJosé,a\nÅsa,b\n".encode("latin-1"))
    assert [row["name"] for row in rows_of(path, encoding="latin-1")] == ["José", "Åsa"]


WRONG = {
    "in a name": "naïve,y\n1,a\n".encode("latin-1"),
    "in the first rows": "name,y\nJosé,a\nÅsa,b\n".encode("latin-1"),
    "in a row that is too long": "name,y\nx,a\nJosé,b,c\n".encode("latin-1"),
    "in a late row": b"name,y\n" + b"x,a\n" * 50 + "José,a\n".encode("latin-1"),
    "in a late row that is too long": b"name,y\n" + b"x,a\n" * 50 + "é,a,b\n".encode("latin-1"),
    "in a late number": b"n,y\n" + b"1,a\n" * 50 + "é,a\n".encode("latin-1"),
    "UTF-16 without a mark": "name,y\nx,a\n".encode("utf-16-le"),
}


@pytest.mark.parametrize("data", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("bad_rows", ["error", "skip"])
def test_a_wrong_encoding_is_an_error_that_names_the_file_and_the_option(path, data, bad_rows):
    path.write_bytes(data)
    with small_blocks(16):
        said = message_of(lambda: rows_of(path, bad_rows=bad_rows))
    assert str(path) in said
    assert "encoding=" in said


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-16", "utf-32", "utf-7"])
def test_an_encoding_that_is_stated_wrongly(path, encoding):
    path.write_bytes("name,y\nÁé\x81,a\n".encode("latin-1") * 20)
    said = message_of(lambda: rows_of(path, encoding=encoding))
    assert str(path) in said
    assert "encoding=" in said


ENDS = {"LF": "\n", "CRLF": "\r\n"}


@pytest.mark.parametrize("final", [True, False], ids=["with a final one", "without a final one"])
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("size", [50, 1 << 20])
def test_line_ends(path, end, final, size):
    text = written(NO_LINE_BREAKS, lineterminator=end)
    path.write_bytes((text if final else text[: -len(end)]).encode())
    with small_blocks(size):
        assert_same_tally(tally_of(path), in_memory(NO_LINE_BREAKS))


def test_a_file_without_a_final_line_break_is_known_to_be_read_whole(path):
    path.write_text("x,y\n1,a\n2,b")
    rows = open_rows(path)
    assert rows.complete
    assert rows.sample.num_rows == 2


def test_empty_lines_are_passed_over(path):
    lines = written(NO_LINE_BREAKS).splitlines()
    path.write_text("\n\r\n" + "\n\n".join(lines) + "\n\n\n")
    assert_same_tally(tally_of(path), in_memory(NO_LINE_BREAKS))
    with small_blocks(20):
        assert_same_tally(tally_of(path), in_memory(NO_LINE_BREAKS))
