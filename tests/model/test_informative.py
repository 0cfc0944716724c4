"""The words and values that tell most, against NumPy on what scikit-learn counts, and loops."""

import math
from itertools import repeat

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

import tallybayes as tb
from tallybayes.model import Fitted, InformativeValue, Recipe, most_informative
from tallybayes.modelfile import Provenance, Stored
from tallybayes.report.inspection import inspect_model

RNG = np.random.default_rng(2)
NAMES = np.array([f"w{k:02d}" for k in range(30)])
MADE = Provenance("2026-05-01T10:00:00+00:00", "2026-05-02T10:00:00+00:00", "0.1", (), 60, 1, ())
PEERS = {
    "multinomial": MultinomialNB,
    "boolean": MultinomialNB,
    "bernoulli": BernoulliNB,
    "complement": MultinomialNB,  # its weights are no probabilities
}


def corpus(n_classes):
    y = np.arange(60) % n_classes
    y[:8] = 0
    lean = RNG.dirichlet(np.full(30, 0.4), n_classes)
    return [" ".join(NAMES[RNG.choice(30, size=8, p=lean[c])]) for c in y.tolist()], y


CORPORA = {2: corpus(2), 3: corpus(3)}


def estimated(documents, y, prior=None, **options):
    tally = tb.Tally.of({"mail": documents}, y, columns={"mail": tb.Words()})
    return tb.estimate(tally, tb.Text(**options), prior=prior)


def told(columns, values, *numbers):
    """Return what tells anything, by how much: (column, value, ratio, count here, elsewhere)."""
    rows = zip(columns, values, *numbers, strict=False)
    telling = (row for row in rows if row[2] > 0.0 and row[3])
    return sorted(telling, key=lambda row: -row[2] * row[3])


def brute_force(documents, y, event, alpha, prior, places):
    """Weigh log P(w | class) against log P(w | the others mixed by their priors)."""
    vectorizer = CountVectorizer(binary=event in ("boolean", "bernoulli"))
    counted = vectorizer.fit_transform(documents).toarray().astype(float)
    classes = np.unique(y)
    counts = np.array([counted[y == c].sum(axis=0) for c in classes])
    if alpha:
        logs = PEERS[event](alpha=alpha).fit(counted, y).feature_log_prob_
    else:
        totals = np.array([(y == c).sum() for c in classes])
        with np.errstate(divide="ignore"):
            totals = totals if event == "bernoulli" else counts.sum(axis=1)
            logs = np.log(counts / totals[:, None])
    found = {}
    for k in places:
        others = [j for j in places if j != k]
        share = prior[others] / prior[others].sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = logs[k] - np.log(share @ np.exp(logs[others]))
        words = vectorizer.get_feature_names_out().tolist()
        found[k] = told(repeat("mail"), words, ratio, counts[k], counts[others].sum(axis=0))
    return found


def assert_same(got, expected, n):
    """Values come by ratio times count; what is said about each is what brute force says."""
    assert list(got) == list(expected)
    for label, values in got.items():
        assert all(isinstance(each, InformativeValue) for each in values)
        told_in_all = [row[2] * row[3] for row in expected[label]][:n]
        ours = [each.log_ratio * each.here for each in values]
        assert ours == pytest.approx(told_in_all, rel=1e-10, abs=1e-12)
        by_value = {row[:2]: row[2:] for row in expected[label]}
        for each in values:
            ratio, here, elsewhere = by_value.pop(each[:2])  # none comes twice
            assert each.log_ratio == pytest.approx(ratio, rel=1e-10, abs=1e-12)
            assert (each.here, each.elsewhere) == (here, elsewhere)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("event", PEERS)
@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("between", [None, (0, 1), (2, 1)])
@pytest.mark.parametrize("alpha", [0.5, 0])
def test_words_are_weighed_against_the_other_classes_mixed_by_their_priors(
    n_classes, event, uniform, between, alpha
):
    if (between and max(between) >= n_classes) or (not alpha and event == "complement"):
        return
    documents, y = CORPORA[n_classes]
    model = estimated(documents, y, tb.Uniform() if uniform else None, event=event, alpha=alpha)
    prior = np.full(n_classes, 1 / n_classes) if uniform else np.bincount(y) / len(y)
    places = between or range(n_classes)
    expected = brute_force(documents, y, event, alpha, prior, places)
    for n in (1, 7, 100):
        assert_same(most_informative(model, n, between), expected, n)


def test_equals_come_by_how_often_they_were_counted_and_in_the_order_of_the_alphabet():
    got = most_informative(estimated(["zz yy bb Über", "aa cc"], ["s", "h"]), 5)
    assert [w.value for w in got["s"]] == ["bb", "yy", "zz", "über"]
    assert [w.value for w in got["h"]] == ["aa", "cc"]
    model = estimated(["aa bb bb", "bb cc", "zz"], ["s", "s", "h"], alpha=0)
    assert [w.value for w in most_informative(model)["s"]] == ["bb", "aa", "cc"]


def test_each_text_can_be_asked_for_by_name():
    table = {"body": ["one", "two"], "subject": ["three", "four"], "n": [1.0, 2.0]}
    columns = {"body": tb.Words(), "subject": tb.Words()}
    model = tb.estimate(tb.Tally.of(table, ["s", "h"], columns=columns))
    assert most_informative(model, 1, column="body")["s"][0].value == "one"
    assert most_informative(model, 1, column="subject")["h"][0].value == "four"
    with pytest.raises(tb.TallyBayesError, match=r"say which.*'body', 'subject'"):
        most_informative(model)
    with pytest.raises(tb.TallyBayesError, match=r"no column 'bodi'.*'body'"):
        most_informative(model, column="bodi")
    with pytest.raises(tb.TallyBayesError, match="'n' holds numbers, of which no single value"):
        most_informative(model, column="n")


MODEL = estimated(["win", "see"], ["s", "h"])
NUMBERS = tb.estimate(tb.Tally.of({"n": [1.5, 2.5]}, ["s", "h"]))
ERRORS = {
    "numbers": (lambda: most_informative(NUMBERS), r"columns of numbers only.*diagnose\(\)"),
    "one class": (lambda: most_informative(estimated(["win"], ["s"])), "only one class"),
    "n is 0": (lambda: most_informative(MODEL, 0), "n is 0"),
    "n is a share": (lambda: most_informative(MODEL, 0.5), r"n is 0\.5"),
    "unknown class": (lambda: most_informative(MODEL, between=("s", "x")), "'x' is not a class"),
    "one class twice": (lambda: most_informative(MODEL, between=("s", "s")), "two different"),
    "three classes": (lambda: most_informative(MODEL, between=("s", "h", "s")), "two different"),
    "no pair": (lambda: most_informative(MODEL, between=3), "two different"),
}


@pytest.mark.parametrize(("call", "message"), ERRORS.values(), ids=ERRORS)
def test_what_cannot_be_answered_is_an_error(call, message):
    with pytest.raises(tb.TallyBayesError, match=message):
        call()


# Values of other columns


RNG = np.random.default_rng(3)
Y = RNG.integers(0, 3, 90)
COLOURS = np.array(["red", "green", "blue", "grey"])[
    [RNG.choice(4, p=np.roll([0.6, 0.3, 0.1, 0.0], c)) for c in Y.tolist()]
]
SIZES = np.array(["s", "m", "l"])[RNG.integers(0, 3, 90)]
TABLE = {"colour": COLOURS, "size": SIZES, "weight": RNG.normal(size=90)}


def test_estimators_are_asked_as_what_they_fitted():
    model = tb.NaiveBayes().fit(TABLE, Y)
    assert most_informative(model) == most_informative(model.fitted_) == model.most_informative()
    with pytest.raises(NotFittedError):
        most_informative(tb.NaiveBayes())


@pytest.mark.parametrize("wrap", [np.asarray, csr_array])
@pytest.mark.parametrize(
    ("family", "peer", "value"),
    [
        (tb.Bernoulli(0.5), BernoulliNB, True),
        (tb.Multinomial(0.5), MultinomialNB, 1),
        (tb.Complement(0.5), MultinomialNB, 1),  # its weights are no probabilities
    ],
)
def test_columns_that_count_are_weighed_as_scikit_learn_estimates_them(wrap, family, peer, value):
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 4, (80, 6)).astype(float), rng.integers(0, 2, 80)
    logs = peer(alpha=0.5).fit(x, y).feature_log_prob_
    counted = x > 0 if value is True else x
    made = Fitted(tb.Tally.of(wrap(x), y, columns=family), Recipe((family,)))
    names, expected = [f"x{j}" for j in range(6)], {}
    for c in (0, 1):
        counts = (counted[y == k].sum(axis=0) for k in (c, 1 - c))
        expected[c] = told(names, repeat(value), logs[c] - logs[1 - c], *counts)
    for asked in (made, made.model):
        assert_same(most_informative(asked), expected, 10)


def test_a_model_that_was_stated_has_no_counts():
    by_class = {"s": {"a": 3 / 4, "b": 1 / 4}, "h": {"a": 1 / 3, "b": 2 / 3}}
    model = tb.stated({"s": 2 / 3, "h": 1 / 3}, {"x": by_class})
    [best] = most_informative(model)["s"]
    assert best[:2] == ("x", "a")
    assert math.isnan(best.here)
    assert math.isnan(best.elsewhere)
    assert best.log_ratio == pytest.approx(math.log((3 / 4) / (1 / 3)))


def test_classes_of_no_prior_are_mixed_evenly():
    table = {"x": ["a"] * 4 + ["b"] * 2 + ["c"] * 2}
    y = ["s"] * 4 + ["h"] * 2 + ["i"] * 2
    prior = tb.Fixed({"s": 1.0, "h": 0.0, "i": 0.0})
    fitted = Fitted(tb.Tally.of(table, y), Recipe(prior=prior))
    [best] = most_informative(fitted)["s"]
    # (4 + 1)/(4 + 3) here; (0 + 1)/(2 + 3) in both others
    assert best.log_ratio == pytest.approx(math.log((5 / 7) / (1 / 5)))
    [of_h] = most_informative(fitted)["h"]
    # all prior is on s, so that h is told from s alone
    assert of_h.log_ratio == pytest.approx(math.log((3 / 5) / (1 / 7)))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_words_of_a_calibrated_model_tell_what_they_count_there(n_classes):
    documents, y = CORPORA[n_classes]
    model = tb.TextNB(calibration="words").fit(documents, y)
    counted = CountVectorizer().fit(documents)
    counts = counted.transform(documents).toarray().astype(float)
    words = counted.get_feature_names_out()
    counts = np.array([counts[y == c].sum(axis=0) for c in range(n_classes)])
    logs = np.log((counts + 1.0) / (counts + 1.0).sum(axis=1, keepdims=True))
    weights = model.calibration_.words["text"].weights
    logs *= [weights.get(word, model.calibration_.exponents["text"]) for word in words]
    assert np.ptp([*weights.values()]) > 0.05
    prior, expected = np.bincount(y) / len(y), {}
    for c in range(n_classes):
        others = [k for k in range(n_classes) if k != c]
        share = prior[others] / prior[others].sum()
        ratio = logs[c] - np.log(share @ np.exp(logs[others]))
        expected[c] = told(repeat("text"), words, ratio, counts[c], counts[others].sum(axis=0))
    assert_same(model.most_informative(12), expected, 12)
    assert "odds, with its exponent" in str(inspect_model(Stored(model.fitted_, MADE)))
    plain = tb.TextNB().fit(documents, y).most_informative(12)[0]
    assert plain != model.most_informative(12)[0]


def test_values_of_a_calibrated_model_tell_what_they_count_there():
    y = np.arange(40) % 2
    table = {"a": np.where(RNG.random(40) < 0.8, y, 1 - y), "b": RNG.integers(0, 2, 40)}
    model = tb.NaiveBayes("categorical", calibration="weights").fit(table, y)
    plain = tb.NaiveBayes("categorical").fit(table, y)
    told_plainly = {each[:2]: each for each in plain.most_informative(9)[1]}
    for each in model.most_informative(9)[1]:
        exponent = model.calibration_.exponents[each.column]
        assert each.log_ratio == pytest.approx(exponent * told_plainly[each[:2]].log_ratio)
