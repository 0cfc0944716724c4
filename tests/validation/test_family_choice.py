"""The family of a column is the one that brute force finds best on rows held out."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

import tallybayes as tb
from tallybayes import NaiveBayes
from tallybayes.families import registry
from tallybayes.validation import choose_families, family_choice, k_fold
from tallybayes.validation.family_choice import EXPONENTS, ORDER

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
FAMILIES = {
    "gaussian": tb.Gaussian, "categorical": tb.Categorical, "bins": tb.Bins,
    "log_normal": tb.LogNormal, "poisson": tb.Poisson,
}  # fmt: skip


def by_brute_force(x, y, family, alpha=1.0, tempered=False, w=None, folds=FOLDS):
    """Fit a model of one column in each fold; return the loss of each row held out, and its weight.

    Rows whose class is not among the rows to learn from have no part.
    """
    w = np.ones(len(y)) if w is None else np.asarray(w, float)
    classes = sorted(set(y[w > 0.0].tolist()))
    evidence, prior, own, weights = [], [], [], []
    for train, test in folds.split(x, y) if hasattr(folds, "split") else folds:
        train = train[w[train] > 0.0]
        model = NaiveBayes({"x": FAMILIES[family]()}, alpha=alpha)
        model.fit({"x": x[train]}, y[train], sample_weight=w[train])
        test = test[np.isin(y[test], model.classes_) & (w[test] > 0.0)]
        places = [classes.index(label) for label in model.classes_.tolist()]
        for wide, found in (
            (evidence, model.predict_joint_log_proba({"x": x[test]}) - model.model_.log_prior),
            (prior, np.repeat(model.model_.log_prior[None], len(test), axis=0)),
        ):
            rows = np.full((len(test), len(classes)), -np.inf)
            rows[:, places] = found
            wide.append(rows)
        own += [classes.index(label) for label in y[test].tolist()]
        weights.append(w[test])
    evidence, prior, weights = map(np.concatenate, (evidence, prior, weights))

    def losses(exponent):
        scores = prior + (exponent * evidence if exponent else 0.0 * np.isinf(evidence))
        return np.logaddexp.reduce(scores, axis=1) - scores[np.arange(len(own)), own]

    exponents = EXPONENTS if tempered else (1.0,)
    return min(map(losses, exponents), key=lambda each: weights @ each), weights


def drawn(family, n=400, seed=0, classes=("no", "yes")):
    """Draw a column from a family, with classes that differ clearly in it."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    k = np.searchsorted(classes, y)
    x = {
        "gaussian": lambda: rng.normal(k * 1.5, 1.0 + k),
        "categorical": lambda: rng.integers(0, 6, n) * 2 + (rng.random(n) < 0.1 + 0.8 * k) - 3,
        "bins": lambda: np.where(k == 0, rng.normal(size=n), rng.choice([-4.0, 4.0], n)),
        "log_normal": lambda: np.exp(rng.normal(1.0 + k, 0.8 + 0.6 * k)),
        "poisson": lambda: rng.poisson(20.0 + 12.0 * k) * 1,
    }[family]()
    return np.asarray(x), y


@pytest.mark.parametrize("family", ORDER)
@pytest.mark.parametrize(("tempered", "alpha"), [(False, 1.0), (True, 0.2)])
def test_losses_are_those_of_models_fitted_anew_in_every_fold(family, tempered, alpha):
    x, y = drawn(family, 150)
    found = choose_families({"x": x}, y, folds=FOLDS, alpha=alpha, tempered=tempered)["x"]
    assert family in found.losses
    for each, loss in found.losses.items():
        losses, _ = by_brute_force(x, y, each, alpha, tempered)
        assert loss == pytest.approx(losses.mean(), rel=1e-9)


@pytest.mark.parametrize("tempered", [False, True])
def test_so_they_are_with_weights_missing_values_and_three_classes(tempered):
    x, y = drawn("log_normal", 160, classes=("a", "b", "c"))
    x[::7] = np.nan
    w = np.random.default_rng(1).choice([0.2, 0.5, 1.0, 3.0], 160)
    splits = list(FOLDS.split(x, y))
    found = choose_families({"x": x}, y, folds=splits, sample_weight=w, tempered=tempered)
    assert set(found["x"].losses) == {"gaussian", "bins", "log_normal"}
    for each, loss in found["x"].losses.items():
        losses, weights = by_brute_force(x, y, each, tempered=tempered, w=w, folds=splits)
        expected = np.average(losses, weights=weights)
        assert loss == pytest.approx(expected, rel=1e-9)


class TestTheChoice:
    """The least loss wins, and some have to win clearly."""

    @pytest.mark.parametrize("family", ORDER[:-1])
    def test_what_was_drawn_from_a_family_gets_it(self, family):
        x, y = drawn(family, 1500)
        for tempered in (False, True):
            assert choose_families({"x": x}, y, tempered=tempered)["x"].name == family

    @pytest.mark.parametrize("seed", range(5))
    def test_it_follows_from_the_losses(self, seed):
        family = ORDER[seed % 5]
        x, y = drawn(family, 60 + 20 * seed, seed)
        found = choose_families({"x": x}, y, folds=FOLDS)["x"]
        rows = {each: by_brute_force(x, y, each)[0] for each in found.losses}
        mean = {each: losses.mean() for each, losses in rows.items()}

        def error(a, b):
            gap = rows[a] - rows[b]
            return gap.std() / np.sqrt(len(gap))

        best = min((each for each in ORDER[:3] if each in mean), key=mean.get)
        for each in ("log_normal", "poisson"):
            if each in mean and mean[each] < mean[best] - 2.0 * error(each, best):
                best = each
        assert found.name == best
        for each in mean:
            assert found.errors[each] == pytest.approx(error(each, best), rel=1e-6, abs=1e-12)

    def test_within_a_standard_error_the_simplest_is_taken(self):
        changed = 0
        for seed in range(5):
            x, y = drawn(ORDER[seed % 5], 80, seed)
            found = choose_families({"x": x}, y, folds=FOLDS)["x"]
            near = [
                each for each, loss in found.losses.items()
                if loss <= found.losses[found.name] + found.errors[each]
            ]  # fmt: skip
            simpler = choose_families({"x": x}, y, folds=FOLDS, one_standard_error=True)
            assert simpler["x"].name == min(near, key=ORDER.index)
            changed += simpler["x"].name != found.name
        assert changed


COUNTED = np.random.default_rng(1).poisson(90.0, 240)
NUMBERS = np.random.default_rng(1).normal(50.0, size=240)
TWELVE = np.arange(240) % 12
ALWAYS = {"gaussian", "bins"}


def with_values(x, *values):
    """Return the numbers with these values in front."""
    return np.r_[np.array(values), x[len(values) :]]


@pytest.mark.parametrize(
    ("x", "tried"),
    [
        (NUMBERS, ALWAYS | {"log_normal"}),
        (with_values(NUMBERS, 0.0), ALWAYS),
        (with_values(NUMBERS, np.nan), ALWAYS | {"log_normal"}),
        (COUNTED, ALWAYS | {"log_normal", "poisson"}),
        (COUNTED + 0.5, ALWAYS | {"log_normal"}),
        (COUNTED - 100, ALWAYS),
        (TWELVE, ALWAYS | {"categorical", "poisson"}),
        (TWELVE - 5.0, ALWAYS | {"categorical"}),
        (np.arange(240) % 21, ALWAYS | {"poisson"}),  # more than 20 values
        (np.arange(240) % 20, ALWAYS | {"categorical", "poisson"}),  # 12 times each
        (np.arange(180) % 20, ALWAYS | {"poisson"}),  # 9 times each
        (with_values(TWELVE, np.nan, np.nan), ALWAYS | {"categorical", "poisson"}),
        (with_values(NUMBERS - 50.0, np.inf, -np.inf), {"bins"}),
        (with_values(np.rint(NUMBERS), np.inf, -np.inf), {"bins"}),
    ],
)
def test_a_family_is_tried_where_it_can_be_right(x, tried):
    y = np.random.default_rng(0).choice(["no", "yes"], len(x))
    assert set(choose_families({"x": x}, y)["x"].losses) == tried
    model = NaiveBayes("best").fit({"x": x}, y)
    assert np.isfinite(model.predict_proba({"x": x})).all()


class TwoSided(tb.Bins, frozen=True):
    """Bins of one's own: one edge at 0, for numbers of both signs only."""

    edges: tuple[float, ...] | None = (0.0,)

    def unbound(self):
        return self

    def suits(self, values):
        return bool((values < 0.0).any() and (values > 0.0).any())


def test_a_family_of_ones_own_takes_part_where_it_suits(monkeypatch):
    """A sign that tells everything, and sizes that mislead the others."""
    monkeypatch.setitem(registry._by_name, "two_sided", TwoSided)
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], 200)
    sizes = np.exp(rng.normal(0.0, 8.0, 200))
    x = np.where((y == "yes") ^ (rng.random(200) < 0.2), sizes, -sizes)
    found = choose_families({"x": x}, y)["x"]
    losses = {name: loss for name, loss in found.losses.items() if name != "bins"}
    assert min(losses, key=losses.get) == "two_sided"
    assert isinstance(found.family, (tb.Bins, TwoSided))


class TestRowsThatAreLookedAt:
    """What rows say, and which of them."""

    def test_rows_without_weight_say_nothing(self):
        x, y = drawn("gaussian", 150)
        w = np.ones(180)
        w[150:] = 0.0
        more = np.concatenate([x, np.full(30, 1e6)])
        labels = np.concatenate([y, ["third"] * 15, ["no"] * 15])
        one = choose_families({"x": x}, y)["x"]
        other = choose_families({"x": more}, labels, sample_weight=w)["x"]
        assert other.losses == pytest.approx(dict(one.losses), rel=1e-9)

    @pytest.mark.parametrize("tempered", [False, True])
    def test_many_columns_are_looked_at_some_at_a_time(self, monkeypatch, tempered):
        """No array holds more than so many cells, and the choices are the same."""
        columns = {f"{family} {k}": drawn(family, 90, k)[0] for family in ORDER for k in range(3)}
        y = drawn("gaussian", 90)[1]
        everything = choose_families(columns, y, tempered=tempered)
        monkeypatch.setattr(family_choice, "MOST_CELLS", 4 * 90 * 2)
        seen, terms = [], k_fold.terms
        monkeypatch.setattr(k_fold, "terms", lambda *given: seen.append(terms(*given)) or seen[-1])
        some = choose_families(columns, y, tempered=tempered)
        assert max(each.terms.size for each in seen) <= 4 * 90 * 2
        assert list(some) == list(everything)
        for name, choice in some.items():
            assert choice.losses == pytest.approx(dict(everything[name].losses), rel=1e-9)

    def test_rows_are_counted_once_for_all_folds(self, monkeypatch):
        """Only what needs labels is counted for every fold."""
        counted, of_blocks = [], tb.Tally.of_blocks
        count = lambda *given: counted.append(1) or of_blocks(*given)  # noqa: E731
        monkeypatch.setattr(tb.Tally, "of_blocks", count)
        x, y = drawn("gaussian", 100)
        assert len(choose_families({"x": x}, y, folds=10)["x"].losses) == 2
        assert len(counted) == 1 + 10

    def test_of_many_rows_some_are_enough(self, monkeypatch):
        x, y = drawn("log_normal", 3000)
        everything = choose_families({"x": x}, y)["x"]
        monkeypatch.setattr(family_choice, "MOST_ROWS", 600)
        some = choose_families({"x": x}, y)["x"]
        assert some.name == everything.name == "log_normal"
        for each, loss in some.losses.items():
            assert loss != everything.losses[each]
            assert loss == pytest.approx(everything.losses[each], rel=0.2)


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ("ab" * 4 + "a", {}, r"9 rows of 2 classes.*columns='auto'"),
        ("a" * 20, {}, "20 rows of 1 classes"),
        ("ab" * 8, {"sample_weight": [0, 0, 1, 1] * 4}, "8 rows"),
        (
            "a" * 10 + "b" * 10,
            {"folds": [(np.arange(10), np.arange(10, 20))]},
            "no row was held out whose class",
        ),
    ],
)
def test_what_cannot_be_chosen_says_why(y, options, message):
    with pytest.raises(tb.TallyBayesError, match=message):
        choose_families({"x": np.arange(float(len(y)))}, list(y), **options)


def test_the_reason_has_all_losses_and_the_family_goes_to_an_estimator():
    x, y = drawn("poisson", 300)
    choice = choose_families({"x": x}, y)["x"]
    assert choice.reason.startswith(f"held-out loss {choice.losses[choice.name]:.4f}; ")
    for name, loss in choice.losses.items():
        if name != choice.name:
            assert f"{name} {loss:.4f}" in choice.reason
    by_hand = NaiveBayes({"x": choice.family}).fit({"x": x}, y).predict_proba({"x": x})
    best = NaiveBayes("best").fit({"x": x}, y).predict_proba({"x": x})
    np.testing.assert_allclose(by_hand, best, rtol=1e-9)


class TestBestColumns:
    """NaiveBayes(columns="best") chooses whenever it is fitted."""

    def table(self, n=200):
        x, y = drawn("bins", n)
        other, _ = drawn("log_normal", n)
        words = np.where(y == "no", "a", "b")
        return pd.DataFrame({"x": x, "other": other, "word": words, "flag": x > 0}), y

    def test_the_choice_is_choose_families(self):
        X, y = self.table()
        chosen = choose_families(X, y)
        model = NaiveBayes("best").fit(X, y)
        lines = {line.split()[0]: line for line in model.summary().splitlines()[2:]}
        shown = {"bins": "Bins(", "log_normal": "LogNormal(", "gaussian": "Gaussian("}
        for name, choice in chosen.items():
            assert shown[choice.name] in lines[name]
            assert choice.reason in lines[name]
        assert "Categorical(alpha=1.0)  text" in lines["word"]
        assert "booleans" in lines["flag"]

    def test_an_unknown_column_is_refused(self):
        X, y = self.table()
        with pytest.raises(tb.TallyBayesError, match="no column 'othr'; did you mean 'other'"):
            NaiveBayes({"othr": "best"}).fit(X, y)

    def test_later_rows_keep_to_the_choice_and_its_reason(self):
        X, y = self.table()
        model = NaiveBayes("best").fit(X, y)
        why = [line.split("  ")[-1] for line in model.summary().splitlines()[2:]]
        model.partial_fit(X[:5], y[:5])
        assert [line.split("  ")[-1] for line in model.summary().splitlines()[2:]] == why
        first = NaiveBayes("best").partial_fit(X, y).partial_fit(X[:5], y[:5])
        np.testing.assert_allclose(first.predict_proba(X), model.predict_proba(X), rtol=1e-9)

    @pytest.mark.parametrize("columns", ["best", {"x": "best"}])
    def test_held_out_predictions_choose_in_every_fold(self, columns):
        X, y = self.table(120)
        model = NaiveBayes(columns)
        held = model.cross_val(X, y, folds=FOLDS)
        assert "families are chosen on the rows to learn from" in held.notes[0]
        for (train, test), fold in zip(FOLDS.split(X, y), held.folds(), strict=True):
            fitted = NaiveBayes(columns).fit(X.iloc[train], y[train])
            np.testing.assert_allclose(fold.proba, fitted.predict_proba(X.iloc[test]), rtol=1e-9)
