"""Exponents are what brute force finds on models fitted anew without each row."""

import numpy as np
import pytest
from scipy.optimize import minimize

import tallybayes as tb
from tallybayes.validation import calibration as module
from tallybayes.validation.calibration import PENALTY, calibrated
from tallybayes.validation.leave_one_out import LeaveOneOut
from validation.refits import encode
from validation.registry import EVERY_SETTING, PRIORS, SETTINGS, Setting, matrix, table

PRIOR = PRIORS[1]


class Terms:
    """What each column says of each row under the model of all other rows.

    (`test_leave_one_out` holds these against refits.) Rows that are alone in their class, have no
    weight, or are impossible in their own class have no part.
    """

    def __init__(self, setting, rows, weighted=False, prior=PRIOR):
        data = encode(setting, rows, weighted)
        closed = LeaveOneOut(data).closed_terms(setting.recipe(prior), np.arange(len(data)))
        held, exact = closed
        here = np.arange(len(data))
        exact &= np.isfinite(held.terms[here, :, held.y]).all(axis=1)
        exact &= np.isfinite(held.log_prior[here, held.y])
        known = (held.terms, held.log_prior, held.y, held.w)
        self.terms, self.prior, self.y, self.w = (each[exact] for each in known)

    @classmethod
    def of(cls, terms, prior, y, w):
        """Take terms as they are."""
        known = cls.__new__(cls)
        known.terms, known.prior, known.y, known.w = terms, prior, y, w
        return known

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


MAIL = Setting("text", (), table("mail"), (tb.Words(),), (tb.Text(),))


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


of_columns = pytest.mark.parametrize("how", ["temperature", "weights"])
# where labels are drawn by chance a calibration may cost the accuracy that chance had given
of_chance = pytest.mark.filterwarnings("ignore:the .* calibration lowers the leave-one-out")


@closed
@of_columns
@of_chance
def test_exponents_minimise_the_documented_objective(setting, weighted, how):
    rows = setting.examples(24, seed=5)
    known = Terms(setting, rows, weighted)
    found = calibrated(encode(setting, rows, weighted), setting.recipe(PRIOR), how)
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
def test_exponents_are_found_to_a_few_digits(weighted):
    rows = numbers(80, [[0.0, 0.0, 0.0], [1.2, 0.3, 0.0], [0.4, -1.0, 0.1]], classes="abc")
    data, recipe = encode(gaussian(3), rows, weighted), gaussian(3).recipe(PRIOR)
    known = Terms(gaussian(3), rows, weighted)
    found = calibrated(data, recipe, "weights")
    np.testing.assert_allclose(exponents_of(found), known.minimiser(), atol=2e-4)
    assert list(found.exponents) == ["x0", "x1", "x2"]
    one = calibrated(data, recipe, "temperature")
    np.testing.assert_allclose(exponents_of(one), known.together.minimiser(), atol=2e-4)


def test_of_very_many_cells_some_rows_are_enough(monkeypatch):
    rows = numbers(400, [[0.0, 0.0], [1.2, 0.5]])
    data, recipe = encode(gaussian(2), rows), gaussian(2).recipe()
    everything = calibrated(data, recipe, "weights")
    monkeypatch.setattr(module, "MOST_CELLS", 400 * 2 * 2 // 2)
    some = calibrated(data, recipe, "weights")
    assert (everything.rows, some.rows) == (400, 200)
    np.testing.assert_allclose(exponents_of(some), exponents_of(everything), atol=0.35)


@of_columns
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


@of_columns
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


@of_columns
@of_chance
def test_long_documents_are_calibrated_like_short_ones(how):
    """Evidence of -1e4 and less is nothing unusual for a long document."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{k}" for k in range(300)])
    one = rng.dirichlet(np.full(300, 5.0))
    other = one * np.exp(rng.normal(scale=0.02, size=300))
    shares = {"a": one, "b": other / other.sum()}
    documents = [("ab"[k % 2], " ".join(rng.choice(words, 2500, p=shares["ab"[k % 2]])))
                 for k in range(14)]  # fmt: skip
    rows = [(label, 1.0, (mail,)) for label, mail in documents]
    known = Terms(MAIL, rows)
    found = calibrated(encode(MAIL, rows), MAIL.recipe(PRIOR), how)
    assert found.loss_before == pytest.approx(known.before, rel=1e-6)
    np.testing.assert_allclose(exponents_of(found), known.minimiser(), atol=1e-3)
    assert found.loss == pytest.approx(known.loss(known.minimiser()), rel=1e-6)


@of_columns
def test_options_without_a_closed_form_are_refused_with_a_remedy(how):
    for setting in EVERY_SETTING:
        if setting.closed[0] and setting.closed[1]:
            continue
        weighted = setting.closed[0]
        data = encode(setting, setting.examples(24), weighted)
        with pytest.raises(tb.TallyBayesError, match=r"closed form.*CalibratedClassifierCV"):
            calibrated(data, setting.recipe(), how)


@of_columns
def test_where_no_row_of_a_class_can_speak_the_others_do_not_speak_for_it(how):
    """Values that only one row has are impossible without it where nothing is smoothed."""
    X = {"x": ["red"] * 3 + ["blue"] * 4 + ["red", "one", "two", "three", "four"]}
    model = tb.NaiveBayes(alpha=0, unseen="smooth", calibration=how)
    with pytest.warns(tb.TallyBayesWarning, match="of 12 rows only 6 can speak.*alpha > 0"):
        found = model.fit(X, list("aaaabbbbcccc")).calibration_
    assert (found.rows, found.default, found.prior) == (0, 1.0, 1.0)


@of_columns
def test_perfectly_told_apart_classes_get_a_finite_exponent_and_lone_rows_none(how):
    rows = numbers(30, [[0.0], [1000.0]])
    found = calibrated(encode(gaussian(1), rows), gaussian(1).recipe(), how)
    assert np.isfinite(found.default)
    assert found.loss <= found.loss_before < 1e-6
    rows = [("a", 1.0, (1.0,)), ("b", 1.0, (2.0,)), ("c", 1.0, (3.0,))]
    found = calibrated(encode(gaussian(1), rows), gaussian(1).recipe(), how)
    assert found.rows == 0
    assert found.exponents_of(["x0"], "x0").tolist() == [1.0]


@of_columns
def test_rows_of_a_class_that_was_ruled_out_have_no_part(how):
    rows = numbers(60, [[0.0], [1.0], [0.5]], classes="abc")
    recipe = gaussian(1).recipe(tb.Fixed({"a": 0.4, "b": 0.6, "c": 0.0}))
    found = calibrated(encode(gaussian(1), rows), recipe, how)
    known = Terms(gaussian(1), rows, prior=recipe.prior)
    assert found.rows == len(known.y)
    assert found.loss_before == pytest.approx(known.before, rel=1e-9)
    np.testing.assert_allclose(exponents_of(found), known.minimiser((1.0, 1.0)), atol=2e-4)
    assert found.prior == 1.0  # the prior was stated
