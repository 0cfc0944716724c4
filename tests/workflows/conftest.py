"""Small blocks, so that a few rows are a stream that is longer than its sample."""

import pytest

from tallybayes.sources.files import arrow_file, blocks, parquet_file
from tallybayes.workflows import counting


@pytest.fixture
def small_blocks(monkeypatch):
    """Read some ten or twenty rows at a time; the sample is the first of these blocks."""
    monkeypatch.setattr(blocks, "BLOCK", 1024)
    monkeypatch.setattr(parquet_file, "ROWS", 20)
    monkeypatch.setattr(arrow_file, "ROWS", 20)


@pytest.fixture
def nothing_kept(monkeypatch):
    """Keep no rows in memory to leave them out, so that they are read a second time."""
    monkeypatch.setattr(counting, "KEPT_BYTES", -1)
