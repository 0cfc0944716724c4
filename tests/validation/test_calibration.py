"""Exponents are what brute force finds on models fitted anew without each row."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize

import tallybayes as tb
from tallybayes.batches import Sparse, encoded
from tallybayes.families import MultinomialParameters, TextParameters
from tallybayes.model import Recipe
from tallybayes.sources import as_source
from tallybayes.validation import calibration as module
from tallybayes.validation.calibration import (
    PENALTY,
    calibrated,
    checked_how,
)
from tallybayes.validation.each_row import LeaveOneOut
from validation.refits import encode
from validation.registry import (
    EVERY_SETTING,
    PRIORS,
    SETTINGS,
    Setting,
    matrix,
    setting_of,
    sparse,
    table,
)

PRIOR = PRIORS[1]


class Terms:
    """What each column says of each row under the model of all other rows, by brute force.

    Rows that are alone in their class, have no weight, or are impossible in their own class have no
    part.
    """

    def __init__(self, setting, rows, weighted=False, prior=PRIOR):
        labels, weights, cells = zip(*rows, strict=True)
        w = np.array(weights, float) if weighted else np.ones(len(rows))
        known = [label for label, weight in zip(labels, w, strict=True) if weight > 0.0]
        self.classes = sorted(set(known))
        found = []
        for i, label in enumerate(labels):
            if w[i] == 0.0 or known.count(label) < 2:
                continue
            rest = [k for k in range(len(rows)) if k != i]
            source = setting.source([cells[k] for k in rest])
            tally = tb.Tally.of(
                source, [labels[k] for k in rest], w[rest] if weighted else None,
                schema=setting.schema,
            )  # fmt: skip
            model = setting.recipe(prior).model(tally)
            assert list(model.classes) == self.classes
            terms = self._terms(model, setting.source([cells[i]]))
            found.append((terms, model.log_prior, self.classes.index(label), w[i], i))
        self.terms, self.prior, self.y, self.w, self.rows = map(np.array, zip(*found, strict=True))
        possible = np.isfinite(self.terms[self.here, :, self.y]).all(axis=1)
        for name in ("terms", "prior", "y", "w", "rows"):
            setattr(self, name, getattr(self, name)[possible])

    @classmethod
    def of(cls, terms, prior, y, w):
        """Take terms as they are."""
        known = cls.__new__(cls)
        known.terms, known.prior, known.y, known.w = terms, prior, y, w
        return known

    def only(self, some):
        """Leave all other rows out."""
        return self.of(self.terms[some], self.prior[some], self.y[some], self.w[some])

    @staticmethod
    def _terms(model, row):
        blocks = encoded(as_source(row), model.schema)
        found = []
        for factor in model.factors:
            block = factor.block_of(type("Batch", (), {"blocks": blocks}))
            if isinstance(factor.parameters, MultinomialParameters | TextParameters) or isinstance(
                block, Sparse
            ):
                out = np.zeros((1, len(model.classes)))
                factor.parameters.add_log_likelihood(block, out)
                found.append(out[:, None])
            else:
                found.append(factor.parameters.log_prob(block))
        return np.concatenate(found, axis=1)[0]

    @property
    def here(self):
        return np.arange(len(self.y))

    def losses(self, exponents):
        """Return the losses of rows; the first exponent is that of the prior."""
        with np.errstate(invalid="ignore"):
            prior = np.where(np.isneginf(self.prior), -np.inf, exponents[0] * self.prior)
        scores = prior + np.einsum("ijc,j->ic", self.terms, exponents[1:])
        return np.logaddexp.reduce(scores, axis=1) - scores[self.here, self.y]

    def loss(self, exponents):
        return np.average(self.losses(exponents), weights=self.w)

    @property
    def before(self):
        """The loss of the model as it is."""
        return self.loss(np.ones(1 + self.terms.shape[1]))

    def objective(self, exponents):
        """Return what the module says that exponents minimise."""
        p, w = exponents[0], exponents[1:]
        m = np.mean(w)
        away = (p - 1.0) ** 2 + np.sum((w - m) ** 2 + max(m - 1.0, 0.0) ** 2)
        return self.w @ self.losses(exponents) + PENALTY / 2.0 * away

    @property
    def together(self):
        """All columns as one: what a temperature is the exponent of."""
        return self.of(self.terms.sum(axis=1, keepdims=True), self.prior, self.y, self.w)

    def minimiser(self, prior=(0.0, None)):
        """Minimise by another method, without slopes; the exponent of the prior may be fixed."""
        k = self.terms.shape[1]
        start = np.append(1.0, np.full(k, 0.5))
        found = minimize(
            self.objective, start, method="SLSQP", bounds=[prior, *[(0.0, None)] * k],
            options={"ftol": 1e-13, "maxiter": 1000},
        )  # fmt: skip
        return found.x


def exponents_of(found):
    """Return all exponents of a calibration, that of the prior first."""
    return np.array([found.prior, *(found.exponents or {"all": found.default}).values()])


def numbers(n, means, spreads=1.0, seed=0, classes=("a", "b")):
    """Draw rows of numbers around the mean of their class, and weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(len(classes), size=n)
    x = np.asarray(means)[y] + rng.normal(size=(n, np.shape(means)[1])) * spreads
    w = rng.choice([0.0, 0.5, 1.0, 2.0, 3.0], n)
    return [(classes[k], v, tuple(row)) for k, v, row in zip(y, w, x.tolist(), strict=True)]


def gaussian(width, source=None):
    return Setting("gaussian", (), source or matrix(), (tb.Numeric(),) * width, (tb.Gaussian(),))


@cache
def left_out_of(name, weighted):
    """Return some rows of a setting, and what brute force makes of them."""
    setting = setting_of(name)
    rows = setting.examples(24, seed=5)
    return rows, Terms(setting, rows, weighted)


# where evidence is infinite there is no minimum; and of few documents no word may be left
UNFIT = ("unsmoothed", "alpha=0", "alpha 0.0", "of 0", "impossible", "max_df=2")
FIT = [each for each in SETTINGS if not any(word in each.name for word in UNFIT)]
closed = pytest.mark.parametrize(
    ("setting", "weighted"),
    [
        *((each, False) for each in FIT if each.closed[0]),
        *((each, True) for each in FIT[::4] if each.closed[1]),
    ],
    ids=str,
)


# where labels are drawn by chance a calibration may cost the accuracy that chance had given
of_chance = pytest.mark.filterwarnings("ignore:the .* calibration lowers the leave-one-out")


def exact_ones(known, data, recipe):
    """Leave out rows that the closed form is not exact for: with weights, and next to none else."""
    _, _, _, exact = LeaveOneOut(data).terms(recipe, np.arange(len(data)))
    assert data.w is not None or exact[known.rows].all()
    assert exact[known.rows].mean() > 0.7
    return known.only(exact[known.rows])


@closed
@pytest.mark.parametrize("how", ["temperature", "weights"])
@of_chance
def test_exponents_minimise_the_documented_objective(setting, weighted, how):
    rows, known = left_out_of(setting.name, weighted)
    assert np.abs(known.terms).max() < 5e5
    data, recipe = encode(setting, rows, weighted), setting.recipe(PRIOR)
    found = calibrated(data, recipe, how)
    known = exact_ones(known, data, recipe)
    known = known.together if how == "temperature" else known
    exponents = exponents_of(found)
    assert found.how == how
    assert found.rows == len(known.y)
    assert (exponents >= 0.0).all()
    assert len(exponents) == 1 + known.terms.shape[1]
    least = known.objective(known.minimiser())
    assert known.objective(exponents) <= least + 1e-7 * (1.0 + least)
    assert found.loss == pytest.approx(known.loss(exponents), rel=1e-9)
    assert found.loss_before == pytest.approx(known.before, rel=1e-9)
    assert found.default == pytest.approx(exponents[1:].mean())


@pytest.mark.parametrize("weighted", [False, True])
def test_no_point_of_a_fine_grid_is_better(weighted):
    rows = numbers(60, [[0.0, 0.0], [1.2, 0.3]])
    setting = gaussian(2)
    known = Terms(setting, rows, weighted)
    found = calibrated(encode(setting, rows, weighted), setting.recipe(PRIOR), "weights")
    least = known.objective(exponents_of(found))
    for p in np.linspace(0.0, 2.0, 11):
        for a in np.linspace(0.0, 2.5, 11):
            for b in np.linspace(0.0, 2.5, 11):
                assert known.objective(np.array([p, a, b])) >= least - 1e-9


@pytest.mark.parametrize("weighted", [False, True])
def test_exponents_are_found_to_a_few_digits(weighted):
    rows = numbers(80, [[0.0, 0.0, 0.0], [1.2, 0.3, 0.0], [0.4, -1.0, 0.1]], classes="abc")
    setting = gaussian(3)
    known = Terms(setting, rows, weighted)
    found = calibrated(encode(setting, rows, weighted), setting.recipe(PRIOR), "weights")
    np.testing.assert_allclose(exponents_of(found), known.minimiser(), atol=2e-4)
    assert list(found.exponents) == ["x0", "x1", "x2"]
    one = calibrated(encode(setting, rows, weighted), setting.recipe(PRIOR), "temperature")
    np.testing.assert_allclose(exponents_of(one), known.together.minimiser(), atol=2e-4)


@pytest.mark.parametrize("how", ["temperature", "weights"])
def test_rows_alone_in_their_class_and_rows_without_weight_have_no_part(how):
    rows = [(label, 1.0, cells) for label, _, cells in numbers(40, [[0.0, 0.0], [1.0, 1.0]])]
    setting = gaussian(2)
    more = [*rows, ("alone", 1.0, (0.3, 40.0)), ("b", 0.0, (9.0, -70.0)), ("c", 0.0, (1.0, 1.0))]
    found = calibrated(encode(setting, more, True), setting.recipe(), how)
    known = Terms(setting, more, True, PRIORS[0])
    assert found.rows == len(known.y) == 40
    known = known.together if how == "temperature" else known
    np.testing.assert_allclose(exponents_of(found), known.minimiser(), atol=2e-4)
    assert found.loss == pytest.approx(known.loss(exponents_of(found)), rel=1e-9)
    assert found.loss_before == pytest.approx(known.before, rel=1e-9)


@pytest.mark.parametrize("how", ["temperature", "weights"])
@pytest.mark.parametrize(
    "recipe", [Recipe(prior=tb.Fixed({"a": 0.5, "b": 0.4, "z": 0.1})), Recipe(positive="z")]
)
def test_a_class_of_one_row_may_have_a_stated_prior_and_be_the_positive_one(how, recipe):
    rows = [*numbers(40, [[0.0, 0.0], [1.0, 1.0]]), ("z", 1.0, (0.0, 5.0))]
    setting = gaussian(2)
    found = calibrated(encode(setting, rows), replace(recipe, families=setting.families), how)
    assert found.rows == 40


@pytest.mark.parametrize("how", ["temperature", "weights"])
def test_rows_of_a_class_that_was_ruled_out_have_no_part(how):
    rows = numbers(60, [[0.0], [1.0], [0.5]], classes="abc")
    recipe = gaussian(1).recipe(tb.Fixed({"a": 0.4, "b": 0.6, "c": 0.0}))
    found = calibrated(encode(gaussian(1), rows), recipe, how)
    known = Terms(gaussian(1), rows, prior=recipe.prior)
    known = known.only(known.y < 2)
    assert found.rows == len(known.y)
    assert found.loss_before == pytest.approx(known.before, rel=1e-9)
    np.testing.assert_allclose(exponents_of(found), known.minimiser((1.0, 1.0)), atol=2e-4)
    assert found.prior == 1.0  # the prior was stated


def test_a_weight_counts_as_so_many_rows_that_are_left_out_together():
    rows = numbers(40, [[0.0], [1.2]])
    setting = gaussian(1)
    data = encode(setting, rows, True)
    triple = replace(data, w=3.0 * data.w)
    one, other = (calibrated(each, setting.recipe(), "weights") for each in (data, triple))
    known = Terms(setting, [(c, 3.0 * w, x) for c, w, x in rows], True, PRIORS[0])
    assert other.loss == pytest.approx(known.loss(exponents_of(other)), rel=1e-9)
    assert other.exponents["x0"] != pytest.approx(one.exponents["x0"], rel=1e-6)


@pytest.mark.parametrize("how", ["temperature", "weights"])
def test_a_column_given_twice_shares_its_exponent(how):
    rows = numbers(400, [[0.0], [1.0]], seed=3)
    twice = [(label, w, (x, x)) for label, w, (x,) in rows]
    once = calibrated(encode(gaussian(1), rows), gaussian(1).recipe(), how)
    both = calibrated(encode(gaussian(2), twice), gaussian(2).recipe(), how)
    if how == "temperature":
        assert 2.0 * both.default == pytest.approx(once.default, abs=1e-4)
    else:
        a, b = both.exponents.values()
        assert a == pytest.approx(b, abs=1e-4)
        assert a + b == pytest.approx(once.exponents["x0"], abs=1e-3)
    assert once.default == pytest.approx(1.0, abs=0.25)  # the model is right
    assert both.loss == pytest.approx(once.loss, abs=1e-6)
    assert both.loss_before > both.loss + 0.01


def test_noise_gets_next_to_nothing():
    rng = np.random.default_rng(2)
    y = rng.integers(2, size=2000)
    good = rng.normal(1.5 * y)
    # eight rare values of a great spread: noise that a model takes for evidence
    noise = rng.standard_cauchy((2000, 2))
    rows = [("ab"[c], 1.0, (g, *n)) for c, g, n in zip(y, good, noise.tolist(), strict=True)]
    found = calibrated(encode(gaussian(3), rows), gaussian(3).recipe(), "weights")
    exponents = list(found.exponents.values())
    assert exponents[0] == pytest.approx(1.0, abs=0.15)
    assert max(exponents[1:]) < 0.05


@pytest.mark.parametrize("how", ["temperature", "weights"])
@pytest.mark.parametrize("length", [100, 2500])
@of_chance
def test_long_documents_are_calibrated_like_short_ones(how, length):
    """Evidence of -1e4 and less is nothing unusual for a long document."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{k}" for k in range(300)])
    one = rng.dirichlet(np.full(300, 5.0))
    other = one * np.exp(rng.normal(scale=np.sqrt(1.0 / length), size=300))
    other /= other.sum()
    y = ["ab"[k % 2] for k in range(14)]
    documents = [
        " ".join(rng.choice(words, length, p=one if label == "a" else other)) for label in y
    ]
    setting = Setting("text", (), table("mail"), (tb.Words(),), (tb.Text(),))
    rows = [(label, 1.0, (mail,)) for label, mail in zip(y, documents, strict=True)]
    known = Terms(setting, rows)
    found = calibrated(encode(setting, rows), setting.recipe(PRIOR), how)
    assert found.loss_before == pytest.approx(known.before, rel=1e-6)
    np.testing.assert_allclose(exponents_of(found), known.minimiser(), atol=1e-3)
    assert found.loss == pytest.approx(known.loss(known.minimiser()), rel=1e-6)


@pytest.mark.parametrize("how", ["temperature", "weights"])
def test_many_columns_are_calibrated_like_few(how):
    """Each column says little less than log 1e-6; all of them together, less than -1e4."""
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    x = 1e8 * (rng.normal(size=(60, 600)) + 0.1 * y[:, None])
    rows = [("ab"[c], 1.0, tuple(row)) for c, row in zip(y, x.tolist(), strict=True)]
    setting = gaussian(600)
    known = Terms(setting, rows, prior=PRIORS[0])
    found = calibrated(encode(setting, rows), setting.recipe(), how)
    assert found.loss_before == pytest.approx(known.before, rel=1e-6)
    if how == "temperature":
        np.testing.assert_allclose(exponents_of(found), known.together.minimiser(), rtol=1e-3)


@pytest.mark.parametrize("how", ["temperature", "weights"])
def test_options_without_a_closed_form_are_refused_with_a_remedy(how):
    for setting in EVERY_SETTING:
        if setting.closed[0] and setting.closed[1]:
            continue
        weighted = setting.closed[0]
        data = encode(setting, setting.examples(24), weighted)
        with pytest.raises(tb.TallyBayesError, match=r"closed form.*CalibratedClassifierCV"):
            calibrated(data, setting.recipe(), how)


class TestHugeInputs:
    """Beyond so many cells, exponents are fitted on some of the rows."""

    @pytest.mark.parametrize("weighted", [False, True])
    def test_the_terms_of_some_rows_are_those_of_all(self, setting, weighted):
        if "max_df=2" in setting.name:
            pytest.skip("no word is left")
        data = encode(setting, setting.examples(30, seed=5), weighted)
        rows = LeaveOneOut(data)
        everything = rows.terms(setting.recipe(), np.arange(30))
        some = np.array([0, 3, 4, 9, 17, 21, 28])
        found = rows.terms(setting.recipe(), some)
        assert (found is None) == (everything is None)
        assert (found is not None) == setting.closed[weighted]
        if found is None:
            return
        names, terms, prior, exact = found
        assert names == everything[0]
        assert not (exact & ~everything[3][some]).any()
        np.testing.assert_allclose(terms[exact], everything[1][some][exact], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(prior[exact], everything[2][some][exact], rtol=1e-12)

    @pytest.mark.parametrize(
        "family",
        [
            tb.Gaussian(),
            tb.Gaussian(floor=tb.RelativeFloor(0.05)),
            tb.Gaussian(floor=tb.AdditiveFloor(0.1)),
            tb.Gaussian(ddof=0, floor=tb.AdditiveFloor(0.1, of=1.0)),
        ],
        ids=str,
    )
    def test_dominated_cells_are_left_out_or_right(self, family):
        """A row that holds nearly all the spread of its class has to be counted anew."""
        x = np.random.default_rng(0).normal(size=40)
        x[4], x[12] = 1e8, -3e7
        rows = [("ab"[k // 2 % 2], 1.0, (float(value),)) for k, value in enumerate(x)]
        setting = replace(gaussian(1), families=(family,))
        data, recipe = encode(setting, rows), setting.recipe()
        some = np.arange(0, 40, 4)
        _, expected, _, known = LeaveOneOut(data).terms(recipe, np.arange(40))
        _, terms, _, exact = LeaveOneOut(data).terms(recipe, some)
        assert known[some].sum() - exact.sum() <= 2
        np.testing.assert_allclose(terms[exact], expected[some][exact], rtol=1e-9)

    def test_so_many_cells_at_most_are_looked_at(self, monkeypatch):
        rows = numbers(400, [[0.0, 0.0], [1.2, 0.5]])
        data, recipe = encode(gaussian(2), rows), gaussian(2).recipe()
        everything = calibrated(data, recipe, "weights")
        monkeypatch.setattr(module, "MOST_CELLS", 400 * 2 * 2 // 2)
        some = calibrated(data, recipe, "weights")
        assert everything.rows == 400
        assert 100 <= some.rows <= 200
        np.testing.assert_allclose(
            list(some.exponents.values()), list(everything.exponents.values()), atol=0.35
        )

    def test_rows_that_alternate_between_the_classes_are_all_heard(self, monkeypatch):
        """Every second row would be of one class, whose rows alone say nothing of exponents."""
        x = np.random.default_rng(0).normal(size=400) + np.arange(400) % 2
        rows = [("ab"[k % 2], 1.0, (float(value),)) for k, value in enumerate(x)]
        setting = gaussian(1)
        data, recipe = encode(setting, rows), setting.recipe(tb.Fixed({"a": 0.3, "b": 0.7}))
        everything = calibrated(data, recipe, "weights").exponents["x0"]
        for parts in (2, 4):
            monkeypatch.setattr(module, "MOST_CELLS", 400 * 2 // parts)
            some = calibrated(data, recipe, "weights")
            assert some.exponents["x0"] == pytest.approx(everything, abs=0.6)

    def test_a_bag_counts_as_the_one_column_that_it_is(self, monkeypatch):
        rng = np.random.default_rng(0)
        cells = rng.poisson(1.0, (60, 50)).tolist()
        rows = [("ab"[k % 2], 1.0, tuple(row)) for k, row in enumerate(cells)]
        setting = Setting("bag", (), sparse, (tb.Count(),) * 50, (tb.Multinomial(),))
        monkeypatch.setattr(module, "MOST_CELLS", 60 * 2)
        found = calibrated(encode(setting, rows), setting.recipe(), "weights")
        assert found.rows == 60


class TestRowsWithoutAClosedForm:
    """They may be all rows of some classes: then the others must not speak for them."""

    @staticmethod
    def data():
        """Class c has no value of the colour, so without smoothing it takes what all say."""
        rng = np.random.default_rng(0)
        y = np.repeat(["a", "b", "c"], 30)
        colour = np.where(y == "a", "red", rng.choice(["red", "blue"], 90)).astype(object)
        colour[y == "c"] = None
        return {"colour": colour, "size": rng.normal(size=90) + 2.0 * (y == "b")}, y

    @pytest.mark.filterwarnings("ignore::tallybayes.TallyBayesWarning")
    @pytest.mark.parametrize("how", ["temperature", "weights"])
    def test_a_calibration_is_not_of_one_class_alone(self, how):
        X, y = self.data()
        plain = tb.NaiveBayes(alpha=0).fit(X, y)
        model = tb.NaiveBayes(alpha=0, calibration=how).fit(X, y)
        assert model.score(X, y) >= plain.score(X, y) - 0.05
        assert set(model.predict(X).tolist()) == set(plain.predict(X).tolist())
        assert model.calibration_.rows == 0 or model.calibration_.rows > 60


class TestCorners:
    """What has nothing to learn from stays as it is."""

    @pytest.mark.parametrize("how", ["temperature", "weights"])
    def test_perfectly_told_apart_classes_get_a_finite_exponent(self, how):
        rows = numbers(30, [[0.0], [1000.0]])
        found = calibrated(encode(gaussian(1), rows), gaussian(1).recipe(), how)
        assert np.isfinite(found.default)
        assert found.loss <= found.loss_before < 1e-6

    @pytest.mark.parametrize("how", ["temperature", "weights"])
    def test_rows_all_alone_in_their_class_leave_the_model_as_it_is(self, how):
        rows = [("a", 1.0, (1.0,)), ("b", 1.0, (2.0,)), ("c", 1.0, (3.0,))]
        found = calibrated(encode(gaussian(1), rows), gaussian(1).recipe(), how)
        assert found.rows == 0
        assert found.exponents_of(["x0"], "x0").tolist() == [1.0]

    @pytest.mark.parametrize("how", ["temperature", "weights"])
    def test_one_class_has_no_loss(self, how):
        rows = [("a", 1.0, (float(k),)) for k in range(12)]
        found = calibrated(encode(gaussian(1), rows), gaussian(1).recipe(), how)
        assert found.loss == found.loss_before == 0.0

    @pytest.mark.parametrize("how", ["temperature", "weights"])
    def test_a_column_of_missing_values_is_no_hindrance(self, how):
        nan = float("nan")
        rows = [(label, w, (*cells, nan)) for label, w, cells in numbers(60, [[0.0], [1.0]])]
        found = calibrated(encode(gaussian(2), rows), gaussian(2).recipe(), how)
        alone = [(label, w, cells[:1]) for label, w, cells in rows]
        one = calibrated(encode(gaussian(1), alone), gaussian(1).recipe(), how)
        assert found.default == pytest.approx(one.default, abs=1e-4)
        assert found.loss == pytest.approx(one.loss, rel=1e-7)

    def test_evidence_against_the_truth_gets_0(self):
        """In each class the held-out row lies where the others are not: leave-one-out is worse."""
        rows = [("ab"[k % 2], 1.0, (v,)) for k, v in enumerate("xxyyxxyyxxyy")]
        setting = Setting("letters", (), table("c"), (tb.Categories(),), (tb.Categorical(),))
        found = calibrated(encode(setting, rows), setting.recipe(), "temperature")
        assert found.default == 0.0


MAIL = Setting("text", (), table("mail"), (tb.Words(),), (tb.Text(),))


def uneven(sizes=(110, 22), length=40, seed=0):
    """Draw documents of classes that get rarer, each of which repeats words of its own."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{k}" for k in range(200)])
    common = rng.dirichlet(np.full(200, 0.3))
    rows = []
    for label, n in zip("abcd", sizes, strict=False):
        of_class = 0.3 * common + 0.7 * rng.dirichlet(np.full(200, 0.3))
        for _ in range(n):
            own = np.bincount(rng.choice(200, 6), minlength=200) / 6.0
            document = " ".join(rng.choice(words, length, p=0.5 * of_class + 0.5 * own))
            rows.append((label, 1.0, (document,)))
    return rows


RARE = (200, 40, 20, 10)
AS_COUNTED = tb.Fixed({label: n / 270 for label, n in zip("abcd", RARE, strict=True)})


class TestPrior:
    """The prior has an exponent of its own, if it was learnt from the rows."""

    def test_it_is_what_brute_force_finds(self):
        """Refit without each row, and minimise the loss of prior and evidence together."""
        labels, _, cells = zip(*uneven(), strict=True)
        x, y = np.array([mail for (mail,) in cells], object), np.array(labels)
        prior, evidence = [], []
        for i in range(len(y)):
            rest = np.arange(len(y)) != i
            model = tb.TextNB(prior="uniform").fit(x[rest], y[rest])
            evidence.append(model.predict_joint_log_proba(x[i : i + 1])[0])
            prior.append(np.log([(y[rest] == label).mean() for label in "ab"]))
        prior, evidence, own = np.array(prior), np.array(evidence), (y == "b").astype(int)

        def loss(exponents):
            scores = exponents[0] * prior + exponents[1] * evidence
            scores -= np.logaddexp.reduce(scores, axis=1, keepdims=True)
            pull = (exponents[0] - 1.0) ** 2 + max(exponents[1] - 1.0, 0.0) ** 2
            return -scores[np.arange(len(y)), own].sum() + PENALTY / 2.0 * pull

        best = minimize(loss, [1.0, 1.0], bounds=[(0.0, None)] * 2, method="Nelder-Mead",
                        options={"xatol": 1e-7, "fatol": 1e-10})  # fmt: skip
        found = tb.TextNB(calibration="temperature").fit(x, y).calibration_
        assert [found.prior, found.default] == pytest.approx(best.x.tolist(), abs=1e-3)
        assert found.prior < 0.9

    @pytest.mark.parametrize("how", ["temperature", "weights"])
    def test_a_stated_and_a_uniform_one_keep_the_exponent_1(self, how):
        rows = uneven((30, 8))
        for prior in (tb.Uniform(), tb.Fixed({"a": 0.7, "b": 0.3})):
            found = calibrated(encode(MAIL, rows), MAIL.recipe(prior), how)
            assert found.prior == 1.0
            known = Terms(MAIL, rows, prior=prior)
            np.testing.assert_allclose(exponents_of(found), known.minimiser((1.0, 1.0)), atol=2e-4)

    @pytest.mark.parametrize("how", ["temperature", "weights"])
    def test_it_lowers_the_loss_where_classes_are_uneven(self, how):
        """Discounted evidence beside a prior that counts in full leaves rare classes out."""
        data = encode(MAIL, uneven(RARE, 200))
        free = calibrated(data, MAIL.recipe(), how)
        with pytest.warns(tb.TallyBayesWarning, match="accuracy"):
            fixed = calibrated(data, MAIL.recipe(AS_COUNTED), how)
        assert free.loss < fixed.loss - 0.1
        assert free.accuracy > fixed.accuracy + 0.05
        assert free.prior < 0.5

    @pytest.mark.parametrize("how", ["temperature", "weights"])
    def test_where_classes_are_equally_frequent_it_stays_near_1(self, how):
        """Leave-one-out has one row less of a row's own class, which is no reason to turn it."""
        for n in (20, 2000):
            rows = [("ab"[k % 2], w, x) for k, (_, w, x) in enumerate(numbers(n, [[0.0], [0.0]]))]
            found = calibrated(encode(gaussian(1), rows), gaussian(1).recipe(), how)
            assert found.prior == pytest.approx(1.0, abs=0.15)

    @pytest.mark.parametrize("how", ["temperature", "weights"])
    def test_accuracy_is_that_of_the_rows_left_out(self, how):
        rows = uneven((40, 8))
        found = calibrated(encode(MAIL, rows), MAIL.recipe(), how)
        known = Terms(MAIL, rows, prior=PRIORS[0])
        for exponents, expected in (
            (exponents_of(found), found.accuracy),
            (np.ones(2), found.accuracy_before),
        ):
            scores = exponents[0] * known.prior
            scores = scores + np.einsum("ijc,j->ic", known.terms, exponents[1:])
            assert (scores.argmax(axis=1) == known.y).mean() == pytest.approx(expected)


def test_less_accuracy_than_before_is_said():
    """A stated prior keeps the exponent 1, and wins where the evidence is discounted."""
    data = encode(MAIL, uneven(RARE, 200))
    with pytest.warns(tb.TallyBayesWarning, match=r"lowers the leave-one-out accuracy from 0\.\d+"):
        found = calibrated(data, MAIL.recipe(AS_COUNTED), "temperature")
    assert found.accuracy < found.accuracy_before
    assert found.loss < found.loss_before
    calibrated(data, MAIL.recipe(), "temperature")  # and nothing is said (warnings are errors)


def test_what_is_no_calibration_is_refused():
    assert checked_how(None) is None
    assert checked_how("weights") == "weights"
    for wrong in ("weight", "isotonic", True, 1, ["weights"], np.array([1, 2])):
        with pytest.raises(tb.TallyBayesError, match="calibration is"):
            checked_how(wrong)
    with pytest.raises(tb.TallyBayesError, match="did you mean 'temperature'"):
        checked_how("temprature")


def test_the_tally_of_the_rows_need_not_be_counted_twice(setting):
    """Words may be numbered otherwise in a tally that was counted from the source."""
    if not setting.closed[0] or "max_df=2" in setting.name:
        pytest.skip("there is no closed form, or no word is left")
    rows = setting.examples(20, seed=4)
    labels, _, cells = zip(*rows, strict=True)
    tally = tb.Tally.of(setting.source(list(cells)), labels, schema=setting.schema)
    data = encode(setting, rows)
    one, other = LeaveOneOut(data, tally), LeaveOneOut(data)
    for found, expected in zip(
        one.joint(setting.recipe()), other.joint(setting.recipe()), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    everything = np.arange(20)
    _, found, _, exact = one.terms(setting.recipe(), everything)
    _, expected, _, known = other.terms(setting.recipe(), everything)
    assert exact.tolist() == known.tolist()
    np.testing.assert_allclose(found[exact], expected[exact], rtol=1e-9, atol=1e-12)
