"""What all tests of sources have."""

import pytest


@pytest.fixture
def path(tmp_path):
    """Where a file of rows may be written."""
    return tmp_path / "rows.csv"
