"""One bell curve of several columns: against scipy, refits, and what it must not cost."""

import json

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

import tallybayes as tb
from tallybayes.families.joint_gaussian import JointGaussian
from tallybayes.kinds import Scatter
from tallybayes.model import Recipe
from tallybayes.plots import JointDisplay, NomogramDisplay
from tallybayes.sources import as_source
from tallybayes.tallies.labelled_rows import LabelledRows
from tallybayes.validation.leave_one_out import LeaveOneOut

NAMES = ("a", "b", "c")
KIND = Scatter((1.0, -2.0, 0.5), (2.0, 1.0, 3.0))
SCHEMA = tb.Schema.of(NAMES, [tb.Numeric()] * 3).with_extra(KIND, NAMES)
TITLE = KIND.title(NAMES)


def drawn(seed=0, n=40, n_classes=3):
    """Return columns that go together in another way in each class, labels and weights."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    turned = rng.normal(size=(n_classes, 3, 3))
    x = np.einsum("nij,nj->ni", turned[y], rng.normal(size=(n, 3))) + rng.normal(size=(3, 3))[y]
    weights = rng.choice([1.0, 2.0, 0.5], n)
    return dict(zip(NAMES, x.T, strict=True)), np.array(list("xyz"))[y], weights


def measured(table):
    x = np.column_stack([table[name] for name in NAMES])
    return np.clip((x - KIND.centre) / KIND.scale, -KIND.farthest, KIND.farthest)


def by_hand(x, y, w, at, m):
    """Return log N(x; mu, Sigma) - sum_j log N(x_j; mu_j, Sigma_jj) by scipy's densities."""
    k, classes, d = m * 3, np.unique(y), np.eye(3)
    products, means, n = {}, {}, {}
    for c in classes:
        own, v = x[y == c], w[y == c]
        n[c], means[c] = v.sum(), v @ own / v.sum()
        products[c] = (own - means[c]).T @ np.diag(v) @ (own - means[c])
    shared = (sum(products.values()) + k * d) / (w.sum() + k)
    out = []
    for c in classes:
        sigma = (products[c] + k * shared) / (n[c] + k)
        alone = norm.logpdf(at, means[c], np.sqrt(np.diag(sigma))).sum(axis=-1)
        out.append(multivariate_normal.logpdf(at, means[c], sigma) - alone)
    return np.column_stack(out)


@pytest.mark.parametrize("m", [0.5, 1.0, 4.0])
def test_the_term_is_what_the_curve_says_beyond_those_of_its_columns(m):
    table, y, w = drawn()
    model = Recipe((JointGaussian(m=m),)).model(tb.Tally.of(table, y, w, schema=SCHEMA))
    new, _, _ = drawn(1)
    found = model.column(TITLE).log_prob(list(zip(*new.values(), strict=True)))
    expected = by_hand(measured(table), y, w, measured(new), m)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
def test_leaving_rows_out_equals_refitting_without_them(weighted, gaps):
    table, y, w = drawn()
    if gaps:
        table["b"][[3, 10]] = np.nan
    recipe = Recipe()
    data = LabelledRows.of(as_source(table), SCHEMA, y, w if weighted else None)
    held, exact = LeaveOneOut(data).closed_terms(recipe, np.arange(len(y)))
    assert exact.all()
    found = held.terms[:, list(held.names).index(TITLE)]
    for row in range(len(y)):
        others = np.arange(len(y)) != row
        rest = {name: x[others] for name, x in table.items()}
        tally = tb.Tally.of(rest, y[others], w[others] if weighted else None, schema=SCHEMA)
        column = recipe.model(tally).column(TITLE)
        expected = column.log_prob([tuple(table[name][row] for name in NAMES)])[0]
        np.testing.assert_allclose(found[row], expected, rtol=1e-9, atol=1e-9)
        if np.isnan(table["b"][row]):
            np.testing.assert_array_equal(found[row], 0.0)


def test_the_only_row_of_a_class_is_left_out_by_counting_anew():
    table, y, _ = drawn(n=21)
    y[0] = "alone"
    data = LabelledRows.of(as_source(table), SCHEMA, y, None)
    held, exact = LeaveOneOut(data).closed_terms(Recipe(), np.arange(len(y)))
    assert np.isfinite(held.terms).all()
    assert exact.tolist() == [False] + [True] * 20


def test_columns_that_do_not_go_together_say_nothing():
    x = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]] * 4, float)
    schema = tb.Schema.of(("a", "b"), [tb.Numeric()] * 2)
    kind = Scatter((0.0, 0.0), (1.0, 1.0))
    table = dict(zip("ab", x.T, strict=True))
    schema = schema.with_extra(kind, ("a", "b"))
    model = Recipe().model(tb.Tally.of(table, list("xxxxyyyy") * 2, schema=schema))
    column = model.column(kind.title(("a", "b")))
    np.testing.assert_allclose(column.log_prob([(3.0, -2.0), (0.0, 0.0)]), 0.0, atol=1e-12)


def test_parts_add_up_and_can_be_taken_away_again():
    table, y, w = drawn(n=60)

    def part(rows):
        return {name: x[rows] for name, x in table.items()}, y[rows], w[rows]

    one, other = slice(0, 25), slice(25, 60)
    whole = tb.Tally.of(table, y, w, schema=SCHEMA)
    tallies = [tb.Tally.of(*part(rows), schema=SCHEMA) for rows in (one, other)]
    at = list(zip(*drawn(2)[0].values(), strict=True))

    def terms(tally):
        return Recipe().model(tally).column(TITLE).log_prob(at)

    np.testing.assert_allclose(terms(tallies[0] + tallies[1]), terms(whole), atol=1e-9)
    np.testing.assert_allclose(terms(whole - tallies[1]), terms(tallies[0]), atol=1e-9)
    assert tb.Tally.from_bytes(whole.to_bytes()) == whole
    with pytest.raises(tb.TallyBayesError, match="not counted"):
        tallies[0] - tb.Tally.of({n: x + 40.0 for n, x in table.items()}, y, w, schema=SCHEMA)


def test_a_class_without_numbers_is_where_all_are():
    table, y, _ = drawn(n=30)
    for x in table.values():
        x[y == "z"] = np.nan
    model = Recipe().model(tb.Tally.of(table, y, schema=SCHEMA))
    there = y != "z"
    found = model.column(TITLE).log_prob(
        list(zip(*(x[there] for x in table.values()), strict=True))
    )
    assert np.isfinite(found).all()
    silent = Recipe().model(
        tb.Tally.of({n: [np.nan] * 4 for n in NAMES}, list("xyxy"), schema=SCHEMA)
    )
    assert silent.column(TITLE).silence is not None
    np.testing.assert_array_equal(silent.column(TITLE).log_prob([(1.0, 2.0, 3.0)]), 0.0)


def turned(seed, n=400, d=6):
    """Return rows of two classes that differ only in how their columns go together."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    x = rng.normal(size=(n, d))
    x[:, 1:] += np.where(y, 1.0, -1.0)[:, None] * x[:, :-1]
    x /= x.std(axis=0)
    return {f"x{k}": column for k, column in enumerate(x.T)}, np.array(["no", "yes"])[y]


@pytest.fixture(scope="module")
def fitted():
    return tb.SemiNaiveBayes().fit(*turned(0))


def test_numbers_that_go_together_are_found(fitted):
    X, y = turned(1)
    alone = tb.SemiNaiveBayes(joints=None).fit(*turned(0))
    assert next(iter(fitted.gains_)) == "x0 x ... x x5 (6 columns) as one bell curve"
    assert (fitted.predict(X) == y).mean() > 0.9 > 0.65 > (alone.predict(X) == y).mean()


def test_one_record_scores_as_a_table_does(fitted):
    X, _ = turned(1, n=20)
    proba = fitted.predict_proba(X)
    for row, expected in enumerate(proba):
        record = {name: float(x[row]) for name, x in X.items()}
        found = fitted.model_.posterior_of(record)
        np.testing.assert_allclose(list(found.values()), expected, rtol=1e-9, atol=1e-12)
    record["x3"] = None
    one = {name: [x] for name, x in record.items()}
    found = list(fitted.model_.posterior_of(record).values())
    np.testing.assert_allclose(found, fitted.predict_proba(one)[0], rtol=1e-9)


def test_an_explanation_has_a_line_for_it_and_adds_up(fitted):
    X, _ = turned(1, n=2)
    record = {name: float(x[0]) for name, x in X.items()}
    found = fitted.explain(record)
    line = next(term for term in found.terms if term.column == "x0 x ... x x5 (6 columns)")
    assert line.together
    total = np.sum([term.log_likelihood for term in found.terms], axis=0) + fitted.model_.log_prior
    joint = fitted.predict_joint_log_proba({n: [x] for n, x in record.items()})[0]
    np.testing.assert_allclose(total, joint, atol=1e-9)
    assert "one bell curve" in str(fitted.explain(record, show="working"))


def test_every_face_knows_it(fitted, tmp_path):
    X, y = turned(1, n=60)
    record = {name: float(x[0]) for name, x in X.items()}
    subject = "x0 x ... x x5 (6 columns)"
    many = tb.explain_all(fitted, X)
    one = next(term for term in fitted.explain(record).terms if term.column == subject)
    place = list(many.names).index(subject)
    np.testing.assert_allclose(many.terms[0, place], one.log_likelihood, atol=1e-9)
    changed = fitted.counterfactuals(record)[0]
    assert fitted.predict({n: [v] for n, v in changed.record.items()})[0] == changed.decision
    assert "what the columns tell" in str(fitted.diagnose(X, y))
    with pytest.raises(tb.TallyBayesError, match="one bell curve has no cells"):
        JointDisplay.from_estimator(fitted, subject)
    NomogramDisplay.from_estimator(fitted)


def test_it_is_stored_forgets_and_is_written_for_the_browser(fitted, tmp_path):
    X, y = turned(1, n=50)
    fitted.save(tmp_path / "model.tally")
    again = tb.load(tmp_path / "model.tally")
    np.testing.assert_allclose(again.predict_proba(X), fitted.predict_proba(X), rtol=1e-12)
    more = tb.load(tmp_path / "model.tally").partial_fit(X, y)
    assert more.tally_ != fitted.tally_
    back = more.forget(X, y)
    np.testing.assert_allclose(back.predict_proba(X), fitted.predict_proba(X), rtol=1e-6)
    columns = json.loads(json.dumps(fitted.model_.payload()))["columns"]
    assert "joint quadratic" in {column["term"]["form"] for column in columns}


def test_more_than_three_stated_columns_are_one_bell_curve():
    X, y = turned(0)
    names = ("x1", "x2", "x3", "x4")
    model = tb.SemiNaiveBayes(joints=[names]).fit(X, y)
    assert list(model.gains_) == ["x1 x ... x x4 (4 columns) as one bell curve"]
    X["x2"] = np.array(["low", "high"])[(X["x2"] > 0).astype(int)]
    with pytest.raises(tb.TallyBayesError, match="'x2' is no number; more than 3"):
        tb.SemiNaiveBayes(joints=[names]).fit(X, y)


def test_numbers_far_away_say_no_more_than_far_ones(fitted):
    record = dict.fromkeys(turned(0)[0], 0.0)
    far, farther = ({**record, "x2": x} for x in (1e3, 1e9))
    column = fitted.model_.joints()[0]
    terms = column.log_prob([tuple(far.values()), tuple(farther.values())])
    np.testing.assert_allclose(terms[0], terms[1])


def test_noise_has_none():
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = {f"x{k}": rng.normal(size=500) for k in range(6)}
        gains = tb.SemiNaiveBayes().fit(X, rng.integers(0, 2, 500)).gains_
        found += any("bell curve" in name for name in gains)
    assert found <= 2
