"""Comparing models: the right test on the right numbers, and an answer in words."""

import json
from html.parser import HTMLParser
from itertools import combinations, product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    KFold,
    LeaveOneGroupOut,
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
from tallybayes.errors import TallyBayesError
from tallybayes.metrics.scores import _OF_PROBABILITIES
from tallybayes.validation.comparisons.comparison import OF_PROBABILITIES, compare, compared
from tallybayes.validation.comparisons.sides import named

FIVE = StratifiedKFold(5, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


# From predictions: McNemar's test


def right_and_wrong(n, **right):
    """Make predictions that are right on the given rows of n, all of class 1."""
    answers = {name: np.isin(np.arange(n), list(rows)).astype(int) for name, rows in right.items()}
    return np.ones(n, int), answers


rights = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=11)


@given(rights)
def test_p_is_the_share_of_all_swaps_of_answers_that_differ_as_much(pairs):
    """Equally good models might as well have swapped their answers on any row."""
    a, b = np.array(pairs).T.astype(int)
    found = compared(["a", "b"], np.ones(len(a), int), {"a": a, "b": b}).pairs[0]
    gaps = a - b
    swapped = [abs(np.dot(gaps, signs)) for signs in product([1, -1], repeat=len(gaps))]
    assert found.p == pytest.approx(np.mean(np.array(swapped) >= abs(gaps.sum())))
    assert found.difference == pytest.approx(a.mean() - b.mean())


def test_only_being_right_counts_and_not_which_wrong_class_was_said():
    true = ["x", "y", "z", "x"]
    a, b = ["x", "x", "z", "z"], ["x", "z", "x", "y"]
    test = compared(["a", "b"], true, {"a": a, "b": b}).pairs[0].test
    assert (test.only_a, test.only_b) == (1, 0)


def test_accuracies_and_rows_are_there():
    true, answers = right_and_wrong(40, a=range(30), b=range(10))
    found = compared(["a", "b"], true, answers)
    assert found.scores == {"a": (0.75,), "b": (0.25,)}
    assert found.rows == 40
    assert found.deviations == {}
    assert found.pairs[0].better == "a"
    assert found.pairs[0].worse == "b"


def test_a_whole_weight_counts_as_so_many_rows():
    true, answers = right_and_wrong(4, a=[0, 1], b=[1, 2])
    weighted = compared(["a", "b"], true, answers, weights=[3, 1, 2, 0])
    rows = [0, 0, 0, 1, 2, 2]
    repeated = compared(["a", "b"], true[rows], {k: v[rows] for k, v in answers.items()})
    assert weighted == repeated


def test_broken_weights_cannot_be_counted():
    true, answers = right_and_wrong(2, a=[0], b=[1])
    with pytest.raises(TallyBayesError, match=r"counts rows.*whole numbers.*folds=10"):
        compared(["a", "b"], true, answers, weights=[0.5, 1])


# From scores of folds: the t-tests

FOLDS = {
    "a": [0.90, 0.91, 0.89, 0.93, 0.92],
    "b": [0.88, 0.91, 0.86, 0.90, 0.90],
    "c": [0.70, 0.75, 0.71, 0.66, 0.72],
}


def corrected_p(a, b, ratio):
    gaps = np.subtract(a, b)
    t = gaps.mean() / np.sqrt(gaps.var(ddof=1) * (1 / len(gaps) + ratio))
    return 2 * stats.t.sf(abs(t), len(gaps) - 1)


def test_the_corrected_t_test_decides_and_the_plain_one_is_beside_it():
    found = compared(["a", "b"], fold_scores=FOLDS, n_train=80, n_test=20)
    pair = found.pairs[0]
    assert pair.p == pytest.approx(corrected_p(FOLDS["a"], FOLDS["b"], 0.25))
    assert pair.test.p == pytest.approx(stats.ttest_rel(FOLDS["a"], FOLDS["b"]).pvalue)
    assert pair.test.p < 0.05 < pair.p
    assert pair.better is None
    assert pair.low < 0.0 < pair.test.low
    assert found.rows is None


def test_without_the_sizes_of_the_folds_the_plain_t_test_decides():
    pair = compared(["a", "b"], fold_scores=FOLDS).pairs[0]
    assert pair.p == pair.test.p < 0.05
    assert pair.better == "a"


def test_means_and_sample_deviations_are_those_of_the_folds():
    found = compared(["a", "b"], fold_scores=FOLDS)
    assert found.means["a"] == pytest.approx(0.91)
    assert found.deviations["a"] == pytest.approx(np.std(FOLDS["a"], ddof=1))


def test_the_lower_loss_is_the_better_one():
    losses = {"a": [0.5, 0.6, 0.55, 0.52], "b": [0.3, 0.41, 0.33, 0.31]}
    found = compared(["a", "b"], fold_scores=losses, score_name="log_loss", greater_is_better=False)
    assert found.pairs[0].difference > 0.0
    assert found.pairs[0].better == "b"
    assert found.sentence.startswith(
        "Over 4 folds, b has a mean log loss (lower is better) of 0.33"
    )


def test_predictions_have_no_part_where_folds_have_scores():
    true, answers = right_and_wrong(9, a=range(9), b=range(2))
    both = compared(["a", "b"], true, answers, FOLDS, 80, 20)
    assert both == compared(["a", "b"], fold_scores=FOLDS, n_train=80, n_test=20)


# More than two models


def test_every_pair_is_there_with_holm_s_adjustment():
    found = compared(list("abc"), fold_scores=FOLDS, n_train=80, n_test=20)
    assert [(pair.a, pair.b) for pair in found.pairs] == list(combinations("abc", 2))
    p = {pair.a + pair.b: pair.p for pair in found.pairs}
    assert sorted(p, key=p.get)[-1] == "ab"
    least, middle = sorted(p.values())[:2]
    assert p["ab"] == pytest.approx(corrected_p(FOLDS["a"], FOLDS["b"], 0.25))
    adjusted = {pair.a + pair.b: pair.adjusted for pair in found.pairs}
    assert adjusted["ab"] == p["ab"]
    assert min(adjusted.values()) == pytest.approx(3 * least)
    assert sorted(adjusted.values())[1] == pytest.approx(max(2 * middle, 3 * least))


def test_the_plain_p_values_are_adjusted_among_themselves():
    found = compared(list("abc"), fold_scores=FOLDS, n_train=80, n_test=20)
    alone = compared(list("abc"), fold_scores=FOLDS)
    assert [pair.plain_adjusted for pair in found.pairs] == [pair.adjusted for pair in alone.pairs]
    assert all(pair.plain_adjusted is None for pair in alone.pairs)


def test_what_one_comparison_would_show_three_may_not():
    true, answers = right_and_wrong(20, a=range(6), b=[], c=[])
    assert compared(["a", "b"], true, answers).pairs[0].better == "a"  # p = 2/64
    assert compared(["a", "b", "c"], true, answers)["a", "b"].better is None  # 6/64


def test_a_pair_is_found_in_either_order():
    found = compared(list("abc"), fold_scores=FOLDS)
    assert found["c", "a"] is found["a", "c"]
    with pytest.raises(TallyBayesError, match=r"no model 'd'; known: 'a', 'b', 'c'"):
        found["a", "d"]
    with pytest.raises(TallyBayesError, match="is no pair"):
        found["a", "a"]


@given(st.permutations("abc"))
def test_the_order_of_the_models_changes_no_finding(order):
    usual = compared(list("abc"), fold_scores=FOLDS, n_train=80, n_test=20)
    other = compared(order, fold_scores=FOLDS, n_train=80, n_test=20)
    for pair in usual.pairs:
        assert other[pair.a, pair.b].better == pair.better
        assert other[pair.a, pair.b].adjusted == pytest.approx(pair.adjusted)


# Words


def test_a_shown_difference_names_the_better_model_and_the_odds():
    true, answers = right_and_wrong(40, worse=[30], better=range(10))
    text = compared(["worse", "better"], true, answers).sentence
    assert text == (
        "better is right on 25.0 % of the 40 rows, worse on 2.5 %. On 11 rows only one of them is "
        "right: better on 10, worse on 1. Two equally good models would differ at least this much "
        "in about 1 of 100 such comparisons (McNemar's test, p = 0.0117), so chance is an unlikely "
        "reason: better is right more often on data like this."
    )


def test_folds_are_told_with_means_interval_and_both_p_values():
    text = compared(["b", "a"], fold_scores=FOLDS, n_train=80, n_test=20).sentence
    pair = compared(["a", "b"], fold_scores=FOLDS, n_train=80, n_test=20).pairs[0]
    assert text.startswith(
        "Over 5 folds, a has a mean accuracy of 91.0 % (standard deviation 1.6 %), b of 89.0 % "
        "(standard deviation 2.0 %). The mean difference is 2.0 percentage points, its 95 % "
        f"confidence interval {100 * pair.low:.1f} to {100 * pair.high:.1f}. "
    )
    assert f"share training rows, p = {pair.p:.3g}; uncorrected, p = {pair.test.p:.3g})" in text
    assert text.endswith("which does not mean that the models are equally good.")


@given(rights, st.sampled_from([0.01, 0.05, 0.5]))
def test_the_words_say_what_the_numbers_say(pairs, level):
    a, b = np.array(pairs).T.astype(int)
    found = compared(["a", "b"], np.ones(len(a), int), {"a": a, "b": b}, level=level)
    shown = found.pairs[0].p < level
    assert ("chance is an unlikely reason" in found.sentence) == shown
    assert ("does not mean that the models are equally good" in found.sentence) == (not shown)


@pytest.mark.parametrize(
    ("right", "often"),
    [
        ({"a": range(3), "b": range(3, 6)}, "in nearly every such comparison"),
        ({"a": range(4), "b": []}, "in about 12 of 100 such comparisons"),
        ({"a": range(9), "b": []}, "in about 4 of 1,000 such comparisons"),
        ({"a": range(20), "b": []}, "in fewer than 1 of 1,000 such comparisons"),
    ],
)
def test_a_p_value_is_said_as_odds(right, often):
    assert often in compared(["a", "b"], *right_and_wrong(30, **right)).sentence


def test_models_right_on_the_same_rows_are_not_called_equal():
    true, answers = right_and_wrong(10, a=range(8), b=range(8))
    assert compared(["a", "b"], true, answers).sentence == (
        "a and b are right on the same rows, 80.0 % of 10. So no difference is shown, which does "
        "not mean that the models are equally good."
    )


def test_a_difference_without_spread_is_told_with_a_warning():
    scores = {"a": [0.9, 0.8], "b": [0.8, 0.7], "c": [0.9, 0.8]}
    text = compared(["a", "b"], fold_scores=scores).sentence
    assert "no spread to measure chance by; its p-value of 0 says little" in text
    assert "interval" not in text
    assert "So no difference is shown" in compared(["a", "c"], fold_scores=scores).sentence
    assert "a - b: all the differences are equal" in str(compared(["a", "b"], fold_scores=scores))


def test_a_paragraph_tells_what_is_shown_of_many_models_and_what_is_not():
    text = compared(list("abc"), fold_scores=FOLDS, n_train=80, n_test=20).sentence
    assert text.startswith("Mean accuracy over 5 folds: a 91.0 %, b 89.0 %, c 70.8 %. All 3 pairs")
    assert "a over c (p = " in text
    assert "b over c (p = " in text
    assert text.endswith(
        "No difference is shown between a and b, which does not mean that they are equally good."
    )


def test_many_models_are_listed_from_the_best_whichever_way_is_up():
    usual = compared(list("cab"), fold_scores=FOLDS).sentence
    losses = compared(list("cab"), fold_scores=FOLDS, score_name="brier", greater_is_better=False)
    assert "folds: a 91.0 %, b 89.0 %, c 70.8 %." in usual
    assert "folds, lower is better: c 0.7080, b 0.8900, a 0.9100." in losses.sentence


def test_a_long_list_of_pairs_is_cut():
    true, answers = right_and_wrong(10, **{name: [] for name in "abcde"})
    assert "between any pair," in compared(list("abcde"), true, answers).sentence
    answers["e"] = np.ones(10, int)
    text = compared(list("abcde"), true, answers).sentence
    assert text.count(" over ") == 4
    assert compared(list("abcde"), true, answers, level=1e-9).sentence.count(" and ") < 3
    many = {name: np.ones(20, int) * (name < "e") for name in "abcdefg"}
    text = compared(list(many), np.ones(20, int), many).sentence
    assert text.count(" over ") == 6
    assert "and 6 more, see the table" in text


def test_the_interval_and_the_test_may_disagree_and_that_is_said():
    true, answers = right_and_wrong(21, a=[0], b=range(1, 8))  # Bentur et al. (2009): p = 0.0703
    found = compared(["a", "b"], true, answers)
    assert found.pairs[0].p > 0.05
    assert found.pairs[0].high < 0.0
    assert "leaves out zero although no difference is shown" in " ".join(str(found).split())


# Tables, dictionaries, HTML


def test_the_text_is_the_sentence_and_aligned_tables():
    true, answers = right_and_wrong(21, first=[0], other=range(1, 8))
    text = str(compared(["first", "other"], true, answers))
    assert " ".join(text.split()).startswith(compared(["first", "other"], true, answers).sentence)
    models, pairs = text.split("\n\n")[1:3]
    assert models == (
        "model  accuracy  right  rows\nfirst    0.0476      1    21\nother    0.3333      7    21"
    )
    header, line = pairs.splitlines()
    assert len(header) == len(line)
    assert line.split("  ")[0] == "first - other"
    assert line.split()[-1] == "0.0703"
    assert "-0.2857  -0.5084 to -0.0134" in line


def test_lines_break_neither_before_a_unit_nor_inside_a_p_value():
    for size in range(20, 60):
        true, answers = right_and_wrong(size, a=range(9), b=range(2))
        lines = str(
            compared(["a", "b" * (size - 15)], true, answers | {"b" * (size - 15): answers["b"]})
        )
        assert not any(line.startswith("%") or line.endswith("p =") for line in lines.splitlines())


def test_both_t_tests_have_a_line_and_holm_a_column():
    text = str(compared(list("abc"), fold_scores=FOLDS, n_train=80, n_test=20))
    table = text.split("\n\n")[2].splitlines()
    assert table[0].endswith("Holm p")
    assert [line.split("  ")[0] for line in table[1:3]] == ["a - b", "a - b"]
    assert ["corrected t" in line for line in table[1:]] == [True, False] * 3


def test_everything_survives_json():
    found = compared(list("abc"), fold_scores=FOLDS, n_train=80, n_test=20)
    data = found.to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["sentence"] == found.sentence
    assert data["models"][1]["scores"] == FOLDS["b"]
    assert data["pairs"][0]["test"]["corrected"]["p"] == found.pairs[0].p
    assert [pair["better"] for pair in data["pairs"]] == [None, "a", "b"]


def test_an_infinite_t_is_none_in_the_dictionary():
    data = compared(["a", "b"], fold_scores={"a": [1, 1], "b": [0, 0]}).to_dict()
    assert data["pairs"][0]["test"]["t"] is None
    json.dumps(data, allow_nan=False)


def test_html_is_well_formed_and_escapes_names():
    true, answers = right_and_wrong(4, **{"<b>": [0], "b": [1]})
    found = compared(["<b>", "b"], true, answers)
    open_tags = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            open_tags.append(tag)

        def handle_endtag(self, tag):
            assert open_tags.pop() == tag

    Reader().feed(found.to_html())
    assert open_tags == []
    assert "<b>" not in found.to_html()
    assert "&lt;b&gt; - b" in found._repr_html_()


# Estimators on the same folds


def test_any_two_classifiers_are_scored_as_scikit_learn_scores_them(iris):
    models = {"nb": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=1, random_state=0)}
    found = compare(models, *iris, folds=FIVE)
    for name, model in models.items():
        expected = cross_val_score(model, *iris, cv=FIVE, scoring="accuracy")
        assert found.scores[name] == pytest.approx(tuple(expected))
    gaps = np.subtract(found.scores["nb"], found.scores["tree"])
    assert found.pairs[0].test.p == pytest.approx(stats.ttest_1samp(gaps, 0).pvalue)
    assert found.pairs[0].p == pytest.approx(corrected_p(*found.scores.values(), 30 / 120))
    assert found.pairs[0].better == "nb"


@pytest.mark.parametrize(
    ("score", "scoring"),
    [
        ("log_loss", "neg_log_loss"),
        ("roc_area", "roc_auc"),
        ("balanced_accuracy", "balanced_accuracy"),
        ("macro_f1", "f1_macro"),
    ],
)
def test_other_scores_are_scikit_learn_s_too(score, scoring):
    X, y = load_breast_cancer(return_X_y=True)
    models = [GaussianNB(var_smoothing=1e-3), BernoulliNB(binarize=20.0)]
    found = compare(models, X, y, folds=FIVE, score=score)
    for name, model in zip(found.names, models, strict=True):
        expected = np.abs(cross_val_score(model, X, y, cv=FIVE, scoring=scoring))
        assert found.scores[name] == pytest.approx(tuple(expected), rel=1e-6)
    assert found.greater_is_better == (score != "log_loss")


def test_leave_one_out_goes_to_mcnemar(iris):
    models = {"nb": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1, random_state=0)}
    found = compare(models, *iris, folds="loo")
    right = [cross_val_predict(m, *iris, cv=LeaveOneOut()) == iris[1] for m in models.values()]
    test = found.pairs[0].test
    assert test.only_a == (right[0] & ~right[1]).sum()
    assert test.only_b == (right[1] & ~right[0]).sum()
    assert found.rows == 150
    assert found == compare(models, *iris, folds=LeaveOneOut())
    assert found == compare(models, *iris, folds=KFold(150))


def test_a_single_validation_set_goes_to_mcnemar_with_its_rows_only(iris):
    found = compare([GaussianNB(), DummyClassifier()], *iris, folds=0.2)
    assert found.rows == 30
    assert found.pairs[0].better == "GaussianNB"


def test_repeated_folds_all_count(iris):
    found = compare([GaussianNB(), DummyClassifier()], *iris, folds=3, repeats=2)
    assert len(found.scores["GaussianNB"]) == 6
    assert found.pairs[0].test.df == 5
    assert found.pairs[0].p == pytest.approx(corrected_p(*found.scores.values(), 50 / 100))


def test_the_seed_decides_the_folds(iris):
    models = [GaussianNB(), DummyClassifier()]
    one, again, other = (compare(models, *iris, folds=5, seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert one.scores != other.scores


def test_ours_and_scikit_learn_s_gaussian_nb_come_out_alike(iris):
    found = compare({"ours": tb.GaussianNB(), "theirs": GaussianNB()}, *iris, folds=FIVE)
    assert found.scores["ours"] == pytest.approx(found.scores["theirs"])
    assert found.pairs[0].better is None


@pytest.mark.parametrize(
    ("folds", "score"), [(4, "accuracy"), (4, "log_loss"), (0.4, "accuracy"), ("loo", "accuracy")]
)
def test_ours_are_scored_as_if_they_had_been_fitted_for_every_fold(iris, folds, score):
    # inside a pipeline an estimator of ours has no shortcut
    models = {"ours": tb.NaiveBayes(), "refitted": make_pipeline("passthrough", tb.NaiveBayes())}
    assert not hasattr(models["refitted"], "cross_val")
    found = compare(models, *iris, folds=folds, score=score)
    assert found.scores["ours"] == pytest.approx(found.scores["refitted"], abs=1e-9)
    assert found.pairs[0].p == 1.0


class Counted:
    """Stands in for an estimator of ours: it is asked once, for all folds."""

    def __init__(self):
        self.calls = []

    def cross_val(self, X, y, folds, sample_weight=None):
        self.calls.append((folds, sample_weight))
        classes = np.unique(y)[::-1]  # not the order of the comparison
        if isinstance(folds, str):
            said = cross_val_predict(GaussianNB(), X, y, cv=LeaveOneOut())
            every_row = [(np.arange(len(y)), None, said)]
            return SimpleNamespace(classes_=classes, fold_predictions=every_row)
        answers = []
        for train, test in folds:
            fitted = GaussianNB().fit(X[train], y[train])
            answers.append((test, fitted.predict_proba(X[test])[:, ::-1], fitted.predict(X[test])))
        return SimpleNamespace(classes_=classes, fold_predictions=answers)


@pytest.mark.parametrize("folds", [FIVE, 0.4, "loo"])
def test_an_estimator_with_cross_val_is_asked_once_and_on_the_same_folds(iris, folds):
    counted = Counted()
    found = compare({"counted": counted, "refitted": GaussianNB()}, *iris, folds=folds)
    assert len(counted.calls) == 1
    assert found.scores["counted"] == pytest.approx(found.scores["refitted"])
    assert found.pairs[0].p == 1.0


def test_leave_one_out_is_asked_for_by_name_and_not_as_a_list_for_every_row(iris):
    counted = Counted()
    compare({"counted": counted, "none": DummyClassifier()}, *iris, folds=LeaveOneOut())
    assert counted.calls == [("loo", None)]


def test_columns_of_probabilities_are_matched_by_class(iris):
    found = compare({"counted": Counted(), "nb": GaussianNB()}, *iris, folds=FIVE, score="log_loss")
    assert found.scores["counted"] == pytest.approx(found.scores["nb"])


def test_the_models_themselves_stay_unfitted(iris):
    model = GaussianNB()
    compare([model, DummyClassifier()], *iris, folds=2)
    assert not hasattr(model, "classes_")


def test_a_class_that_the_training_rows_lack_is_predicted_wrong(iris):
    X, y = iris
    found = compare([GaussianNB(), DummyClassifier()], X, y, folds=LeaveOneGroupOut(), groups=y)
    assert found.scores["GaussianNB"] == (0.0, 0.0, 0.0)
    assert "So no difference is shown" in found.sentence


def test_tables_text_and_sparse_matrices_are_taken_apart_alike(iris):
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from scipy.sparse import csr_array

    X, y = iris
    models = [GaussianNB(), DecisionTreeClassifier(random_state=0)]
    plain = compare(models, X, y, folds=FIVE)
    names = list("abcd")
    for table in (
        pd.DataFrame(X, columns=names, index=np.arange(150)[::-1]),
        pl.DataFrame(X, schema=names),
        pa.table(dict(zip(names, X.T, strict=True))),
    ):
        assert compare(models, table, y, folds=FIVE).scores == plain.scores
    assert compare(models, X, pd.Series(y, index=np.arange(150)[::-1]), folds=FIVE) == plain
    counts = csr_array(np.round(X).astype(int))
    sparse = compare([MultinomialNB(), BernoulliNB()], counts, y, folds=FIVE)
    dense = compare([MultinomialNB(), BernoulliNB()], counts.toarray(), y, folds=FIVE)
    assert sparse == dense
    texts = ["spam offer now", "meeting at noon", "offer now", "noon today"] * 5
    classes = ["spam", "not spam"] * 10
    pipeline = make_pipeline(CountVectorizer(), MultinomialNB())
    found = compare({"words": pipeline, "none": DummyClassifier()}, texts, classes, folds=5)
    assert found.means["words"] == 1.0


def test_weights_count_in_fitting_and_in_the_score(iris):
    X, y = iris
    X, y = X[50:, :2], y[50:]
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 4, len(y))
    folds = KFold(4, shuffle=True, random_state=0)
    found = compare([GaussianNB(), BernoulliNB()], X, y, folds=folds, sample_weight=weights)
    expected = []
    for train, test in folds.split(X):
        model = GaussianNB().fit(
            X[train].repeat(weights[train], 0), y[train].repeat(weights[train])
        )
        right = model.predict(X[test]) == y[test]
        expected.append(np.average(right, weights=weights[test]))
    assert found.scores["GaussianNB"] == pytest.approx(tuple(expected))


def test_weights_count_as_rows_under_mcnemar(iris):
    weights = np.full(150, 2)
    found = compare([GaussianNB(), DummyClassifier()], *iris, folds=0.2, sample_weight=weights)
    assert found.rows == 60


def test_the_positive_class_is_the_last_unless_named():
    X, y = load_breast_cancer(return_X_y=True)
    labels = np.array(["malignant", "benign"])[y]
    models = [GaussianNB(), BernoulliNB(binarize=20.0)]
    recall = {
        positive: compare(models, X, labels, folds=FIVE, score="recall", positive=positive)
        for positive in (None, "malignant", "benign")
    }
    assert recall[None].scores == recall["malignant"].scores != recall["benign"].scores
    expected = cross_val_score(GaussianNB(), X, labels == "benign", cv=FIVE, scoring="recall")
    assert recall["benign"].scores["GaussianNB"] == pytest.approx(tuple(expected))


def test_a_model_without_probabilities_can_still_be_compared_by_its_answers():
    X, y = load_iris(return_X_y=True)
    found = compare([LinearSVC(random_state=0), GaussianNB()], X, y, folds=FIVE)
    expected = cross_val_score(LinearSVC(random_state=0), X, y, cv=FIVE)
    assert found.scores["LinearSVC"] == pytest.approx(tuple(expected))
    with pytest.raises(TallyBayesError, match=r"'LinearSVC' gives no probabilities, which 'brier'"):
        compare([LinearSVC(), GaussianNB()], X, y, folds=FIVE, score="brier")


def test_the_scores_that_need_probabilities_are_known():
    assert set(OF_PROBABILITIES) == set(_OF_PROBABILITIES)


# Wrong wishes


def test_mcnemar_knows_the_accuracy_only(iris):
    for folds in ("loo", 0.3):
        with pytest.raises(TallyBayesError, match=r"McNemar's test, which only asks who is right"):
            compare([GaussianNB(), DummyClassifier()], *iris, folds=folds, score="log_loss")


def test_a_score_that_some_fold_does_not_have_is_refused(iris):
    with pytest.raises(TallyBayesError, match=r"no finite 'roc_area' in fold 1 .*fewer folds"):
        compare(
            [GaussianNB(), DummyClassifier()],
            iris[0][:100],
            iris[1][:100],
            folds=KFold(4),
            score="roc_area",
        )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"models": [GaussianNB()]}, "at least 2 models, not 1"),
        ({"models": GaussianNB()}, "models is of type GaussianNB; give a list"),
        ({"models": [GaussianNB(), GaussianNB]}, "expected an estimator, such as"),
        ({"models": {"a": GaussianNB(), "b": "c"}}, "model 'b' is 'c'; expected an estimator"),
        ({"names": ["one"]}, "2 models and 1 names"),
        ({"names": ["one", "one"]}, "a name of its own"),
        ({"models": {"a": 1, "b": 2}, "names": ["c", "d"]}, "leave names out"),
        ({"score": "acuracy"}, "'acuracy' is not a score; did you mean 'accuracy'"),
        ({"sample_weight": [1.0]}, "sample_weight must hold one number a row, 150 in all"),
        ({"sample_weight": -np.ones(150)}, "none below 0"),
        ({"level": 5}, "level is 5; it must be between 0 and 1"),
        ({"positive": "setosa"}, "'setosa' is not a class"),
        ({"y": [None, *range(149)]}, "row 0 has no label"),
    ],
)
def test_a_wrong_wish_is_named_before_any_work(iris, wrong, message):
    X, y = iris
    given = {"models": [GaussianNB(), DummyClassifier()], "X": X, "y": y, "folds": 5} | wrong
    with pytest.raises(TallyBayesError, match=message):
        compare(**given)


def test_weights_are_refused_for_a_model_that_cannot_take_them(iris):
    models = [GaussianNB(), KNeighborsClassifier()]
    with pytest.raises(TallyBayesError, match="'KNeighborsClassifier' takes no sample_weight"):
        compare(models, *iris, sample_weight=np.ones(150))


class Stray(Counted):
    """Predicts what is no class."""

    def cross_val(self, X, y, folds, sample_weight=None):
        held = super().cross_val(X, y, folds, sample_weight)
        held.fold_predictions[1][2][0] = 7
        return held


def test_a_prediction_that_is_no_class_is_named(iris):
    with pytest.raises(
        TallyBayesError, match="predicts 7, which is no class of y; known: '0', '1'"
    ):
        compare([Stray(), GaussianNB()], *iris, folds=FIVE)


def test_names_follow_the_classes_and_are_numbered_if_alike():
    models = [LogisticRegression(), GaussianNB(), LogisticRegression(C=2.0)]
    assert list(named(models)) == ["LogisticRegression 1", "GaussianNB", "LogisticRegression 2"]
    assert list(named(tuple(models), ["x", "y", "z"])) == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"names": ["a"]}, "two or more different names"),
        ({"names": ["a", "a"]}, "two or more different names"),
        ({}, "give fold_scores, or the true classes and the predictions"),
        ({"fold_scores": {"a": [1, 2]}}, "fold_scores has nothing for 'b'"),
        ({"fold_scores": {"a": [1, 2], "b": [1, 2, 3]}}, "as many scores as there are folds"),
        ({"true": [1, 0], "predictions": {"a": [1, 0], "b": [1]}}, "'b' has 1 predictions for 2"),
        ({"true": [], "predictions": {"a": [], "b": []}}, "'a' has 0 predictions for 0 rows"),
    ],
)
def test_what_cannot_be_compared_is_refused(given, message):
    with pytest.raises(TallyBayesError, match=message):
        compared(**{"names": ["a", "b"]} | given)
