"""A random sample of rows that pass by once."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from tallybayes.workflows.reporting import Reservoir


def passed(n, size, seed=0, piece=7):
    kept = Reservoir(size, seed)
    for start in range(0, n, piece):
        kept.add(pa.table({"n": list(range(start, min(n, start + piece)))}))
    table, numbers = kept.rows()
    return table.column("n").to_pylist(), numbers.tolist()


@pytest.mark.parametrize("n", [1, 7, 50])
def test_few_rows_are_all_kept_in_order(n):
    assert passed(n, 50) == (list(range(n)), list(range(n)))


@pytest.mark.parametrize("n", [51, 100, 1000])
def test_of_many_rows_so_many_are_kept_in_order_with_their_numbers(n):
    values, numbers = passed(n, 50)
    assert values == numbers == sorted(set(numbers))
    assert len(numbers) == 50


def test_the_same_seed_keeps_the_same_rows_and_another_one_others():
    assert passed(500, 20, seed=1) == passed(500, 20, seed=1)
    assert passed(500, 20, seed=1) != passed(500, 20, seed=2)


def test_how_the_rows_are_cut_into_tables_does_not_matter():
    assert passed(500, 20, piece=3) == passed(500, 20, piece=250)


def test_every_row_is_as_likely_to_be_kept():
    n, size, times = 60, 6, 2000
    seen = np.zeros(n)
    for seed in range(times):
        seen[passed(n, size, seed, piece=20)[1]] += 1
    assert seen.sum() == size * times
    assert stats.chisquare(seen).pvalue > 1e-4


def test_tables_whose_categories_differ_are_kept_together():
    kept = Reservoir(100)
    for values in (["a", "b"], ["c", None]):
        kept.add(pa.table({"v": pa.array(values).dictionary_encode()}))
    assert kept.rows()[0].column("v").to_pylist() == ["a", "b", "c", None]
