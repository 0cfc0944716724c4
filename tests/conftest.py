"""What holds for every test: how much is tried, and where chance begins."""

import math
import random
import sys

import numpy as np
import pytest

import databases
import tiers  # noqa: F401 - sets how many examples are tried
from tallybayes.kernels import choice
from tallybayes.validation import progress

choice.WORTH_COMPILING = 0  # what a test wants compiled is compiled here and now
progress.LONG = math.inf  # a busy machine that stands still foretells hours of what takes no time


def pytest_configure(config):
    if config.pluginmanager.hasplugin("randomly"):
        config.option.randomly_reset_seed = False  # of the order alone; see below


def pytest_itemcollected(item):
    """Refuse names of tests that differ from process to process: workers could not share them."""
    assert " at 0x" not in item.nodeid, f"give {item.nodeid} an id of its own"


@pytest.fixture(autouse=True)
def same_chance_every_time():
    """Begin every test at the same random numbers, whatever the order of tests."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - scikit-learn draws from it


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    """Close the figures of a test: matplotlib warns of many, in whichever test comes then."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")


@pytest.fixture
def words_only(monkeypatch):
    """Write empty pictures: drawing them is most of what a report takes."""
    empty = '<svg width="1pt" height="1pt" viewBox="0 0 1 1"></svg>'
    monkeypatch.setattr("tallybayes.plots.svg._drawn", lambda figure, salt: empty)


@pytest.fixture(scope="session")
def postgres():
    """A real PostgreSQL server on a socket of its own; one for all tests of a process."""
    server = databases.start_server()
    yield server
    databases.remove_server(server)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request, tmp_path):
    """The address of a new store of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'events.db'}"
    return request.getfixturevalue("postgres").new_database()
