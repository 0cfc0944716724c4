"""Which rows are held out together, whatever says so."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from tallybayes import TallyBayesError
from tallybayes.validation import folds as module
from tallybayes.validation.folds import folds_of

labels = st.lists(st.integers(0, 2), min_size=2, max_size=30).map(np.array)
SIX, NINE = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 1, 1, 2, 2, 0, 1, 2])


def pairs(folds):
    return [(sorted(train.tolist()), sorted(test.tolist())) for train, test in folds]


@given(y=labels, data=st.data(), stratified=st.booleans())
def test_folds_hold_out_every_row_once_and_are_as_even_as_can_be(y, data, stratified):
    k = data.draw(st.integers(2, len(y)))
    folds = folds_of(k, y, stratified=stratified, seed=data.draw(st.integers(0, 99)))
    assert len(folds) == k
    assert sorted(row for _, test in folds for row in test.tolist()) == list(range(len(y)))
    for train, test in folds:
        assert sorted([*train.tolist(), *test.tolist()]) == list(range(len(y)))
    for label in [None, *set(y.tolist())] if stratified else [None]:
        counts = [np.sum((label is None) | (y[test] == label)) for _, test in folds]
        assert max(counts) - min(counts) <= 1


def test_the_seed_decides_and_repeats_are_shuffled_anew():
    y = np.repeat([0, 1, 2], 4)
    assert pairs(folds_of(3, y, seed=4)) == pairs(folds_of(np.int64(3), y, seed=4))
    assert pairs(folds_of(3, y, seed=4)) != pairs(folds_of(3, y, seed=5))
    twice = pairs(folds_of(3, y, repeats=2, seed=4))
    assert twice == pairs(folds_of(3, y, seed=4)) + pairs(folds_of(3, y, seed=5))
    loose = [test for seed in range(9) for _, test in folds_of(3, y, stratified=False, seed=seed)]
    assert {int((y[test] == 0).sum()) for test in loose} > {1}


@pytest.mark.parametrize("said", ["loo", LeaveOneOut()])
def test_leave_one_out_holds_out_each_row_in_turn(said):
    folds = folds_of(said, np.array([0, 1, 2, 0]))
    assert folds.leave_one_out
    assert pairs(folds) == [
        ([1, 2, 3], [0]), ([0, 2, 3], [1]), ([0, 1, 3], [2]), ([0, 1, 2], [3]),
    ]  # fmt: skip
    assert folds_of(folds, SIX) is folds


@pytest.mark.parametrize("share", [0.25, np.float64(0.5), np.float32(0.25)])
def test_a_share_is_held_out_once(share):
    y = np.repeat([0, 1], [12, 8])
    ((train, test),) = folds_of(share, y)
    assert len(test) == round(20 * float(share))
    assert sorted([*train, *test]) == list(range(20))
    assert (y[test] == 0).sum() == round(12 * float(share))
    again = pairs(folds_of(share, y, repeats=3))
    assert len({tuple(held) for _, held in again}) > 1


@pytest.mark.parametrize("stratified", [True, False])
@pytest.mark.parametrize(("kind", "folds"), [(int, 3), (str, 3), (int, 0.4)])
def test_rows_of_a_group_are_held_out_together(stratified, kind, folds):
    groups = np.array([kind(g) for g in np.random.default_rng(0).integers(0, 7, 60)])
    y = np.random.default_rng(1).integers(0, 3, 60)
    for train, test in folds_of(folds, y, groups=groups, stratified=stratified):
        assert not set(groups[train]) & set(groups[test])
        assert len(train) + len(test) == 60


GROUPS = [0, 0, 1, 1, 2, 2, 3, 3, 3]
SPLITTERS = [
    KFold(3, shuffle=True, random_state=1),
    GroupKFold(3),
    LeaveOneGroupOut(),
    TimeSeriesSplit(3),
    ShuffleSplit(3, test_size=0.4, random_state=2),
    LeavePOut(2),
    RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=3),
]


@pytest.mark.parametrize("splitter", SPLITTERS, ids=lambda each: type(each).__name__)
def test_a_splitter_of_scikit_learn_says_itself_which_rows(splitter):
    groups = GROUPS if "Group" in type(splitter).__name__ else None  # others warn
    expected = pairs(splitter.split(np.zeros((9, 1)), NINE, groups))
    assert pairs(folds_of(splitter, NINE, groups=groups)) == expected


def test_pairs_are_taken_as_they_are_and_may_name_rows_twice():
    said = [(np.array([0, 1, 1]), np.array([2])), ([True, False, True], [False, True, False])]
    for form in (said, iter(said)):
        assert pairs(folds_of(form, SIX[:3])) == [([0, 1, 1], [2]), ([0, 2], [1])]


@pytest.mark.parametrize(
    ("said", "counted"),
    [
        (3, [3, 3]),
        (list(folds_of(3, NINE, repeats=2)), [3, 3]),
        ("loo", [4, 4, 1]),
        (KFold(9), [4, 4, 1]),
        (ShuffleSplit(3, test_size=0.4, random_state=2), [1, 1, 1]),
        (TimeSeriesSplit(3), []),
        ([([0, 1], [1])], []),
    ],
    ids=repr,
)
def test_folds_that_learn_from_all_other_rows_are_counted_together(said, counted, monkeypatch):
    monkeypatch.setattr(module, "PARTS_AT_ONCE", 4)
    folds = folds_of(said, NINE, repeats=2)
    passes = list(folds.passes())
    assert [n for _, n in passes] == counted
    held = [np.flatnonzero(part == k).tolist() for part, n in passes for k in range(n)]
    assert held + [sorted(test.tolist()) for _, test in folds.pairs] == [t for _, t in pairs(folds)]


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        (None, "folds is None"),
        (3 + 1j, "folds is"),
        (True, "whole number from 2"),
        (1, "whole number from 2"),
        (7, "only 6 rows"),
        (1.5, "between 0 and 1"),
        (float("nan"), "between 0 and 1"),
        ("ten", "'ten'; give a number, 'loo'"),
        ([], "no folds"),
        ([3], "two arrays"),
        ([([0, 1], [])], "row numbers on both sides"),
        ([([0.5], [1])], "row numbers on both sides"),
        ([([[0, 1]], [2])], "row numbers on both sides"),
        ([([0, 1], [6])], "row 6; rows are numbered from 0 to 5"),
        ([([0, 1], [-1, 3])], "row -1; rows are numbered from 0 to 5"),
        ([([0, 1], [2, 2])], "holds a row out twice"),
        (GroupKFold(2), "groups"),
        (StratifiedKFold(4), "cannot be split"),
    ],
)
def test_folds_that_cannot_be_are_refused(folds, message):
    with pytest.raises(TallyBayesError, match=message):
        folds_of(folds, SIX)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": [1, 2]}, "2 entries for 6 rows"),
        ({"groups": [1] * 6}, "only 1 groups"),
        ({"groups": 5}, "groups"),
        ({"groups": [1, 1, None, 2, 2, 2]}, "group"),
        ({"repeats": 0}, "repeats is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"folds": "loo", "groups": [1, 1, 1, 2, 2, 2]}, "LeaveOneGroupOut"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(TallyBayesError, match=message):
        folds_of(**{"folds": 2, "y": SIX, **options})
