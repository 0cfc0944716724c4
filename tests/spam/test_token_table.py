"""The table of tokens says what the model says, and learns as the tally learns."""

import random

import numpy as np
import pytest
from hypothesis import given, strategies as st

from spam.mails import mail
from tallybayes.model import Fitted
from tallybayes.spam.features import COLUMNS, as_table, features
from tallybayes.spam.mail_filter import (
    MailFilter,
    first_weights,
    lookup_of,
    recipe_of,
    tally_of,
)
from tallybayes.spam.messages import Message
from tallybayes.spam.token_table import BEGINNING, TokenTable, beside, opened
from tallybayes.tokenizer import WordWeights

ROWS = [(features(Message(mail(k % 3 == 0, k))), ("ham", "spam")[k % 3 == 0]) for k in range(40)]


def weighed(tally):
    """A calibration with a weight of its own for every token of two columns, and constants."""
    draw, words = random.Random(1), {}
    for group, block in zip(tally.schema.groups, tally.blocks, strict=True):
        (name,) = tally.schema.names_of(group)
        if name in ("body", "headers"):
            words[name] = WordWeights({text: draw.random() - 0.2 for text in block.terms.texts})
    constants = {"ham": 0.3, "spam": -0.7}
    return type(first_weights())(
        "words", {"body": 0.4, "subject": 0.9}, 0.2, 0.8, constants=constants, words=words
    )


def fitted(rows, calibration=None):
    tally = tally_of(*zip(*rows, strict=True))
    return Fitted(tally, recipe_of(calibration or weighed(tally)))


def taught(rows):
    made = MailFilter()
    for number, (columns, label) in enumerate(rows):
        made.learn_columns(number.to_bytes(16), columns, label)
    return made


def said_by_model(fitted, rows):
    joint = fitted.model.joint_log_likelihood(as_table(columns for columns, _ in rows))
    return joint[:, 1] - joint[:, 0]


def said_by_lookup(lookup, rows):
    return [lookup.score(columns).log_odds for columns, _ in rows]


def test_a_message_has_the_log_odds_that_the_model_gives():
    made = fitted(ROWS[:30])
    found = said_by_lookup(lookup_of(made), ROWS)
    np.testing.assert_allclose(found, said_by_model(made, ROWS), rtol=1e-10, atol=1e-12)


def test_what_is_added_up_is_shown():
    lookup = lookup_of(fitted(ROWS))
    columns = ROWS[3][0]
    found = lookup.score(columns)
    assert found.log_odds == pytest.approx(lookup.prior() + sum(found.evidence.values()))
    for name in COLUMNS:
        said, below = lookup.terms(name, columns[name])
        assert found.evidence[name] == pytest.approx(sum(w for _, w in said) / below)
        assert {token for token, _ in said} <= {*columns[name].split()}


def counts_of(lookup):
    """What is in a table, in whatever slots."""
    slots = zip(lookup.keys, lookup.hams, lookup.spams, strict=True)
    return {key: (h, s) for key, h, s in slots if key and (h or s)}


def assert_equal(a, b):
    assert counts_of(a) == counts_of(b)
    assert (a.ham, a.spam) == (b.ham, b.spam)
    for name in COLUMNS:
        assert (a.columns[name].ham, a.columns[name].spam, a.columns[name].tokens) == (
            b.columns[name].ham, b.columns[name].spam, b.columns[name].tokens
        )  # fmt: skip


def test_learning_in_place_is_counting_all_at_once():
    calibration = first_weights()
    lookup = lookup_of(fitted(ROWS[:5], calibration))
    for columns, label in ROWS[5:]:
        lookup.add(columns, label)
    whole = lookup_of(fitted(ROWS, calibration))
    assert_equal(lookup, whole)
    np.testing.assert_allclose(said_by_lookup(lookup, ROWS), said_by_lookup(whole, ROWS), rtol=1e-9)


@given(st.lists(st.integers(0, len(ROWS) - 1), max_size=30), st.randoms())
def test_what_was_learnt_can_be_taken_away_in_any_order(some, draw):
    lookup = lookup_of(fitted(ROWS[:9], first_weights()))
    before = lookup_of(fitted(ROWS[:9], first_weights()))
    steps = [*some]
    for row in steps:
        lookup.add(*ROWS[row])
    draw.shuffle(steps)
    for row in steps:
        lookup.add(*ROWS[row], -1)
    assert_equal(lookup, before)
    again = said_by_lookup(lookup, ROWS[:9])
    np.testing.assert_allclose(again, said_by_lookup(before, ROWS[:9]), rtol=1e-9, atol=1e-12)


def test_a_table_grows_as_it_learns():
    lookup = lookup_of(fitted(ROWS[:2], first_weights()))
    size = len(lookup.keys)
    told = [({"body": f"word{k} other{k % 7}"}, "spam") for k in range(5_000)]
    for columns, label in told:
        lookup.add(columns, label)
    assert len(lookup.keys) > size
    assert lookup.columns["body"].tokens >= 5_007
    places = [lookup._find(lookup.person("body"), f"word{k}") for k in range(5_000)]
    assert [lookup.spams[place] for place in places] == [1] * 5_000


def test_a_table_is_read_from_its_file_where_it_stands(tmp_path):
    path = tmp_path / "mail.tally"
    taught(ROWS).save(path)
    lookup, read = MailFilter.open(path).lookup, opened(path)
    assert said_by_lookup(read, ROWS) == said_by_lookup(lookup, ROWS)
    assert read.extra == {"cutoffs": [0.4, 0.98]}
    thawed = read.thawed()
    thawed.add(*ROWS[0])
    lookup.add(*ROWS[0])
    assert_equal(thawed, lookup)
    with pytest.raises(TypeError):
        read.add(*ROWS[0])  # the file stays as it is


def test_a_file_that_is_not_that_of_the_model_is_not_read(tmp_path):
    path = tmp_path / "mail.tally"
    assert opened(path) is None
    taught(ROWS[:6]).save(path)
    content = beside(path).read_bytes()
    assert opened(path) is not None
    assert TokenTable.of_parts(memoryview(content), "another") is None
    for damaged in (
        b"", b"other", content[:-1], content + b"x", content[:200], BEGINNING,
        BEGINNING + b"{}\n", BEGINNING + b"[" * 100_000 + b"\n", BEGINNING + b"\xff\n",
        content.replace(b'"slots": ', b'"slots": 9'), content.replace(b'"slots": ', b'"slots": -'),
        content.replace(b'"alpha"', b'"omega"'), content.replace(b'"ham"', b'"jam"'),
    ):  # fmt: skip
        beside(path).write_bytes(damaged)
        assert opened(path) is None


def test_a_table_without_an_empty_slot_ends_with_an_error():
    lookup = lookup_of(fitted(ROWS[:6]))
    for place, key in enumerate(lookup.keys):
        lookup.keys[place] = key or 77
    with pytest.raises(ValueError, match="empty slot"):
        lookup.score(ROWS[20][0])


@pytest.mark.parametrize("share", [1.0, 3.0, 0.25])
def test_what_a_user_taught_is_added_to_what_the_site_knows(share):
    site, mine = ROWS[:20], ROWS[15:30]
    of_site, of_user = tally_of(*zip(*site, strict=True)), tally_of(*zip(*mine, strict=True))
    calibration = weighed(of_site)
    both = Fitted(of_site + of_user.scaled(share), recipe_of(calibration))
    lookup = lookup_of(Fitted(of_site, recipe_of(calibration)))
    own = lookup.owned(lookup_of(Fitted(of_user, recipe_of(calibration))), share)
    found = [lookup.score(columns, own).log_odds for columns, _ in ROWS]
    np.testing.assert_allclose(found, said_by_model(both, ROWS), rtol=1e-9, atol=1e-12)
