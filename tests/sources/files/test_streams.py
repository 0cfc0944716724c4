"""Streams: results in the order of the rows, few chunks in memory, nothing left open."""

import gc
import signal
import threading
import weakref
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest

import tallybayes as tb
from sources.files.reading import message_of, small_blocks, tally_of
from tallybayes.errors import Option
from tallybayes.kernels.progress import listening
from tallybayes.sources import ReadOptions, map_rows, open_rows

N = 3000
WANTED = {"x": "integer"}
OPENED = Path("/proc/self/fd")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "".join(f"{k},{'ab'[k % 2]}\n" for k in range(N)))
    return path


def numbers(table):
    return table.column("x").to_pylist()


def work_on(path, work, **options):
    read = ReadOptions(**options)
    return map_rows(open_rows(path, read), WANTED, work, read)


def threads():
    return [each for each in threading.enumerate() if each.name.startswith("tallybayes-files")]


def assert_nothing_is_left(path):
    gc.collect()
    assert not threads()
    if OPENED.is_dir():
        assert path.resolve() not in [each.resolve() for each in OPENED.iterdir()]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_results_come_in_the_order_of_the_rows_whatever_thread_is_first(path, n):
    later = threading.Event()

    def work(table):
        first = numbers(table)[0]
        if n > 1 and first == 0:  # the first chunk waits for one that comes after it
            assert later.wait(240)
        elif first > 0:
            later.set()
        return numbers(table)

    with small_blocks(500, threads=n):
        found = [number for done in work_on(path, work) for number in done.value]
    assert found == list(range(N))
    assert_nothing_is_left(path)


class Endless:
    """A stream that makes up rows as they are asked for, and counts what it has given."""

    def __init__(self, size):
        self.size, self.given = size // len("1000.5,u,a\n") * len("1000.5,u,a\n"), 0
        rows = "".join(f"{k}.5,{'uvw'[k % 3]},{'ab'[k % 2]}\n" for k in range(1000, 7000))
        self._rows = rows.encode()  # each of as many bytes
        self._names = b"x,s,y\n"

    def read(self, size):
        names, self._names = self._names, b""
        if names or self.given >= self.size:
            return names
        start = self.given % len(self._rows)
        data = self._rows[start : start + min(size, self.size - self.given)]
        self.given += len(data)
        return data


@pytest.mark.parametrize("n", [1, 2, 4])
def test_sixty_megabytes_pass_with_few_of_them_in_memory(n):
    row, block = len("1000.5,u,a\n"), 1 << 20
    stream = Endless(60 << 20)
    tables = []
    most = ahead = rows = 0

    def work(table):
        tables.append(weakref.ref(table))
        return sum(each() is not None for each in tables)

    wanted = {"x": "float", "s": "categorical"}
    with small_blocks(block, threads=n):
        source = open_rows(stream)
        assert not source.complete
        for done in map_rows(source, wanted, work):
            most = max(most, done.value)
            ahead = max(ahead, stream.given - rows * row)
            rows += done.n_rows
    assert rows * row == stream.given == stream.size
    assert len(tables) > 50
    assert most <= n + 2
    assert ahead <= (n + 4) * block


class StopError(Exception):
    pass


def stop(path):
    with closing(work_on(path, numbers)) as results:
        next(iter(results))
        assert threads()
    raise StopError


def raise_in_between(path):
    for _ in work_on(path, numbers):
        raise StopError


def raise_in_the_work(path):
    def work(table):
        if numbers(table)[0] > 1000:
            raise MemoryError("no")

    list(work_on(path, work))


def meet_a_bad_row(path):
    path.write_text(path.read_text().replace("\n2500,", "\nmany,"))
    list(work_on(path, numbers))


def be_refused(path):
    def work(table):
        raise tb.TallyBayesError("the model does not like tables")

    list(work_on(path, work, bad_rows="skip"))


def press_ctrl_c(path):
    main, pressed = threading.main_thread().ident, threading.Event()
    # whoever runs the tests in the background has this signal ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def work(table):
        if numbers(table)[0] > 1000 and not pressed.is_set():
            pressed.set()
            signal.pthread_kill(main, signal.SIGINT)

    try:
        list(work_on(path, work))
        pressed.wait(240)
    finally:
        signal.signal(signal.SIGINT, before)


ENDS = {
    stop: (StopError, "^$"),
    raise_in_between: (StopError, "^$"),
    raise_in_the_work: (MemoryError, "no"),
    meet_a_bad_row: (tb.TallyBayesError, "row 2,501, column 'x': 'many' is not a whole number"),
    be_refused: (tb.TallyBayesError, "rows.csv: the model does not like tables"),
}
if hasattr(signal, "pthread_kill"):  # signals to threads
    ENDS[press_ctrl_c] = (KeyboardInterrupt, "^$")


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_however_it_ends_the_file_is_closed_and_no_thread_is_left(path, end):
    (error, said), told = ENDS[end], Mock()
    with listening(told), small_blocks(200):
        with pytest.raises(error, match=said) as caught:
            end(path)
        if error is not tb.TallyBayesError:  # whose traceback may be looked at
            caught.value.__traceback__ = None
            del caught
        assert_nothing_is_left(path)
    told.end.assert_called_once_with()


def test_few_rows_are_worked_on_without_threads_and_many_by_those_of_files(path):
    for size, name in ((1 << 20, threading.main_thread().name), (500, "tallybayes-files")):
        seen = set()
        with small_blocks(size, threads=3):
            list(work_on(path, lambda table, to=seen: to.add(threading.current_thread().name)))
        assert all(each.startswith(name) for each in seen)


class Broken(Endless):
    name = "the line"

    def read(self, size):
        if self.given > 500_000:
            raise OSError("connection reset")
        return super().read(size)


def test_a_stream_that_breaks_off_is_one_clear_error():
    with small_blocks(10_000):
        said = message_of(lambda: tally_of(Broken(1 << 20), {"x": "gaussian"}))
    assert said == "the line cannot be read: connection reset"
    gc.collect()
    assert not threads()


def refusing(divisor, calls):
    """Return work that refuses multiples of a number, and tells which rows those are."""

    def work(table):
        calls.append(table.num_rows)
        values = numbers(table)
        bad = {row: f"{n} is a multiple" for row, n in enumerate(values) if n % divisor == 0}
        if bad:
            raise tb.TallyBayesError("there are multiples", bad)
        return values

    return work


@pytest.mark.parametrize("divisor", [1, 7, 1000])
def test_rows_that_the_work_refuses_are_rejected_each_for_its_reason(path, divisor):
    calls = []
    with small_blocks(20_000):
        stream = work_on(path, refusing(divisor, calls), bad_rows="report")
        found = [number for done in stream for number in done.value]
    assert found == [number for number in range(N) if number % divisor]
    assert stream.rejected.count == len(range(0, N, divisor))
    assert stream.rejected.lines == [
        f"{path}, row {number + 1:,}: {number} is a multiple" for number in range(0, N, divisor)
    ]
    assert len(calls) <= 2 * (-(-path.stat().st_size // 20_000) + 1)


def test_the_first_row_that_the_work_refuses_is_named(path):
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], *lines[2:]]))  # without 0, a multiple of everything
    with small_blocks(2000), pytest.raises(tb.TallyBayesError) as caught:
        list(work_on(path, refusing(1234, [])))
    skip = Option("bad_rows", "skip")
    assert str(caught.value) == (
        f"{path}, row 1,234: 1234 is a multiple; correct it, or leave such rows out with {skip}"
    )
    assert caught.value.remedies == (skip,)
