"""Yu's five customers: bell curves for three numbers."""

import numpy as np
import pytest
from scipy.stats import norm

import tallybayes as tb

TABLE = {
    "facebook": [2.44, 9.77, 2.15, 1.96, 8.31],
    "games": [2.48, 6.82, 8.05, 3.78, 7.93],
    "active": [2.64, 0.55, 3.11, 3.75, 0.16],
}
LABELS = ["drop out", "complete", "drop out", "drop out", "complete"]
NEW = {"facebook": [2.51], "games": [4.38], "active": [2.51]}
COMPLETE, DROP_OUT = 0, 1


def model_with(ddof):
    return tb.estimate(tb.Tally.of(TABLE, LABELS), tb.Gaussian(ddof=ddof), positive="complete")


@pytest.mark.parametrize("ddof", [0, 1])
def test_the_scores_are_products_of_densities(ddof):
    y = np.array(LABELS)
    for c, label in enumerate(("complete", "drop out")):
        expected = np.mean(y == label)
        for name, column in TABLE.items():
            values = np.array(column)[y == label]
            expected *= norm(values.mean(), values.std(ddof=ddof)).pdf(NEW[name][0])
        assert model_with(ddof).scores(NEW)[0, c] == pytest.approx(expected, rel=1e-10, abs=1e-300)


def test_the_priors_are_two_and_three_fifths():
    assert model_with(1).prior.tolist() == [2 / 5, 3 / 5]


def test_the_printed_score_divides_by_n():
    # the notes print 0.016, which their own figures reach with ddof=0
    assert f"{model_with(0).scores(NEW)[0, DROP_OUT]:.6f}" == "0.015780"


def test_the_sample_standard_deviation_of_the_text_divides_by_n_minus_one():
    # the notes say "sample standard deviation", which is ddof=1 and the default here
    assert f"{model_with(1).scores(NEW)[0, DROP_OUT]:.6f}" == "0.019275"
    assert tb.Gaussian() == tb.Gaussian(ddof=1)


@pytest.mark.parametrize("ddof", [0, 1])
def test_the_score_of_complete_is_about_zero(ddof):
    assert 0.0 < model_with(ddof).scores(NEW)[0, COMPLETE] < 1e-9


@pytest.mark.parametrize("ddof", [0, 1])
def test_the_customer_will_drop_out(ddof):
    assert model_with(ddof).predict(NEW).tolist() == ["drop out"]


@pytest.mark.parametrize("ddof", [0, 1])
def test_each_posterior_has_its_own_score_as_numerator(ddof):
    # The notes write P(drop out | x) = s_complete / (s_complete + s_dropout): the numerator of the
    # other class, a slip of the pen. It is s_dropout, and the two sum to one.
    model = model_with(ddof)
    s = model.scores(NEW)[0]
    posterior = model.posterior(NEW)[0]
    assert posterior[DROP_OUT] == pytest.approx(s[DROP_OUT] / s.sum(), rel=1e-12)
    assert posterior[COMPLETE] == pytest.approx(s[COMPLETE] / s.sum(), rel=1e-9)
    assert posterior.sum() == pytest.approx(1.0, rel=1e-15)
    assert posterior[DROP_OUT] > 1 - 1e-6


def test_a_tie_drops_out_because_complete_must_be_strictly_greater():
    tally = tb.Tally.of({"hours": [1.0, 3.0, 1.0, 3.0]}, ["complete"] * 2 + ["drop out"] * 2)
    model = tb.estimate(tally, positive="complete")
    assert model.scores({"hours": [2.0]})[0].tolist() == [model.scores({"hours": [2.0]})[0, 0]] * 2
    assert model.predict({"hours": [2.0]}).tolist() == ["drop out"]


def test_three_numbers_in_two_classes_take_thirteen_parameters():
    assert model_with(1).free_parameters == 1 + 2 * 2 * 3
    assert model_with(1).table_entries == 2 + 2 * 2 * 3
