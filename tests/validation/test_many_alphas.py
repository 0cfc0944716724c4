"""Many values of alpha in one pass score what each of them scores on its own."""

import math
from dataclasses import replace

import numpy as np
import pytest
import sklearn.naive_bayes as sk
from scipy.sparse import coo_array, csr_array, csr_matrix
from sklearn.feature_extraction.text import CountVectorizer

import tallybayes as tb
from tallybayes.model.calibration import Calibration
from tallybayes.sources import as_source
from tallybayes.validation import many_alphas, tune
from tallybayes.validation.each_row import LeaveOneOut
from tallybayes.validation.encoded import Encoded, Recipe
from tallybayes.validation.held_out import left_out_each
from tallybayes.validation.many_alphas import losses_of

ALPHAS = [float(alpha) for alpha in np.geomspace(1e-3, 10.0, 13)]
FEW = ALPHAS[::4]
CLIPPED = 1e-15


@pytest.fixture(autouse=True)
def always_worth_it(monkeypatch):
    monkeypatch.setattr(many_alphas, "WORTH_COMPILING", 0)


def documents(n=60, seed=0, lengths=9, classes=("a", "b", "c")):
    """Draw documents of common and rare words, some of them empty or missing."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    common = np.array(["aa", "bb", "cc", "dd", "ee", "ff"])
    shares = {label: rng.dirichlet(np.ones(len(common))) for label in classes}
    found = []
    for k, label in enumerate(y):
        words = list(rng.choice(common, rng.integers(1, lengths), p=shares[label]))
        if k % 4 == 0:
            words.append(f"only{k}")
        if k % 5 == 0:
            words.append(f"twice{k // 10}")
        found.append(" ".join(words))
    found[3], found[11], found[17] = "", None, "!"
    return found, y


def bags(n=50, width=7, seed=0, most=3.0):
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], n)
    rates = {label: rng.uniform(0.0, most, width) for label in "abc"}
    counts = np.stack([rng.poisson(rates[label]) for label in y])
    counts[4] = 0
    return counts, y


def prepared(model, X, y, alphas=ALPHAS, w=None):
    """Encode rows once; return them, and a recipe for each alpha."""
    rows, recipes = None, []
    for alpha in alphas:
        each = model.set_params(alpha=alpha)._encoded(X, y, w, () if rows is None else [rows])
        rows = each.data
        recipes.append(each.recipe)
    return LeaveOneOut(rows), recipes


def clipped(proba, y):
    own = proba[np.arange(len(y)), y]
    return float(-np.log(np.maximum(own, CLIPPED)).mean())


def one_by_one(rows, recipes):
    return [clipped(left_out_each(rows.data, recipe).proba, rows.data.y) for recipe in recipes]


MODELS = {
    "words": tb.TextNB(),
    "words once a document": tb.TextNB(event="boolean"),
    "words of two documents": tb.TextNB(min_df=2),
    "boolean words of two documents": tb.TextNB(event="boolean", min_df=2),
    "rare words": tb.TextNB(max_df=0.2),
    "a share of the documents": tb.TextNB(min_df=0.1, max_df=0.5),
    "given words": tb.TextNB(vocabulary=["aa", "bb", "never", "only4"]),
    "given words once a document": tb.TextNB(event="boolean", vocabulary=["aa", "never"]),
    "hashed words": tb.TextNB(buckets=8),
    "pairs of words": tb.TextNB(ngrams=(1, 2)),
    "a flat prior": tb.TextNB(prior="uniform"),
    "a stated prior": tb.TextNB(prior={"a": 0.7, "b": 0.2, "c": 0.1}),
    "a class ruled out": tb.TextNB(prior={"a": 0.7, "b": 0.3, "c": 0.0}),
}
BAGS = {
    "dense": lambda counts: counts,
    "dense floats": lambda counts: counts.astype(float),
    "sparse": csr_array,
    "sparse matrix": csr_matrix,
    "sparse, twice in a cell": lambda counts: _in_halves(counts),
}


def _in_halves(counts):
    """Store each cell in two parts, which add up."""
    half = csr_array(counts // 2)
    rest = csr_array(counts - counts // 2)
    indptr = half.indptr + rest.indptr
    indices, data = [], []
    for row in range(len(counts)):
        for part in (half, rest):
            here = slice(part.indptr[row], part.indptr[row + 1])
            indices += part.indices[here].tolist()
            data += part.data[here].tolist()
    return csr_array((data, indices, indptr), shape=counts.shape)


@pytest.mark.parametrize("name", MODELS)
def test_documents_score_as_they_do_one_alpha_at_a_time(name):
    rows, recipes = prepared(MODELS[name], *documents())
    found = losses_of(rows, recipes)
    assert found is not None
    np.testing.assert_allclose(found, one_by_one(rows, recipes), rtol=1e-10)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("event", ["multinomial", "boolean"])
def test_so_do_other_documents(event, seed):
    X, y = documents(20 + 7 * seed, seed, lengths=40, classes=list("abcdefg")[: 2 + seed])
    rows, recipes = prepared(tb.TextNB(event=event, min_df=1 + seed % 2), X, y)
    if (rows.tally.rows < 2).any():
        pytest.skip("a class has one row")
    np.testing.assert_allclose(losses_of(rows, recipes), one_by_one(rows, recipes), rtol=1e-10)


@pytest.mark.parametrize("kind", BAGS)
@pytest.mark.parametrize("model", [tb.MultinomialNB(), tb.NaiveBayes("multinomial")], ids=str)
def test_bags_of_counts_do_too(kind, model):
    counts, y = bags()
    rows, recipes = prepared(model, BAGS[kind](counts), y)
    found = losses_of(rows, recipes)
    np.testing.assert_allclose(found, one_by_one(rows, recipes), rtol=1e-10)


def test_a_missing_count_is_none():
    counts, y = bags()
    gaps = counts.astype(float)
    gaps[::3, 2] = np.nan
    rows, recipes = prepared(tb.NaiveBayes("multinomial"), gaps, y)
    found = losses_of(rows, recipes)
    np.testing.assert_allclose(found, one_by_one(rows, recipes), rtol=1e-10)


@pytest.mark.parametrize("fit_prior", [True, False])
def test_scikit_learn_fitted_without_each_row_scores_the_same(fit_prior):
    counts, y = bags(30)
    rows, recipes = prepared(tb.MultinomialNB(fit_prior=fit_prior), counts, y, FEW)
    expected = []
    for alpha in FEW:
        proba = np.zeros((len(y), 3))
        for i in range(len(y)):
            rest = np.arange(len(y)) != i
            model = sk.MultinomialNB(alpha=alpha, fit_prior=fit_prior).fit(counts[rest], y[rest])
            proba[i] = model.predict_proba(counts[i : i + 1])[0]
        expected.append(clipped(proba, np.searchsorted(["a", "b", "c"], y)))
    np.testing.assert_allclose(losses_of(rows, recipes), expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("model", "reader"),
    [
        (tb.TextNB(), CountVectorizer()),
        (tb.TextNB(event="boolean"), CountVectorizer(binary=True)),
        (tb.TextNB(min_df=2), CountVectorizer(min_df=2)),
    ],
    ids=["words", "boolean", "min_df"],
)
def test_scikit_learn_reading_anew_without_each_document_scores_the_same(model, reader):
    X, y = documents(24, lengths=6)
    X = [each or "" for each in X]
    rows, recipes = prepared(model, X, y, FEW)
    proba = np.zeros((len(FEW), len(y), 3))
    for i in range(len(y)):
        rest = [k for k in range(len(y)) if k != i]
        counts = reader.fit_transform([X[k] for k in rest])
        for k, alpha in enumerate(FEW):
            peer = sk.MultinomialNB(alpha=alpha).fit(counts, y[rest])
            proba[k, i] = peer.predict_proba(reader.transform([X[i]]))[0]
    expected = [clipped(each, np.searchsorted(["a", "b", "c"], y)) for each in proba]
    np.testing.assert_allclose(losses_of(rows, recipes), expected, rtol=1e-9)


def test_a_loss_is_clipped_where_scikit_learn_clips_it():
    counts = np.array([[900, 0], [800, 1], [0, 900], [2, 700], [0, 850], [880, 3]])
    y = np.array(["a", "a", "b", "b", "a", "b"])  # the last two look like the other class
    rows, recipes = prepared(tb.MultinomialNB(), counts, y)
    found = losses_of(rows, recipes)
    np.testing.assert_allclose(found, one_by_one(rows, recipes), rtol=1e-10)
    assert found.max() == pytest.approx(-2.0 / 6.0 * math.log(CLIPPED), rel=1e-6)


@pytest.mark.parametrize(
    "alphas",
    [
        [1e-10, 1e-5, 1e-3, 1.0],
        [1e-300, 1e-100, 1e-12, 1.0],
        [1.0, 100.0, 1e4, 1e8],
        [1e-9, 1.0, 1e9],
        list(np.geomspace(1e-8, 1e8, 40)),
        list(np.geomspace(1e-3, 10.0, 60)),
        [1.0, 1.0, 1.0],
        [1.0, 1.0 + 1e-12, 1.0 + 1e-6],
    ],
    ids=lambda alphas: f"{len(alphas)} from {min(alphas):.0e} to {max(alphas):.0e}",
)
@pytest.mark.parametrize("most", [3.0, 4000.0])
def test_whatever_the_alphas_the_losses_are_exact_or_left_to_one_pass_each(alphas, most):
    counts, y = bags(most=most)
    rows, recipes = prepared(tb.MultinomialNB(), counts, y, [float(alpha) for alpha in alphas])
    found = losses_of(rows, recipes)
    if found is not None:
        np.testing.assert_allclose(found, one_by_one(rows, recipes), rtol=1e-9, atol=1e-12)
    if max(alphas) <= 10.0 and min(alphas) >= 1e-3:
        assert found is not None


def test_long_rows_of_great_counts_are_exact_too():
    counts, y = bags(40, 60, most=10_000.0)
    rows, recipes = prepared(tb.MultinomialNB(), counts, y)
    np.testing.assert_allclose(losses_of(rows, recipes), one_by_one(rows, recipes), rtol=1e-8)


class TestLeftToOnePassEach:
    """What the short way is not for is left alone."""

    def of(self, model, X, y, w=None, alphas=ALPHAS):
        return losses_of(*prepared(model, X, y, alphas, w))

    def test_weights(self):
        X, y = documents()
        assert self.of(tb.TextNB(), X, y, np.ones(len(y))) is None

    @pytest.mark.parametrize("event", ["bernoulli", "complement"])
    def test_other_events(self, event):
        assert self.of(tb.TextNB(event=event), *documents()) is None
        family = {"bernoulli": tb.BernoulliNB, "complement": tb.ComplementNB}[event]
        assert self.of(family(), *bags()) is None

    def test_several_families(self):
        counts, y = bags()
        table = {"n": counts[:, 0] + 0.5, "u": counts[:, 1], "v": counts[:, 2]}
        kinds = {("u", "v"): "multinomial"}
        assert self.of(tb.NaiveBayes(kinds), table, y) is None
        assert self.of(tb.NaiveBayes("gaussian"), counts, y) is None
        mails = {"one": ["aa bb"] * 25 + ["cc"] * 25, "two": ["dd"] * 50}
        assert self.of(tb.NaiveBayes("text"), mails, y) is None

    def test_a_single_row_of_a_class(self):
        X, y = documents()
        y = y.astype("<U9")
        y[0] = "alone"
        assert self.of(tb.TextNB(), X, y) is None

    def test_alpha_0_and_an_alpha_for_each_column(self):
        counts, y = bags()
        assert self.of(tb.MultinomialNB(), counts, y, alphas=[0.0, 0.5, 1.0]) is None
        rows, recipes = prepared(tb.MultinomialNB(), counts, y)
        each = [replace(r, families=(tb.Multinomial(alpha=(1.0,) * 7),)) for r in recipes]
        assert losses_of(rows, each) is None

    def test_a_calibration(self):
        rows, recipes = prepared(tb.TextNB(), *documents())
        tempered = replace(recipes[4], calibration=Calibration("temperature", default=0.5))
        assert losses_of(rows, [*recipes[:4], tempered]) is None

    def test_priors_or_options_that_differ(self):
        rows, recipes = prepared(tb.TextNB(), *documents())
        assert losses_of(rows, [*recipes, replace(recipes[0], prior=tb.Uniform())]) is None
        _, others = prepared(tb.TextNB(min_df=2), *documents())
        assert losses_of(rows, [*recipes, others[0]]) is None

    def test_fractions(self):
        counts, y = bags()
        assert self.of(tb.MultinomialNB(), counts + 0.5, y) is None
        assert self.of(tb.TextNB(tf="log"), *documents()) is None

    def test_options_without_a_closed_form(self):
        assert self.of(tb.TextNB(max_features=3), *documents()) is None

    def test_few_alphas_and_little_work(self, monkeypatch):
        X, y = documents()
        assert self.of(tb.TextNB(), X, y, alphas=[0.5, 1.0]) is None
        assert self.of(tb.TextNB(), X, y, alphas=[0.5, 1.0, 2.0]) is not None
        monkeypatch.setattr(many_alphas, "WORTH_COMPILING", 1_000_000)
        assert self.of(tb.TextNB(), X, y) is None

    def test_documents_of_which_none_has_a_word(self):
        assert self.of(tb.TextNB(), ["", None, "!", ""], list("aabb")) is None

    def test_one_word_that_only_one_document_has(self):
        """Without that document there is no word left."""
        assert self.of(tb.TextNB(), ["word", "", "", ""], list("aabb")) is None


@pytest.mark.parametrize("model", [tb.TextNB(), tb.TextNB(event="boolean", min_df=2)], ids=str)
def test_tuning_finds_the_same_with_the_short_way_and_without(model, monkeypatch):
    X, y = documents()
    short = tune(model, X, y, {"alpha": ALPHAS}, folds="loo")
    monkeypatch.setattr(many_alphas, "WORTH_COMPILING", float("inf"))
    long = tune(model, X, y, {"alpha": ALPHAS}, folds="loo")
    assert short.model.alpha == long.model.alpha
    for one, other in zip(short.candidates, long.candidates, strict=True):
        assert one.params == other.params
        assert one.score == pytest.approx(other.score, rel=1e-10)


def test_a_source_may_be_encoded_by_hand():
    counts, y = bags()
    schema = tb.Schema.of([f"x{j}" for j in range(7)], [tb.Count()] * 7)
    rows = LeaveOneOut(Encoded.of(as_source(coo_array(counts).tocsr()), schema, y))
    recipes = [Recipe((tb.Multinomial(alpha),)) for alpha in ALPHAS]
    np.testing.assert_allclose(losses_of(rows, recipes), one_by_one(rows, recipes), rtol=1e-10)
