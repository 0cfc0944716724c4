"""The report in a real browser: complete, quiet, offline, readable at any width, and printable."""

import re
from itertools import pairwise

import pytest

from browser.pages import PAGES
from tallybayes.report.page import SECTIONS

IDS = tuple(SECTIONS)
WIDTHS = (390, 1400)


@pytest.fixture
def shown(tmp_path, opened):
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
            return lines.map(line => [...line.cells].map(cell => cell.innerText));
        }""",
        name,
    )
    return rows


AUDIT = """() => {
    const every = selector => [...document.querySelectorAll(selector)];
    const said = (svg, name) => document.getElementById(svg.getAttribute(name)).textContent;
    return {
        pictures: every('svg').map(svg => [svg.getAttribute('role'),
            said(svg, 'aria-labelledby'), said(svg, 'aria-describedby')]),
        regions: every('[role=region]').map(each => each.getAttribute('aria-label')),
        ids: every('[id]').map(each => each.id),
        levels: every('h1,h2,h3,h4,h5,h6').map(each => +each.tagName[1]),
        tables: every('table[data-name]').map(table => ({
            caption: (table.caption || {textContent: table.dataset.name}).textContent.trim(),
            header: table.querySelectorAll('thead th').length,
            named: table.querySelectorAll('thead th[scope=col]').length,
            lines: [...table.querySelectorAll('tbody tr')].map(
                line => [line.children.length, line.querySelectorAll('th[scope=row]').length])
        })),
    };
}"""


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_complete_quiet_and_can_be_read_aloud(shown, name):
    page, found, file = shown(name)
    found.page.wait_for_load_state("networkidle")
    assert found.complaints == []
    assert found.requests == [file.as_uri()]
    assert page.report.sections == IDS
    for each in IDS:
        section = found.page.locator(f"section#{each}")
        assert section.count() == 1
        assert section.locator("h2").is_visible()
        found.page.locator(f"nav a[href='#{each}']").click()
        found.page.wait_for_url(f"**#{each}")  # a busy browser goes there a moment later
    seen = found.page.evaluate(AUDIT)
    roles, titles, described = zip(*seen["pictures"], strict=True)
    assert len(roles) >= 4
    assert set(roles) == {"img"}
    assert len(set(described)) == len(described)
    assert all(len(title.split()) >= 3 for title in titles)
    assert len(seen["regions"]) >= 4
    assert all(each and "<bdi" not in each for each in seen["regions"])
    assert len(seen["ids"]) == len(set(seen["ids"]))
    links = r'(?:href="#|url\(#|aria-labelledby=")([^")\s]+)'
    assert set(re.findall(links, found.page.content())) <= set(seen["ids"])
    assert seen["levels"].count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(seen["levels"]))
    assert found.page.locator("html").get_attribute("lang") == "en"
    assert len(seen["tables"]) >= 4
    for each in seen["tables"]:
        assert each["caption"]
        assert each["named"] == each["header"]
        assert each["lines"] == [[each["header"], 1]] * len(each["lines"])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_never_wider_than_the_window_and_its_letters_can_be_read(shown, name, width):
    """A picture is not shrunk below 640 pixels, a small one 432: it moves in its own box."""
    _, found, _ = shown(name, width)
    wide = "document.documentElement.scrollWidth"
    assert found.page.evaluate(wide) <= width
    found.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert found.page.evaluate(wide) <= width
    pictures = found.page.evaluate(
        """[...document.querySelectorAll('.picture svg')].map(
            svg => [svg.getBoundingClientRect().width, +svg.getAttribute('width'),
                    svg.closest('.pictures') ? 432 : 640])"""
    )
    assert all(seen >= min(drawn, least) - 1 for seen, drawn, least in pictures)


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
