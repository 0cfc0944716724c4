"""A filter in a store: exactly once, exactly undone, the same in every process."""

import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from spam.mails import mail
from tallybayes.errors import TallyBayesError, TallyBayesWarning
from tallybayes.spam import shared_filter as module
from tallybayes.spam.features import features
from tallybayes.spam.mail_filter import MailFilter
from tallybayes.spam.messages import Message
from tallybayes.spam.shared_filter import SharedFilter, SharedOptions, users_of
from tallybayes.store import open_store
from tiers import scaled

SORTED = [(Message(mail(k % 2 == 0, k)), ("ham", "spam")[k % 2 == 0]) for k in range(60)]
NEW = [Message(mail(k % 2 == 0, k)) for k in range(900, 930)]


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "mail.db") as opened:
        yield opened


def taught(told):
    """A filter of the library that learnt the same, as the truth."""
    made = MailFilter()
    for message, label in told:
        made.learn(message, label)
    return made


def assert_same(shared, made):
    assert shared.table.ham == made.lookup.ham
    assert shared.table.spam == made.lookup.spam
    assert {d: shared.label_of(d) for d in shared.marks} == made.digests
    for message in NEW[:6]:
        one, two = shared.classify(message), made.classify(message)
        assert one.log_odds == pytest.approx(two.log_odds, rel=1e-9, abs=1e-12)


def test_what_one_process_learns_all_know(store):
    one = SharedFilter.open(store, "mail")
    two = SharedFilter.open(store, "mail")
    assert one.tell(SORTED[:10]) == ["learnt"] * 10
    assert two.tell(SORTED[:12]) == ["known"] * 10 + ["learnt"] * 2
    one.follow()
    for shared in (one, two, SharedFilter.open(store, "mail")):
        assert_same(shared, taught(SORTED[:12]))


def test_a_correction_and_an_end_are_exact(store):
    shared = SharedFilter.open(store, "mail")
    shared.tell(SORTED[:10])
    wrong = [(message, {"ham": "spam", "spam": "ham"}[label]) for message, label in SORTED[:3]]
    assert shared.tell([*wrong, (SORTED[4][0], None), (SORTED[20][0], None)]) == [
        "corrected", "corrected", "corrected", SORTED[4][1], None,
    ]  # fmt: skip
    assert_same(shared, taught([*wrong, SORTED[3], *SORTED[5:10]]))
    assert shared.tell([(SORTED[0][0], "spam"), (SORTED[0][0], "ham"), (SORTED[0][0], None)]) == [
        "corrected", "corrected", "ham",
    ]  # fmt: skip
    assert_same(shared, taught([*wrong[1:], SORTED[3], *SORTED[5:10]]))
    with pytest.raises(TallyBayesError, match="not as 'junk'"):
        shared.tell([(SORTED[0][0], "junk")])


@scaled(0.5)
@given(
    steps=st.lists(
        st.tuples(st.integers(0, 9), st.sampled_from(["ham", "spam", None]), st.booleans()),
        max_size=30,
    )
)
def test_any_way_of_learning_is_the_last_word_on_each_message(steps, tmp_path_factory):
    with open_store(tmp_path_factory.mktemp("store") / "mail.db") as store:
        both, last = [SharedFilter.open(store, "mail") for _ in range(2)], {}
        for k, label, who in steps:
            both[who].tell([(SORTED[k][0], label)])
            last.pop(k, None)
            if label is not None:
                last[k] = label
        truth = taught([(SORTED[k][0], label) for k, label in last.items()])
        for shared in (*both, SharedFilter.open(store, "mail")):
            shared.follow()
            assert_same(shared, truth)


def test_it_comes_back_from_its_snapshot_and_the_events_behind(store):
    options = SharedOptions(snapshot_every=10, retain=5)
    shared = SharedFilter.open(store, "mail", None, options)
    late = SharedFilter.open(store, "mail")
    for k in range(0, 40, 7):
        shared.tell(SORTED[k : k + 7])
        shared.tidy()
    assert store.snapshot_positions("mail")[-1] > 20
    with pytest.raises(module.EventsGone):
        store.since("mail", 0, 1)
    shared.tell([(SORTED[0][0], None)])  # whose event is gone
    truth = taught(SORTED[1:42])
    assert late.follow() == shared.position  # though it was far behind
    for each in (shared, late, SharedFilter.open(store, "mail")):
        assert_same(each, truth)


def test_a_damaged_snapshot_is_left_out(store, tmp_path):
    shared = SharedFilter.open(store, "mail")
    shared.tell(SORTED[:10])
    shared.snapshot()
    with sqlite3.connect(tmp_path / "mail.db") as database:
        database.execute("UPDATE tallybayes_snapshots SET content = X'00' WHERE position = 10")
    with pytest.warns(TallyBayesWarning, match="is damaged"):
        again = SharedFilter.open(store, "mail")
    assert_same(again, taught(SORTED[:10]))


def test_it_begins_with_a_trained_filter_and_goes_on_with_the_log(store):
    seed = taught(SORTED[:20])
    shared = SharedFilter.open(store, "mail", seed)
    assert shared.tell([SORTED[3], (SORTED[4][0], "ham"), SORTED[30]]) == [
        "known", "corrected", "learnt",
    ]  # fmt: skip
    other = SharedFilter.open(store, "mail", taught(SORTED[40:]))  # the log counts
    told = [*SORTED[:4], (SORTED[4][0], "ham"), *SORTED[5:20], SORTED[30]]
    for each in (shared, other):
        assert_same(each, taught(told))


def test_what_is_taken_away_is_what_was_counted_though_mail_is_read_otherwise_now(
    store, monkeypatch
):
    shared = SharedFilter.open(store, "mail")
    shared.tell(SORTED[:10])

    def other(message):
        return {name: f"{text} more" for name, text in features(message).items()}

    monkeypatch.setattr(module, "features", other)
    assert shared.tell([(SORTED[0][0], None)]) == ["spam"]
    monkeypatch.undo()
    assert_same(shared, taught(SORTED[1:10]))


def test_threads_learn_at_once_and_nothing_twice(store):
    many = [SharedFilter.open(store, "mail") for _ in range(4)]
    outcomes = []

    def learn(shared):
        for k in range(0, 60, 5):
            outcomes.extend(shared.tell(SORTED[k : k + 5]))

    threads = [threading.Thread(target=learn, args=(shared,)) for shared in many * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("learnt") == 60
    assert outcomes.count("known") == 7 * 60
    for shared in many:
        shared.follow()
        assert_same(shared, taught(SORTED))


FOR_EVER = """
import sys
from spam.mails import mail
from tallybayes.spam.messages import Message
from tallybayes.spam.shared_filter import SharedFilter, SharedOptions
from tallybayes.store import open_store

with open_store(sys.argv[1]) as store:
    shared = SharedFilter.open(store, "mail", None, SharedOptions(snapshot_every=7))
    for k in range(1_000_000):
        shared.tell([(Message(mail(k % 2 == 0, k)), ("ham", "spam")[k % 2 == 0])])
        print(k, flush=True)
        shared.tidy()
"""


def test_a_killed_process_loses_nothing_that_it_said_it_had_learnt(tmp_path):
    path, tests = tmp_path / "mail.db", str(Path(__file__).parents[1])
    paths = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-c", FOR_EVER, path],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    for line in process.stdout:
        if int(line) >= 100:
            break
    process.kill()
    acknowledged = int((line, *process.stdout.read().split())[-1]) + 1
    process.wait()
    process.stdout.close()
    with open_store(path) as store:
        shared = SharedFilter.open(store, "mail")
        learnt = shared.table.ham + shared.table.spam
        assert learnt >= acknowledged > 100
        labels = [("ham", "spam")[k % 2 == 0] for k in range(learnt)]
        every = [(Message(mail(k % 2 == 0, k)), label) for k, label in enumerate(labels)]
        assert shared.tell(every) == ["known"] * learnt
        assert_same(shared, taught(every))


def test_old_mail_is_forgotten_as_if_never_seen(store, monkeypatch):
    shared = SharedFilter.open(store, "mail", None, SharedOptions(forget_days=30))
    clock = [1_000_000.0]
    monkeypatch.setattr(module.time, "time", lambda: clock[0])
    shared.tell(SORTED[:8])
    clock[0] += 20 * module.DAY
    shared.tell([*SORTED[8:14], (SORTED[0][0], "ham"), (SORTED[1][0], None)])
    shared.tidy()
    told = [(SORTED[0][0], "ham"), *SORTED[2:14]]
    assert_same(shared, taught(told))
    clock[0] += 15 * module.DAY
    shared.tidy()
    assert_same(shared, taught([(SORTED[0][0], "ham"), *SORTED[8:14]]))
    clock[0] += 30 * module.DAY
    SharedFilter.open(store, "mail", None, SharedOptions(forget_days=30)).tidy()
    shared.follow()
    assert_same(shared, taught([]))


def test_rare_tokens_are_dropped_where_there_are_too_many(store):
    shared = SharedFilter.open(store, "mail", None, SharedOptions(most_tokens=300))
    other = SharedFilter.open(store, "mail")
    shared.tell(SORTED)
    shared.tidy()
    shared.tidy()
    assert shared.position == len(SORTED) + 1
    truth = taught(SORTED)
    truth.drop_rare(300)
    other.follow()
    for each in (shared, other):
        assert_same(each, truth)
        for name, column in each.table.columns.items():
            assert column.tokens == truth.lookup.columns[name].tokens


def test_weights_are_fitted_again_once_and_taken_over_by_all_if_they_are_better(store):
    shared = SharedFilter.open(store, "mail")
    other = SharedFilter.open(store, "mail")
    assert not shared.refit_due
    told = [(Message(mail(k % 2 == 0, k)), ("ham", "spam")[k % 2 == 0]) for k in range(80)]
    shared.tell(told[:39])
    assert not shared.refit_due
    shared.tell(told[39:51])
    assert shared.refit_due == 1
    shared.tell(told[51:])
    before = shared.table.columns["body"].weight
    assert shared.refit_due == 3  # at 40, 52 and 67
    assert shared.refit(3)
    assert not other.refit(3)
    other.follow()
    assert before != other.table.columns["body"].weight == shared.table.columns["body"].weight
    assert other.facts["held_out"]["ham"] == 40
    weighed = taught(told)
    module.weigh(weighed, [features(m) for m, _ in told], [label for _, label in told])
    for each in (shared, other, SharedFilter.open(store, "mail")):
        assert_same(each, weighed)
    assert not shared.refit(4)  # on the same messages nothing is better


def test_users_teach_filters_of_their_own(store):
    SharedFilter.open(store, "mail").tell(SORTED[:10])
    SharedFilter.open(store, "mail/ann").tell(SORTED[10:14])
    SharedFilter.open(store, "mail/bob@home.example").tell(SORTED[14:16])
    assert users_of(store, "mail") == ["ann", "bob@home.example"]
    store.remove("mail/ann")
    assert users_of(store, "mail") == ["bob@home.example"]
    assert_same(SharedFilter.open(store, "mail"), taught(SORTED[:10]))
    assert_same(SharedFilter.open(store, "mail/bob@home.example"), taught(SORTED[14:16]))


def test_a_filter_that_others_removed_begins_anew(store):
    shared = SharedFilter.open(store, "mail/ann")
    shared.tell(SORTED[:10])
    store.remove("mail/ann")
    SharedFilter.open(store, "mail/ann").tell(SORTED[20:22])
    assert shared.tell(SORTED[:3]) == ["learnt"] * 3
    for each in (shared, SharedFilter.open(store, "mail/ann")):
        assert_same(each, taught([*SORTED[20:22], *SORTED[:3]]))
