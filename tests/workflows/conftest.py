"""Small blocks, so that a few rows are a stream that is longer than its sample."""

import pytest

from tallybayes.sources import arrow_files, text_blocks
from tallybayes.workflows import planning


@pytest.fixture
def small_blocks(monkeypatch):
    """Read some ten or twenty rows at a time; the sample is the first of these blocks."""
    monkeypatch.setattr(text_blocks, "BLOCK", 1024)
    monkeypatch.setattr(arrow_files, "ROWS", 20)


@pytest.fixture
def nothing_kept(monkeypatch):
    """Keep no rows in memory to leave them out, so that they are read a second time."""
    monkeypatch.setattr(planning, "KEPT_BYTES", -1)
