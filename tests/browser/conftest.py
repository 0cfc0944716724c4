"""A real browser, and reports in it.

Where there is no browser the tests are skipped and say why; under CI=true that is a failure.
"""

import os
import shutil
from dataclasses import dataclass, field

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 240_000.0  # milliseconds for what takes a hundred on a machine at rest
WHY = (
    f"there is no browser here ({', '.join(BROWSERS)}); on Debian, root installs one with "
    "apt-get install chromium, or make system"
)


@pytest.fixture(scope="session")
def browser():
    """The browser; without one the test is skipped, or fails where none may be skipped."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(WHY)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=list(QUIET), timeout=PATIENCE
        )
        yield browser
        browser.close()


@dataclass
class Opened:
    """A page in the browser, and what went wrong in it or was asked of the network."""

    page: object
    complaints: list = field(default_factory=list)
    requests: list = field(default_factory=list)


@pytest.fixture
def opened(browser):
    """Open a file at some width; give back the page with what it complained of and asked for."""
    contexts = []

    def open_file(path, width=1400, height=900):
        size = {"width": width, "height": height}
        # while a page scrolls smoothly, what is clicked may be gone before the mouse is up
        context = browser.new_context(viewport=size, reduced_motion="reduce")
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        found = Opened(page)
        page.on("console", lambda message: found.complaints.append(message.text))
        page.on("pageerror", lambda error: found.complaints.append(str(error)))
        page.on("request", lambda request: found.requests.append(request.url))
        page.on("requestfailed", lambda request: found.complaints.append(request.url))
        page.goto(path.as_uri())
        return found

    yield open_file
    for context in contexts:
        context.close()
