"""Where records end is found in pieces of the file as one letter after the other would tell."""

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sources.files.reading import rows_of, small_blocks
from tallybayes.sources import text_blocks
from tallybayes.sources.text_blocks import Quoting
from tiers import scaled


def last_end(data):
    """Go through the letters one by one, as a machine of four states."""
    state, end = "begin", 0
    for place, letter in enumerate(data.decode()):
        if state == "quoted":
            state = "quote" if letter == '"' else "quoted"
        elif letter == '"' and state in ("begin", "quote"):
            state = "quoted"
        elif letter in ",\r\n":
            state = "begin"
            end = place + 1 if letter == "\n" else end
        else:
            state = "field"
    return end


@given(st.text('",\n\ra', max_size=40).map(str.encode), st.sampled_from([1, 2, 3, 8, 64]))
@example(b'5" pipe,1\n"c\nd",2\n"e\n', 64)
@example(b'a,"b\nc","d\ne\n', 64)
@example(b'"""\n",\n"', 1)
@scaled(4)
def test_the_last_end_of_a_record(data, segment):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_blocks, "SEGMENT", segment)
        assert Quoting('"', ",").record_end(data) == last_end(data)


@given(st.text('",\n\ra', max_size=40).map(str.encode))
def test_without_quoting_every_line_ends_a_record(data):
    assert Quoting("", ",").record_end(data) == data.rfind(b"\n") + 1


@given(st.text('",\na', max_size=40))
def test_a_quote_is_open_at_the_end_exactly_if_a_quote_more_closes_it(text):
    data = text.encode()
    opened = Quoting('"', ",").unclosed(data)
    whole = data if data.endswith(b"\n") else data + b"\n"
    assert opened == data[last_end(whole) :]


@given(
    st.lists(
        st.lists(st.text('ab", \n;', max_size=5), min_size=2, max_size=2), min_size=1, max_size=12
    ),
    st.integers(1, 60),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
@scaled(2)
def test_what_python_writes_is_read_back_whatever_the_blocks(tmp_path_factory, rows, size, how):
    text = io.StringIO(newline="")
    csv.writer(text, quoting=how, lineterminator="\n").writerows([["p", "q"], *rows])
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    path.write_text(text.getvalue())
    with small_blocks(size):
        found = rows_of(path, {"p": "text", "q": "category"}, delimiter=",", missing=())
    assert [[row["p"], row["q"]] for row in found] == rows


@given(st.text('a",\n', max_size=60), st.integers(1, 30))
@scaled(2)
def test_stray_quotes_are_read_as_python_reads_them(tmp_path_factory, text, size):
    if Quoting('"', ",").unclosed(text.encode()):
        text += '"'
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    path.write_text("p,q\n" + text)
    expected = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    with small_blocks(size):
        options = {"delimiter": ",", "missing": (), "bad_rows": "skip"}
        found = rows_of(path, {"p": "text", "q": "text"}, **options)
    assert [[row["p"], row["q"]] for row in found] == [row for row in expected if len(row) == 2]
