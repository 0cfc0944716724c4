"""JSON lines, and a file that is one list of records."""

import json

import pytest

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
)
from tallybayes.model.specification import ModelSpec
from tallybayes.sources import open_rows
from tallybayes.workflows import train

WANTED = dict.fromkeys(TABLE, "text") | {"income": "number", "age": "integer", "owner": "boolean"}
SPARSE = [{name: value for name, value in r.items() if value is not None} for r in RECORDS]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rows.jsonl"


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
    "with a field twice": lines(RECORDS).replace('{"income"', '{"income": 0.5, "income"'),
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("size", [700, 1 << 20])
def test_records_of_any_form(path, text, size):
    path.write_bytes(text.encode())
    columns = {**COLUMNS, "owner": "bernoulli"}
    with small_blocks(size):
        assert rows_of(path, WANTED) == RECORDS
        assert_same_tally(tally_of(path, columns), in_memory(TABLE, columns))
    path.write_bytes(text.encode("utf-16"))
    assert rows_of(path, WANTED, encoding="utf-16") == RECORDS


def test_decimals_after_the_first_block_of_whole_numbers(path):
    records = [{"x": k if k < 90 else k + 0.5, "y": "ab"[k % 2]} for k in range(100)]
    path.write_text(lines(records))
    with small_blocks(500):
        table = {"x": [r["x"] for r in records], "y": [r["y"] for r in records]}
        columns = {"x": "gaussian"}
        assert_same_tally(tally_of(path, columns), in_memory(table, columns))


def test_dates_stay_text_and_the_order_of_columns_stays_too(path):
    path.write_text(lines([{"a": 1, "day": "2024-01-31", "b": 2, "at": "2024-01-31 10:00:00"}]))
    assert open_rows(path).names == ("a", "day", "b", "at")
    assert rows_of(path) == [{"a": 1, "day": "2024-01-31", "b": 2, "at": "2024-01-31 10:00:00"}]


def test_nested_values_are_refused_only_where_they_are_used(path):
    nested = [{**record, "inside": {"z": 1}, "many": [1, 2]} for record in RECORDS]
    path.write_text(lines(nested))
    spec = ModelSpec(drop=("inside", "many"))
    found = train(path, "y", spec, scores=False).stored.fitted.tally
    assert_same_tally(found, in_memory(TABLE, "auto"))
    assert "column 'inside'" in message_of(lambda: train(path, "y", ModelSpec(drop=("many",))))
    assert rows_of(path) == RECORDS


@pytest.mark.parametrize("size", [700, 1 << 20])
def test_a_wrong_encoding_names_the_file_and_the_option(path, size):
    text = lines([{"s": "plain", "y": "a"}] * 60 + [{"s": "é", "y": "b"}], ensure_ascii=False)
    path.write_bytes(text.encode("latin-1"))
    with small_blocks(size):
        said = message_of(lambda: rows_of(path))
    assert f"{path} is not in UTF-8" in said
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
def test_what_holds_no_records_is_one_clear_error(path, text, why):
    path.write_text(text)
    assert f"{path} {why}" in message_of(lambda: open_rows(path))
