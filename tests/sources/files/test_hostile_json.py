"""JSON lines that fuzzing found: each ended the process, or was another library's error."""

import json

import pytest

import tallybayes as tb
from tallybayes import workflows
from tallybayes.model.specification import ModelSpec
from tallybayes.sources import ReadOptions, open_rows, text_blocks
from tallybayes.sources.row_stream import map_rows

GOOD = [json.dumps({"n": k / 2, "c": "ab"[k % 2], "y": "pq"[k % 2]}) for k in range(20)]
SKIP = ReadOptions(bad_rows="skip")


def trained(tmp_path, lines, read=SKIP):
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines))
    return workflows.train(path, "y", ModelSpec(plain=True), read=read)


@pytest.mark.parametrize("odd", ["null", "  null", '{"n": 1, "y": "p"} null', "3", '"a"'])
def test_a_line_that_is_no_record_is_a_bad_row(tmp_path, odd):
    for place in (0, 7, len(GOOD)):
        lines = [*GOOD[:place], odd, *GOOD[place:]]
        found = trained(tmp_path, lines)
        assert found.rejected.count == 1
        assert found.stored.fitted.tally.rows.sum() == len(GOOD)
        with pytest.raises(tb.TallyBayesError, match=f"row {place + 1}"):
            trained(tmp_path, lines, ReadOptions())


def test_a_record_that_is_broken_into_lines_is_none_wherever_a_block_ends(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join([*GOOD[:5], '{"n": 1,', '"c": "a", "y": "p"}', *GOOD[5:]]))
    for size in (1 << 22, 64, 300):
        monkeypatch.setattr(text_blocks, "BLOCK", size)
        types = {"n": "float", "c": "text", "y": "text"}
        stream = map_rows(open_rows(path, SKIP), types, lambda table: table.num_rows, SKIP)
        assert sum(part.value for part in stream) == len(GOOD)
        assert stream.rejected.count == 2


def test_whole_numbers_that_no_decimal_equals_are_numbers_all_the_same(tmp_path):
    lines = [*GOOD, '{"n": 90071992547409933, "c": "a", "y": "p"}', "broken"]
    assert trained(tmp_path, lines).stored.fitted.tally.rows.sum() == len(GOOD) + 1


def test_a_field_without_a_name_is_refused(tmp_path):
    with pytest.raises(tb.TallyBayesError, match="a field of a record has no name; give it one"):
        trained(tmp_path, [*GOOD, '{"": 1, "y": "p"}'])


def test_a_class_with_a_nul_is_written_so_that_it_can_be_read(tmp_path):
    lines = [line.replace('"p"', '"p\\u0000x"') for line in GOOD]
    stored = trained(tmp_path, lines).stored
    workflows.predict(stored, tmp_path / "a.jsonl", tmp_path / "b.csv", proba=True)
    assert open_rows(tmp_path / "b.csv").names == (
        "prediction",
        "P(p\N{REPLACEMENT CHARACTER}x)",
        "P(q)",
    )
