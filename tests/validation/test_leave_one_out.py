"""Leave-one-out is what fitting anew without each row gives, for every family, also in parts."""

import inspect
import warnings
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone

import tallybayes as tb
from tallybayes import families
from tallybayes.model import Recipe
from tallybayes.sources import as_source
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.tokenizer import Words
from tallybayes.validation import cross_val, folds as fold_policy
from tallybayes.validation.folds import folds_of
from tallybayes.validation.leave_one_out import LeaveOneOut
from tiers import crossed, scaled
from validation.refits import answer, assert_agree, encode, leave_one_out, refitted
from validation.registry import CLASSES, EVERY_SETTING, PRIORS, SETTINGS, Setting

law = scaled(0.2)
priors = st.sampled_from(PRIORS)


def each_row(rows):
    return list(folds_of("loo", np.zeros(len(rows))))


def joined(folds):
    """Put the folds of single rows together, as leave-one-out hands them out."""
    return [tuple(np.concatenate(parts) for parts in zip(*folds, strict=True))]


def assert_as_refitted(setting, rows, weighted=False, prior=PRIORS[0]):
    data = encode(setting, rows, weighted)
    oracle = answer(lambda: refitted(setting, rows, each_row(rows), weighted, prior))
    found = answer(lambda: leave_one_out(data, setting.recipe(prior)))
    assert (found is None) == (oracle is None), "only one of the two is refused"
    if oracle is not None and found is not None:
        assert_agree(found, joined(oracle) if len(found) == 1 else oracle, data.classes)


def test_every_family_is_registered():
    known = {
        each for each in vars(families).values() if inspect.isclass(each) and hasattr(each, "kind")
    } - {families.Family}
    used = {
        type(family) for each in SETTINGS for family in (*each.families, *each.columns.values())
    }
    assert used == known
    events = {each.event for one in SETTINGS for each in one.families if isinstance(each, tb.Text)}
    assert events == {"multinomial", "boolean", "bernoulli", "complement"}


@law
@given(data=st.data(), weighted=st.booleans())
def test_every_row_gets_the_posterior_of_a_model_fitted_without_it(setting, data, weighted):
    rows = data.draw(setting.rows())
    assume(any(weight for _, weight, _ in rows))
    assert_as_refitted(setting, rows, weighted, data.draw(priors))


@pytest.mark.parametrize("weighted", [False, True])
def test_which_settings_have_a_closed_form(setting, weighted):
    data = encode(setting, setting.examples(24), weighted)
    found = answer(lambda: [LeaveOneOut(data).predictions(setting.recipe())])
    assert found is None or (found[0] is not None) == setting.closed[weighted]


@pytest.mark.parametrize("setting", EVERY_SETTING, ids=str)
def test_every_setting_holds_out_as_refitting_does(setting):
    assert_as_refitted(setting, setting.examples(8, seed=3))
    assert_as_refitted(setting, setting.examples(6, seed=4), weighted=True)


def test_both_twins_of_the_kernels_hold_out_the_same(setting, twin):
    assert_as_refitted(setting, setting.examples(10, seed=1))
    assert_as_refitted(setting, setting.examples(6, seed=2), weighted=True)


def test_the_terms_of_some_rows_are_theirs_among_all_rows(setting):
    data, recipe = encode(setting, setting.examples(24, seed=3)), setting.recipe()
    rows, some = LeaveOneOut(data), np.array([3, 4, 11, 20])
    of_all = answer(lambda: rows.closed_terms(recipe, np.arange(len(data))))
    of_some = answer(lambda: rows.closed_terms(recipe, some))
    if of_all is not None:
        (every, exact), (few, both) = of_all, of_some
        assert not (both & ~exact[some]).any()
        assert both.any()
        np.testing.assert_allclose(few.terms[both], every.terms[some][both], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(few.log_prior, every.log_prior[some], rtol=1e-12)


def test_the_tally_of_the_rows_need_not_be_counted_twice(setting):
    """Words may be numbered otherwise in a tally that was counted from the source."""
    if not setting.closed[0] or "max_df=2" in setting.name:
        pytest.skip("there is no closed form, or no word is left")
    rows = setting.examples(20, seed=4)
    labels, _, cells = zip(*rows, strict=True)
    tally = tb.Tally.of(setting.source(list(cells)), labels, schema=setting.schema)
    data, recipe = encode(setting, rows), setting.recipe()
    joint, prior = LeaveOneOut(data, tally).joint(recipe)
    expected, log_prior = LeaveOneOut(data).joint(recipe)
    np.testing.assert_allclose(joint, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(prior, log_prior, rtol=1e-9, atol=1e-12)


def test_a_row_that_holds_the_spread_does_not_spoil_the_terms_of_some_rows():
    x = np.random.default_rng(0).normal(size=(40, 2))
    x[4, 0] = 1e8
    schema = tb.Schema.same(["x0", "x1"], tb.Numeric())
    data = LabelledRows.of(as_source(x), schema, np.arange(40) % 2)
    rows, some = LeaveOneOut(data), np.arange(0, 40, 4)
    every, _ = rows.closed_terms(Recipe(), np.arange(40))
    few, exact = rows.closed_terms(Recipe(), some)
    assert exact.sum() >= 9
    np.testing.assert_allclose(few.terms[exact], every.terms[some][exact], rtol=1e-9)


def held(X, y, weights=None, prior=PRIORS[0], columns=None, families=()):
    """Leave out every row of a small table; posteriors by row and class."""
    source = as_source(X)
    data = LabelledRows.of(source, tb.Schema.infer(source, columns), y, weights)
    found = LeaveOneOut(data).predictions(Recipe(families, {}, prior))
    assert found is not None
    return found.proba


def test_the_only_row_of_a_class_has_no_chance_of_its_own_class():
    proba = held({"c": ["red", "red", "blue", "red"]}, ["a", "a", "a", "z"])
    assert proba[3].tolist() == [1.0, 0.0]
    # without its only other row, class z keeps 1 of 3 rows: (1/3 2/4) / (1/3 2/4 + 2/3 2/4)
    assert proba[0, 1] == pytest.approx(Fraction(2, 5))


def test_a_single_row_leaves_nothing_to_learn_from():
    with pytest.raises(tb.TallyBayesError, match="empty"):
        held({"x": [1.0]}, ["a"])


# What cannot be


def test_a_row_that_is_impossible_without_itself_gets_the_prior_of_the_others():
    X = {"c": ["red", "red", "blue", "blue"], "d": ["up", "up", "down", "up"]}
    with pytest.warns(tb.TallyBayesWarning, match="row 3 is impossible in every class"):
        proba = held(X, ["a", "a", "b", "b"], families=(tb.Categorical(alpha=0),))
    assert proba[3] == pytest.approx([2 / 3, 1 / 3])


@pytest.mark.parametrize(
    ("values", "family"),
    [
        (["red", "red", None, "red", None], tb.Categorical(alpha=0)),
        (["red", "red", None, "red", None], tb.Categorical(m=2)),
        ([1, 2, None, 3, None], tb.Poisson()),
        ([1, 1, None, 1, None], tb.Bernoulli(alpha=0)),
        ([1.0, 2.0, None, 3.0, None], tb.Gaussian()),
    ],
    ids=repr,
)
@pytest.mark.parametrize("heaviest", [1.4, 3.0])
def test_a_missing_value_that_weighs_more_than_all_others_does_not_warn(values, family, heaviest):
    X, y = {"x": values}, list("aaabb")
    weights = [0.7, 0.7, heaviest, 2.0, 2.0]
    proba = held(X, y, weights, columns={"x": family}, families=(family,))
    learnt = {"x": [values[k] for k in (0, 1, 3, 4)]}
    tally = tb.Tally.of(learnt, list("aabb"), [0.7, 0.7, 2.0, 2.0], columns={"x": family})
    np.testing.assert_allclose(proba[2], tb.estimate(tally, family).prior, rtol=1e-12)


def test_nothing_is_learnt_where_no_row_weighs_anything(setting):
    rows = [(label, 0.0, cells) for label, _, cells in setting.examples(4)]
    with pytest.raises(tb.TallyBayesError, match=r"empty|no row counts"):
        leave_one_out(encode(setting, rows, True), setting.recipe())


# Rows that hold nearly all of the spread, or of the weight


def exact_joint(x, y, w, family):
    """Return log s_c of each row of one column without the row, with 60 digits."""
    with localcontext() as context:
        context.prec = 60
        return np.array([[float(s) for s in _without(k, x, y, w, family)] for k in range(len(x))])


def _without(k, x, y, w, family):
    """Estimate from all rows but one with fractions, as the Gaussian family documents it."""
    rows = [j for j in range(len(x)) if j != k]
    moments = {c: _moments([(x[j], w[j]) for j in rows if y[j] == c]) for c in sorted(set(y))}
    total, _, spread = _moments([(x[j], w[j]) for j in rows])
    ddof = Fraction(family.ddof)
    of_column = spread / total
    within = sum(m2 for *_, m2 in moments.values()) / sum(n - ddof for n, *_ in moments.values())
    for n, mean, m2 in moments.values():
        variance = m2 / (n - ddof)
        if isinstance(family.floor, tb.AdditiveFloor):
            largest = of_column if family.floor.of is None else Fraction(family.floor.of)
            variance += Fraction(family.floor.fraction) * largest
        else:
            floor = Fraction(family.floor.fraction) * of_column
            variance = variance if variance > floor else max(floor, within)
        z = (Fraction(x[k]) - mean) ** 2 / variance
        two_pi = Decimal("6.283185307179586476925286766559005768394338798750211641949889")
        density = (_decimal(variance) * two_pi).ln() + _decimal(z)
        yield _decimal(n / total).ln() - density / 2


def _moments(cells):
    """Return weight, mean and the sum of squared deviations."""
    cells = [(Fraction(x), Fraction(w)) for x, w in cells]
    n = sum(w for _, w in cells)
    mean = sum(w * x for x, w in cells) / n
    return n, mean, sum(w * (x - mean) ** 2 for x, w in cells)


def _decimal(fraction):
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


FLOORS = [
    tb.Gaussian(),
    tb.Gaussian(ddof=0),
    tb.Gaussian(floor=tb.RelativeFloor(1e-30)),
    tb.Gaussian(ddof=0, floor=tb.AdditiveFloor(1e-9)),
    tb.Gaussian(floor=tb.AdditiveFloor(1e-9, of=1.0)),
]


@pytest.mark.parametrize(
    ("family", "sigmas", "weighted", "centre"),
    crossed(
        FLOORS,
        [3.0, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12, 1e14],
        [False, True],
        [0.0, 1e3],
        every=3,
    ),
)
def test_an_outlier_costs_no_digits(family, sigmas, weighted, centre):
    rng = np.random.default_rng(5)
    x = centre + rng.normal(size=14)
    x[3], x[9] = centre + sigmas, centre - 2.5
    y = ["a", "b"] * 7
    w = rng.uniform(0.5, 3.0, 14) if weighted else np.ones(14)
    source = as_source({"x": x})
    data = LabelledRows.of(source, tb.Schema.infer(source), y, w if weighted else None)
    joint, _ = LeaveOneOut(data).joint(Recipe((family,)))
    np.testing.assert_allclose(joint, exact_joint(x.tolist(), y, w.tolist(), family), rtol=1e-9)


@pytest.mark.parametrize("weights", [None, [1.0, 3.0, 0.7]])
@pytest.mark.parametrize("x", [[-100.125, 1.125, 1.125], [1e4 + 0.1, 0.3, 0.3], [1e9, 0.1, 0.1]])
def test_rounding_is_no_spread_where_the_others_are_equal(x, weights):
    proba = held({"x": x}, ["a", "c", "a"], weights)
    w = weights or [1.0] * 3
    np.testing.assert_allclose(proba[0], [w[2] / (w[1] + w[2]), w[1] / (w[1] + w[2])])


HEAVY = [each for each in SETTINGS if each.closed[1] and "refused" not in each.name]


@pytest.mark.parametrize("setting", HEAVY, ids=str)
def test_a_heavy_row_costs_no_digits(setting):
    rows = [(label, weight + 0.25, cells) for label, weight, cells in setting.examples(24, seed=4)]
    rows[5] = (rows[5][0], 1e10, rows[5][2])
    data = encode(setting, rows, True)
    oracle = answer(lambda: refitted(setting, rows, [(np.delete(np.arange(24), 5), [5])], True))
    found = answer(lambda: leave_one_out(data, setting.recipe()))
    assert (found is None) == (oracle is None)
    if found is None:
        return
    np.testing.assert_allclose(found[0].proba[5], oracle[0][0][0], rtol=1e-9, atol=1e-12)


# More cells

BELL = tb.Gaussian()


def assert_joint_as_refitted(X, y, rows, family=BELL):
    """Hold the scores of some rows against those of models fitted without them."""
    schema = tb.Schema.same([f"x{j}" for j in range(X.shape[1])], family.kind)
    joint, _ = LeaveOneOut(LabelledRows.of(as_source(X), schema, y)).joint(Recipe((family,)))
    for row in rows:
        tally = tb.Tally.of(np.delete(X, row, 0), np.delete(y, row), schema=schema)
        expected = Recipe((family,)).model(tally).joint_log_likelihood(X[[row]])[0]
        np.testing.assert_allclose(joint[row], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_numbers(dtype, twin):
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, 400)
    X = (rng.normal(size=(400, 20)) + y[:, None]).astype(dtype)
    X[rng.random(X.shape) < 0.05] = np.nan
    X[17, 3] = 1e9
    assert_joint_as_refitted(X, y, [0, 1, 17, 200, 399])


@pytest.mark.parametrize("family", [tb.Gaussian, tb.LogNormal])
@pytest.mark.parametrize("ddof", [0.0, 1.0])
def test_classes_near_the_floor_of_their_column(family, ddof, twin):
    rng = np.random.default_rng(9)
    y = rng.integers(0, 4, 60)
    # by turns a class is above the floor, takes it, or takes the variance within the classes
    X = np.exp(rng.normal(size=(60, 12)) * np.array([0.3, 0.9, 1.0, 1.4])[y, None] + y[:, None])
    X[rng.random(X.shape) < 0.05] = np.nan
    X[5], X[9, 3], X[14, 4] = 1e5, 1e9, 1e-9
    X[np.flatnonzero(y != y[5])[0]] = 1e5  # so that each holds the spread of a class, not of all
    for fraction in (1e-10, 0.05, 0.4, 1.2):
        of = family(ddof, tb.RelativeFloor(fraction))
        assert_joint_as_refitted(X, y, [0, 5, 9, 14, 31, 59], of)


@pytest.mark.parametrize("widest", [1.0, 30.0, 1e3, 1e6])
def test_what_is_added_of_the_widest_column_may_change_with_every_row(widest, twin):
    rng = np.random.default_rng(11)
    y = rng.integers(0, 3, 2000)
    X = rng.normal(size=(2000, 3)) * [1.0, 2.0, widest] + y[:, None]
    X[rng.random(X.shape) < 0.05] = np.nan
    X[6, 2], X[7, 1] = 15.0 * widest, 40.0
    for fraction in (1e-9, 1e-2):
        family = tb.Gaussian(0.0, tb.AdditiveFloor(fraction))
        assert_joint_as_refitted(X, y, [0, 6, 7, 8, 1999], family)


@pytest.mark.parametrize("family", [tb.Multinomial(), tb.Complement(), tb.Bernoulli()])
@pytest.mark.parametrize("share", [1.0, 0.25])
def test_cells_of_a_sparse_matrix_may_be_stored_in_parts(family, share, twin):
    rng = np.random.default_rng(12)
    X = csr_array((share * rng.integers(1, 4, 300), rng.integers(0, 9, 300), np.arange(0, 301, 6)),
                  shape=(50, 9))  # fmt: skip
    assert not X.has_canonical_format
    whole = X.toarray()
    y = rng.integers(0, 3, 50)
    proba = tb.NaiveBayes(family).cross_val(X, y, folds="loo").proba
    for row in (0, 7, 49):
        rest = np.delete(whole, row, 0), np.delete(y, row)
        expected = tb.NaiveBayes(family).fit(*rest).predict_proba(whole[[row]])
        np.testing.assert_allclose(proba[[row]], expected, rtol=1e-9)


def test_many_columns_do_not_underflow(twin):
    X, y = np.random.default_rng(8).normal(size=(30, 1500)), np.arange(30) % 2
    assert_joint_as_refitted(X, y, range(0, 30, 7))


def test_a_floor_that_falls_with_a_row_does_not_overflow(twin):
    rng = np.random.default_rng(0)
    tight, wide = rng.normal(size=10), np.r_[1.0, -1.0, 1e-3 * rng.normal(size=8)]
    # two rows hold half of the column's M2 each: without one, class 0 is above the floor
    tight = (tight - tight.mean()) * np.sqrt(0.7e-10) / tight.std(ddof=1)
    X = np.repeat(np.r_[tight, wide][:, None], 128, axis=1)
    assert_joint_as_refitted(X, np.arange(20) // 10, range(8, 14))


def test_a_row_that_was_all_the_spread_of_its_class_silences_the_column_for_all_classes():
    X, y = np.array([[1.0], [1.0], [5.0], [1.0], [1.0], [1.0], [5.0]]), np.array(list("aaaabbb"))
    model = tb.NaiveBayes(tb.Gaussian(ddof=0, floor=tb.AdditiveFloor(0.0, of=1.0)))
    held = model.cross_val(X, y, folds="loo")
    assert not held.notes  # in closed form
    for row in range(len(y)):
        others = np.arange(len(y)) != row
        expected = model.fit(X[others], y[others]).predict_proba(X[[row]])[0]
        np.testing.assert_allclose(held.proba[row], expected, rtol=1e-9)


def refitted_scores(setting, rows, weights, row, classes):
    """Count and estimate anew without a row: its joint log-likelihoods."""
    rest = [k for k in range(len(rows)) if k != row]
    learnt = setting.source([rows[k][2] for k in rest]), [rows[k][0] for k in rest]
    model = setting.recipe().model(tb.Tally.of(*learnt, weights[rest], schema=setting.schema))
    wide = np.full(len(classes), -np.inf)
    places = [classes.index(label) for label in model.classes]
    wide[places] = model.joint_log_likelihood(setting.source([rows[row][2]]))[0]
    return wide


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("setting", SETTINGS, ids=repr)
def test_terms_and_prior_add_up_to_the_score_of_a_refit(setting, weighted):
    rows = setting.examples(14)
    data = encode(setting, rows, weighted)
    left_out, everything = LeaveOneOut(data), np.arange(len(data))
    apart = answer(lambda: left_out.closed_terms(setting.recipe(), everything))
    whole = answer(lambda: left_out.closed_terms(setting.recipe(), everything, together=True))
    assert (apart is None) == (whole is None)
    for closed in (apart, whole) if apart is not None else ():
        found, exact = closed
        assert found.terms.shape[2] == len(found.classes)
        joint = found.log_prior + found.terms.sum(axis=1)
        for row in np.flatnonzero(exact):
            expected = refitted_scores(setting, rows, data.weight, row, found.classes)
            np.testing.assert_allclose(joint[row], expected, rtol=1e-9, atol=1e-9)


def test_a_unit_is_a_column_a_bag_a_text_or_a_sparse_matrix():
    table = {"size": [1.0, 2.0, 3.0, 4.0], "mail": ["a b", "b", "a", "c a"], "visits": [1, 0, 2, 1]}
    model = tb.NaiveBayes({"mail": tb.Text(), "visits": tb.Multinomial()})
    prepared = model.prepare(table, list("xxyy"))
    found, _ = LeaveOneOut(prepared.data).closed_terms(prepared.recipe, np.arange(4))
    assert set(found.names) == {"size", "bag 'words'", "mail"}


def test_rows_are_recounted_where_no_closed_form_is_exact_but_not_too_many(monkeypatch):
    """Of a class without a single count nothing is known without alpha."""
    model = tb.NaiveBayes("multinomial", alpha=0)
    y = np.arange(120) % 2
    X = np.random.default_rng(0).integers(0, 3, (120, 2)) * y[:, None]
    held = cross_val(model, X[:12], y[:12], folds="loo")
    for row in range(12):
        rest = np.arange(12) != row
        expected = clone(model).fit(X[:12][rest], y[:12][rest]).predict_proba(X[[row]])[0]
        np.testing.assert_allclose(held.proba[row], expected, rtol=1e-9)
    monkeypatch.setattr(fold_policy, "MOST_REFITS", 50)
    with pytest.raises(tb.TallyBayesError, match=r"means 1\d\d models.*folds=10"):
        cross_val(model, X, y, folds="loo")
    assert len(cross_val(model, X, y, folds=10)) == 120


NO_TEXT = [
    each for each in SETTINGS if not any(isinstance(kind, Words) for kind in each.kinds)
]  # texts cannot be left out in parts


def tally_of(setting, rows, weighted):
    labels, weights, cells = zip(*rows, strict=True)
    source = setting.source(list(cells))
    return tb.Tally.of(source, labels, weights if weighted else None, schema=setting.schema)


def in_parts(setting, rows, cuts, weighted, recipe):
    """Leave out the rows part by part; return classes, scores and priors, or None."""
    tally = tally_of(setting, rows, weighted)
    found = []
    for start, stop in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        if start == stop:
            continue
        part = LeaveOneOut(encode(setting, rows[start:stop], weighted), tally, part=True)
        scores = part.joint(recipe)
        if scores is None:
            return None
        found.append((part.y, *scores))
    return tuple(np.concatenate(each) for each in zip(*found, strict=True))


def shares(joint, prior):
    """Turn log scores into posteriors; an impossible row has the prior."""
    top = joint.max(axis=1, keepdims=True)
    possible = np.isfinite(top)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.exp(joint - np.where(possible, top, 0.0))
        scores /= scores.sum(axis=1, keepdims=True)
    return np.where(possible, scores, np.exp(prior))


def assert_parts_are_refits(setting, rows, cuts, weighted, prior, may_be_lost=True):
    """Every row that is not NaN has the posterior of a model counted without it."""
    recipe = setting.recipe(prior)
    each = [([j for j in range(len(rows)) if j != k], [k]) for k in range(len(rows))]
    oracle = answer(lambda: refitted(setting, rows, each, weighted, prior, list(CLASSES)))
    found = answer(lambda: in_parts(setting, rows, cuts, weighted, recipe))
    if found is None or oracle is None:
        return None
    y, joint, log_prior = found
    known = tally_of(setting, rows, weighted).classes
    for k, (label, weight, _) in enumerate(rows):
        if not weighted or weight:
            assert known[y[k]] == label
    lost = np.isnan(joint).any(axis=1)
    assert may_be_lost or not lost.any()
    proba, _, sure = (np.concatenate(part) for part in zip(*oracle, strict=True))
    places = [CLASSES.index(label) for label in known]
    assert np.isclose(proba[:, places].sum(axis=1), 1.0).all()
    off = np.abs(shares(joint, log_prior) - proba[:, places])
    assert (off <= 1e-12 + sure[:, None])[~lost].all(), f"off by {off[~lost].max()}"
    return lost


@pytest.mark.parametrize("setting", NO_TEXT, ids=str)
@scaled(0.12)
@given(data=st.data(), weighted=st.booleans())
def test_any_split_gives_every_row_the_posterior_of_a_refit(setting, data, weighted):
    rows = data.draw(setting.rows(min_size=3))
    assume(any(weight for _, weight, _ in rows))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4), label="cuts"))
    prior = data.draw(st.sampled_from(PRIORS))
    assert_parts_are_refits(setting, rows, cuts, weighted, prior)


def two_numbers(values, labels):
    second = [1.0, 2.0, 3.0] * len(values)
    return [(label, 1.0, pair) for label, *pair in zip(labels, values, second, strict=False)]


NUMBERS = Setting(
    "numbers", ((0.0,), (0.0,)), lambda rows: np.array(rows, float), (tb.Numeric(), tb.Numeric())
)


def test_an_outlier_of_a_million_deviations_is_lost_or_right_and_spoils_no_other_row():
    rng = np.random.default_rng(0)
    values = rng.normal(size=40)
    values[11] = 1e6
    rows = two_numbers(values, ["a", "b"] * 20)
    lost = assert_parts_are_refits(NUMBERS, rows, [13, 27], False, PRIORS[0])
    assert not np.delete(lost, 11).any()


def test_the_only_row_of_a_class_is_judged_by_a_model_without_that_class():
    rows = two_numbers([1.0, 2.0, 3.5, 4.0, 9.0], ["a", "a", "a", "b", "b"])
    rows.append(("c", 1.0, (2.0, 1.0)))
    assert_parts_are_refits(NUMBERS, rows, [5], False, PRIORS[0], may_be_lost=False)


def test_what_cannot_be_taken_away_again_has_no_score():
    """The rest of the class is lost in the last digits of a number of 1e12 deviations."""
    values = [1e12, 1.0, 1.1, 1.25, 3.0, 4.5]
    rows = two_numbers(values, ["a", "a", "a", "a", "b", "b"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, joint, _ = in_parts(NUMBERS, rows, [3], False, NUMBERS.recipe())
    assert np.isnan(joint[0]).all()
