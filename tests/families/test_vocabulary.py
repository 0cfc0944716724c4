"""Views on the vocabulary against scikit-learn, hand computations, and filtered documents."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import mutual_info_classif

import tallybayes as tb
from tallybayes.families.text import mutual_information

WORDS = tb.Words(tokens="whitespace")


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
TALLY = tb.Tally.of({"mail": DOCUMENTS}, Y, columns={"mail": WORDS})
VECTORIZER = {"token_pattern": r"\S+"}
EVENTS = ["multinomial", "boolean", "bernoulli", "complement"]


def words_of(model):
    terms = model.factors[0].parameters.terms
    return sorted(terms.texts)


def view(tally=TALLY, words=WORDS, **options):
    return tb.estimate(tally, tb.Text(words, **options))


OPTIONS = [
    {"min_df": 20},
    {"max_df": 60},
    {"min_df": 0.25},
    {"max_df": 0.4},
    {"min_df": 0.1, "max_df": 70},
    {"min_df": 30, "max_df": 0.7},
    {"min_df": 0},
    {"min_df": 0.0},
    {"max_df": 1.0},
    {"max_features": 5},
    {"max_features": 1000},
    {"min_df": 10, "max_df": 0.5, "max_features": 7},
]


def vectorized(min_df=1, **options):
    """CountVectorizer wants at least one document as a number, where ours takes 0 as well."""
    least = 1 if min_df == 0 and isinstance(min_df, int) else min_df
    return CountVectorizer(min_df=least, **options, **VECTORIZER)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_frequent_words_are_those_of_scikit_learn(options):
    expected = vectorized(**options).fit(DOCUMENTS).get_feature_names_out()
    assert words_of(view(**options)) == expected.tolist()
    assert len(expected) > 0


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("options", [OPTIONS[0], OPTIONS[-1], {"best": 6}], ids=str)
def test_a_view_is_the_model_of_documents_with_only_those_words(event, options):
    model = view(event=event, alpha=0.5, **options)
    kept = set(words_of(model))
    assert 0 < len(kept) < 24
    filtered = [" ".join(w for w in document.split() if w in kept) for document in DOCUMENTS]
    counted = tb.Tally.of({"mail": filtered}, Y, columns={"mail": WORDS})
    expected = tb.estimate(counted, tb.Text(WORDS, event=event, alpha=0.5))
    X = {"mail": [*DOCUMENTS[:20], "w00 w05 w11 never w23 w23", ""]}
    got = model.joint_log_likelihood(X)
    np.testing.assert_allclose(got, expected.joint_log_likelihood(X), rtol=1e-12)
    assert model.free_parameters == expected.free_parameters


def test_the_best_words_are_those_of_scikit_learn():
    counts = CountVectorizer(**VECTORIZER).fit_transform(DOCUMENTS)
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
    tally = tb.Tally.of({"mail": ["zz bb aa", "cc"]}, ["s", "h"], columns={"mail": WORDS})
    for options in ({"best": 2}, {"max_features": 2}):
        assert words_of(view(tally, **options)) == ["aa", "bb"]


def test_weights_are_repetitions_of_documents():
    documents, labels, weights = ["aa bb", "bb cc", "dd"], ["s", "h", "h"], [3.0, 1.0, 0.5]
    tally = tb.Tally.of({"mail": documents}, labels, weights, columns={"mail": WORDS})
    assert words_of(view(tally, min_df=2)) == ["aa", "bb"]
    assert words_of(view(tally, min_df=0.5)) == ["aa", "bb"]
    assert words_of(view(tally, min_df=1)) == ["aa", "bb", "cc", "dd"]  # 1 is all that were seen
    assert words_of(view(tally, max_df=3)) == ["aa", "cc", "dd"]
    assert words_of(view(tally, max_features=1)) == ["bb"]


@pytest.mark.parametrize("seed", range(20))
def test_a_word_in_every_document_is_not_lost_to_rounding(seed):
    rng = np.random.default_rng(seed)
    mails, y, weights = {"mail": ["all"] * 300}, rng.integers(0, 20, 300), rng.uniform(0.01, 1, 300)
    tally = tb.Tally.of(mails, y, weights, columns={"mail": WORDS})
    assert words_of(view(tally, max_features=10)) == ["all"]
