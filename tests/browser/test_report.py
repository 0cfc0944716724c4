"""The report in a real browser: complete, quiet, offline, readable at any width, and printable."""

import re
from itertools import pairwise

import numpy as np
import pytest

from browser.pages import PAGES, numbers
from tallybayes.metrics import NAMES, Predictions
from tallybayes.metrics.intervals import score_intervals
from tallybayes.rendering.formula import write
from tallybayes.report.inspection import inspect_model

IDS = ("summary", "model", "data", "scores", "evidence", "columns", "examples")
IDS = (*IDS, "warnings", "parameters", "reproduce")
WIDTHS = (390, 1400)
JUDGED = [name for name in PAGES if name != "loan"]


@pytest.fixture
def shown(tmp_path, opened):
    """Open one of the reports."""

    def show(name, width=1400):
        page = PAGES[name]()
        file = tmp_path / "report.html"
        page.report.save(file)
        return page, opened(file, width), file

    return show


def table(found, name):
    """The cells of a table, line by line, without its header."""
    rows: list[list[str]] = found.page.evaluate(
        """name => {
            const table = document.querySelector(`table[data-name=${JSON.stringify(name)}]`);
            const lines = [...table.tBodies[0].rows];
            const text = cell => [...cell.querySelectorAll("math")].map(
                each => each.getAttribute("alttext")).join(" ") || cell.innerText;
            return lines.map(line => [...line.cells].map(text));
        }""",
        name,
    )
    return rows


@pytest.mark.parametrize("name", PAGES)
def test_the_page_complains_of_nothing_and_asks_for_nothing_but_itself(shown, name):
    _, found, file = shown(name)
    found.page.wait_for_load_state("networkidle")
    assert found.complaints == []
    assert found.requests == [file.as_uri()]


@pytest.mark.parametrize("name", PAGES)
def test_all_sections_are_there_and_can_be_seen_and_reached(shown, name):
    page, found, _ = shown(name)
    assert page.report.sections == IDS
    for each in IDS:
        section = found.page.locator(f"section#{each}")
        assert section.count() == 1
        assert section.is_visible()
        assert section.locator("h2").is_visible()
        found.page.locator(f"nav a[href='#{each}']").click()
        found.page.wait_for_url(f"**#{each}")  # a busy browser goes there a moment later


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_never_wider_than_the_window(shown, name, width):
    _, found, _ = shown(name, width)
    wide = "document.documentElement.scrollWidth"
    assert found.page.evaluate(wide) <= width
    found.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert found.page.evaluate(wide) <= width


@pytest.mark.parametrize("name", PAGES)
def test_every_picture_has_a_name_of_its_own(shown, name):
    _, found, _ = shown(name)
    pictures = found.page.evaluate(
        """[...document.querySelectorAll('svg')].map(svg => {
            const of = name => document.getElementById(svg.getAttribute(name)).textContent;
            return [svg.getAttribute('role'), of('aria-labelledby'), of('aria-describedby')];
        })"""
    )
    assert len(pictures) >= 4
    assert {role for role, _, _ in pictures} == {"img"}
    described = [text for _, _, text in pictures]
    assert len(set(described)) == len(described)
    assert all(len(title.split()) >= 3 for _, title, _ in pictures)


@pytest.mark.parametrize("name", PAGES)
def test_letters_in_pictures_can_be_read_on_a_phone(shown, name):
    """A picture is not shrunk below 640 pixels, a small one 432: it moves in its own box."""
    _, found, _ = shown(name, 390)
    widths = found.page.evaluate(
        """[...document.querySelectorAll('.picture svg')].map(
            svg => [svg.getBoundingClientRect().width, +svg.getAttribute('width'),
                    svg.closest('.pictures') ? 432 : 640])"""
    )
    assert all(seen >= min(drawn, least) - 1 for seen, drawn, least in widths)


@pytest.mark.parametrize("name", PAGES)
def test_every_box_that_moves_has_a_name(shown, name):
    _, found, _ = shown(name)
    names = found.page.evaluate(
        "[...document.querySelectorAll('[role=region]')].map(e => e.getAttribute('aria-label'))"
    )
    assert len(names) >= 4
    assert all(names)
    assert not any("<bdi" in each for each in names)


@pytest.mark.parametrize("name", PAGES)
def test_no_name_is_given_twice_and_every_reference_leads_somewhere(shown, name):
    _, found, _ = shown(name)
    ids = found.page.evaluate("[...document.querySelectorAll('[id]')].map(each => each.id)")
    assert len(ids) == len(set(ids))
    html = found.page.content()
    for place in set(re.findall(r'(?:href="#|url\(#|aria-labelledby=")([^")\s]+)', html)):
        assert place in ids


@pytest.mark.parametrize("name", PAGES)
def test_headings_stand_in_order_and_there_is_one_title(shown, name):
    _, found, _ = shown(name)
    levels = found.page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(each => +each.tagName[1])"
    )
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert found.page.locator("html").get_attribute("lang") == "en"


@pytest.mark.parametrize("name", PAGES)
def test_every_table_says_what_it_is_and_what_its_lines_and_columns_are(shown, name):
    _, found, _ = shown(name)
    tables = found.page.evaluate(
        """[...document.querySelectorAll('table[data-name]')].map(table => ({
            caption: (table.caption || {textContent: table.dataset.name}).textContent.trim(),
            header: table.querySelectorAll('thead th').length,
            named: table.querySelectorAll('thead th[scope=col]').length,
            lines: [...table.querySelectorAll('tbody tr, tfoot tr')].map(
                line => [line.children.length, line.querySelectorAll('th[scope=row]').length])
        }))"""
    )
    assert len(tables) >= 4
    for each in tables:
        assert each["caption"]
        assert each["named"] == each["header"]
        assert each["lines"] == [[each["header"], 1]] * len(each["lines"])


def test_the_link_to_skip_the_menu_is_the_first_and_leads_to_the_report(shown):
    _, found, _ = shown("loan")
    found.page.keyboard.press("Tab")
    assert found.page.evaluate("document.activeElement.className") == "skip"
    assert found.page.locator(".skip").bounding_box()["x"] >= 0
    found.page.keyboard.press("Enter")
    assert found.page.evaluate("document.activeElement.id") == "content"


@pytest.mark.parametrize("name", PAGES)
def test_it_prints_whole_without_the_menu(shown, name):
    _, found, _ = shown(name)
    found.page.emulate_media(media="print")
    assert not found.page.locator("nav").is_visible()
    assert not found.page.locator(".skip").is_visible()
    # as wide as A4 is between its margins: nothing is beyond, and nothing is folded away
    found.page.set_viewport_size({"width": 687, "height": 1000})
    beyond = found.page.evaluate(
        """[...document.querySelectorAll('table, svg, pre')]
            .filter(each => each.getBoundingClientRect().right > innerWidth + 1)
            .map(each => each.getAttribute('data-name') || each.outerHTML.slice(0, 200))"""
    )
    assert beyond == []
    heights = found.page.evaluate(
        "[...document.querySelectorAll('details:not([open]) .inside')].map(e => e.offsetHeight)"
    )
    assert all(height > 20 for height in heights)
    made = found.page.pdf(format="A4", prefer_css_page_size=True)
    pages = len(re.findall(rb"/Type\s*/Page\b", made))
    assert made.startswith(b"%PDF")
    assert 3 <= pages <= {"loan": 14, "loan with data": 20, "hostile": 45, "large": 110}[name]


@pytest.mark.parametrize("name", JUDGED)
def test_the_scores_and_their_intervals_are_those_of_the_rows(shown, name):
    page, found, _ = shown(name)
    X, y = page.frame.drop(columns=page.model.schema.target), page.frame[page.model.schema.target]
    proba, classes = page.model.posterior(X), page.model.classes
    wanted = Predictions.of(y, proba, page.model.predict(X), classes=classes)
    scores, limits = wanted.scores(), score_intervals(wanted)
    lines = table(found, "scores")
    assert {line[0].replace(" ", "_") for line in lines} == set(NAMES)
    for score, value, interval, *_ in lines:
        key = score.replace(" ", "_")
        assert numbers([value]) == pytest.approx([scores[key]], abs=6e-5, nan_ok=True)
        low, high = limits[key]
        shown_limits = numbers(interval.split(" to ")) if " to " in interval else [np.nan] * 2
        assert shown_limits == pytest.approx([low, high], abs=6e-5, nan_ok=True)


@pytest.mark.parametrize("name", ["loan with data", "hostile"])
def test_the_confusion_matrix_is_that_of_the_rows(shown, name):
    page, found, _ = shown(name)
    X, y = page.frame.drop(columns=page.model.schema.target), page.frame[page.model.schema.target]
    answers = page.model.predict(X)
    for line, predicted in zip(table(found, "confusion"), page.model.classes, strict=True):
        wanted = [int(((answers == predicted) & (y == each)).sum()) for each in page.model.classes]
        assert numbers(line[1:]) == wanted


@pytest.mark.parametrize("name", ["loan", "loan with data"])
def test_the_parameters_are_those_of_the_model_with_their_fractions(shown, name):
    page, found, _ = shown(name)
    for each in inspect_model(page.stored).tables:
        lines = table(found, each.table.name)
        for line, (name_, *cells) in zip(lines, each.table.rows, strict=True):
            assert line[0] == str(name_)
            if each.by_class:
                assert line[1:] == [write(cell) for cell in cells]
            else:
                assert numbers(line[1:5]) == pytest.approx(cells[:4], rel=1e-5)


def test_hostile_names_are_shown_as_they_are_and_do_nothing(shown):
    page, found, _ = shown("hostile")
    assert found.page.title() == "<b>Title</b> & Co"
    assert found.page.locator("h1").inner_text() == "<b>Title</b> & Co"
    assert found.page.locator("script, img, iframe, object, embed, link, base, form").count() == 0
    handlers = "[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames())"
    assert [each for each in found.page.evaluate(handlers) if each.startswith("on")] == []
    classes = [line[0] for line in table(found, "classes")]
    assert "<script>alert(1)</script>" in classes
    assert all(len(each) <= 32 for each in classes)
    assert len(page.report.html) < 5_000_000


def test_a_long_name_is_shortened_everywhere(shown):
    page, found, _ = shown("hostile")
    assert "n" * 301 not in page.report.html
    assert f"{'n' * 16}…{'n' * 15}" in [line[0] for line in table(found, "columns")]


def test_a_large_report_cuts_its_tables_and_says_so(shown):
    page, found, _ = shown("large")
    assert found.page.locator("#columns svg").count() == 12
    assert "12 columns of 60" in found.page.locator("#columns").inner_text()
    assert "20 most frequent of 30 classes" in found.page.locator("#scores").inner_text()
    assert len(table(found, "confusion")) == 20
    assert len(page.report.html) < 8_000_000


def test_in_a_notebook_the_page_stays_in_a_frame_of_its_own(tmp_path, opened):
    page = PAGES["loan"]()
    file = tmp_path / "notebook.html"
    file.write_text(f"<!DOCTYPE html><h1>mine</h1>{page.report._repr_html_()}", encoding="utf-8")
    found = opened(file)
    inside = found.page.frame_locator("iframe")
    assert inside.locator("section#summary").is_visible()
    assert found.page.locator("section").count() == 0
    assert [each for each in found.complaints if "Blocked script" not in each] == []
