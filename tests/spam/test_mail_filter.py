"""A filter judges, learns, unlearns, corrects, and is kept in a file that all commands read."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tallybayes as tb
from spam.mails import mail, mails
from tallybayes.errors import TallyBayesError
from tallybayes.modelfile import load, save
from tallybayes.spam import mail_filter as module
from tallybayes.spam.features import features
from tallybayes.spam.mail_filter import MailFilter, changing_filter
from tallybayes.spam.messages import Message
from tallybayes.spam.token_table import beside, opened
from tallybayes.spam.training import GROWTH, GrowingFilter, HeldOut, MailSample, scale, train, weigh
from tallybayes.spam.verdict import Cutoffs, judge, probability_of
from tallybayes.workflows import explain

SORTED = [(Message(mail(k % 2 == 0, k)), ("ham", "spam")[k % 2 == 0]) for k in range(60)]
NEW = [(Message(mail(k % 2 == 0, k)), ("ham", "spam")[k % 2 == 0]) for k in range(900, 960)]


def taught(messages):
    made = MailFilter()
    for message, label in messages:
        made.learn(message, label)
    return made


def assert_same(a, b):
    """Two filters that learnt the same, be it in another order."""
    assert a.fitted.tally == b.fitted.tally
    assert a.digests == b.digests
    for message, _ in NEW[:5]:
        one, two = a.classify(message), b.classify(message)
        assert one.log_odds == pytest.approx(two.log_odds, rel=1e-9, abs=1e-12)


def test_a_filter_works_from_the_first_ten_messages():
    made = taught(SORTED[:10])
    right = [(made.classify(message).log_odds > 0) == (label == "spam") for message, label in NEW]
    assert sum(right) > 50
    assert made.classify(NEW[0][0]).learnt == (5, 5)


def test_a_filter_that_met_one_class_only_is_unsure():
    for made in (MailFilter(), taught(SORTED[1:2])):
        found = made.classify(NEW[0][0])
        assert (found.answer, found.probability, found.code) == ("unsure", 0.5, 2)


def test_a_message_is_learnt_once_by_its_content():
    made, message = taught(SORTED[:10]), SORTED[0][0]
    assert made.learn(message, "spam") == "known"
    received = Message(b"Received: from elsewhere\nX-Spam-Status: No\n" + mail(True, 0))
    assert made.learn(received, "spam") == "known"
    assert_same(made, taught(SORTED[:10]))


def test_what_is_unlearnt_was_never_seen():
    made = taught(SORTED[:20])
    for message, label in SORTED[10:20]:
        assert made.unlearn(message) == label
        assert made.unlearn(message) is None
    assert_same(made, taught(SORTED[:10]))


def test_a_correction_is_unlearning_and_learning():
    made = taught(SORTED[:10])
    assert made.learn(SORTED[0][0], "ham") == "corrected"
    assert_same(made, taught([(SORTED[0][0], "ham"), *SORTED[1:10]]))
    with pytest.raises(TallyBayesError, match="not as 'junk'"):
        made.learn(SORTED[0][0], "junk")


@given(st.lists(st.tuples(st.integers(0, 14), st.sampled_from(["ham", "spam", None])), max_size=40))
def test_any_way_of_learning_is_the_last_word_on_each_message(steps):
    made, last = taught(SORTED[:4]), {k: SORTED[k][1] for k in range(4)}
    for k, label in steps:
        if label is None:
            assert made.unlearn(SORTED[k][0]) == last.pop(k, None)
        else:
            made.learn(SORTED[k][0], label)
            last[k] = label
    counted = made.fitted.tally
    again = taught([(SORTED[k][0], label) for k, label in last.items()])
    assert made.digests == again.digests
    if last:
        assert counted == again.fitted.tally


def test_the_table_is_kept_in_step_with_the_model(monkeypatch):
    monkeypatch.setattr(module, "SETTLED", 7)
    made = taught(SORTED[:30])
    made.unlearn(SORTED[3][0])
    for message, _ in NEW[:10]:
        by_model = made.fitted.model.posterior_of(features(message))
        assert made.classify(message).probability == pytest.approx(by_model["spam"], rel=1e-9)


def test_a_filter_comes_back_from_its_file(tmp_path):
    path, made = tmp_path / "mail.tally", taught(SORTED[:30])
    made.cutoffs = Cutoffs(0.2, 0.9)
    made.save(path)
    again = MailFilter.open(path)
    assert again.cutoffs == Cutoffs(0.2, 0.9)
    assert_same(again, made)
    quick = opened(path)
    for message, _ in NEW:
        found = judge(quick, features(message), Cutoffs(*quick.extra["cutoffs"]))
        assert found.log_odds == pytest.approx(made.classify(message).log_odds, rel=1e-9)


def test_its_file_is_a_model_for_every_other_part(tmp_path):
    path, made = tmp_path / "mail.tally", taught(SORTED[:30])
    made.save(path)
    columns = features(NEW[0][0])
    by_filter = made.classify(NEW[0][0]).probability
    assert load(path).fitted.model.posterior_of(columns)["spam"] == pytest.approx(by_filter)
    table = {name: [text] for name, text in columns.items()}
    assert tb.load(path).predict_proba(table)[0, 1] == pytest.approx(by_filter)
    assert "subject" in str(explain(load(path), columns))


def test_a_table_that_is_not_of_the_model_is_made_anew(tmp_path):
    path, made = tmp_path / "mail.tally", taught(SORTED[:10])
    made.save(path)
    with changing_filter(path) as changed:
        changed.learn(SORTED[20][0], "spam")
    assert opened(path).spam == 6
    stored = load(path)
    line = stored.provenance.then("by another program", 0)
    save(path, replace(stored, provenance=line))
    assert opened(path) is None
    assert module.quick(path).spam == 6
    assert opened(path).spam == 6
    beside(path).unlink()
    assert opened(path) is None


def test_a_failed_change_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "mail.tally"
    taught(SORTED[:10]).save(path)
    before = path.read_bytes()

    def failing():
        with changing_filter(path) as changed:
            changed.learn(SORTED[20][0], "spam")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        failing()
    assert path.read_bytes() == before


def test_tokens_that_were_met_once_can_be_dropped():
    made = taught(SORTED)
    before = sum(column.tokens for column in made.lookup.columns.values())
    assert made.drop_rare(before) == 0
    dropped = made.drop_rare(100)
    after = sum(column.tokens for column in made.lookup.columns.values())
    assert dropped == before - after > 0
    for block in made.fitted.tally.blocks:
        assert not len(block.terms) or block.totals(0).min() >= 2
    right = [(made.classify(message).log_odds > 0) == (label == "spam") for message, label in NEW]
    assert sum(right) > 55
    for message, label in SORTED:  # of whose tokens some are gone
        assert made.unlearn(message) == label
    assert made.fitted.tally.rows.sum() == 0
    assert (made.lookup.ham, made.lookup.spam) == (0, 0)


def write(folder, messages):
    folder.mkdir()
    for k, raw in enumerate(messages):
        (folder / f"{k:04}").write_bytes(raw)
    return folder


def test_training_reads_folders_once_and_weighs_tokens(tmp_path):
    ham, spam = write(tmp_path / "ham", mails(60, False)), write(tmp_path / "spam", mails(50, True))
    (ham / "again").write_bytes(mail(False, 3))
    (spam / "wrong").write_bytes(mail(False, 4))
    made = train([ham], [spam])
    assert (made.filter.lookup.ham, made.filter.lookup.spam) == (60, 50)
    assert made.known == 2
    assert [name.endswith("wrong") for name in made.both] == [True]
    calibration = made.filter.fitted.recipe.calibration
    assert calibration.rows == 110
    assert np.ptp([*calibration.words["body"].weights.values()]) > 0.0
    held = made.filter.noted["held_out"]
    assert (held["ham"], held["spam"]) == (60, 50)
    assert held["area_missed"] < 0.05
    answers = [made.filter.classify(message).answer == label for message, label in NEW]
    assert sum(answers) > 40


def test_too_few_messages_have_one_weight_and_no_scores(tmp_path):
    ham, spam = write(tmp_path / "ham", mails(5, False)), write(tmp_path / "spam", mails(5, True))
    made = train([ham], [spam])
    assert made.held_out is None
    assert not made.filter.fitted.recipe.calibration.words
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(TallyBayesError, match=r"no message in .*empty; a filter needs some spam"):
        train([ham], [empty])


def test_a_sample_is_as_likely_to_keep_any_message():
    kept = []
    for seed in range(300):
        sample = MailSample(3, seed)
        for k in range(12):
            sample.add({"body": str(k)}, "ham")
        kept += [int(each["body"]) for each in sample.columns]
    assert np.bincount(kept, minlength=12).min() > 40  # of 75 each


def test_scores_are_scaled_to_what_they_are_worth():
    rng = np.random.default_rng(0)
    true = rng.normal(0.0, 2.0, 20_000)
    spam = rng.random(len(true)) < 1.0 / (1.0 + np.exp(-true))
    by, shift = scale(HeldOut(true * 2.5 + 1.0, spam))  # too sure, and to one side
    assert by == pytest.approx(0.4, abs=0.02)
    assert shift == pytest.approx(-0.4, abs=0.05)
    sure = HeldOut(np.repeat([-30.0, 30.0], 50), np.repeat([False, True], 50))
    assert scale(sure)[0] == pytest.approx(1.0, abs=0.05)


def test_the_area_missed_is_that_of_all_pairs():
    rng = np.random.default_rng(1)
    z, spam = rng.integers(0, 9, 60) * 1.0, rng.random(60) < 0.4
    pairs = [(a > b) + 0.5 * (a == b) for a in z[~spam] for b in z[spam]]
    assert HeldOut(z, spam).area_missed == pytest.approx(np.mean(pairs))


def test_cutoffs_follow_costs():
    cutoffs = Cutoffs.of_costs(false_alarm=100, miss=4)
    for p in np.linspace(0.0, 1.0, 401):
        costs = {"spam": (1 - p) * 100, "ham": p * 4, "unsure": 1.0}
        assert costs[cutoffs.answer(p)] == pytest.approx(min(costs.values()))
    with pytest.raises(TallyBayesError, match="a miss is said to cost 1 "):
        Cutoffs.of_costs(miss=1)


def test_probabilities_of_all_odds():
    assert probability_of(0.0) == 0.5
    assert probability_of(-1e6) == 0.0
    assert probability_of(1e6) == 1.0
    draw = random.Random(0)
    for _ in range(50):
        z = draw.uniform(-30, 30)
        assert probability_of(z) == pytest.approx(1 / (1 + np.exp(-z)), rel=1e-9, abs=1e-12)


def test_messages_alone_say_which_weights_they_get():
    rows = [(features(message), label) for message, label in SORTED]
    made = taught(SORTED)
    held = weigh(made, [columns for columns, _ in rows], [label for _, label in rows])
    assert len(held.log_odds) == len(SORTED)
    assert made.noted["held_out"]["ham"] == 30


def test_weights_are_below_0_only_where_there_is_enough_mail_of_each_kind():
    for n_ham, some_are_below in ((99, False), (100, True)):
        labels = ["ham"] * n_ham + ["spam"] * 110
        columns = [features(Message(mail(label == "spam", k))) for k, label in enumerate(labels)]
        made = MailFilter()
        weigh(made, columns, labels)
        found = made.fitted.recipe.calibration.words.values()
        assert any(min(one.weights.values()) < 0.0 for one in found) == some_are_below


def test_tokens_are_dropped_while_mail_is_learnt_when_they_are_too_many(monkeypatch):
    whole = taught(SORTED)
    monkeypatch.setattr("tallybayes.spam.mail_filter.MOST_TOKENS", 200)
    monkeypatch.setattr("tallybayes.spam.mail_filter.SETTLED", 10)
    made = MailFilter()
    for message, label in SORTED:
        made.learn(message, label)
    made.settle()
    kept, all_of_them = (
        sum(column.tokens for column in each.lookup.columns.values()) for each in (made, whole)
    )
    assert 200 < kept < all_of_them
    right = [(made.classify(message).log_odds > 0) == (label == "spam") for message, label in NEW]
    assert sum(right) > 55


def test_a_growing_filter_weighs_its_tokens_as_mail_comes_in():
    growing, learnt = GrowingFilter(), 0
    for message, label in [*SORTED, *NEW]:
        learnt += growing.learn(message, label) == "learnt"
        assert growing.learn(message, label) == "known"
    weighed = growing.filter.fitted.recipe.calibration
    assert learnt / GROWTH <= weighed.rows <= learnt
    assert growing.filter.noted["held_out"]["ham"] > 20
    growing.learn(SORTED[0][0], "ham" if SORTED[0][1] == "spam" else "spam")
    assert growing.filter.fitted.tally.rows.sum() == learnt
