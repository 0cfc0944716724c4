"""Where there is no browser, the browser tests say so; where nothing may be skipped, they fail."""

import pytest


@pytest.mark.parametrize("environ", [{}, {"CI": "false"}], ids=["unset", "false"])
def test_without_a_browser_a_test_is_skipped_and_says_why(without_browser, environ):
    with pytest.raises(pytest.skip.Exception, match=r"no browser here.*apt-get install chromium"):
        without_browser(environ)


def test_under_ci_a_missing_browser_is_a_failure(without_browser):
    with pytest.raises(pytest.fail.Exception, match=r"no browser here.*apt-get install chromium"):
        without_browser({"CI": "true"})
