"""The convex problem of weights: against a general solver."""

import numpy as np
import pytest
from scipy.optimize import minimize

import tallybayes as tb
from tallybayes.evidence import weights
from tallybayes.evidence.weights import CLASS, JOINT, SINGLE, EvidenceProblem, drawn_to_nothing
from tallybayes.kernels import compiled, plain
from tallybayes.kinds import Joint, Part, Scatter


def drawn(n=300, k=9, c=3, joints=3, seed=0):
    rng = np.random.default_rng(seed)
    terms, y = rng.normal(size=(n, k, c)), rng.integers(0, c, n)
    terms[np.arange(n), 0, y] += 1.0
    terms[np.arange(n), k - 1, y] += 0.4
    prior = np.log(rng.dirichlet(np.ones(c), n))
    w = rng.choice([0.5, 1.0, 2.0], n)
    return terms, prior, y, w, np.arange(k) >= k - joints


def objective(terms, prior, y, w, joint):
    """Write the loss down as the documentation does."""
    n, k, _ = terms.shape

    def value(theta):
        weights, constants = theta[:k], theta[k:]
        scores = np.einsum("nkc,k->nc", terms, weights) + prior + constants
        logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        single, mean = weights[~joint], weights[~joint].mean()
        return (
            -w @ logs[np.arange(n), y]
            + SINGLE / 2 * (((single - mean) ** 2).sum() + len(single) * max(mean - 1, 0) ** 2)
            + JOINT / 2 * (weights[joint] ** 2).sum()
            + CLASS / 2 * (constants**2).sum()
        )

    return value


@pytest.mark.parametrize(("c", "scale"), [(2, 1.0), (3, 1.0), (5, 1.0), (3, 0.2)])
def test_newton_finds_what_a_general_solver_finds(c, scale):
    terms, prior, y, w, joint = drawn(c=c)
    terms = terms * scale  # small terms want weights above 1
    found = EvidenceProblem(terms, prior, y, w, joint).solved()
    value, k = objective(terms, prior, y, w, joint), terms.shape[1]
    bounds = [(0.0, None)] * k + [(None, None)] * c
    start = np.append(np.full(k, 0.5), np.zeros(c))
    peer = minimize(value, start, bounds=bounds, options={"maxfun": 10**6, "ftol": 1e-14})
    ours = np.append(found.weights, found.constants)
    assert value(ours) <= peer.fun + 1e-6 * abs(peer.fun)
    np.testing.assert_allclose(ours, peer.x, atol=2e-3)
    assert (found.weights >= 0.0).all()
    assert (found.weights == 0.0).any()


def test_joints_that_come_later_are_weighed_as_if_they_had_been_there():
    terms, prior, y, w, joint = drawn()
    whole = EvidenceProblem(terms, prior, y, w, joint)
    first = EvidenceProblem(terms[:, :6], prior, y, w, joint[:6])
    start = first.solved()
    later = first.with_joints(terms[:, 6:])
    found, expected = later.solved(start.weights, start.constants), whole.solved()
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-4)
    judged = later.judged(found.weights, found.constants)
    assert judged.loss * w.sum() == pytest.approx(expected.loss, rel=1e-6)
    scores = np.einsum("nkc,k->nc", terms, found.weights) + prior + found.constants
    assert judged.accuracy == pytest.approx(w[scores.argmax(axis=1) == y].sum() / w.sum())


def test_second_derivatives_of_some_rows_lead_to_the_same_weights(monkeypatch):
    terms, prior, y, w, joint = drawn(n=4000)
    exact = EvidenceProblem(terms, prior, y, w, joint).solved()
    monkeypatch.setattr(weights, "MOST_WORK", 4000 * 9 * 9 * 2 // 8)  # every eighth row
    some = EvidenceProblem(terms, prior, y, w, joint).solved()
    np.testing.assert_allclose(some.weights, exact.weights, atol=1e-4)
    np.testing.assert_allclose(some.constants, exact.constants, atol=1e-4)


@pytest.mark.parametrize("c", [2, 4])
def test_a_candidate_is_screened_by_slope_and_bend_of_the_likelihood(c):
    """Against differences of the log-likelihood in the weight of the term, for both twins."""
    rng = np.random.default_rng(c)
    n, cells = 200, 7
    at, y = rng.integers(-1, cells, n), rng.integers(0, c, n)
    w, table, own = rng.random(n), rng.normal(size=(cells, c)), rng.normal(size=n)
    scores = rng.normal(size=(n, c))
    own[at < 0] = 0.0
    terms = np.where((at >= 0)[:, None], table[at], 0.0)
    terms[np.arange(n), y] = own

    def likelihood(weight):
        z = scores + weight * terms
        return w @ (z[np.arange(n), y] - np.logaddexp.reduce(z, axis=1))

    step = 1e-3
    posterior = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    up, here, down = likelihood(step), likelihood(0.0), likelihood(-step)
    for twin in (plain, compiled):
        slope, bend = twin.score_test(at, y, w, table, own, posterior)
        assert slope == pytest.approx((up - down) / 2 / step, rel=1e-5)
        assert bend == pytest.approx(-(up + down - 2 * here) / step**2, rel=1e-4)


@pytest.mark.parametrize("c", [2, 3])
def test_a_row_is_left_out_of_the_weights_about_as_a_refit_does(c):
    terms, prior, y, _, joint = drawn(n=80, c=c)
    problem = EvidenceProblem(terms, prior, y, np.ones(80), joint)
    fitted = problem.solved()
    refits = np.empty((80, c))
    for row in range(80):
        rest = np.arange(80) != row
        refit = EvidenceProblem(terms[rest], prior[rest], y[rest], np.ones(79), joint).solved()
        scores = terms[row].T @ refit.weights + prior[row] + refit.constants
        refits[row] = np.exp(scores - np.logaddexp.reduce(scores))
    off = np.abs(problem.left_out(fitted) - refits)
    with_the_row = np.abs(problem.posterior(fitted.weights, fitted.constants)[0].T - refits[:, 1:])
    assert off.max() < 0.03
    assert off.mean() < 0.1 * with_the_row.mean()


def test_joints_and_curves_beside_smooth_views_are_drawn_to_nothing_and_views_are_not():
    smooth, cut = (Part(edges=(0.0, 1.0), name=f"{n} parts") for n in ("smoother", "supervised"))
    either = Part(values=("no", "yes"))
    schema = (
        tb.Schema.of("abcd", [tb.Numeric(), tb.Numeric(), tb.Numeric(), tb.Categories()])
        .with_gaps()
        .with_extra(Joint(((smooth,), (cut,), (either, cut))), "a", "b", ("d", "b"))
        .with_extra(Scatter((0.0, 0.0), (1.0, 1.0)), ("a", "b"))
    )
    gone = "c in smooth parts"  # is not counted any more
    names = [*schema.names, *schema.places.keys() - set(schema.names), gone]
    drawn = drawn_to_nothing(schema, names)
    found = {name for name, to_nothing in zip(names, drawn, strict=True) if to_nothing}
    assert found == {"a", "c", "d x b in supervised parts", "a x b as one bell curve"}
    assert not drawn_to_nothing(schema, [""]).any()
