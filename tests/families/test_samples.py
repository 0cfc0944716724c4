"""Large samples come close to the parameters that they are drawn from: within 5 standard errors."""

import numpy as np
import pytest

import tallybayes as tb

N = 40_000
ERRORS = 5.0
Y = np.array([0, 0, 0, 1, 1, 1, 1, 1])


def drawn(tally, family, given=None):
    """A model and a sample of it, as an array of columns and the classes."""
    model = tb.estimate(tally, family)
    sample = model.sample(N, given, seed=1)
    names = list(model.schema.names)
    assert list(sample) == [*names, "class"]
    return model, np.array([sample[name] for name in names]).T, sample["class"]


def close(values, mean, spread):
    """The mean of the values is near the one expected, given their standard deviation."""
    assert abs(np.mean(values) - mean) <= ERRORS * spread / np.sqrt(len(values)) + 1e-12


def test_classes_are_drawn_by_the_prior():
    model, _, y = drawn(tb.Tally.of({"x": list("abcabcab")}, Y), tb.Categorical())
    p = model.prior[1]
    assert p == 5 / 8
    close(y == 1, p, np.sqrt(p * (1 - p)))


def test_numbers_have_the_mean_and_variance_of_their_class():
    X = np.array([[1, 50], [2, 70], [6, 90], [9, 1], [11, 2], [12, 3], [15, 4], [19, 9]], float)
    model, sample, y = drawn(tb.Tally.of(X, Y), tb.Gaussian())
    normals = model.factors[0].parameters
    for c in range(2):
        for j in range(2):
            mean, variance = normals.mean[c, j], normals.variance[c, j]
            values = sample[y == c, j]
            close(values, mean, np.sqrt(variance))
            # the squared deviation of a normal has variance 2 sigma^4
            close((values - mean) ** 2, variance, np.sqrt(2) * variance)


def test_a_constant_column_is_sampled_as_it_is():
    X = np.array([[1.0, 4.0], [2.0, 4.0], [6.0, 4.0], [9.0, 4.0]])
    _, sample, _ = drawn(tb.Tally.of(X, [0, 0, 1, 1]), tb.Gaussian())
    assert (sample[:, 1] == 4.0).all()


@pytest.mark.parametrize("alpha", [0, 1])
def test_values_are_drawn_by_their_probability(alpha):
    tally = tb.Tally.of({"x": list("aababccc"), "y": [7, 8, 9, 7, 7, 7, 8, 8]}, Y,
                        columns={"y": tb.Categories()})  # fmt: skip
    model = tb.estimate(tally, tb.Categorical(alpha))
    sample = model.sample(N, seed=2)
    tables = model.factors[0].parameters
    start = 0
    for name, labels in zip(tables.names, tables.labels, strict=True):
        for k, label in enumerate(labels):
            for c in range(2):
                p = float(np.exp(tables.log_probabilities[c, start + k]))
                mine = sample[name][sample["class"] == c] == label
                close(mine, p, np.sqrt(p * (1 - p)))
        start += len(labels)
        assert set(sample[name].tolist()) <= set(labels)


def test_guesses_that_do_not_sum_to_one_are_drawn_by_their_share():
    tally = tb.Tally.of({"x": list("ab")}, [0, 0])
    family = tb.Categorical(m=2, p=tb.ByValue({"a": 1.0, "b": 0.5}))  # 3/4 and 2/4
    sample = tb.estimate(tally, family).sample(N, seed=3)
    close(sample["x"] == "a", 0.6, np.sqrt(0.24))


@pytest.mark.parametrize("threshold", [0.0, 2.5, -3.0])
def test_switches_are_on_with_their_probability(threshold):
    X = np.array([[1, 0], [0, 0], [1, 1], [0, 1], [0, 0], [0, 0], [1, 1], [0, 1]]) + threshold
    family = tb.Bernoulli(threshold=threshold)
    tally = tb.Tally.of(X, Y, columns={"x0": family, "x1": family})
    model, sample, y = drawn(tally, family)
    p = np.exp(model.factors[0].parameters.log_present)
    for c in range(2):
        for j in range(2):
            on = sample[y == c, j] > threshold
            close(on, p[c, j], np.sqrt(p[c, j] * (1 - p[c, j])))


BAG = np.array(
    [[2, 0, 1], [0, 0, 1], [4, 1, 1], [0, 1, 9], [0, 0, 5], [0, 0, 6], [1, 1, 2], [0] * 3]
)
COUNTED = {f"x{j}": tb.Count() for j in range(3)}


@pytest.mark.parametrize("family", [tb.Multinomial(), tb.Multinomial(alpha=0), tb.Complement()])
def test_a_bag_has_the_length_and_the_shares_of_its_class(family):
    model, sample, y = drawn(tb.Tally.of(BAG, Y, columns=COUNTED), family)
    alpha = 1.0 if family.alpha is None else family.alpha
    for c in range(2):
        counts = BAG[np.equal(Y, c)]
        length = counts.sum() / len(counts)
        shares = (counts.sum(axis=0) + alpha) / (counts.sum() + 3 * alpha)
        mine = sample[y == c]
        close(mine.sum(axis=1), length, np.sqrt(length))
        for j in range(3):
            close(mine[:, j], length * shares[j], np.sqrt(length * shares[j]))
    assert model.classes == (0, 1)


def test_events_have_the_rate_of_their_class():
    model, sample, y = drawn(tb.Tally.of(BAG, Y, columns=COUNTED), tb.Poisson())
    rate = model.factors[0].parameters.rate
    for c in range(2):
        for j in range(3):
            values = sample[y == c, j]
            close(values, rate[c, j], np.sqrt(rate[c, j]))
            # the squared deviation of a Poisson has variance rate + 2 rate^2
            spread = np.sqrt(rate[c, j] + 2 * rate[c, j] ** 2)
            close((values - rate[c, j]) ** 2, rate[c, j], spread)


def test_what_is_given_changes_how_probable_the_classes_are():
    tally = tb.Tally.of({"x": list("aababccc"), "y": list("uuvvuuvv")}, Y)
    model = tb.estimate(tally)
    sample = model.sample(N, {"x": "a"}, seed=4)
    assert set(sample["x"].tolist()) == {"a"}
    p = model.posterior_of({"x": "a"})[1]
    assert abs(p - model.prior[1]) > 0.1
    close(sample["class"] == 1, p, np.sqrt(p * (1 - p)))


def test_a_class_may_be_given():
    tally = tb.Tally.of({"x": list("aababccc")}, Y)
    model = tb.estimate(tally)
    sample = model.sample(N, {"class": 0}, seed=5)
    assert set(sample["class"].tolist()) == {0}
    close(sample["x"] == "a", 3 / 6, 0.5)


def test_a_seed_makes_the_draw_repeatable():
    model = tb.estimate(tb.Tally.of({"x": [1.5, 2.5, 3.5, 9.5]}, [0, 0, 1, 1]))
    first, again, other = (model.sample(5, seed=seed)["x"].tolist() for seed in (1, 1, 2))
    assert first == again
    assert first != other
