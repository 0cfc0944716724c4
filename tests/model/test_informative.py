"""The words that tell most, against NumPy on what scikit-learn counts."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

import tallybayes as tb
from tallybayes.model.informative import most_informative

RNG = np.random.default_rng(2)
NAMES = np.array([f"w{k:02d}" for k in range(30)])
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


def brute_force(documents, y, event, alpha, prior, places):
    """Return log P(w | class) - log P(w | the others mixed by their priors), and both counts."""
    vectorizer = CountVectorizer(binary=event in ("boolean", "bernoulli"))
    counted = vectorizer.fit_transform(documents).toarray().astype(float)
    classes = np.unique(y)
    counts = np.array([counted[y == c].sum(axis=0) for c in classes])
    if alpha:
        logs = PEERS[event](alpha=alpha).fit(counted, y).feature_log_prob_
    else:
        totals = np.array([(y == c).sum() for c in classes])
        with np.errstate(divide="ignore"):
            logs = np.log(
                counts / (totals if event == "bernoulli" else counts.sum(axis=1))[:, None]
            )
    found = {}
    for k in places:
        others = [j for j in places if j != k]
        share = prior[others] / prior[others].sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = logs[k] - np.log(share @ np.exp(logs[others]))
        found[k] = ratio, counts[k], counts[others].sum(axis=0)
    return vectorizer.get_feature_names_out(), found


def assert_as(got, names, expected, n):
    """The words come by their ratio; what is said about each is what brute force says."""
    ratio, here, elsewhere = expected
    telling = (ratio > 0.0) & (here > 0.0)
    assert len(got) == min(n, telling.sum())
    place = {name: k for k, name in enumerate(names.tolist())}
    for word in got:
        k = place[word.value]
        assert word.log_ratio == pytest.approx(ratio[k], rel=1e-10, abs=1e-12)
        assert (word.here, word.elsewhere) == (here[k], elsewhere[k])
    best = np.sort(ratio[telling])[::-1][:n]
    np.testing.assert_allclose([w.log_ratio for w in got], best, rtol=1e-10, atol=1e-12)
    assert len({word.value for word in got}) == len(got)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("event", PEERS)
@pytest.mark.parametrize("uniform", [False, True])
def test_words_are_weighed_against_the_other_classes_mixed_by_their_priors(
    n_classes, event, uniform
):
    documents, y = CORPORA[n_classes]
    model = estimated(documents, y, tb.Uniform() if uniform else None, event=event, alpha=0.5)
    prior = np.full(n_classes, 1 / n_classes) if uniform else np.bincount(y) / len(y)
    names, expected = brute_force(documents, y, event, 0.5, prior, range(n_classes))
    for n in (1, 7, 100):
        got = most_informative(model, n)
        assert list(got) == list(range(n_classes))
        for c in range(n_classes):
            assert_as(got[c], names, expected[c], n)


@pytest.mark.parametrize("event", PEERS)
@pytest.mark.parametrize("between", [(0, 2), (2, 1)])
def test_two_classes_can_be_told_from_each_other_only(event, between):
    documents, y = CORPORA[3]
    got = most_informative(estimated(documents, y, event=event), 6, between)
    prior = np.bincount(y) / len(y)
    names, expected = brute_force(documents, y, event, 1.0, prior, between)
    assert list(got) == list(between)
    for c in between:
        assert_as(got[c], names, expected[c], 6)


@pytest.mark.parametrize("event", ["multinomial", "boolean", "bernoulli"])
def test_without_smoothing_words_of_one_class_alone_come_first(event):
    documents, y = CORPORA[2]
    got = most_informative(estimated(documents, y, event=event, alpha=0), 30)
    prior = np.bincount(y) / len(y)
    names, expected = brute_force(documents, y, event, 0, prior, range(2))
    for c in range(2):
        ratio = dict(zip(names.tolist(), expected[c][0].tolist(), strict=True))
        assert [w.log_ratio for w in got[c]] == pytest.approx(
            sorted((r for r in ratio.values() if r > 0.0), reverse=True), rel=1e-10, abs=1e-12
        )
        assert all(
            w.log_ratio == pytest.approx(ratio[w.value], rel=1e-10, abs=1e-12) for w in got[c]
        )
        alone = [w for w in got[c] if w.log_ratio == np.inf]
        assert alone
        assert all(w.here and not w.elsewhere for w in alone)


def test_equals_come_in_the_order_of_the_alphabet():
    model = estimated(["zz yy bb Über", "aa cc"], ["s", "h"])
    got = most_informative(model, 5)
    assert [w.value for w in got["s"]] == ["bb", "yy", "zz", "über"]
    assert [w.value for w in got["h"]] == ["aa", "cc"]


def test_of_words_that_are_certain_the_more_frequent_come_first():
    model = estimated(["aa bb bb", "bb cc", "zz"], ["s", "s", "h"], alpha=0)
    assert [w.value for w in most_informative(model)["s"]] == ["bb", "aa", "cc"]


def test_by_hand():
    model = estimated(["win win lottery", "win", "see you"], ["s", "s", "h"])
    (best, *_), (worst, *_) = (most_informative(model, 1)[c] for c in ("s", "h"))
    # 4 words: of s 3 + 1 of 4 + 4, of h 0 + 1 of 2 + 4
    assert best.value == "win"
    assert best.log_ratio == pytest.approx(np.log((4 / 8) / (1 / 6)), rel=1e-12)
    assert (best.here, best.elsewhere) == (3.0, 0.0)
    assert worst.value == "see"
    assert worst.log_ratio == pytest.approx(np.log((2 / 6) / (1 / 8)), rel=1e-12)


def test_only_words_that_were_seen_in_a_class_speak_for_it():
    model = estimated(["win", "see"], ["s", "h"], alpha=0, vocabulary=("never", "see", "win"))
    got = {word.value: word.log_ratio for word in most_informative(model)["s"]}
    assert got == {"win": np.inf}


def test_a_view_has_only_its_words():
    documents, y = CORPORA[2]
    model = estimated(documents, y, vocabulary=("never", "w01", "w02"))
    found = most_informative(model, 9)
    assert {w.value for words in found.values() for w in words} <= {"w01", "w02"}


def test_each_text_can_be_asked_for_by_name():
    table = {"body": ["one", "two"], "subject": ["three", "four"], "n": [1.0, 2.0]}
    columns = {"body": tb.Words(), "subject": tb.Words()}
    model = tb.estimate(tb.Tally.of(table, ["s", "h"], columns=columns))
    assert most_informative(model, 1, column="body")["s"][0].value == "one"
    assert most_informative(model, 1, column="subject")["h"][0].value == "four"
    with pytest.raises(tb.TallyBayesError, match=r"say which.*'body', 'subject'"):
        most_informative(model)
    with pytest.raises(tb.TallyBayesError, match=r"'bodi' is not a column of text.*'body'"):
        most_informative(model, column="bodi")
    with pytest.raises(tb.TallyBayesError, match="'n' holds numbers, of which no single value"):
        most_informative(model, column="n")


def test_an_estimator_is_asked_as_what_it_fitted():
    table, y = {"status": ["Single", "Single", "Married"]}, ["Yes", "Yes", "No"]
    estimator = tb.NaiveBayes().fit(table, y)
    found = most_informative(estimator)
    assert found == most_informative(estimator.fitted_)
    assert (found["Yes"][0].value, found["Yes"][0].here) == ("Single", 2.0)
    with pytest.raises(NotFittedError):
        most_informative(tb.NaiveBayes())


MODEL = estimated(["win", "see"], ["s", "h"])
NUMBERS = tb.estimate(tb.Tally.of({"n": [1.5, 2.5]}, ["s", "h"]))
ERRORS = {
    "numbers": (lambda: most_informative(NUMBERS), r"columns of numbers only.*diagnose\(\)"),
    "a number": (lambda: most_informative(NUMBERS, column="n"), "'n' holds numbers"),
    "no such column": (lambda: most_informative(NUMBERS, column="m"), "no column 'm'"),
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
