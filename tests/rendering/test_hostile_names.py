"""Whatever is shown: names and values of a user stay words, on lines of bounded length."""

from __future__ import annotations

import json
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

import tallybayes as tb
from tallybayes.modelfile import Provenance, Stored
from tallybayes.rendering import Renderable
from tallybayes.report.inspection import inspect_model

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
