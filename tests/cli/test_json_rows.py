"""JSON lines that become part of one object as they are written."""

import io
import json

from hypothesis import given
from hypothesis import strategies as st

from tallybayes.cli.json_rows import JsonRows

rows = st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=5), max_size=2), max_size=6)


@given(st.lists(rows, max_size=4), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2))
def test_whatever_way_lines_arrive_they_are_one_list(parts, facts):
    out = io.BytesIO()
    file = JsonRows(out, "rows wanted")
    for part in parts:
        file.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in part).encode())
    file.finish({"n": 1, **facts})
    expected = {"rows wanted": [row for part in parts for row in part], "n": 1, **facts}
    assert json.loads(out.getvalue()) == expected


def test_nothing_is_written_before_the_first_row():
    out = io.BytesIO()
    file = JsonRows(out, "rows")
    file.write(b"")
    assert file.writable()
    assert out.getvalue() == b""
