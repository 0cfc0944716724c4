"""A calibration raises prior and evidence to powers, and says so where it costs accuracy."""

import numpy as np
import pytest
from scipy.optimize import minimize

import tallybayes as tb
from tallybayes.validation.calibration import PENALTY, calibrated
from validation.refits import encode
from validation.registry import PRIORS
from validation.test_calibration import MAIL, Terms, exponents_of, of_columns


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

    @of_columns
    def test_a_stated_and_a_uniform_one_keep_the_exponent_1(self, how):
        rows = uneven((30, 8))
        for prior in (tb.Uniform(), tb.Fixed({"a": 0.7, "b": 0.3})):
            found = calibrated(encode(MAIL, rows), MAIL.recipe(prior), how)
            assert found.prior == 1.0
            known = Terms(MAIL, rows, prior=prior)
            np.testing.assert_allclose(exponents_of(found), known.minimiser((1.0, 1.0)), atol=2e-4)

    @of_columns
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


@of_columns
def test_a_stated_prior_outweighs_discounted_evidence_and_less_accuracy_is_said(how):
    data = encode(MAIL, uneven(RARE, 200))
    with pytest.warns(tb.TallyBayesWarning, match=r"lowers the leave-one-out accuracy from 0\.\d+"):
        fixed = calibrated(data, MAIL.recipe(AS_COUNTED), how)
    assert fixed.accuracy < fixed.accuracy_before
    assert fixed.loss < fixed.loss_before
    free = calibrated(data, MAIL.recipe(), how)  # and nothing is said (warnings are errors)
    assert free.loss < fixed.loss - 0.1
    assert free.accuracy > fixed.accuracy + 0.05
    assert free.prior < 0.5
