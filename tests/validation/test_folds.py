"""Which rows are held out together, whatever says so."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeavePOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from tallybayes import TallyBayesError
from tallybayes.validation import folds as module
from tallybayes.validation.folds import folds_of, parted

labels = st.lists(st.sampled_from("abc"), min_size=2, max_size=30)


def pairs(folds):
    return [(train.tolist(), test.tolist()) for train, test in folds]


# A number of folds


@given(y=labels, data=st.data(), stratified=st.booleans())
def test_the_folds_hold_out_every_row_once_and_learn_from_all_others(y, data, stratified):
    k = data.draw(st.integers(2, len(y)))
    folds = folds_of(k, None, y, stratified=stratified, seed=data.draw(st.integers(0, 99)))
    assert len(folds) == k
    assert sorted(row for _, test in folds for row in test.tolist()) == list(range(len(y)))
    for train, test in folds:
        assert len(test)
        assert sorted([*train.tolist(), *test.tolist()]) == list(range(len(y)))


@given(y=labels, data=st.data())
def test_sizes_and_classes_are_spread_as_evenly_as_can_be(y, data):
    k = data.draw(st.integers(2, len(y)))
    folds = folds_of(k, None, y)
    sizes = [len(test) for _, test in folds]
    assert max(sizes) - min(sizes) <= 1
    for label, n in Counter(y).items():
        counts = [sum(y[row] == label for row in test) for _, test in folds]
        assert min(counts) >= n // k
        assert max(counts) <= -(-n // k)


def test_without_strata_only_the_sizes_are_even():
    y = ["a"] * 10 + ["b"] * 10
    counts = [
        sum(y[row] == "a" for row in test)
        for seed in range(20)
        for _, test in folds_of(2, None, y, stratified=False, seed=seed)
    ]
    assert {len(test) for _, test in folds_of(2, None, y, stratified=False)} == {10}
    assert set(counts) != {5}


def test_the_seed_decides_and_repeats_are_shuffled_anew():
    y = list("aabbccaabbcc")
    assert pairs(folds_of(3, None, y, seed=4)) == pairs(folds_of(3, None, y, seed=4))
    assert pairs(folds_of(3, None, y, seed=4)) != pairs(folds_of(3, None, y, seed=5))
    twice = pairs(folds_of(3, None, y, repeats=2, seed=4))
    assert len(twice) == 6
    assert twice[:3] == pairs(folds_of(3, None, y, seed=4))
    assert twice[3:] != twice[:3]


def test_a_partition_is_a_sequence():
    folds = folds_of(3, None, list("aabbcc"), repeats=2)
    assert pairs([folds[-1]]) == pairs([folds[5]])
    assert pairs(folds[1:3]) == pairs([folds[1], folds[2]])
    with pytest.raises(IndexError):
        folds[6]


def test_a_numpy_integer_is_a_number_of_folds():
    assert len(folds_of(np.int64(3), None, list("aabbcc"))) == 3


def test_a_class_smaller_than_the_number_of_folds_is_spread_as_far_as_it_goes():
    folds = folds_of(4, None, ["a"] * 9 + ["b"])
    assert sorted(len(test) for _, test in folds) == [2, 2, 3, 3]


# Single rows


def test_leave_one_out_holds_out_each_row_in_turn():
    folds = folds_of("loo", None, list("abca"))
    assert pairs(folds) == [
        ([1, 2, 3], [0]), ([0, 2, 3], [1]), ([0, 1, 3], [2]), ([0, 1, 2], [3]),
    ]  # fmt: skip
    assert pairs(folds[1:3]) == pairs(folds)[1:3]
    assert pairs([folds[-1]]) == pairs(folds)[3:]
    with pytest.raises(IndexError):
        folds[4]


# A share of the rows


@pytest.mark.parametrize("share", [0.25, np.float64(0.5), np.float32(0.25)])
def test_a_share_is_held_out_once(share):
    y = ["a"] * 12 + ["b"] * 8
    ((train, test),) = folds_of(share, None, y)
    assert len(test) == round(20 * float(share))
    assert sorted([*train, *test]) == list(range(20))
    assert sum(y[row] == "a" for row in test) == round(12 * float(share))


def test_a_share_may_be_drawn_again():
    found = pairs(folds_of(0.5, None, list("abab" * 5), repeats=3))
    assert len(found) == 3
    assert len({tuple(sorted(test)) for _, test in found}) > 1


def test_a_share_of_groups_keeps_them_together():
    groups = np.arange(20) // 4
    ((train, test),) = folds_of(0.4, None, list("ab" * 10), groups=groups)
    assert not set(groups[train]) & set(groups[test])


# Groups


@pytest.mark.parametrize("stratified", [True, False])
@pytest.mark.parametrize("kind", [int, str])
def test_rows_of_a_group_are_held_out_together(stratified, kind):
    groups = np.array([kind(g) for g in np.random.default_rng(0).integers(0, 7, 60)])
    y = np.random.default_rng(1).integers(0, 3, 60)
    folds = folds_of(3, None, y, groups=groups, stratified=stratified)
    assert sorted(row for _, test in folds for row in test.tolist()) == list(range(60))
    for train, test in folds:
        assert not set(groups[train]) & set(groups[test])


# Splitters and lists

GROUPS = [0, 0, 1, 1, 2, 2, 3, 3, 3]
SPLITTERS = [
    KFold(3),
    KFold(3, shuffle=True, random_state=1),
    StratifiedKFold(3),
    GroupKFold(3),
    LeaveOneGroupOut(),
    TimeSeriesSplit(3),
    ShuffleSplit(3, test_size=0.4, random_state=2),
    LeavePOut(2),
    RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=3),
]


def groups_for(splitter):
    """Return groups if the splitter asks for them: others warn."""
    return GROUPS if "Group" in type(splitter).__name__ else None


@pytest.mark.parametrize("splitter", SPLITTERS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize(
    "y", [list("aabbccabc"), [0, 0, 1, 1, 2, 2, 0, 1, 2]], ids=["text", "numbers"]
)
def test_a_splitter_of_scikit_learn_says_itself_which_rows(splitter, y):
    groups = groups_for(splitter)
    expected = splitter.split(np.zeros((9, 1)), y, groups)
    assert pairs(folds_of(splitter, None, y, groups=groups)) == pairs(expected)


def test_a_list_of_pairs_is_taken_as_it_is():
    said = [(np.array([0, 1, 1]), np.array([2])), ([True, False, True], [False, True, False])]
    assert pairs(folds_of(said, None, list("aba"))) == [([0, 1, 1], [2]), ([0, 2], [1])]
    assert pairs(folds_of(iter(said), None, list("aba"))) == [([0, 1, 1], [2]), ([0, 2], [1])]


def test_labels_of_several_types_are_split():
    y = np.array(["a", 1, "a", 1, None, None], object)
    assert len(folds_of(2, None, y)) == 2


# What cannot be


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        (None, "folds is None"),
        (object, "folds is"),
        (3 + 1j, "folds is"),
        (True, "whole number from 2"),
        (1, "whole number from 2"),
        (0, "whole number from 2"),
        (-3, "whole number from 2"),
        (7, "only 6 rows"),
        (1.5, "between 0 and 1"),
        (1.0, "between 0 and 1"),
        (0.0, "between 0 and 1"),
        (float("nan"), "between 0 and 1"),
        ("ten", "'ten'; give a number, 'loo'"),
        ("", "give a number, 'loo'"),
        ([], "no folds"),
        ([3], "two arrays"),
        ([([0, 1], [2], [3])], "two arrays"),
        ([([0, 1], [])], "row numbers on both sides"),
        ([([], [1])], "row numbers on both sides"),
        ([([0.5], [1])], "row numbers on both sides"),
        ([(["a"], ["b"])], "row numbers on both sides"),
        ([([[0, 1]], [2])], "row numbers on both sides"),
        ([([0, 1], [6])], "row 6; rows are numbered from 0 to 5"),
        ([([0, 1], [-1, 3])], "row -1; rows are numbered from 0 to 5"),
        ([([0, 1], [2, 2])], "holds a row out twice"),
        (GroupKFold(2), "groups"),
        (StratifiedKFold(4), "cannot be split"),
        (TimeSeriesSplit(9), "cannot be split"),
    ],
)
def test_folds_that_cannot_be_are_refused(folds, message):
    with pytest.raises(TallyBayesError, match=message):
        folds_of(folds, None, list("aabbcc"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": [1, 2]}, "2 entries for 6 rows"),
        ({"groups": [1] * 6}, "only 1 groups"),
        ({"groups": 5}, "groups"),
        ({"groups": [1, 1, None, 2, 2, 2]}, "group"),
        ({"repeats": 0}, "repeats is 0"),
        ({"repeats": 1.5}, "repeats is 1.5"),
        ({"seed": "a"}, "seed is 'a'"),
        ({"seed": -1}, "seed is -1"),
        ({"folds": "loo", "groups": [1, 1, 1, 2, 2, 2]}, "LeaveOneGroupOut"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    folds = options.pop("folds", 2)
    with pytest.raises(TallyBayesError, match=message):
        folds_of(folds, None, list("aabbcc"), **options)


# What can be counted together


def parts_of(folds, n):
    """Check each part, and list the folds in the order in which they come."""
    numbers = []
    for part, together in parted(folds, n):
        numbers += list(together)
        for place, number in enumerate(together):
            train, test = folds[number]
            if part is None:
                assert len(together) == 1
            else:
                assert np.flatnonzero(part == place).tolist() == sorted(test.tolist())
                assert np.flatnonzero(part != place).tolist() == sorted(train.tolist())
    return numbers


def test_the_folds_of_a_partition_are_counted_together_for_each_repeat():
    folds = folds_of(3, None, list("aabbcc"), repeats=2)
    assert parts_of(folds, 6) == list(range(6))
    assert [list(together) for _, together in parted(folds, 6)] == [[0, 1, 2], [3, 4, 5]]
    assert sorted(parts_of(list(folds), 6)) == list(range(6))
    assert [list(together) for _, together in parted(list(folds), 6)] == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("listed", [False, True])
def test_single_rows_are_counted_some_at_a_time(listed, monkeypatch):
    monkeypatch.setattr(module, "PARTS_AT_ONCE", 4)
    folds = folds_of("loo", None, list("a" * 11))
    folds = list(folds) if listed else folds
    assert parts_of(folds, 11) == list(range(11))
    assert [len(together) for _, together in parted(folds, 11)] == [4, 4, 3]


@pytest.mark.parametrize("splitter", SPLITTERS, ids=lambda each: type(each).__name__)
def test_every_fold_of_a_splitter_is_counted_once(splitter):
    folds = folds_of(splitter, None, list("aabbccabc"), groups=groups_for(splitter))
    assert sorted(parts_of(folds, 9)) == list(range(len(folds)))


def test_folds_that_learn_from_other_rows_are_counted_alone():
    folds = folds_of(TimeSeriesSplit(3), None, list("aabbccaa"))
    # the last one learns from all rows that it does not hold out
    assert [part is None for part, _ in parted(folds, 8)] == [True, True, False]
    twice = folds_of([([0, 1, 1], [2]), ([0, 1], [2])], None, list("aba"))
    assert [part is None for part, _ in parted(twice, 3)] == [True, False]


def test_a_row_that_is_learnt_from_and_held_out_is_no_complement():
    folds = folds_of([([0, 1], [1])], None, list("aba"))
    assert [part is None for part, _ in parted(folds, 3)] == [True]
