"""Any number of threads gives the tally of one pass, and fitting does not copy X."""

import subprocess
import sys
import textwrap
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.sparse import random_array

import tallybayes as tb
from laws.conftest import assert_same
from limited import limited_to
from tallybayes.kernels import choice, plain, threads

N, CLASSES = 1001, 4
THREADS = [1, 2, 3, 5]


@pytest.fixture(autouse=True)
def small_shares(monkeypatch):
    monkeypatch.setattr(threads, "SMALLEST_SHARE", 10)


@pytest.fixture(params=["plain", "compiled"])
def loops(request, monkeypatch):
    monkeypatch.setattr(choice, "LARGE", 0 if request.param == "compiled" else float("inf"))


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.mark.parametrize("number", THREADS)
def test_the_blocks_cover_the_rows_once_and_there_are_as_many_as_threads(number):
    with limited_to(number):
        blocks = threads.over_rows(lambda block: range(N)[block], N, 1_000_000)
    assert [row for block in blocks for row in block] == list(range(N))
    assert len(blocks) == number


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("weighted", [False, True])
def test_any_number_of_threads_gives_the_same_tallies_and_scores(rng, weighted):
    y, w = rng.integers(0, CLASSES, N), rng.integers(0, 4, N) if weighted else None
    X = {"a": 1e6 + rng.normal(size=N), "b": rng.integers(0, 3, N), "c": rng.random(N)}
    X["a"][rng.random(N) < 0.1] = np.nan
    X["d"] = rng.integers(0, 6, N)
    columns = {"b": tb.Categories(), "c": tb.Binary(0.5), "d": tb.Count()}
    sparse = random_array((N, 30), density=0.1, format="csr", rng=rng)
    sparse.data = np.ceil(9 * sparse.data)
    model = tb.estimate(tb.Tally.of(X, y, columns=columns))
    answers = []
    for number in THREADS:
        with limited_to(number):
            tallies = tb.Tally.of(X, y, w, columns=columns), tb.Tally.of(sparse, y, w)
            answers.append((*tallies, model.log_posterior(X)))
    one, *others = answers
    for table, matrix, scores in others:
        assert_same(table, one[0])
        assert matrix == one[1]
        np.testing.assert_allclose(scores, one[2], rtol=1e-12)


def test_tallies_taken_at_once_from_many_threads_do_not_disturb_each_other(rng):
    X, y = rng.integers(0, 5, (N, 4)), rng.integers(0, CLASSES, N)
    schema = tb.Schema.infer(X)
    expected = tb.Tally.of(X, y, schema=schema)
    with limited_to(3), ThreadPoolExecutor(8) as users:
        answers = users.map(lambda _: tb.Tally.of(X, y, schema=schema), range(16))
        assert all(answer == expected for answer in answers)


def test_the_pool_survives_a_fork():
    script = """
        import os, signal, warnings
        os.environ["TALLYBAYES_THREADS"] = "2"
        warnings.simplefilter("ignore")
        import numpy as np
        from tallybayes.kernels import counting, threads
        threads.SMALLEST_SHARE = 10
        X, y = np.arange(100.0).reshape(50, 2), np.arange(50) % 3
        before = counting.moments(X, counting.members(y, None, 3))
        child = os.fork()
        if not child:
            signal.alarm(200)
            after = counting.moments(X, counting.members(y, None, 3))
            os._exit(7 if all((a == b).all() for a, b in zip(before, after)) else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=300
    )
    assert (ran.stdout.strip(), ran.stderr) == ("7", "")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["float64", "float32", "integers", "counts"])
def test_fitting_does_not_copy_the_matrix(rng, monkeypatch, kind, weighted):
    monkeypatch.setattr(threads, "SMALLEST_SHARE", 100_000)
    n, k = 200_000, 50 if kind == "float32" else 25  # 40 MB
    declared = {"counts": tb.Count(), "integers": tb.Categories()}.get(kind, tb.Numeric())
    schema = tb.Schema.same(tuple(f"x{j}" for j in range(k)), declared)
    whole = kind in ("integers", "counts")
    X = rng.integers(0, 9, (n, k)) if whole else rng.random((n, k), dtype=kind)
    y, w = np.arange(n) % 5, np.full(n, 2.0) if weighted else None
    tb.Tally.of(X[:50_000], y[:50_000], None if w is None else w[:50_000], schema=schema)
    tracemalloc.start()
    try:
        tb.Tally.of(X, y, w, schema=schema)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.06 * X.nbytes  # a number for each row is allowed


def test_work_inside_of_work_does_not_wait_for_workers():
    """All workers of the pool would otherwise wait for a free one."""

    def inner(rows):
        return rows.stop - rows.start

    def outer(rows):
        return sum(threads.over_rows(inner, 40, 100 * threads.SMALLEST_SHARE))

    with limited_to(40):
        found = threads.over_rows(outer, 40, 100 * threads.SMALLEST_SHARE)
    assert found == [40] * 40


def test_what_calls_are_part_of_holds_on_every_thread(monkeypatch):
    monkeypatch.setattr(choice, "LARGE", 1000)
    with limited_to(3), choice.part_of(1000):
        parts = threads.over_rows(lambda _: choice.loops_for(1), 40, 10**9)
    assert [each is plain for each in parts] == [False] * 3
    assert choice.loops_for(1) is plain


def test_work_goes_on_where_no_thread_can_be_started(monkeypatch):
    class Full(ThreadPoolExecutor):
        def submit(self, *work):
            super().submit(*work)  # as Python does it: the work is in the queue already
            raise RuntimeError("can't start new thread")

    with limited_to(4), Full(1) as pool:
        monkeypatch.setattr(threads, "_pool", lambda: pool)
        calls = threads.over_rows(lambda rows: rows.start, 40, 10**9)
    assert calls == [0, 10, 20, 30]


def test_the_error_of_the_first_block_is_raised():
    def work(rows):
        if rows.start:
            raise ValueError(rows.start)

    with limited_to(4), pytest.raises(ValueError, match=r"^10$"):
        threads.over_rows(work, 40, 10**9)


def test_blocks_are_even_by_the_sizes_of_the_rows():
    sizes = np.array([10**6, 1, 1, 1, 1, 10**6])
    with limited_to(2):
        blocks = threads.over_rows(lambda rows: rows, 6, 10**9, sizes)
    assert [rows.start for rows in blocks] == [0, blocks[1].start]
    assert blocks[0].stop == blocks[1].start in range(1, 6)
    assert blocks[1].stop == 6


@pytest.mark.parametrize("asked", ["", "0", "-1", "many", "²"])
def test_a_number_of_threads_can_be_set_and_what_is_none_says_nothing(monkeypatch, asked):
    monkeypatch.delenv("TALLYBAYES_THREADS", raising=False)
    expected = threads.available()
    for said, found in ((asked, expected), ("3", 3)):
        monkeypatch.setenv("TALLYBAYES_THREADS", said)
        assert threads.available() == found
