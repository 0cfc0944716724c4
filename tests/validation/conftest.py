"""Every setting that rows are held out of, and both twins of the kernels."""

import pytest

from tallybayes.kernels import choice
from tallybayes.tokenizer import bags
from validation.registry import SETTINGS


@pytest.fixture(scope="session", params=SETTINGS, ids=str)
def setting(request):
    return request.param


@pytest.fixture(params=["plain", "compiled"])
def twin(request, monkeypatch):
    """Run a test once with the plain kernels and once with the compiled ones."""
    least = 0 if request.param == "compiled" else float("inf")
    monkeypatch.setattr(choice, "LARGE", least)
    for limit in ("WORTH_CALLING", "WORTH_LOADING"):
        monkeypatch.setattr(bags, limit, least)
    return request.param
