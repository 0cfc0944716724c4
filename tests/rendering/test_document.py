"""One description as text, Markdown, LaTeX, HTML and data, whatever users call their columns."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

import tallybayes as tb
from tallybayes.modelfile import Provenance, Stored
from tallybayes.rendering import Document, Formulas, Heading, Part, Renderable, Table, words
from tallybayes.rendering.document import markdown_text
from tallybayes.rendering.formula import equation, latex_text, number, product, rounded
from tallybayes.rendering.words import FORMATS, class_name, label, labels, listed, tallied
from tallybayes.report.inspection import inspect_model

HOSTILE = "<b>&_$%#{}|*`[x](y)\\\x1b[41m\n"


@dataclass(frozen=True)
class Scores(Renderable):
    name: str
    values: tuple[float, ...]
    memo: object = field(default=None, repr=False)

    def document(self) -> Iterator[Part]:
        yield Heading(f"Scores of {label(self.name)}", 1)
        yield "They were held out."
        yield "In folds."
        yield Table.of(
            "scores",
            [("score", "label"), ("value", "score"), ("working", "text")],
            [(self.name, value, equation("P", number(1) / number(3))) for value in self.values],
            most=3,
            name="scores",
        )
        yield Formulas((equation("P", number(1) / number(3)),))
        yield "note: that is all"


RESULT = Scores("a", (0.5, math.nan, -math.inf, 1.0))


def test_text() -> None:
    assert str(RESULT).splitlines() == [
        "Scores of a",
        "They were held out.",
        "In folds.",
        "",
        "scores",
        "score   value  working",
        "a      0.5000  P = 1/3 = 0.3333",
        "a           -  P = 1/3 = 0.3333",
        "a        -inf  P = 1/3 = 0.3333",
        "... 1 more",
        "",
        "  P = 1/3 = 0.3333",
        "",
        "note: that is all",
    ]


def test_markdown() -> None:
    lines = RESULT.to_markdown().splitlines()
    assert lines[0] == "## Scores of a"
    assert "| score | value | working |" in lines
    assert "| --- | ---: | --- |" in lines
    assert r"| a | 0.5000 | $\text{P} = \frac{1}{3} = 0.3333$ |" in lines
    assert "... 1 more" in lines


def test_latex() -> None:
    written = RESULT.to_latex()
    assert r"\begin{tabular}{lrl}" in written
    assert r"a & 0.5000 & $\text{P} = \frac{1}{3} = 0.3333$ \\" in written
    assert r"\item[] $\displaystyle \text{P} = \frac{1}{3} = 0.3333$" in written


def test_html_is_a_section_with_headings_for_rows_and_columns() -> None:
    page = ElementTree.fromstring(RESULT.to_html())
    assert page.tag == "section"
    assert page.find(".//table").get("data-name") == "scores"
    assert [cell.text for cell in page.findall(".//thead//th[@scope='col']")] == [
        "score",
        "value",
        "working",
    ]
    assert len(page.findall(".//tbody//th[@scope='row']")) == 3
    assert page.find(".//tbody//span").text == "P = 1/3 = 0.3333"
    assert "style" not in {
        element.tag for element in ElementTree.fromstring(RESULT.__html__()).iter()
    }


def test_data_has_the_fields_that_the_repr_shows() -> None:
    assert RESULT.to_dict() == {"name": "a", "values": [0.5, None, "-inf", 1.0]}
    json.dumps(RESULT.to_dict(), allow_nan=False)


def test_what_users_wrote_stays_text_in_every_form() -> None:
    result = Scores(HOSTILE, (0.5,))
    page = ElementTree.fromstring(result.to_html())
    assert "b" not in {element.tag for element in page.iter()}
    assert "\x1b" not in str(result) + result.to_markdown() + result.to_latex() + result.to_html()
    assert r"\<b\>" in result.to_markdown()
    assert r"\textless{}b\textgreater{}\&\_\$\%\#\{\}" in result.to_latex()


def test_a_table_too_wide_for_its_working_shows_the_values() -> None:
    working = equation("P", product([number(1) / number(3)] * 12))
    table = Table.of("t", [("a", "label"), ("b", "text")], [("x", working)])

    class Wide(Renderable):
        def document(self) -> Iterator[Part]:
            yield table

    assert str(Wide()).splitlines()[-1] == "x  0.000001882"
    assert "1/3 x 1/3" in Wide().to_text(width=200)


def test_long_formulas_break_before_a_sign() -> None:
    class Long(Renderable):
        def document(self) -> Iterator[Part]:
            yield Formulas((equation("P", product([number(1) / number(3)] * 30)),))

    lines = str(Long()).splitlines()
    assert max(map(len, lines)) <= 96
    assert all(line.lstrip()[0] in "x=" for line in lines[1:])


@given(st.text(max_size=80), st.integers(3, 40))
def test_a_label_is_one_printable_line_of_bounded_length(text: str, most: int) -> None:
    written = label(text, most)
    assert written.isprintable()
    assert 0 < len(written) <= max(most, 2)


def test_long_names_that_differ_at_their_end_stay_apart() -> None:
    names = [label("x" * 100 + str(k)) for k in range(10)]
    assert len(set(names)) == 10


ALIKE = st.lists(st.text("ab…1", max_size=30), max_size=30)


@given(ALIKE, st.integers(3, 12))
def test_names_that_differ_never_look_alike_however_they_are_shortened(names, most) -> None:
    written = labels(names, most)
    of = dict(zip(written, map(label, names), strict=True))
    assert [of[short] for short in written] == list(map(label, names))
    assert all(len(short) <= max(most, 6) for short in written)


def test_tables_and_sentences_keep_long_names_apart() -> None:
    names = [f"{'x' * 40}{k}{'y' * 40}" for k in range(3)]
    table = Table.of("", [("column", "label"), ("n", "count")], [(name, 7) for name in names])
    lines = str(Document((table,))).splitlines()[1:]
    assert len({line.split()[0] for line in lines}) == 3
    first, second, third = re.split(", | and ", listed(names))
    assert len({first, second, third}) == 3
    assert all(len(name) <= 32 for name in (first, second, third))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_writes_usual_numbers(name: str) -> None:
    for x in (0, 1, 0.5, 1e-9, 12345.678, math.inf):
        if name != "probability" or x <= 1:
            assert FORMATS[name](x)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (label("a\nb\x1b[41m"), "a b\N{REPLACEMENT CHARACTER}[41m"),
        (label(""), '""'),
        (label(0.1 + 0.2), "0.3"),
        (label("total_charges_before_tax_2025", 20), "total_char…_tax_2025"),
        (listed([]), ""),
        (listed(["a"]), "a"),
        (listed(["a", "b", "c"]), "a, b and c"),
        (listed("abcde", most=3), "a, b, c and 2 more"),
        (listed("ab", last="or"), "a or b"),
        (words.count(1234567), "1,234,567"),
        (words.count(0.1 + 0.2), "0.3"),
        (words.counted(1, "row"), "1 row"),
        (words.counted(1234, "row"), "1,234 rows"),
        (words.counted(2, "class", "classes"), "2 classes"),
        (words.score(-1e-9), "0.0000"),
        (words.bits(-0.0), "+0.00"),
        (words.number(0.123456), "0.123"),
        (words.number(1234567.0), "1,230,000"),
        (words.number(-2.0), "-2"),
        (words.number(1e-7), "1e-07"),
        (words.probability(0.25), "0.2500"),
        (words.probability(0.99999999), "1 - 1e-08"),
        (words.probability(1e-9), "1e-09"),
        (words.probability(1.0), "1"),
        (words.odds(1.0), "2 : 1"),
        (words.odds(0.0), "1 : 1"),
        (words.odds(-2.0), "1 : 4"),
        (words.odds(4000.0), "2^4000 : 1"),
        (words.odds(-math.inf), "1 : inf"),
        (words.tallied([("No", 1234), ("Yes", 3)], "y"), "1,234 'No', 3 'Yes'"),
        (markdown_text("a_b | <i>$5"), r"a\_b \| \<i\>\$5"),
        (latex_text("50% of R&D_{x}"), r"50\% of R\&D\_\{x\}"),
        (number(3.0), "3"),
        (number(0.25), "0.25"),
        (number(1 / 3), "1/3"),
        (number(0.123456789), "0.123457"),
        (number(1e-9), "1 x 10^-9"),
        (rounded(math.log(0.0000296), 3), "0.0000296"),
        (rounded(math.log(9.9996e-9), 3), "1.00 x 10^-8"),
        (rounded(-math.inf), "0"),
    ],
)
def test_single_things_are_written(written: object, text: str) -> None:
    assert str(written) == text


def test_classes_that_are_numbers_are_named_by_what_they_are_of():
    rows = [(0, 4771), (1, 1189)]
    assert tallied(rows, "BAD") == "4,771 with BAD = 0, 1,189 with BAD = 1"
    assert tallied([("No", 7), ("Yes", 3)], "cheat") == "7 'No', 3 'Yes'"
    many = tallied([(f"c{k}", k) for k in range(30)], "class", 2)
    assert many == "29 'c29', 28 'c28' and 28 classes more"
    assert class_name("owner", True) == "owner = True"


EVIL = "\x1b]0;PWN\x07\x9b7m\u202e<b>![x](http://evil/x.png) p*q*r `c`\b"
LONG = "n" * 10_000
ROWS = 12


def results() -> Iterator[tuple[str, Renderable]]:
    table = {
        f"{EVIL}1": [f"{EVIL}a", "b", LONG] * 4,
        LONG: [*"uvw"] * 4,
        "number": [float(k * k) for k in range(ROWS)],
        "mail": [f"{EVIL} win", f"{LONG} now", "win now"] * 4,
    }
    y = [f"{EVIL}!", LONG] * (ROWS // 2)
    columns = {"mail": tb.Text()}
    model = tb.NaiveBayes(columns).fit(table, y)
    record = {name: values[0] for name, values in table.items()}
    made = Provenance(EVIL, LONG, EVIL, (EVIL, LONG), ROWS, 1, (EVIL, LONG))
    yield "evidence", model.explain(record)
    yield "working", model.explain(record, show="working")
    yield "counterfactuals", model.counterfactuals(record)
    yield "inspection", inspect_model(Stored(model.fitted_, made), f"{EVIL}.tally")
    yield "scores", model.cross_val(table, y, folds=3).report()
    yield "diagnosis", model.diagnose(table, y)
    yield "confusion", model.cross_val(table, y, folds=3).confusion


RESULTS = dict(results())


@pytest.mark.parametrize("name", RESULTS)
def test_text_is_printable_and_its_lines_are_short(name: str) -> None:
    for line in str(RESULTS[name]).splitlines():
        assert line.isprintable()
        assert len(line) <= 240


@pytest.mark.parametrize("name", RESULTS)
def test_markdown_and_html_make_nothing_of_the_users_words(name: str) -> None:
    blocks = MarkdownIt().parse(RESULTS[name].to_markdown())
    tokens = [token for block in blocks for token in (block, *(block.children or ()))]
    signs = {"image", "link_open", "em_open", "code_inline", "html_inline", "html_block"}
    assert not signs & {token.type for token in tokens}
    page = ElementTree.fromstring(RESULTS[name].to_html())
    assert not {"b", "img", "script"} & {element.tag for element in page.iter()}
    json.dumps(RESULTS[name].to_dict(), allow_nan=False)
