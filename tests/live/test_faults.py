"""What goes wrong: killed workers, damaged snapshots, full disks, a database that restarts."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from live.streams import FIRST, outcomes, rows, same, stored, tally_of, told
from tallybayes import TallyBayesError, TallyBayesWarning
from tallybayes.live import LiveModel
from tallybayes.store import StoreError, open_store
from tiers import some

PATIENCE = 240.0  # seconds for what takes one on a machine at rest
KILLING = Path(__file__).with_name("killing.py")


def test_workers_killed_at_any_moment_lose_nothing_and_count_nothing_twice(store_url):
    moments = some(100, 4)
    done = subprocess.run(
        [sys.executable, str(KILLING), store_url, str(moments), "1"],
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    learnt, forgotten, counted, gone = map(int, done.stdout.split())
    assert counted >= learnt > 10 * moments
    assert gone >= forgotten > 0


def damage(store, log, position, content=None):
    with store._writing, store._transaction(write=True) as sql:
        found = "SELECT content FROM tallybayes_snapshots WHERE position = ?"
        ((data,),) = sql.rows(found, position)
        broken = bytes(data)[:-7] if content is None else content
        sql.rows("UPDATE tallybayes_snapshots SET content = ? WHERE position = ?", broken, position)


def test_of_a_damaged_snapshot_the_one_before_is_taken_and_replayed(store, loans):
    drawn = rows(80)
    for k in range(0, 80, 40):
        loans.learn(told(drawn[k : k + 40], start=k))
        loans.catch_up()
        loans.snapshot()
    assert store.snapshot_positions("loans") == [0, 32, 80]
    for broken, left in ((80, 32), (32, 0)):
        damage(store, "loans", broken)
        with pytest.warns(TallyBayesWarning, match="is damaged"):
            again = LiveModel.open(store, "loans")
        assert again.state.learnt == 80
        same(again.fitted.tally, tally_of(FIRST + drawn, again.fitted.tally.schema))
        assert left in store.snapshot_positions("loans")
    damage(store, "loans", 0)
    with (
        pytest.warns(TallyBayesWarning, match="is damaged"),
        pytest.raises(TallyBayesError, match="no snapshot that is good"),
    ):
        LiveModel.open(store, "loans")


def test_a_snapshot_that_this_version_cannot_read_is_left_out(store, loans):
    loans.learn(told(rows(40)))
    loans.catch_up()
    store.snapshot("loans", 40, b"of another version")
    with pytest.warns(TallyBayesWarning, match="at event 40 is left out: the snapshot cannot"):
        again = LiveModel.open(store, "loans")
    assert again.position == 40


def test_scores_go_on_while_the_database_restarts_and_learning_works_again(postgres):
    with open_store(postgres.new_database()) as store:
        loans, drawn = LiveModel.open(store, "loans", stored()), rows(40)
        loans.learn(told(drawn[:20]))
        loans.catch_up()
        postgres.stop("QUIT")
        try:
            assert set(loans.score({"status": "single"})) == {"no", "yes"}
            for attempt in (loans.learn, loans.forget):
                with pytest.raises(StoreError, match="cannot be reached"):
                    attempt(told(drawn[20:30], start=20))
            with pytest.raises(StoreError, match="cannot be reached"):
                loans.catch_up()
            assert loans.position == 20
        finally:
            postgres.start()
        assert set(outcomes(loans.learn(told(drawn[:30])))) == {"same", "new"}
        assert loans.catch_up() == 30
        same(loans.fitted.tally, tally_of(FIRST + drawn[:30], loans.fitted.tally.schema))


def test_clients_that_ask_again_are_counted_once_across_a_restart(postgres):
    with open_store(postgres.new_database()) as store:
        loans, drawn = LiveModel.open(store, "loans", stored()), rows(200)
        failures, counted, restarted = [], [], threading.Event()

        def client(worker):
            k = worker
            while not restarted.is_set():
                counted.append(k)
                while True:
                    try:
                        (answer,) = loans.learn(told([drawn[k % 200]], start=k))
                    except StoreError:
                        failures.append(k)
                        time.sleep(0.02)
                    else:
                        assert answer.outcome in ("new", "same")
                        break
                k += 4

        clients = [
            threading.Thread(target=client, args=(worker,), daemon=True) for worker in range(4)
        ]
        for thread in clients:
            thread.start()
        wait_until(lambda: store.last("loans") >= 40)
        postgres.stop("QUIT")
        wait_until(lambda: failures)
        postgres.start()
        restarted.set()
        for thread in clients:
            thread.join()
        learnt = [drawn[k % 200] for k in counted]
        assert loans.catch_up() == len(learnt) > 40
        same(loans.fitted.tally, tally_of(FIRST + learnt, loans.fitted.tally.schema))


def wait_until(condition):
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)
