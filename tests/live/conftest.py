"""A store of each kind, and a model in it."""

import pytest

from live.streams import stored
from tallybayes.live import LiveModel
from tallybayes.store import open_store


@pytest.fixture
def store(store_url):
    with open_store(store_url) as store:
        yield store


@pytest.fixture
def loans(store):
    return LiveModel.open(store, "loans", stored())
