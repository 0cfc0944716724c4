"""Exponents of words, against models refitted without each document and a general solver."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize

import tallybayes as tb
from tallybayes.model import Recipe
from tallybayes.sources import as_source
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.validation.leave_one_out import LeaveOneOut
from tallybayes.validation.word_weights import COLUMN, Pulls, WordProblem

pytestmark = pytest.mark.filterwarnings("ignore:the words calibration lowers")
WORDS = ["buy", "dinner", "lunch", "now", "rich", "see", "win", "you"]


def documents(n, n_classes, seed=0, longest=6):
    """Draw documents that say all twice; classes prefer some words, and a few are in one only."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    found = []
    for k, c in enumerate(y.tolist()):
        chances = np.where(np.arange(len(WORDS)) % n_classes == c, 3.0, 1.0)
        drawn = rng.choice(WORDS, rng.integers(1, longest), p=chances / chances.sum()).tolist()
        found.append(" ".join([*drawn, *drawn, *([f"only{k}"] if k % 5 == 0 else [])]))
    return found, np.array(["a", "b", "c"])[y]


def closed(X, y, family, w=None):
    """Return the closed form of the terms of each word, and which rows they are exact for."""
    schema = tb.Tally.of({"t": X}, y, columns={"t": family}).schema
    data = LabelledRows.of(as_source({"t": X}), schema, y, w)
    recipe = Recipe(columns={"t": family})
    held, exact = LeaveOneOut(data).closed_terms(recipe, np.arange(len(data)))
    return held, exact, held.words["t"]()


def refitted(X, y, family, row, w=None):
    """Return the logarithms of the shares of words, by name, and the prior, without a row."""
    kept = np.arange(len(X)) != row
    w = None if w is None else w[kept]
    rest = {"t": [X[k] for k in np.flatnonzero(kept)]}
    tally = tb.Tally.of(rest, y[kept], w, columns={"t": family})
    model = tb.estimate(tally, columns={"t": family})
    (factor,) = model.factors
    logs = factor.parameters.fractions.log().T
    return dict(zip(factor.parameters.terms.texts, logs, strict=True)), np.log(model.prior)


def counts_of(family, document):
    """Return how often each word of a document counts."""
    words = family.words.terms(document)
    return {word: 1 if family.once else words.count(word) for word in words}


def without_each(X, y, family, w=None):
    """Return by refits, for each row: {word: (times, logs by class)}, its length, the prior."""
    for row, document in enumerate(X):
        logs, prior = refitted(X, y, family, row, w)
        known = {word: n for word, n in counts_of(family, document).items() if word in logs}
        yield {word: (n, logs[word]) for word, n in known.items()}, sum(known.values()), prior


FAMILIES = [
    tb.Text(length_power=0.0),
    tb.Text(event="boolean", alpha=0.3),
    tb.Text(min_df=2, length_power=1.0, length_offset=2.5),
    tb.Text(vocabulary=("buy", "never", "win", "you")),
]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_what_each_word_says_is_what_a_model_without_the_document_says(n_classes, weighted, family):
    X, y = documents(30, n_classes)
    w = np.random.default_rng(1).choice([1.0, 2.0, 0.5], len(X)) if weighted else None
    if weighted and family.min_df > 1:
        pytest.skip("has no closed form")
    held, exact, found = closed(X, y, family, w)
    power = 0.5 if family.length_power is None else family.length_power
    names = np.array(found.names)
    totals = np.broadcast_to(found.totals, (len(X), n_classes))
    assert exact.sum() > 20
    for row, (words, length, _) in enumerate(without_each(X, y, family, w)):
        if not exact[row]:
            continue
        here = slice(*found.indptr[row : row + 2])
        assert sorted(names[found.indices[here]]) == sorted(words)
        for place, times, own in zip(
            found.indices[here], found.data[here], found.own[here], strict=True
        ):
            n, logs = words[names[place]]
            assert times == pytest.approx(n / (length + family.length_offset) ** power, rel=1e-12)
            said = found.table[place] - totals[row]
            said[held.y[row]] = own
            np.testing.assert_allclose(said, logs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "pulls", [Pulls(), Pulls(word=0.05, mean=4.0), Pulls(word=0.05, mean=1.0, least=-np.inf)]
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_exponents_are_those_of_a_general_solver_on_terms_of_refits(n_classes, pulls):
    X, y = documents(24, n_classes, longest=4)
    family = tb.Text(event="boolean")
    held, exact, found = closed(X, y, family)
    assert exact.all()
    rng = np.random.default_rng(2)
    others = rng.normal(size=(len(X), 2, n_classes))  # what two more columns say
    args = held.log_prior, held.y, np.ones(len(X))
    weighed = WordProblem(others, [found], *args, pulls).solved(small=1e-15)
    of = {word: k for k, word in enumerate(found.names)}
    dense, prior = np.zeros((len(X), len(of), n_classes)), np.zeros((len(X), n_classes))
    for row, (words, length, log_prior) in enumerate(without_each(X, y, family)):
        prior[row] = log_prior
        for word, (n, logs) in words.items():
            dense[row, of[word]] = n * logs / length**0.5
    k = len(of)

    def objective(unknowns):
        constants, columns, words = np.split(unknowns, [n_classes, n_classes + 2])
        scores = prior + constants + np.einsum("nkc,k->nc", others, columns)
        scores = scores + np.einsum("nkc,k->nc", dense, words)
        own = scores[np.arange(len(X)), held.y]
        m, n = words.mean(), columns.mean()
        drawn = pulls.word * ((words - m) ** 2).sum() + COLUMN * ((columns - n) ** 2).sum()
        drawn += pulls.mean * (m**2 + n**2 + constants @ constants)
        return (np.logaddexp.reduce(scores, axis=1) - own).sum() + drawn / 2.0

    bounds = [(None, None)] * n_classes + [(0.0, None)] * 2 + [(pulls.least, None)] * k
    start = np.append(np.zeros(n_classes), np.full(2 + k, 0.5))
    options = {"ftol": 1e-15, "maxiter": 2000}
    best = minimize(objective, start, method="SLSQP", bounds=bounds, options=options)
    ours = np.concatenate([weighed.constants, weighed.columns, *weighed.words])
    assert objective(ours) <= best.fun + 1e-9
    np.testing.assert_allclose(ours, best.x, atol=2e-3)
    assert (weighed.words[0].min() < 0.0) == (pulls.least < 0.0)
    assert np.ptp(weighed.words[0]) > 0.1
    quickly = WordProblem(others, [found], *args, pulls).solved()
    assert objective(np.concatenate([*quickly[:2], *quickly[2]])) <= best.fun * (1.0 + 1e-6)


@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), min_size=8, max_size=20),
    st.sampled_from(["multinomial", "boolean"]),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_words_with_exponents_of_1_are_the_closed_form_of_the_text(X, event, power):
    y = np.array(["a", "b", "c"])[np.arange(len(X)) % 3]
    held, exact, found = closed(X, y, tb.Text(event=event, length_power=power))
    problem = WordProblem(held.terms[:, :0], [found], held.log_prior, held.y, held.w)
    ones = [np.ones(len(found.names))]
    proba = problem.proba(type(problem.solved())(np.zeros(3), np.zeros(0), ones), held.log_prior)
    scores = held.terms[:, 0] + held.log_prior
    expected = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
    np.testing.assert_allclose(proba[exact], expected[exact], rtol=1e-9, atol=1e-12)


def test_a_document_s_evidence_is_divided_by_its_number_of_words_to_a_power():
    X, y = documents(40, 2)
    texts = ["buy buy you never", "dinner", "never"]
    for event, sizes in (("multinomial", [3, 1, 1]), ("boolean", [2, 1, 1])):
        plain = tb.TextNB(event=event).fit(X, y)
        rooted = tb.TextNB(event=event, length_power=0.5).fit(X, y)
        prior = plain.model_.log_prior
        said = plain.model_.joint_log_likelihood({"text": texts}) - prior
        expected = said / np.sqrt(sizes)[:, None] + prior
        found = rooted.model_.joint_log_likelihood({"text": texts})
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        further = tb.TextNB(event=event, length_power=0.5, length_offset=7.0).fit(X, y)
        expected = said / np.sqrt(np.array(sizes) + 7.0)[:, None] + prior
        found = further.model_.joint_log_likelihood({"text": texts})
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        contrast = further.explain(texts[0]).against()  # which shows the same sum
        assert math.log(contrast.odds) == pytest.approx(abs(np.diff(found[0])[0]), rel=1e-9)


DATA = documents(120, 3, longest=9)


@pytest.fixture(scope="module")
def model():
    return tb.TextNB(calibration="words").fit(*DATA)


class TestFitted:
    """What a fitted model makes of the exponents of its words."""

    def test_predictions_are_the_sum_that_the_module_states(self, model):
        found, text = model.calibration_, "buy you you never"
        mean, parameters = found.exponents["text"], model.model_.factors[0].parameters
        logs = parameters.fractions.log()
        numbers = parameters.terms.numbers(text.split()).tolist()
        of = found.words["text"].weights
        known = [
            (n, of.get(name, mean)) for n, name in zip(numbers, text.split(), strict=True) if n >= 0
        ]
        scores = np.log(model.model_.prior) + list(found.constants.values())
        scores = scores + sum(w * logs[:, n] for n, w in known) / len(known) ** 0.5
        expected = np.exp(scores - np.logaddexp.reduce(scores))
        assert list(model.posterior_of(text).values()) == pytest.approx(expected, rel=1e-9)
        np.testing.assert_allclose(model.predict_proba([text])[0], expected, rtol=1e-9)

    def test_explanations_add_up_and_show_each_word_s_exponent(self, model):
        text = "buy buy you never dinner"
        found = model.explain(text)
        total = sum(np.array(part.log_likelihood) for part in found.smallest_terms)
        np.testing.assert_allclose(total + found.log_prior, found.joint, rtol=1e-9)
        words = {part.value: part for part in found.terms[0].words}
        parameters = model.model_.factors[0].parameters
        for word in ("buy", "you", "dinner"):
            of_all = model.calibration_.words["text"].weights[word]
            assert words[word].exponent == pytest.approx(of_all / 2.0, rel=1e-9)  # of 4 words
            said = parameters.fractions.log()[:, parameters.terms.numbers([word])[0]]
            times = words[word].exponent * words[word].weight
            assert words[word].log_likelihood == pytest.approx(times * said, rel=1e-9)
        assert "exponent" in str(found)
        assert "multiplied by its constant" in str(tb.explain(model, text, "working"))

    def test_a_file_keeps_everything(self, model, tmp_path):
        model.save(tmp_path / "model.tally")
        again = tb.load(tmp_path / "model.tally")
        assert again.get_params()["calibration"] == "words"
        assert again.calibration_.words == model.calibration_.words
        assert str(again.calibration_) == str(model.calibration_)
        np.testing.assert_allclose(again.predict_proba(DATA[0]), model.predict_proba(DATA[0]))

    def test_words_learnt_later_have_the_mean(self):
        model = tb.TextNB(calibration="words").fit(*DATA)
        before, proba = model.calibration_, model.predict_proba(DATA[0])
        more = ["fortune you", "fortune buy"]
        model.partial_fit(more, ["a", "b"])
        assert model.calibration_ is before
        (word, *_) = model.explain("fortune").terms[0].words
        assert word.exponent == pytest.approx(before.exponents["text"], rel=1e-12)
        other = tb.TextNB().fit(more, ["a", "b"])
        merged = tb.TextNB(calibration="words").fit(*DATA) + other
        np.testing.assert_allclose(
            merged.predict_proba(DATA[0]), model.predict_proba(DATA[0]), rtol=1e-9
        )
        model.forget(more, ["a", "b"])
        np.testing.assert_allclose(model.predict_proba(DATA[0]), proba, rtol=1e-9)

    def test_losses_are_those_of_rows_that_no_exponent_saw(self):
        X, y = DATA
        model = tb.TextNB(calibration="words")
        found = model.fit(X, y).calibration_
        held = model.cross_val(X, y, folds=10, seed=0)
        assert found.how == "words"
        assert found.rows == len(X)
        assert found.loss == pytest.approx(held.score("log_loss"), abs=0.15)
        assert held.score("log_loss") < tb.TextNB().cross_val(X, y, folds=10).score("log_loss")

    def test_a_stated_prior_stays_what_was_stated(self):
        X, y = DATA
        rare = tb.TextNB(prior={"a": 0.1, "b": 0.1, "c": 0.8}, calibration="words").fit(X, y)
        even = tb.TextNB(calibration="words").fit(X, y)
        assert rare.calibration_.words == even.calibration_.words
        odds = rare.predict_proba(X)[:, 2] / rare.predict_proba(X)[:, 0]
        before = even.predict_proba(X)[:, 2] / even.predict_proba(X)[:, 0]
        np.testing.assert_allclose(odds, 8.0 * before, rtol=1e-9)


def test_texts_are_weighed_beside_other_columns():
    X, y = documents(150, 2)
    rng = np.random.default_rng(3)
    table = {"size": (y == "a") + rng.normal(size=len(y)), "body": X, "noise": rng.normal(size=150)}
    model = tb.NaiveBayes({"body": "text"}, calibration="words").fit(table, y)
    found = model.calibration_
    assert list(found.words) == ["body"]
    assert set(found.exponents) == {"body", "size", "noise"}
    assert found.exponents["size"] > found.exponents["noise"]
    assert "multiplied" in str(model.explain({"body": "buy you", "size": 0.3}, "working"))
    record = {"body": "buy you", "size": 0.3, "noise": None}
    explained = model.explain(record)
    total = sum(np.array(part.log_likelihood) for part in explained.smallest_terms)
    np.testing.assert_allclose(total + explained.log_prior, explained.joint, rtol=1e-9)


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (tb.TextNB(0.0, calibration="words"), "no column of text .* alpha > 0"),
        (tb.TextNB(event="bernoulli", calibration="words"), "event='multinomial' or 'boolean'"),
        (tb.TextNB(event="complement", calibration="words"), "event='multinomial' or 'boolean'"),
        (tb.TextNB(idf=True, calibration="words"), "closed form"),
        (tb.TextNB(event="bernoulli", length_power=0.5), "use event='boolean'"),
        (tb.TextNB(length_power=2.0), "length_power"),
        (tb.TextNB(length_offset=-1.0), "length_offset"),
    ],
)
def test_what_cannot_be_is_refused(model, why):
    with pytest.raises(tb.TallyBayesError, match=why):
        model.fit(*documents(20, 2))


def test_a_table_without_text_has_no_words_to_weigh():
    with pytest.raises(tb.TallyBayesError, match="there is no column of text"):
        tb.NaiveBayes(calibration="words").fit({"x": [1.0, 2.0, 3.0]}, ["a", "b", "a"])
