"""A service that many tests share, and models for services of their own."""

import pytest

from service.running import made, serving


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """A service with several models, for tests that change nothing but what they bring along."""
    folder = tmp_path_factory.mktemp("models")
    made(folder)
    with serving(folder) as service:
        yield service


@pytest.fixture
def models(tmp_path):
    """A folder of models for a service of one's own."""
    made(tmp_path)
    return tmp_path
