"""What every store promises; the same tests for each."""

import contextlib
import os
import resource
import threading
import time

import pytest

from tallybayes import TallyBayesError, TallyBayesWarning
from tallybayes.store import Event, Receipt, open_store


@pytest.fixture
def store(store_url):
    with open_store(store_url) as store:
        yield store


def events(*ids):
    return [Event(key, f"content of {key}".encode()) for key in ids]


def ids_since(store, position, log="log"):
    return [event.id for event in store.since(log, position)]


def test_events_have_positions_without_gaps(store):
    assert store.append("log", events("a", "b")) == [Receipt("new", 1), Receipt("new", 2)]
    assert store.append("log", events("c")) == [Receipt("new", 3)]
    assert store.last("log") == 3
    assert [event.position for event in store.since("log", 0)] == [1, 2, 3]
    assert store.since("log", 1, limit=1) == [(2, "b", b"content of b")]
    assert ids_since(store, 3) == []


def test_an_id_counts_once_and_other_content_is_a_conflict(store):
    store.append("log", events("a", "b"))
    again = [*events("b"), Event("a", b"other"), *events("c", "c"), Event("c", b"other")]
    answers = [Receipt("same", 2), Receipt("conflict", 1), Receipt("new", 3), Receipt("same", 3)]
    assert store.append("log", again) == [*answers, Receipt("conflict", 3)]
    assert ids_since(store, 0) == ["a", "b", "c"]
    assert list(store.known("log", ["a", "x"])) == ["a"]


def test_what_identifies_an_event_may_be_other_than_its_content(store):
    first, again = Event("a", b"at ten", b"it"), Event("a", b"at eleven", b"it")
    assert [r.answer for r in store.append("log", [first, again])] == ["new", "same"]
    assert store.since("log", 0)[0].content == b"at ten"
    assert store.append("log", [Event("a", b"at ten", b"that")])[0].answer == "conflict"


def test_a_store_is_used_among_thousands_of_open_files(store_url):
    """As a service has them, of as many clients."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        with open_store(store_url) as store:
            for key in "ab":
                store.append("log", events(key))
            assert ids_since(store, 0) == ["a", "b"]
    finally:
        for file in files:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_logs_are_apart(store):
    for name in ("b", "a"):
        store.append(name, [Event("x", name.encode())])
    assert list(store.logs()) == ["a", "b"]
    assert store.since("a", 0)[0].content == b"a"
    store.remove("a")
    store.remove("a")
    assert list(store.logs()) == ["b"]
    assert store.since("a", 0) == []
    assert store.last("a") == 0
    assert store.append("a", events("y")) == [Receipt("new", 1)]


def test_what_was_stored_is_there_when_it_is_opened_again(store, store_url):
    store.append("log", events("a"))
    with open_store(store_url) as other:
        assert ids_since(other, 0) == ["a"]
        other.append("log", events("b"))
    assert ids_since(store, 0) == ["a", "b"]


@pytest.mark.parametrize("key", ["", "x" * 300, "a\0b", "line\n", 7, None])
def test_an_id_that_not_every_store_can_hold_is_refused(store, key):
    with pytest.raises(TallyBayesError, match="the id of an event is"):
        store.append("log", [Event(key, b"")])
    with pytest.raises(TallyBayesError, match="the name of a log is"):
        store.append(key, events("a"))
    assert not store.logs()


def test_any_bytes_and_letters_come_back_as_they_were(store):
    content, key = bytes(range(256)), "größe ✓ 'quoted\" %s ? $1"
    store.append(key, [Event(key, content)])
    assert store.since(key, 0) == [(1, key, content)]
    assert key in store.known(key, [key])


def test_threads_that_append_at_once_lose_nothing(store):
    receipts, n = {}, 40

    def append(worker):
        for k in range(n):
            key = f"{worker}-{k}"
            receipts[key] = store.append("log", events(key))[0]

    threads = [threading.Thread(target=append, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {r.answer for r in receipts.values()} == {"new"}
    assert {event.id: event.position for event in store.since("log", 0)} == {
        key: receipt.position for key, receipt in receipts.items()
    }
    assert sorted(r.position for r in receipts.values()) == list(range(1, 8 * n + 1))


def test_a_reader_never_passes_over_an_event_that_commits_late(store, store_url):
    """Several connections append at once, and one follows them."""
    done, others = threading.Event(), [open_store(store_url) for _ in range(3)]

    def append(worker):
        for k in range(60):
            others[worker].append("log", events(*(f"{worker}-{k}-{j}" for j in range(3))))

    threads = [threading.Thread(target=append, args=(worker,)) for worker in range(3)]
    for thread in threads:
        thread.start()
    seen, until = [], time.monotonic() + 240
    while len(seen) < 540 and time.monotonic() < until:
        seen += store.since("log", seen[-1].position if seen else 0)
    done.set()
    for thread in threads:
        thread.join()
    for other in others:
        other.close()
    assert [event.position for event in seen] == list(range(1, 541))


def test_an_event_of_a_group_that_fails_takes_no_other_along(store):
    store.append("log", events("a"))
    with pytest.raises(TallyBayesError, match="has no event 7; it ends at 1"):
        store.snapshot("log", 7, b"")
    errors = []

    def fail():
        try:
            store.snapshot("log", 9, b"")
        except TallyBayesError as error:
            errors.append(error)

    failing = threading.Thread(target=fail)
    with store.alone("other"):  # both wait for this, and then share a transaction
        failing.start()
        adding = threading.Thread(target=store.append, args=("log", events("b")))
        adding.start()
        time.sleep(0.05)
    failing.join()
    adding.join()
    assert len(errors) == 1
    assert ids_since(store, 0) == ["a", "b"]


def test_nobody_else_appends_while_one_is_alone(store, store_url):
    store.append("log", events("a"))
    with open_store(store_url) as other:
        late = threading.Thread(target=other.append, args=("log", events("late")))
        with store.alone("log") as turn:
            assert turn.last == 1
            late.start()
            time.sleep(0.05)
            assert [event.id for event in turn.since(0)] == ["a"]
            assert turn.append(events("b", "a")) == [Receipt("new", 2), Receipt("same", 1)]
            assert list(turn.known(["b", "c"])) == ["b"]
        late.join()
    assert ids_since(store, 0) == ["a", "b", "late"]


def test_an_error_while_one_is_alone_leaves_the_log_as_it_was(store):
    with contextlib.suppress(KeyError), store.alone("log") as turn:
        turn.append(events("a"))
        raise KeyError
    assert store.since("log", 0) == []
    assert store.append("log", events("b")) == [Receipt("new", 1)]


def test_snapshots_come_newest_first_and_so_many_are_kept(store):
    store.append("log", events(*"abcdef"))
    assert list(store.snapshots("log")) == []
    for position in (0, 2, 5, 4):
        store.snapshot("log", position, f"at {position}".encode(), keep=3)
    store.snapshot("log", 5, b"of another writer", keep=3)
    assert list(store.snapshots("log")) == [(5, b"at 5"), (4, b"at 4"), (2, b"at 2")]
    assert store.snapshot_positions("log") == [2, 4, 5]


def test_a_damaged_snapshot_is_noticed_and_the_one_before_it_taken(store):
    store.append("log", events("a"))
    store.snapshot("log", 0, b"good")
    store.snapshot("log", 1, b"to be damaged")
    with store._writing, store._transaction(write=True) as sql:
        sql.rows("UPDATE tallybayes_snapshots SET content = ? WHERE position = 1", b"to be damagee")
    with pytest.warns(TallyBayesWarning, match="the snapshot of 'log' at event 1 is damaged"):
        assert list(store.snapshots("log")) == [(0, b"good")]


def test_events_are_folded_up_to_the_oldest_snapshot_and_their_ids_stay(store):
    store.append("log", events(*"abcdef"))
    assert store.fold("log", 4) == 0  # nothing holds what they amount to
    store.snapshot("log", 3, b"")
    store.snapshot("log", 5, b"")
    assert store.fold("log", 2) == 2
    assert store.fold("log", 6) == 3
    assert ids_since(store, 3) == ["d", "e", "f"]
    with pytest.raises(TallyBayesError, match="up to 3 of this log were folded"):
        store.since("log", 2)
    assert [r.answer for r in store.append("log", events("a", "g"))] == ["same", "new"]
    assert store.append("log", [Event("b", b"other")])[0].answer == "conflict"
    store.remove("log")
    assert store.append("log", events("a")) == [Receipt("new", 1)]


def test_a_prediction_waits_for_its_answer_until_it_expires(store):
    assert store.hold("log", {"p": b"1", "q": b"2"}, expires=100.0) == [True, True]
    assert store.hold("log", {"p": b"1", "q": b"other"}, expires=100.0) == [True, False]
    assert store.held("log", "p", now=99.0) == b"1"
    assert store.held("log", "p", now=100.0) is None
    assert store.held("log", "x", now=0.0) is None
    assert store.held("other", "p", now=0.0) is None
    assert store.n_pending("log") == 2
    assert store.expire(now=99.0) == 0
    assert store.expire(now=100.0) == 2
    assert store.n_pending("log") == 0


def test_what_has_its_answer_waits_no_more(store):
    store.hold("log", {"p": b"1", "q": b"2"}, expires=1e12)
    store.release("log", ["p", "unknown"])
    assert store.held("log", "p") is None
    assert store.held("log", "q") == b"2"
    assert store.hold("log", {"p": b"other"}, expires=1e12) == [True]


def test_whether_something_can_be_written_is_tried_without_a_trace(store):
    store.hold("log", {"p": b"1"}, expires=1e12)
    store.probe()
    assert (store.logs(), store.n_pending("log"), store.expire()) == ({"log": 0}, 1, 0)


def test_a_backup_is_a_store_with_everything_in_it(store, tmp_path):
    store.append("log", events("a", "b", "c"))
    store.append("other", events("a"))
    store.snapshot("log", 2, b"two")
    store.fold("log", 2)
    store.hold("log", {"p": b"1"}, expires=1e12)
    store.backup(tmp_path / "copy.db")
    with pytest.raises(TallyBayesError, match="is there already"):
        store.backup(tmp_path / "copy.db")
    assert [path.name for path in tmp_path.iterdir() if "copy" in path.name] == ["copy.db"]
    store.append("log", events("later"))
    with open_store(tmp_path / "copy.db") as copy:
        assert copy.logs() == {"log": 3, "other": 1}
        assert ids_since(copy, 2) == ["c"]
        assert list(copy.snapshots("log")) == [(2, b"two")]
        assert copy.held("log", "p") == b"1"
        assert copy.append("log", events("a", "d")) == [Receipt("same", 1), Receipt("new", 4)]


def test_a_backup_in_the_midst_of_appending_is_of_one_moment(store, tmp_path):
    stop = threading.Event()

    def append():
        k = 0
        while not stop.is_set():
            k += 1
            store.append("log", events(*(f"{k}-{j}" for j in range(5))))

    thread = threading.Thread(target=append, daemon=True)
    thread.start()
    while store.last("log") < 50:
        time.sleep(0.01)
    store.backup(tmp_path / "copy.db")
    stop.set()
    thread.join()
    with open_store(tmp_path / "copy.db") as copy:
        copied = copy.since("log", 0, limit=1_000_000)
        assert len(copied) == copy.last("log") >= 50
        assert copied == store.since("log", 0, limit=len(copied))


def test_a_store_of_another_version_is_refused(store, store_url):
    with store._writing, store._transaction(write=True) as sql:
        sql.rows("UPDATE tallybayes_format SET version = 99")
    with pytest.raises(TallyBayesError, match=r"format 99.*upgrade"):
        open_store(store_url)
