"""A family, a kind and a block of one's own work wherever those that are shipped do.

They are those of docs/extending.md.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import laplace

import tallybayes as tb
from laws.own import Size
from tallybayes import plots
from tallybayes.families import registry
from tallybayes.kinds import register_kind
from tallybayes.model import most_informative
from tallybayes.modelfile import Provenance, Stored
from tallybayes.report.inspection import inspect_model

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text()
SPACE = {"__name__": "extending"}
SHIPPED = dict(registry.FAMILIES)
for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
    exec(block, SPACE)
OWN = {name: family for name, family in registry.FAMILIES.items() if name not in SHIPPED}
for name in OWN:
    del registry._by_name[name]


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    """Register the page's families while a test runs, and no longer."""
    for name, family in OWN.items():
        monkeypatch.setitem(registry._by_name, name, family)


Laplace = SPACE["Laplace"]
RNG = np.random.default_rng(1)
N = 60
Y = np.array(["no", "yes", "so"])[np.arange(N) % 3]
X = {
    "income": RNG.laplace(30.0, 5.0, N) + 6.0 * (Y == "yes"),
    "age": RNG.normal(40.0, 9.0, N),
    "status": RNG.choice(["a", "b", "c"], N),
}
X["income"][4] = np.nan
COLUMNS = {"income": Laplace()}
RECORD = {"income": 33.5, "age": 44.0, "status": "b"}


def some(rows):
    return {name: values[rows] for name, values in X.items()}


def densities(rows, value):
    """Return f(value | class) of the income, from the rows alone."""
    found = []
    for label in sorted(set(Y)):
        x = X["income"][rows][Y[rows] == label]
        x = x[~np.isnan(x)]
        found.append(laplace.pdf(value, x.mean(), np.sqrt(x.var() / 2.0)))
    return np.array(found)


@pytest.fixture
def model():
    return tb.NaiveBayes(COLUMNS).fit(X, Y)


def test_the_factor_is_the_density(model):
    alone = tb.NaiveBayes(Laplace(), prior="uniform").fit({"income": X["income"]}, Y)
    expected = densities(np.arange(N), 33.5)
    found = alone.predict_proba({"income": [33.5]})[0]
    np.testing.assert_allclose(found, expected / expected.sum(), rtol=1e-12)


def test_parts_add_up_and_can_be_forgotten(model):
    first, rest = np.arange(25), np.arange(25, N)
    parts = tb.NaiveBayes(COLUMNS).partial_fit(some(first), Y[first])
    parts.partial_fit(some(rest), Y[rest])
    np.testing.assert_allclose(parts.predict_proba(X), model.predict_proba(X), rtol=1e-9)
    merged = tb.NaiveBayes(COLUMNS).fit(some(first), Y[first])
    merged = merged + tb.NaiveBayes(COLUMNS).fit(some(rest), Y[rest])
    np.testing.assert_allclose(merged.predict_proba(X), model.predict_proba(X), rtol=1e-9)
    alone = tb.NaiveBayes(COLUMNS).fit(some(rest), Y[rest])
    parts.forget(some(first), Y[first])
    np.testing.assert_allclose(parts.predict_proba(X), alone.predict_proba(X), rtol=1e-7)


def test_a_record_has_the_posterior_of_its_row(model):
    row = model.predict_proba([RECORD])[0]
    found = model.fitted_.model.posterior_of(RECORD)
    np.testing.assert_allclose(list(found.values()), row, rtol=1e-12)


def test_leave_one_out_is_what_refits_give():
    found = tb.NaiveBayes(COLUMNS).cross_val(X, Y, folds="loo")
    assert not found.notes  # all from one counting
    for row in range(N):
        others = np.delete(np.arange(N), row)
        alone = tb.NaiveBayes(COLUMNS).fit(some(others), Y[others])
        expected = alone.predict_proba(some([row]))[0]
        np.testing.assert_allclose(found.proba[row], expected, rtol=1e-9)


def test_folds_are_what_refits_give():
    folds = [(np.delete(np.arange(N), slice(k, N, 4)), np.arange(k, N, 4)) for k in range(4)]
    found = tb.NaiveBayes(COLUMNS).cross_val(X, Y, folds=folds)
    for train, test in folds:
        alone = tb.NaiveBayes(COLUMNS).fit(some(train), Y[train])
        np.testing.assert_allclose(found.proba[test], alone.predict_proba(some(test)), rtol=1e-9)


def test_a_calibration_raises_its_factor_to_a_power():
    found = tb.NaiveBayes(COLUMNS, calibration="weights").fit(X, Y)
    model, exponents = found.fitted_.model, found.calibration_.exponents
    (factor,) = (each for each in model.factors if each.names == ["income"])
    block = np.array([[33.5]])
    plain, raised = (p.log_prob(block)[0, 0] for p in (factor.parameters, factor.scored))
    np.testing.assert_allclose(raised, exponents["income"] * plain, rtol=1e-12)
    alone = factor.scored.select([0])
    np.testing.assert_allclose(alone.log_prob(block)[0, 0], raised, rtol=1e-12)
    assert alone.sizes == factor.parameters.sizes


def test_names_that_are_taken_are_refused():
    other = type("Another", (Laplace,), {})
    with pytest.raises(tb.TallyBayesError, match="'gaussian' is the name of Gaussian already"):
        registry.register("gaussian")(other)
    with pytest.raises(tb.TallyBayesError, match="there is a family Laplace already"):
        registry.register("another")(type("Laplace", (Laplace,), {}))
    with pytest.raises(tb.TallyBayesError, match="there is a kind 'Numeric' already"):
        register_kind(type("Numeric", (tb.Numeric,), {}))
    with pytest.raises(tb.TallyBayesError, match="no family is registered for columns of Size"):
        registry.default_family(Size())


def test_samples_have_the_distribution(model):
    drawn = model.sample(20_000, given={model.schema_.target: "yes"}, seed=3)["income"]
    x = X["income"][(Y == "yes") & ~np.isnan(X["income"])]
    centre, width = x.mean(), np.sqrt(x.var() / 2.0)
    for q in (0.1, 0.25, 0.5, 0.75, 0.9):
        expected = laplace.ppf(q, centre, width)
        # five standard errors of a quantile
        error = 5.0 * np.sqrt(q * (1.0 - q) / 20_000) / laplace.pdf(expected, centre, width)
        assert np.quantile(drawn, q) == pytest.approx(expected, abs=error)


def test_explanations_add_up(model):
    found = model.explain(RECORD)
    terms = np.sum([each.log_likelihood for each in found.terms], axis=0)
    joint = model.fitted_.model.joint_log_likelihood([RECORD])[0]
    np.testing.assert_allclose(terms + model.fitted_.model.log_prior, joint, rtol=1e-9)
    many = model.explain_all(X)
    np.testing.assert_allclose(many.terms.sum(axis=1) + many.log_prior, many.joint, rtol=1e-9)


def test_the_other_columns_have_informative_values(model):
    assert {each.column for each in model.most_informative()["no"]} <= {"status"}
    with pytest.raises(tb.TallyBayesError, match="no single value tells anything"):
        model.most_informative(column="income")


def test_a_diagnosis_names_it(model):
    assert "Laplace" in str(model.diagnose(X, Y))


def test_its_numbers_are_shown(model):
    stored = Stored(model.fitted_, Provenance.now(None, N))
    (table,) = (each.table for each in inspect_model(stored).tables if "income" in each.columns)
    assert table.rows[0][table.heads.index("centre")] == pytest.approx(
        X["income"][Y == "no"].mean()
    )


def test_it_is_stored_and_read(model, tmp_path):
    model.save(tmp_path / "m.tally")
    again = tb.load(tmp_path / "m.tally")
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-12)


def test_the_command_line_takes_it_by_name(tmp_path, capsys):
    from tallybayes.cli.main import main

    lines = [f"{a},{b}" for a, b in zip(X["income"], Y, strict=True) if a == a]
    (tmp_path / "rows.csv").write_text("\n".join(["income,bought", *lines]))
    args = ["fit", str(tmp_path / "rows.csv"), "-t", "bought", "-o", str(tmp_path / "m.tally")]
    assert not main([*args, "--column", "income=laplace:least=0.5"]), capsys.readouterr().err
    loaded = tb.load(tmp_path / "m.tally")
    assert loaded.fitted_.recipe.columns["income"] == Laplace(least=0.5)


def test_a_column_picture_draws_its_density(model):
    display = plots.ColumnDisplay.from_estimator(model, "income", X, Y, record=RECORD)
    assert display.what == "density"
    expected = densities(np.arange(N), 33.5)
    np.testing.assert_allclose(display.value_likelihood, expected, rtol=1e-12)


def test_a_nomogram_reads_its_probability(model):
    display = plots.NomogramDisplay.from_estimator(model, "yes", record=RECORD)
    assert "income" in {row.column for row in display.rows}
    posterior = model.fitted_.model.posterior_of(RECORD)
    expected = posterior["yes"] / (posterior["yes"] + posterior[display.other])
    np.testing.assert_allclose(display.probability(), expected, rtol=1e-9)


def test_pictures_of_answers(model):
    plots.WaterfallDisplay.from_estimator(model, RECORD)
    plots.ReliabilityDisplay.from_estimator(model, X, Y)
    plots.ConfusionMatrixDisplay.from_estimator(model, X, Y)


def test_the_working_is_shown(model):
    assert "income" in str(model.explain(RECORD, show="working"))


def test_counterfactuals_change_the_answer(model):
    found = model.counterfactuals(RECORD, keep=["age", "status"])
    (change,) = found[0].changes
    assert change.column == "income"
    assert np.nanmin(X["income"]) <= change.after <= np.nanmax(X["income"])
    assert model.predict([found[0].record])[0] == found[0].decision != model.predict([RECORD])[0]


def test_the_report_shows_a_family_of_ones_own(model):
    assert "income" in model.report(X, Y).html


def test_a_kind_beside_another_is_scored_by_its_family():
    missing = {"income": [20.0, None, 35.0, None, None, 50.0]}
    repaid = ["yes", "no", "yes", "no", "yes", "yes"]
    schema = tb.Schema.infer(missing).with_extra(SPACE["Missing"](), "income")
    model = tb.estimate(tb.Tally.of(missing, repaid, schema=schema))
    # no: 2 of 2 are missing, (2 + 1) / (2 + 2); yes: 1 of 4, (1 + 1) / (4 + 2)
    no, yes = 2 / 6 * 3 / 4, 4 / 6 * 2 / 6
    assert model.posterior_of({"income": None})["no"] == pytest.approx(no / (no + yes))
    for income in (None, 35.0):
        found = tb.explain(model, {"income": income})
        (line,) = found.terms
        said = line.parts[1]
        outcome = (1.0, "on") if income is None else (0.0, "off")
        assert (said.column, said.left_out) == ("income is missing", None)
        assert (said.value, said.detail) == outcome
        terms = np.sum([each.log_likelihood for each in found.terms], axis=0)
        np.testing.assert_allclose(terms + model.log_prior, found.joint, rtol=1e-9)
    many = tb.explain_all(model, {"income": [None, 35.0]})
    assert many.names == ("income",)
    assert many.terms[1, 0] == pytest.approx(line.log_likelihood)
    working = str(tb.explain(model, {"income": None}, show="working"))
    assert "P(income is missing on | no) = (2 + 1)/(2 + 2) = 3/4 = 0.75" in working
    (best,) = most_informative(model)["no"]
    assert (best.column, best.log_ratio) == ("income is missing", pytest.approx(np.log(9 / 4)))
    display = plots.NomogramDisplay.from_estimator(model, "no", record={"income": None})
    assert display.probability() == pytest.approx(no / (no + yes))
    assert plots.InformativeDisplay.from_estimator(model).bits["no"][0][0].startswith(best.column)
