"""Where columns are cut: parts of equally many rows, and frequent numbers by themselves."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tallybayes.evidence.search import ALONE, equal_parts


@pytest.mark.parametrize(
    ("numbers", "edges", "alone"),
    [
        (np.arange(100.0), (19.0, 39.0, 59.0, 79.0), ()),
        ([*[0.0] * 96, 1.0, 2.0, 3.0, 4.0], (0.0, 1.0, 2.0, 3.0), ()),
        ([*[0.0] * 996, 1.0, 2.0, 3.0, np.nan], (0.0, 1.0, 2.0), ()),
        ([1.0, 1.0, 2.0, 2.0, 3.0, 3.0], (1.0, 2.0), ()),
        ([7.0, 7.0], (), ()),
        ([np.nan], (), ()),
        ([], (), ()),
    ],
)
def test_frequent_numbers_are_parts_and_the_others_are_cut_evenly(numbers, edges, alone):
    assert equal_parts(np.array(numbers, np.float64), 5) == (edges, alone)


@given(
    st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.0, 1.5, 2.0, 5.0, 9.0, np.nan]), max_size=80),
    st.integers(2, 12),
)
def test_parts_are_as_even_as_numbers_allow(numbers, n):
    x = np.array(numbers, np.float64)
    edges, alone = equal_parts(x, n)
    there = x[~np.isnan(x)]
    assert list(edges) == sorted(set(edges))
    sizes = np.bincount(np.searchsorted(edges, there), minlength=len(edges) + 1)
    if len(there):
        assert (sizes > 0).all()
        assert len(sizes) <= max(n + 1, 2) * 2
    for part, size in enumerate(sizes.tolist()):
        values, counts = np.unique(there[np.searchsorted(edges, there) == part], return_counts=True)
        if len(values) > 1:  # none of them is frequent, and they are not many more than a share
            assert (counts * n <= len(there)).all()
            assert size <= 2 * len(there) / n + 1
        assert (part in alone) == (len(values) == 1 and size * len(sizes) > ALONE * len(there))
