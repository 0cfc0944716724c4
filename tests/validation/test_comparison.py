"""Comparing models: McNemar's test, t-tests and Holm as published, and an answer in words."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import comb, inf

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import tallybayes as tb
from nearness import near
from tallybayes.errors import TallyBayesError
from tallybayes.metrics import Predictions
from tallybayes.validation import compare, compare_predictions, cross_val, holm, mcnemar, paired_t

FIVE = StratifiedKFold(5, shuffle=True, random_state=0)
IRIS = load_iris(return_X_y=True)
MODELS = {"bayes": GaussianNB(), "none": DummyClassifier()}


# From predictions of one set: McNemar's test


def right_on(n, weights=None, **right):
    """Compare models that are right on the given rows of n, all of class 1."""
    said = {name: np.isin(np.arange(n), list(rows)).astype(int) for name, rows in right.items()}
    return compare_predictions(
        {
            name: Predictions.of(
                np.ones(n, int), answers, answers, classes=[0, 1], sample_weight=weights
            )
            for name, answers in said.items()
        }
    )


rights = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=11)


@given(rights)
def test_p_is_the_share_of_all_swaps_of_answers_that_differ_as_much(pairs):
    """Equally good models might as well have swapped their answers on any row."""
    a, b = np.array(pairs).T.astype(int)
    test = right_on(len(a), a=np.flatnonzero(a), b=np.flatnonzero(b)).pairs[0].test
    gaps = a - b
    swapped = [abs(np.dot(gaps, signs)) for signs in product([1, -1], repeat=len(gaps))]
    assert test.p == pytest.approx(np.mean(np.array(swapped) >= abs(gaps.sum())))
    assert test.difference == pytest.approx(a.mean() - b.mean())


def test_a_whole_weight_counts_as_so_many_rows():
    assert right_on(4, [3, 1, 2, 0], a=[0, 1], b=[1, 2]) == right_on(6, a=range(4), b=range(3, 6))
    with pytest.raises(TallyBayesError, match=r"counts rows.*whole numbers.*folds=10"):
        right_on(2, [0.5, 1], a=[0], b=[1])


def test_predictions_of_other_rows_are_refused():
    X, y = IRIS
    one, other = (cross_val(tb.NaiveBayes(), X, y, folds=5, seed=seed) for seed in (0, 1))
    with pytest.raises(TallyBayesError, match="'one' and 'other' were not asked about the same"):
        compare_predictions({"one": one, "other": other})


FOLDS = {
    "a": [0.90, 0.91, 0.89, 0.93, 0.92],
    "b": [0.88, 0.91, 0.86, 0.90, 0.90],
    "c": [0.70, 0.75, 0.71, 0.66, 0.72],
}
TWO = {name: FOLDS[name] for name in "ab"}


def scored(folds, n_train=400):
    """Compare models with these accuracies in folds of 100 rows, all of class 1."""
    said = {}
    for name, accuracies in folds.items():
        answers = np.concatenate([np.arange(100) < round(100 * share) for share in accuracies])
        held = Predictions.of(np.ones(len(answers), int), None, answers * 1, classes=[0, 1])
        said[name] = replace(held, fold=np.arange(len(answers)) // 100)
    return compare_predictions(said, n_train=n_train)


def corrected_p(a, b, ratio):
    gaps = np.subtract(a, b)
    t = gaps.mean() / np.sqrt(gaps.var(ddof=1) * (1 / len(gaps) + ratio))
    return 2 * stats.t.sf(abs(t), len(gaps) - 1)


def test_the_corrected_t_test_decides_and_the_plain_one_is_beside_it():
    found = scored(TWO)
    (pair,) = found.pairs
    corrected, plain = pair.tests
    assert corrected.p == pytest.approx(corrected_p(FOLDS["a"], FOLDS["b"], 0.25))
    assert plain.p == pytest.approx(stats.ttest_rel(FOLDS["a"], FOLDS["b"]).pvalue)
    assert plain.p < 0.05 < corrected.p
    assert pair.better is None
    assert found.sentence.startswith("Accuracy, mean of 5 folds: a 0.9100, b 0.8900. Two equally")
    assert f"(corrected t, p = {corrected.p:.3g}; paired t, p = {plain.p:.3g})" in found.sentence
    assert found.sentence.endswith("which does not mean that there is none.")
    assert scored(TWO, n_train=1e6).pairs[0].better == "a"  # by training sets that hardly overlap


# Words


def test_a_shown_difference_names_the_better_model_and_the_odds():
    assert right_on(40, worse=[30], better=range(10)).sentence == (
        "Accuracy, 40 rows: better 0.2500, worse 0.0250. Two equally good models would differ at "
        "least this much in about 1 of 100 such comparisons (McNemar, exact, p = 0.0117), so "
        "chance is an unlikely reason: better is better on such data."
    )


@given(rights)
def test_the_words_say_what_the_numbers_say(pairs):
    a, b = map(np.flatnonzero, np.array(pairs).T)
    found = right_on(len(pairs), a=a, b=b)
    shown = found.pairs[0].test.p < 0.05
    assert ("chance is an unlikely reason" in found.sentence) == shown
    assert ("does not mean that there is none" in found.sentence) == (not shown)


@pytest.mark.parametrize(
    ("right", "said"),
    [
        ({"a": range(3), "b": range(3, 6)}, "in about 100 of 100 such comparisons"),
        ({"a": range(20), "b": []}, "in fewer than 1 of 100 such comparisons"),
        ({"a": range(8), "b": range(8)}, "Nothing tells them apart, so no difference is shown"),
    ],
)
def test_a_p_value_is_said_as_odds(right, said):
    assert said in right_on(30, **right).sentence


def test_a_difference_without_spread_is_told_with_a_warning():
    scores = {"a": [0.9, 0.8], "b": [0.8, 0.7], "c": [0.9, 0.8]}
    found = scored({name: scores[name] for name in "ab"})
    assert "its p-value of 0 says little" in found.sentence
    assert "a - b: all the differences are equal" in str(found)
    assert "no difference" in scored({name: scores[name] for name in "ac"}).sentence


def test_a_paragraph_tells_what_is_shown_of_many_models_and_what_is_not():
    found = scored(FOLDS)
    assert [(pair.a, pair.b) for pair in found.pairs] == list(combinations("abc", 2))
    adjusted = [pair.adjusted for pair in found.pairs]
    assert adjusted == holm([pair.test.p for pair in found.pairs]).tolist()
    text = found.sentence
    assert text.startswith("Accuracy, mean of 5 folds: a 0.9100, b 0.8900, c 0.7080. All 3 pairs")
    assert "a over c (p = " in text
    assert "b over c (p = " in text
    assert text.endswith(
        "No difference is shown for a - b, which does not mean that there is none."
    )
    assert "for any pair," in right_on(10, **dict.fromkeys("abcde", ())).sentence
    many = right_on(20, **{name: range(20 * (name < "e")) for name in "abcdefg"}).sentence
    assert many.count(" over ") == 6
    assert "and 6 more" in many


def test_the_text_is_the_sentence_and_aligned_tables():
    # Bentur et al. (2009): the interval leaves out zero, p does not
    found = right_on(21, first=[0], other=range(1, 8))
    sentence, models, pairs, _ = str(found).split("\n\n")
    assert " ".join(sentence.split()) == found.sentence
    assert models.splitlines()[2].split() == ["other", "0.3333"]
    line = pairs.splitlines()[-1]
    assert line.startswith("first - other  McNemar, exact")
    assert line.split()[-7:] == ["7", "-0.2857", "-0.5084", "-0.0134", "1", "0.0703", "0.0703"]
    table = str(scored(FOLDS)).split("\n\n")[2].splitlines()
    assert ["corrected t" in line for line in table[2:]] == [True, False] * 3


@pytest.mark.parametrize("scores", [FOLDS, {"a": [1, 1], "b": [0, 0]}])
def test_everything_survives_json(scores):
    found = scored(scores)
    data = found.to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["sentence"] == found.sentence
    assert data["scores"]["b"] == pytest.approx(scores["b"])
    assert data["pairs"][0]["p"] == data["pairs"][0]["tests"][0]["p"] == found.pairs[0].test.p
    assert [pair["better"] for pair in data["pairs"]] == [pair.better for pair in found.pairs]


# Estimators on the same folds


@pytest.mark.parametrize(
    ("score", "scoring"),
    [("accuracy", "accuracy"), ("log_loss", "neg_log_loss"), ("f1_macro", "f1_macro")],
)
def test_any_two_classifiers_are_scored_as_scikit_learn_scores_them(score, scoring):
    X, y = load_breast_cancer(return_X_y=True)
    models = {"nb": GaussianNB(var_smoothing=1e-3), "bernoulli": BernoulliNB(binarize=20.0)}
    found = compare(models, X, y, folds=FIVE, score=score)
    for name, model in models.items():
        expected = np.abs(cross_val_score(model, X, y, cv=FIVE, scoring=scoring))
        assert found.scores[name] == pytest.approx(tuple(expected), rel=1e-6)
    assert found.greater_is_better == (score != "log_loss") == ("lower is b" not in str(found))
    gaps = np.subtract(*found.scores.values())
    corrected, plain = found.pairs[0].tests
    assert plain.p == pytest.approx(stats.ttest_1samp(gaps, 0).pvalue)
    ratio = np.mean([len(b) for _, b in FIVE.split(X, y)]) / 569
    assert corrected.p == pytest.approx(corrected_p(*found.scores.values(), ratio / (1 - ratio)))
    assert not hasattr(models["nb"], "classes_")


def test_leave_one_out_and_a_single_set_go_to_mcnemar():
    X, y = IRIS
    models = {"nb": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1, random_state=0)}
    found = compare(models, X, y, folds="loo")
    a, b = (cross_val_predict(m, X, y, cv=LeaveOneOut()) == y for m in models.values())
    assert found.pairs[0].only_right == ((a & ~b).sum(), (b & ~a).sum())
    assert found.rows == 150
    assert found == compare(models, X, y, folds=KFold(150))
    single = compare(MODELS, X, y, folds=0.2)
    assert (single.rows, single.pairs[0].better) == (30, "bayes")


def test_repeated_folds_all_count_and_the_seed_decides_them():
    found, again, other = (
        compare(MODELS, *IRIS, folds=3, repeats=2, seed=seed) for seed in (1, 1, 2)
    )
    assert len(found.scores["bayes"]) == 6
    test = found.pairs[0].test
    assert test.df == 5
    assert test.p == pytest.approx(corrected_p(*found.scores.values(), 50 / 100))
    assert found == again
    assert found.scores != other.scores


@pytest.mark.parametrize(
    ("folds", "score"), [(4, "accuracy"), (4, "log_loss"), (0.4, "accuracy"), ("loo", "accuracy")]
)
def test_ours_are_scored_as_if_they_had_been_fitted_for_every_fold(folds, score):
    # inside a pipeline an estimator of ours has no shortcut
    models = {"ours": tb.NaiveBayes(), "refitted": make_pipeline("passthrough", tb.NaiveBayes())}
    found = compare(models, *IRIS, folds=folds, score=score)
    assert found.scores["ours"] == pytest.approx(found.scores["refitted"], abs=1e-9)
    assert found.pairs[0].test.p == 1.0


def test_tables_text_and_sparse_matrices_are_taken_apart_alike():
    X, y = IRIS
    models = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(random_state=0)}
    plain = compare(models, X, y, folds=FIVE)
    names = list("abcd")
    for table in (
        pd.DataFrame(X, columns=names, index=np.arange(150)[::-1]),
        pl.DataFrame(X, schema=names),
        pa.table(dict(zip(names, X.T, strict=True))),
        dict(zip(names, X.T, strict=True)),
    ):
        assert compare(models, table, y, folds=FIVE).scores == near(dict(plain.scores))
    again = compare(models, X, pd.Series(y, index=np.arange(150)[::-1]), folds=FIVE)
    assert again.scores == near(dict(plain.scores))
    counts = csr_array(np.round(X).astype(int))
    both = {"counts": MultinomialNB(), "bits": BernoulliNB()}
    dense = compare(both, counts.toarray(), y, folds=3)
    assert compare(both, counts, y, folds=3).scores == near(dict(dense.scores))
    texts = ["spam offer now", "meeting at noon", "offer now", "noon today"] * 5
    pipeline = make_pipeline(CountVectorizer(), MultinomialNB())
    words = {"words": pipeline, "none": DummyClassifier()}
    assert compare(words, texts, ["spam", "not spam"] * 10, folds=5).means["words"] == 1.0


def test_weights_count_in_fitting_and_in_the_score():
    X, y = IRIS
    X, y = X[50:, :2], y[50:]
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    folds = KFold(4, shuffle=True, random_state=0)
    found = compare(MODELS, X, y, folds=folds, sample_weight=weights)
    expected = []
    for train, test in folds.split(X):
        often = weights[train]
        model = GaussianNB().fit(X[train].repeat(often, 0), y[train].repeat(often))
        right = model.predict(X[test]) == y[test]
        expected.append(np.average(right, weights=weights[test]))
    assert found.scores["bayes"] == pytest.approx(tuple(expected))


@pytest.mark.parametrize("positive", [None, "malignant", "benign"])
def test_the_positive_class_is_that_of_the_models_or_the_last(positive):
    X, y = load_breast_cancer(return_X_y=True)
    y = np.array(["malignant", "benign"])[y]
    named = {"ours": tb.NaiveBayes(positive=positive), "theirs": GaussianNB()}
    found = compare(named, X, y, folds=FIVE, score="recall").scores["theirs"]
    own = y == (positive or "malignant")
    expected = cross_val_score(GaussianNB(), X, own, cv=FIVE, scoring="recall")
    assert found == pytest.approx(tuple(expected))


def test_a_model_without_probabilities_can_still_be_compared_by_its_answers():
    X, y = IRIS
    models = {"svc": LinearSVC(random_state=0), "bayes": GaussianNB()}
    found = compare(models, X, y, folds=FIVE)
    expected = cross_val_score(LinearSVC(random_state=0), X, y, cv=FIVE)
    assert found.scores["svc"] == pytest.approx(tuple(expected))
    with pytest.raises(TallyBayesError, match=r"'svc' gives no probabilities, which 'brier_"):
        compare(models, X, y, folds=FIVE, score="brier_score")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"models": {"one": GaussianNB()}}, "at least 2 models, not 1"),
        ({"models": [GaussianNB()]}, "models is of type list; give a dict"),
        ({"models": {"a": GaussianNB(), "b": GaussianNB}}, "give an estimator such as"),
        ({"score": "acuracy"}, "'acuracy' is not a score; did you mean 'accuracy'"),
        ({"folds": "loo", "score": "log_loss"}, "McNemar's test, which only asks who is right"),
        (
            {"folds": KFold(4), "score": "roc_auc", "some": 100},
            "no finite 'roc_auc' in fold 1 .*few",
        ),
        ({"sample_weight": [1.0]}, r"the weights have the shape \(1,\), expected \(150,\)"),
        (
            {"models": {**MODELS, "near": KNeighborsClassifier()}, "sample_weight": 1},
            "KNeighborsClassifier takes no sample_weight",
        ),
        ({"level": 5}, "level is 5; it must be between 0 and 1"),
        ({"y": [None, *range(149)]}, "the label of row 0 is missing"),
    ],
)
def test_a_wrong_wish_is_refused_with_a_remedy(wrong, message):
    wrong = dict(wrong)
    some = wrong.pop("some", 150)
    X, y = (each[:some] for each in IRIS)
    given = {"models": MODELS, "X": X, "y": y, "folds": 5} | wrong
    with pytest.raises(TallyBayesError, match=message):
        compare(**given)


def test_a_pair_that_is_none_is_refused():
    with pytest.raises(TallyBayesError, match=r"\('a', 'd'\) is no pair .*known: 'a', 'b', 'c'"):
        scored(FOLDS)["a", "d"]


scores = st.floats(-1, 1).map(lambda x: round(x, 3))


# McNemar's test


@pytest.mark.parametrize(
    ("only_a", "only_b", "statistic", "p"),
    [
        (150, 86, "16.818", "4.115e-05"),  # R, ?mcnemar.test: approval ratings
        (61, 27, "12.375", "4.35e-04"),  # the two below: manual of chart-review
        (25, 15, "2.025", "1.55e-01"),  # also the example of mlxtend
        (40, 40, "0.000", "1.00e+00"),  # R takes nothing off where there is no difference
    ],
)
def test_many_disagreements_give_the_published_chi_squared_values(only_a, only_b, statistic, p):
    test = mcnemar(only_a, only_b)
    assert (test.name, test.df) == ("McNemar, chi-squared", 1)
    assert f"{test.statistic:.3f}" == statistic
    assert f"{test.p:.{len(p) - 6}e}" == p


def test_few_disagreements_give_the_published_exact_value():
    # complete response before and after consolidation therapy (Cavo et al., 2012), in the book
    # "Statistical Analysis of Contingency Tables": 6 and 16 discordant pairs
    test = mcnemar(6, 16)
    assert (test.name, test.df) == ("McNemar, exact", None)
    assert test.p == pytest.approx(0.052479, abs=5e-7)


def exact_p(a, b):
    """Add up the probabilities of all ways to share a + b rows that are as uneven or more so."""
    n = a + b
    ways = sum(comb(n, k) for k in range(n + 1) if abs(2 * k - n) >= abs(a - b))
    return Fraction(ways, 2**n)


@given(st.integers(0, 25), st.integers(0, 25))
def test_fewer_than_25_disagreements_are_counted_out(a, b):
    test = mcnemar(a, b)
    assert (test.name == "McNemar, exact") == (a + b < 25)
    if a + b < 25:
        assert test.p == pytest.approx(float(exact_p(a, b)), rel=1e-12)
        assert test.statistic == min(a, b)
    elif a + b == 25:
        assert test.p == pytest.approx(float(exact_p(a, b)), abs=0.02)


@pytest.mark.parametrize(
    ("a", "b", "n", "low", "high"),
    [
        (26, 4, 40, 0.3126438, 0.7349752),  # D. Bonett's own R functions
        (6, 16, 161, -0.1195, -0.0032),  # R package contingencytables, Cavo et al. (2012)
    ],
)
def test_the_interval_is_that_of_the_published_examples(a, b, n, low, high):
    test = mcnemar(a, b, n=n)
    places = len(str(high).split(".")[1])
    assert (round(test.low, places), round(test.high, places)) == (low, high)


# The paired t-tests


@given(st.lists(st.tuples(scores, scores), min_size=3, max_size=20))
def test_the_plain_test_is_scipy_s(pairs):
    a, b = np.array(pairs).T
    if np.ptp(a - b) < 1e-6:
        return
    test, oracle = paired_t(a - b), stats.ttest_rel(a, b)
    interval = oracle.confidence_interval(0.95)
    found = (test.statistic, test.p, test.low, test.high)
    wanted = (oracle.statistic, oracle.pvalue, interval.low, interval.high)
    assert found == pytest.approx(wanted, rel=1e-9)
    assert (test.name, test.note) == ("paired t", "")


@given(st.lists(scores, min_size=3, max_size=12), st.sampled_from([0.01, 0.05, 0.2]))
def test_an_interval_leaves_out_zero_just_when_p_is_below_the_level(gaps, level):
    for test in (paired_t(gaps, level=level), paired_t(gaps, 90, 10, level=level)):
        if abs(test.p - level) > 1e-9:
            assert (test.low > 0 or test.high < 0) == (test.p < level)


@pytest.mark.parametrize("sizes", [(), (80, 20)])
@pytest.mark.parametrize(
    ("gaps", "t", "p"),
    [
        ([0.0] * 5, 0.0, 1.0),
        ([0.1] * 5, inf, 0.0),
        ([-0.1] * 5, -inf, 0.0),
        ([0.9 - 0.8, 0.8 - 0.7, 0.7 - 0.6], inf, 0.0),  # equal but for rounding
        ([1e-17, -1e-17, 1e-16], 0.0, 1.0),
    ],
)
def test_equal_differences_have_no_spread_and_say_so(gaps, t, p, sizes):
    test = paired_t(gaps, *sizes)
    assert (test.statistic, test.p) == (t, p)
    assert test.low == test.difference == test.high == pytest.approx(gaps[0], abs=1e-15)
    assert "no spread to measure chance by" in test.note


@pytest.mark.parametrize(
    ("p", "adjusted"),
    [
        # the manual of pingouin.holm
        ([0.5, 0.003, 0.32, 0.054, 0.0003], [0.64, 0.012, 0.64, 0.162, 0.0015]),
        # the manual of stdlib's padjust
        ([0.319, 0.201, 0.4, 0.374, 0.113], [0.957, 0.804, 0.957, 0.957, 0.565]),
        ([0.03], [0.03]),
    ],
)
def test_published_examples_of_holm_s_adjustment(p, adjusted):
    assert holm(p) == pytest.approx(adjusted, abs=5e-4)


def rejected_step_by_step(p, level):
    """Tell which hypotheses Holm's procedure rejects, as he describes it."""
    rejected, left = set(), sorted(range(len(p)), key=lambda k: p[k])
    while left and p[left[0]] <= level / len(left):
        rejected.add(left.pop(0))
    return rejected


grid = st.integers(0, 1000).map(lambda k: k / 1000)


@given(st.lists(grid, max_size=8), st.sampled_from([0.0123, 0.0517, 0.1003, 0.3331]))
def test_what_is_below_the_level_is_what_the_procedure_rejects(p, level):
    assert set(np.flatnonzero(holm(p) <= level)) == rejected_step_by_step(p, level)


@pytest.mark.parametrize(
    ("test", "given", "message"),
    [
        (mcnemar, (-1, 2), "must be a whole number from"),
        (mcnemar, (3, 1.5), "must be a whole number from"),
        (mcnemar, (3, 2, 3), "must be a whole number from"),
        (mcnemar, (3, 2, None, 5), "level is"),
        (paired_t, ([0.1, 0.2], 9, 1, "five"), "level is"),
        (paired_t, ([0.1],), "at least 2 .* not 1; .*McNemar"),
        (paired_t, ([0.1, np.nan, 0.2],), "must be a list of finite numbers"),
        (paired_t, (["a", "b"],), "must be a list of finite numbers"),
        (paired_t, ([[0.1, 0.2]],), "must be a list of finite numbers"),
        (paired_t, ([0.1, 0.2], 90), "both n_train and n_test"),
        (paired_t, ([0.1, 0.2], 0, 10), "n_train is 0; it must be a number, greater than 0"),
        (holm, ([0.5, 1.2],), "within 0..1"),
        (holm, ([0.5, -0.1],), "within 0..1"),
    ],
)
def test_what_cannot_be_tested_is_refused(test, given, message):
    with pytest.raises(TallyBayesError, match=message):
        test(*given)
