"""A calibrated model: exponents of the evidence."""

import warnings

import numpy as np
import pytest
from scipy.special import logsumexp

import tallybayes as tb
from tallybayes.model import Recipe
from tallybayes.model.calibration import Calibration
from validation.registry import PRIORS, SETTINGS

every_setting = pytest.mark.parametrize("setting", SETTINGS, ids=str)
WEIGHTS = (0.0, 0.3, 1.0, 1.7, 0.05, 2.5)


def weights_of(setting):
    """Return an exponent for each column, the first of them 0, or for a single one 0.3."""
    names = setting.names
    return {name: WEIGHTS[(k + (len(names) == 1)) % 6] for k, name in enumerate(names)}


def counted(setting, n=13):
    """Count some rows; return the tally, and the rows as a source and as records."""
    labels, _, cells = zip(*setting.examples(n), strict=True)
    data = setting.source(list(cells))
    tally = tb.Tally.of(data, labels, schema=setting.schema)
    return tally, data, [dict(zip(setting.names, row, strict=True)) for row in cells]


def estimated(setting, tally, calibration=None, prior=PRIORS[1]):
    return tb.estimate(
        tally, *setting.families, columns=setting.columns, prior=prior, calibration=calibration
    )


def product_by_hand(model, cells, exponents, prior):
    """Return log P(c)^p prod P(x_j | c)^w_j, normalised; impossible rows get the prior itself."""
    joint = np.repeat(prior * np.log(model.prior)[None], len(cells), axis=0)
    for name, exponent in exponents.items():
        if exponent:
            joint += exponent * model.column(name).log_prob([record[name] for record in cells])
    joint[np.isneginf(joint.max(axis=1))] = np.log(model.prior)
    return joint - logsumexp(joint, axis=1, keepdims=True)


def answered(action):
    """Do it without warnings of impossible rows, which some settings have."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "row .* impossible", tb.TallyBayesWarning)
        return action()


@every_setting
def test_the_posterior_is_the_product_of_the_factors_to_their_powers(setting):
    tally, data, cells = counted(setting)
    weights = weights_of(setting)
    model = estimated(setting, tally, Calibration("weights", weights, prior=0.6))
    expected = product_by_hand(estimated(setting, tally), cells, weights, 0.6)
    found = answered(lambda: model.posterior(data))
    np.testing.assert_allclose(found, np.exp(expected), rtol=1e-9, atol=1e-12)
    found = answered(lambda: model.log_posterior(data))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@every_setting
def test_exponents_of_0_leave_the_prior_even_where_a_value_is_impossible(setting):
    tally, data, cells = counted(setting)
    model = estimated(setting, tally, Calibration("temperature", default=0.0))
    posterior = model.posterior(data)  # without any warning of impossible rows
    np.testing.assert_allclose(
        posterior, np.repeat(model.prior[None], len(posterior), axis=0), rtol=1e-12
    )
    for record in cells:
        found = list(model.posterior_of(record).values())
        np.testing.assert_allclose(found, model.prior, rtol=1e-12)


class TestPrior:
    """The prior has an exponent of its own, whatever those of the columns are."""

    tally = tb.Tally.of({"a": [1.0, 2.0, 3.0, 4.0, 5.0]}, ["p", "p", "p", "p", "q"])

    @pytest.mark.parametrize("default", [0.0, 0.3, 5.0])
    @pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0])
    def test_a_record_of_which_nothing_is_known_has_the_prior_to_its_power(self, default, exponent):
        calibration = Calibration("temperature", default=default, prior=exponent)
        model = tb.estimate(self.tally, calibration=calibration)
        odds = 4.0**exponent
        expected = [odds / (odds + 1.0), 1.0 / (odds + 1.0)]
        assert model.posterior({"a": [float("nan")]})[0].tolist() == pytest.approx(expected)
        assert list(model.posterior_of({}).values()) == pytest.approx(expected)
        assert model.log_prior.tolist() == pytest.approx((exponent * np.log([0.8, 0.2])).tolist())
        assert model.prior.tolist() == pytest.approx([0.8, 0.2])  # what was counted

    def test_a_class_that_no_row_has_stays_impossible(self):
        recipe = Recipe(declared_classes=("r",), calibration=Calibration("weights", prior=0.0))
        model = recipe.model(self.tally)
        assert model.posterior_of({"a": 3.0})["r"] == 0.0
        assert model.posterior({"a": [3.0]})[0, 2] == 0.0

    def test_a_record_that_no_class_allows_has_the_prior_as_it_was_counted(self):
        tally = tb.Tally.of({"c": ["x", "x", "x", "y"]}, list("pppq"))
        family = tb.Categorical(alpha=0, unseen="smooth")
        model = tb.estimate(tally, family, calibration=Calibration("weights", prior=0.5))
        with pytest.warns(tb.TallyBayesWarning, match="impossible"):
            assert model.posterior({"c": ["z"]})[0].tolist() == pytest.approx([0.75, 0.25])
        with pytest.warns(tb.TallyBayesWarning, match="impossible"):
            logs = model.log_posterior({"c": ["z"]})[0]
        assert logs.tolist() == pytest.approx(np.log([0.75, 0.25]).tolist())


def test_a_bag_of_counts_has_one_exponent_by_its_name():
    rows = np.array([[3, 0, 1], [2, 1, 0], [0, 2, 2], [1, 3, 1]])
    schema = tb.Schema.of(["u", "v", "w"], [tb.Count()] * 3)
    tally = tb.Tally.of(rows, list("ppqq"), schema=schema)
    (factor,) = Recipe().factors(tally)
    model = tb.estimate(tally, calibration=Calibration("weights", {factor.title: 0.3}))
    other = tb.estimate(tally, calibration=Calibration("temperature", default=0.3))
    np.testing.assert_allclose(model.posterior(rows), other.posterior(rows), rtol=1e-12)


def test_an_infinite_number_is_refused_in_a_column_of_exponent_0_too():
    tally = tb.Tally.of({"a": [0.0, 1.0, 2.0, 4.0]}, list("ppqq"))
    model = tb.estimate(tally, calibration=Calibration("weights", {"a": 0.0}))
    with pytest.raises(tb.TallyBayesError, match=r"'a'.*inf"):
        model.posterior({"a": [1.0, float("inf")]})
    with pytest.raises(tb.TallyBayesError, match=r"'a'.*inf"):
        model.posterior_of({"a": float("inf")})


def test_a_calibration_says_what_it_gains():
    found = Calibration(
        "weights", {"income": 0.25, "a": 1.5}, 0.875, loss=0.25, loss_before=0.5, rows=12
    )
    assert str(found).splitlines() == [
        "weights calibration, 12 rows: log-loss 0.5000 -> 0.2500 by leave-one-out",
        "column  exponent",
        "a       1.500",
        "income  0.250",
    ]
    one = Calibration("temperature", default=0.5, prior=0.25, accuracy=0.75, accuracy_before=0.5)
    assert str(one).endswith(
        "and accuracy 0.5000 -> 0.7500 by leave-one-out; exponent 0.500; exponent of the prior "
        "0.250"
    )
