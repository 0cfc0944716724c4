"""Text against exact fractions, and the choice of words against scikit-learn and by hand."""

from fractions import Fraction
from math import log

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import mutual_info_classif

import tallybayes as tb
from limited import limited_to
from tallybayes.families.text import mutual_information
from tallybayes.kernels import threads
from tallybayes.model import Recipe
from tallybayes.model.calibration import Calibration
from tallybayes.tokenizer import WordWeights, bags

EVENTS = ["multinomial", "boolean", "bernoulli", "complement"]


@pytest.fixture(scope="module", params=["plain", "compiled"], autouse=True)
def reader(request):
    """Read with the plain tokenizer and with the compiled one, by several threads."""
    with pytest.MonkeyPatch.context() as patch:
        worth = 0 if request.param == "compiled" else float("inf")
        patch.setattr(bags, "WORTH_LOADING", worth)
        patch.setattr(bags, "WORTH_CALLING", worth)
        patch.setattr(threads, "SMALLEST_SHARE", 50)
        with limited_to(3):
            yield request.param


def tally(documents, y, weights=None, words=None):
    return tb.Tally.of({"mail": documents}, y, weights, columns={"mail": words or tb.Words()})


def joint(counted, family, documents, prior=None):
    return tb.estimate(counted, family, prior=prior).joint_log_likelihood({"mail": documents})


SMALL = ["a b b", "b c", "b b", "c a"]
LABELS = ["p", "p", "p", "q"]
LETTERS = tb.Words(tokens="whitespace")


def logs(shares):
    return [log(share) if share else -np.inf for share in shares]


@pytest.mark.parametrize(
    ("event", "document", "shares"),
    [
        # of p: a 1, b 5, c 1 of 7 words; of q: a 1, c 1 of 2
        ("multinomial", "a b b", (Fraction(1 * 5 * 5, 7**3), 0)),
        ("multinomial", "a c", (Fraction(1, 49), Fraction(1, 4))),
        ("multinomial", "never", (1, 1)),
        # of p: a 1, b 3, c 1 of 5 documents' words; of q: a 1, c 1 of 2
        ("boolean", "a b b", (Fraction(1 * 3, 25), 0)),
        # every document of p has b; every one of q has a and c, and none has b
        ("bernoulli", "a b b", (Fraction(1, 3) * Fraction(2, 3), 0)),
        ("bernoulli", "c a", (0, 1)),
        ("bernoulli", "b", (Fraction(2, 3) * Fraction(2, 3), 0)),
        ("bernoulli", "", (0, 0)),
        ("bernoulli", "never", (0, 0)),
    ],
)
def test_alpha_0_is_maximum_likelihood(event, document, shares):
    counted = tally(SMALL, LABELS, words=LETTERS)
    got = joint(counted, tb.Text(LETTERS, event=event, alpha=0), [document])[0]
    prior = (Fraction(3, 4), Fraction(1, 4))
    expected = logs(p * Fraction(s) for p, s in zip(prior, shares, strict=True))
    np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("event", ["multinomial", "boolean"])
def test_a_word_with_a_weight_below_0_says_the_contrary(event):
    counted = tally(SMALL, LABELS, words=LETTERS)
    weights = {"a": -2.0, "b": 0.5, "c": 0.25}
    calibration = Calibration("words", {"mail": 1.0}, words={"mail": WordWeights(weights)})

    def said(alpha, document, calibration):
        family = tb.Text(LETTERS, event=event, alpha=alpha, length_power=0.0)
        recipe = Recipe((family,), calibration=calibration)
        return recipe.model(counted).joint_log_likelihood({"mail": [document]})[0]

    plain = {word: said(1.0, word, None) - said(1.0, "", None) for word in "abc"}
    expected = sum(weights[word] * logs for word, logs in plain.items())
    got = said(1.0, "a b c", calibration) - said(1.0, "", calibration)
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    with pytest.raises(tb.TallyBayesError, match="below 0 need alpha > 0"):
        said(0.0, "a", calibration)


@pytest.mark.parametrize("event", EVENTS)
def test_an_empty_document_is_not_missing(event):
    counted = tally([*SMALL, ""], [*LABELS, "q"], words=LETTERS)
    got = joint(counted, tb.Text(LETTERS, event=event), [""])[0] - np.log([0.6, 0.4])
    # of p and q: the documents that have a, b, c, of three and of two
    absent = [(3 / 5) * (1 / 5) * (3 / 5), (2 / 4) * (3 / 4) * (2 / 4)]
    expected = np.log(absent) if event == "bernoulli" else np.zeros(2)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("event", ["multinomial", "boolean", "bernoulli"])
def test_a_class_without_documents_takes_the_shares_of_all_when_nothing_is_added(event):
    counted = tally([*SMALL, None], [*LABELS, "r"], words=LETTERS)
    got = joint(counted, tb.Text(LETTERS, event=event, alpha=0), ["a b"], tb.Uniform())[0]
    share = {
        "multinomial": Fraction(2, 9) * Fraction(5, 9),
        "boolean": Fraction(2, 7) * Fraction(3, 7),
        "bernoulli": Fraction(2, 4) * Fraction(3, 4) * Fraction(2, 4),
    }[event]
    assert got[2] == pytest.approx(log(share / 3), rel=1e-12)


@pytest.mark.parametrize("event", ["boolean", "bernoulli"])
@pytest.mark.parametrize("weight", [0.0, 0.5, 3.0])
def test_whether_a_word_is_there_does_not_depend_on_what_it_counts(event, weight):
    words = tb.Words(idf=tb.Idf({"free": weight, "money": 1.0}))
    documents, y = ["free", "free money", "money"], ["s", "s", "h"]
    got = joint(tally(documents, y, words=words), tb.Text(words, event), ["free", "money"])
    expected = joint(tally(documents, y), tb.Text(event=event), ["free", "money"])
    np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("event", EVENTS)
def test_a_text_without_any_words_says_nothing(event):
    model = tb.estimate(tally(["!", "", None], ["p", "p", "q"]), tb.Text(event=event))
    got = model.posterior({"mail": ["word", "", None]})
    np.testing.assert_allclose(got, [[2 / 3, 1 / 3]] * 3, rtol=1e-12)


# The choice of words


def tie_free(n_words=24):
    """Documents in which no two words occur equally often, nor tell equally much."""
    rng = np.random.default_rng(11)
    n = 6 * n_words
    y = rng.integers(0, 3, n)
    documents = [[] for _ in range(n)]
    for k in range(n_words):
        lean = rng.dirichlet(np.ones(3))[y]
        where = rng.choice(n, size=3 + 5 * k, replace=False, p=lean / lean.sum())
        for row in where.tolist():
            documents[row].append(f"w{k:02d}")
        documents[where[0]] += [f"w{k:02d}"] * (k % 3)
    return [" ".join(each) for each in documents], y


DOCUMENTS, Y = tie_free()
TALLY = tally(DOCUMENTS, Y, words=LETTERS)


def view(counted=TALLY, **options):
    return tb.estimate(counted, tb.Text(LETTERS, **options))


def words_of(model):
    return sorted(model.factors[0].parameters.terms.texts)


OPTIONS = [
    {"min_df": 20},
    {"max_df": 0.4},
    {"min_df": 0.1, "max_df": 70},
    {"min_df": 0},
    {"max_features": 5},
    {"min_df": 10, "max_df": 0.5, "max_features": 7},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_frequent_words_are_those_of_scikit_learn(options):
    least = options.get("min_df", 1)
    if least == 0 and isinstance(least, int):  # which CountVectorizer does not take
        least = 1
    vectorizer = CountVectorizer(**{**options, "min_df": least}, token_pattern=r"\S+")
    expected = vectorizer.fit(DOCUMENTS).get_feature_names_out()
    assert words_of(view(**options)) == expected.tolist()
    assert len(expected) > 0


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("options", [OPTIONS[0], OPTIONS[-1], {"best": 6}], ids=str)
def test_a_view_is_the_model_of_documents_with_only_those_words(event, options):
    model = view(event=event, alpha=0.5, **options)
    kept = set(words_of(model))
    assert 0 < len(kept) < 24
    filtered = [" ".join(w for w in document.split() if w in kept) for document in DOCUMENTS]
    expected = view(tally(filtered, Y, words=LETTERS), event=event, alpha=0.5)
    X = {"mail": [*DOCUMENTS[:20], "w00 w05 w11 never w23 w23", ""]}
    got = model.joint_log_likelihood(X)
    np.testing.assert_allclose(got, expected.joint_log_likelihood(X), rtol=1e-12)
    assert model.free_parameters == expected.free_parameters


def test_the_best_words_are_those_of_scikit_learn():
    counts = CountVectorizer(token_pattern=r"\S+").fit_transform(DOCUMENTS)
    scores = mutual_info_classif(counts > 0, Y, discrete_features=True)
    assert len(np.unique(scores.round(12))) == len(scores)  # no ties
    names = sorted({w for document in DOCUMENTS for w in document.split()})
    for n in (1, 4, 15, 24, 99):
        expected = sorted(names[k] for k in np.argsort(-scores)[:n].tolist())
        assert words_of(view(best=n)) == expected
    (block,) = TALLY.blocks
    ours = mutual_information(block)[block.terms.order]
    np.testing.assert_allclose(ours, scores, rtol=1e-9, atol=1e-15)


def test_of_words_that_tell_the_same_the_first_in_the_alphabet_are_used():
    counted = tally(["zz bb aa", "cc"], ["s", "h"], words=LETTERS)
    for options in ({"best": 2}, {"max_features": 2}):
        assert words_of(view(counted, **options)) == ["aa", "bb"]


def test_a_word_in_every_document_is_not_lost_to_rounding():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        weights = rng.uniform(0.01, 1, 300)
        counted = tally(["all"] * 300, rng.integers(0, 20, 300), weights, LETTERS)
        assert words_of(view(counted, max_features=10)) == ["all"]
