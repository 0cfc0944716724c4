"""Pan's loans: categories and incomes together, Laplace's estimate and the m-estimate."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

import tallybayes as tb

TABLE = {
    "owner": ["Yes", "No", "No", "Yes", "No", "No", "Yes", "No", "No", "No"],
    "status": [
        *("Single", "Married", "Single", "Married", "Divorced"),
        *("Married", "Divorced", "Single", "Married", "Single"),
    ],
    "income": [125.0, 100.0, 70.0, 120.0, 95.0, 60.0, 220.0, 85.0, 75.0, 90.0],
}
CHEAT = ["No", "No", "No", "No", "Yes", "No", "No", "Yes", "No", "Yes"]
NEW = {"owner": ["No"], "status": ["Married"], "income": [120.0]}
NO, YES = 0, 1
EXERCISE = tb.Categorical(m=3, p=tb.ByClass({"Yes": 1 / 3, "No": 2 / 3}))
BELIEF = tb.ByValue({"Single": 1 / 2, "Divorced": 1 / 3, "Married": 1 / 6})


def loans():
    return tb.Tally.of(TABLE, CHEAT, target="cheat")


def probability(model, value, label):
    """P(value | label): the score of a record that has nothing else, without the prior."""
    record = {name: [value[1] if name == value[0] else None] for name in model.schema.names}
    place = model.classes.index(label)
    return model.scores(record)[0, place] / model.prior[place]


def near(fraction):
    return pytest.approx(float(fraction), rel=1e-14)


def test_the_priors_are_seven_and_three_tenths():
    assert tb.estimate(loans()).prior.tolist() == [0.7, 0.3]


@pytest.mark.parametrize(
    ("value", "label", "p"),
    [
        (("owner", "Yes"), "No", Fraction(3, 7)),
        (("owner", "No"), "No", Fraction(4, 7)),
        (("owner", "Yes"), "Yes", Fraction(0)),
        (("owner", "No"), "Yes", Fraction(1)),
        (("status", "Single"), "No", Fraction(2, 7)),
        (("status", "Divorced"), "No", Fraction(1, 7)),
        (("status", "Married"), "No", Fraction(4, 7)),
        (("status", "Single"), "Yes", Fraction(2, 3)),
        (("status", "Divorced"), "Yes", Fraction(1, 3)),
        (("status", "Married"), "Yes", Fraction(0)),
    ],
)
def test_without_smoothing_probabilities_are_shares(value, label, p):
    assert probability(tb.estimate(loans(), tb.Categorical(alpha=0)), value, label) == near(p)


def test_incomes_have_the_means_and_variances_of_the_notes():
    normals = tb.estimate(loans()).factors[0].parameters
    assert normals.mean[:, 0] == pytest.approx([110.0, 90.0], rel=1e-14)
    assert normals.variance[:, 0] == pytest.approx([2975.0, 25.0], rel=1e-13)


def test_the_densities_at_an_income_of_120():
    density = np.exp(tb.estimate(loans()).factors[0].parameters.log_prob(np.array([[120.0]])))[0, 0]
    assert f"{density[NO]:.4f}" == "0.0072"
    assert f"{density[YES]:.1e}" == "1.2e-09"
    expected = [norm(110, 2975**0.5).pdf(120), norm(90, 5).pdf(120)]
    assert density == pytest.approx(expected, rel=1e-12)


def test_without_smoothing_a_married_applicant_cannot_cheat():
    # The notes print 0.0024 and 0.7 x 0.0024 = 0.00168: they round before they multiply. Carried
    # through, P(x | No) is 0.0023486 and the score 0.0016440.
    model = tb.estimate(loans(), tb.Categorical(alpha=0))
    scores = model.scores(NEW)[0]
    assert f"{scores[NO]:.7f}" == "0.0016440"
    assert scores[YES] == 0.0
    assert scores[NO] == pytest.approx(0.7 * 16 / 49 * norm(110, 2975**0.5).pdf(120), rel=1e-12)
    assert model.predict(NEW).tolist() == ["No"]
    assert model.posterior(NEW)[0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("status", "p"),
    [("Married", Fraction(1, 6)), ("Single", Fraction(3, 6)), ("Divorced", Fraction(2, 6))],
)
def test_laplace_adds_one_to_each_status(status, p):
    assert probability(tb.estimate(loans()), ("status", status), "Yes") == near(p)


def no_status_known(family):
    """A model of declared statuses of which no row of any class has one."""
    kinds = {"status": tb.Categories(("Single", "Married", "Divorced"))}
    table = {"status": [None, None]}
    return tb.estimate(tb.Tally.of(table, ["Yes", "No"], columns=kinds), family)


def test_with_no_data_the_laplace_estimate_is_one_third():
    model = no_status_known(tb.Categorical(alpha=1))
    for status in ("Single", "Married", "Divorced"):
        assert probability(model, ("status", status), "Yes") == near(Fraction(1, 3))


@pytest.mark.parametrize("m", [0.5, 3, 100])
def test_with_no_data_the_m_estimate_is_its_prior_guess(m):
    model = no_status_known(tb.Categorical(m=m, p=BELIEF))
    for status, p in BELIEF.p.items():
        assert probability(model, ("status", status), "Yes") == near(p)


def test_a_class_without_data_is_estimated_from_its_guess_beside_one_with_data():
    table = {"status": ["Married", "Married", None]}
    kinds = {"status": tb.Categories(("Single", "Married", "Divorced"))}
    tally = tb.Tally.of(table, ["No", "No", "Yes"], columns=kinds)
    model = tb.estimate(tally, tb.Categorical(m=3, p=BELIEF))
    assert probability(model, ("status", "Single"), "Yes") == near(Fraction(1, 2))
    assert probability(model, ("status", "Single"), "No") == near(Fraction(3, 10))


@pytest.mark.parametrize(
    ("value", "label", "p"),
    [
        (("owner", "No"), "Yes", Fraction(4, 6)),
        (("status", "Married"), "Yes", Fraction(1, 6)),
        (("status", "Single"), "Yes", Fraction(1, 2)),
        (("owner", "No"), "No", Fraction(3, 5)),
        (("status", "Married"), "No", Fraction(3, 5)),
    ],
)
def test_the_exercise_with_m_3(value, label, p):
    assert probability(tb.estimate(loans(), EXERCISE), value, label) == near(p)


def test_the_likelihoods_of_the_exercise():
    model = tb.estimate(loans(), EXERCISE)
    likelihood = model.scores(NEW)[0] / model.prior
    assert f"{likelihood[NO]:.7f}" == "0.0025892"
    assert f"{likelihood[YES]:.4e}" == "1.3502e-10"
    assert likelihood[NO] == pytest.approx(9 / 25 * norm(110, 2975**0.5).pdf(120), rel=1e-12)
    assert likelihood[YES] == pytest.approx(1 / 9 * norm(90, 5).pdf(120), rel=1e-12)
    assert model.predict(NEW).tolist() == ["No"]


def test_one_record_has_the_posterior_of_the_table():
    model = tb.estimate(loans(), EXERCISE)
    one = model.posterior_of({name: column[0] for name, column in NEW.items()})
    assert list(one.values()) == pytest.approx(model.posterior(NEW)[0], rel=1e-12)


def test_a_missing_status_leaves_its_factor_out():
    model = tb.estimate(loans())
    scores = model.scores({"owner": ["No"], "status": [None], "income": [120.0]})[0]
    with_status = model.scores(NEW)[0]
    married = [probability(model, ("status", "Married"), label) for label in ("No", "Yes")]
    assert scores == pytest.approx(with_status / married, rel=1e-12)


def test_ten_rows_are_too_few_for_weights():
    model = tb.SemiNaiveBayes().fit(TABLE, CHEAT)
    assert set(model.calibration_.exponents.values()) == {1.0}
    assert model.calibration_.loss == pytest.approx(model.calibration_.loss_before)
    plain = tb.NaiveBayes(prior="smoothed").fit(TABLE, CHEAT)
    np.testing.assert_allclose(model.predict_proba(NEW), plain.predict_proba(NEW))
