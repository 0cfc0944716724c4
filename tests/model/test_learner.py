"""What learns records in place is the model of one pass over them, at every moment."""

import warnings
from threading import Thread

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tallybayes as tb
from laws.own import Both, Gaps, Pairs, Size, Sizes, Whether
from tallybayes.kinds import Joint, Part
from tallybayes.model import Fitted, Learner, Recipe, learner
from tallybayes.model.calibration import Calibration
from tallybayes.tallies import Moments
from tallybayes.tokenizer import WordWeights
from tiers import scaled
from validation.registry import CLASSES, PRIORS, SETTINGS, setting_of

EPS = np.finfo(float).eps
law = scaled(0.3)
plain = pytest.mark.parametrize("setting", SETTINGS, ids=str)


def records_of(setting, rows):
    """Rows as records; a value that is missing may not be there at all."""
    return [
        ({n: v for n, v in zip(setting.names, cells, strict=True) if v is not None}, label, weight)
        for label, weight, cells in rows
    ]


def counted(setting, rows, schema=None):
    schema = schema or setting.schema
    if not rows:
        return tb.Tally(schema)
    labels, weights, cells = zip(*rows, strict=True)
    return tb.Tally.of(setting.source([*cells]), [*labels], [*weights], schema=schema)


def answer(door):
    """What is answered: a posterior, or an error; the impossible may be warned of."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "row .* impossible", tb.TallyBayesWarning)
        try:
            return door()
        except tb.TallyBayesError as error:
            return str(error)


def assert_same_answer(learner, model, record):
    found, expected = (answer(lambda of=of: of().posterior_of(record)) for of in (learner, model))
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected
        return
    assert list(found) == list(expected)
    scores = model().joint_log_likelihood(model().table_of(record))[0]
    known = 1e-9 + 64 * EPS * np.abs(scores[np.isfinite(scores)]).max(initial=0.0)
    assert list(found.values()) == pytest.approx([*expected.values()], rel=known, abs=known)


def assert_same_tally(found, expected, near=1e-12):
    """Counts bit for bit, moments up to rounding."""
    assert found.manifest() == expected.manifest()
    theirs = expected.arrays()
    for name, mine in found.arrays().items():
        kind = expected.blocks[int(name.split(".")[0])] if "." in name else None
        if isinstance(kind, Moments) and mine.dtype == float:
            if name.split(".")[1] in ("weight", "mean", "m2"):
                scale = np.abs(theirs[name]).max(initial=1.0)
                np.testing.assert_allclose(mine, theirs[name], rtol=near, atol=near * scale)
        elif mine.dtype == float:
            np.testing.assert_allclose(mine, theirs[name], rtol=near)
        else:
            np.testing.assert_array_equal(mine, theirs[name])


def follow(setting, recipe, rows, data, schema=None):
    """Learn some rows in a batch and the others one by one, and compare after each."""
    start = data.draw(st.integers(0, len(rows)), "rows that were learnt before")
    learner = Learner(Fitted(counted(setting, rows[:start], schema), recipe))
    asked = records_of(setting, [data.draw(setting.rows(1, 1))[0]])[0][0]
    for k, (record, label, weight) in enumerate(records_of(setting, rows[start:]), start):
        if data.draw(st.booleans(), "score it first"):
            before = counted(setting, rows[:k], schema)
            assert_same_answer(lambda: learner, lambda before=before: recipe.model(before), record)
        learner.learn(record, label, weight)
        if data.draw(st.booleans(), "score another one"):
            now = counted(setting, rows[: k + 1], schema)
            assert_same_answer(lambda: learner, lambda now=now: recipe.model(now), asked)
    assert_same_tally(learner.fitted.tally, counted(setting, rows, schema))
    return learner


@plain
@law
@given(data=st.data())
def test_it_is_the_model_of_one_pass_at_every_moment(setting, data):
    rows = data.draw(setting.rows(1, 12))
    follow(setting, setting.recipe(data.draw(st.sampled_from(PRIORS))), rows, data)


MIXED = setting_of("mixed")
SIX = MIXED.examples(60, 3)
RECORD = {"income": 1.0, "colour": "red", "on": 1.0, "size": 2.5, "mail": "red green", "visits": 2}


def learnt(rows=SIX, recipe=None):
    return Learner(Fitted(counted(MIXED, rows), recipe or MIXED.recipe()))


def has_short_way(learner):
    """Tell whether a record is learnt and scored without estimating anew."""
    learner.posterior_of({})
    return not learner._units.blank


@pytest.mark.parametrize(
    "name",
    ["mixed", "text, event=complement", "poisson, missing values", "gaussian, high floor",
     "complement", "bins, alpha 0.0", "categories, unsmoothed", "bernoulli, missing values",
     "text, event=boolean, length_power=0.5"],
)  # fmt: skip
def test_most_families_have_a_short_way(name):
    setting = setting_of(name)
    learner = Learner(Fitted(counted(setting, setting.examples(80, 1)), setting.recipe()))
    assert has_short_way(learner)
    for record, label, weight in records_of(setting, setting.examples(50, 2)):
        learner.learn(record, label, weight or 1.0)
    assert not learner._units.blank
    assert_same_answer(lambda: learner, lambda: learner.fitted.model, record)


NUMBERS = [1.0, 2.5, 0.5, 2.5, 7.0, 3.0, 4.0, 6.5]
RARE = {
    "a floor that is added": (tb.Gaussian(floor=tb.AdditiveFloor(0.1, of=2.0)), NUMBERS),
    "unseen values are errors": (tb.Categorical(unseen="error"), ["u", "v", "u", "v", *"uvwu"]),
    "events that a class lacks": (
        tb.Poisson(alpha=0.5),
        [3.0, None, 1.0, None, 4.0, 2.0, 5.0, 0.0],
    ),
    "nothing, then numbers": (tb.Gaussian(), [None, None, None, None, 4.0, 2.0, 5.0, 1.0]),
    "shares that all classes lend": (tb.Multinomial(alpha=0), [1, 0, 2, 0, 3, 1, 0, 2]),
    "outcomes that all classes lend": (tb.Bernoulli(alpha=0), [1, None, 0, None, 1, 1, 0, 1]),
}


@pytest.mark.parametrize("name", RARE)
def test_rare_turns_of_families_are_those_of_the_model(name):
    family, values = RARE[name]
    schema = tb.Schema.of(["x"], [family.kind])
    recipe, labels = Recipe((family,)), list("abababab")

    def counted(n):
        return tb.Tally.of({"x": values[:n]}, labels[:n], schema=schema)

    ours = Learner(Fitted(counted(4), recipe))
    for n in range(4, len(values)):
        for x in (values[n], values[0], None):
            assert_same_answer(lambda: ours, lambda n=n: recipe.model(counted(n)), {"x": x})
        ours.learn({"x": values[n]}, labels[n])
    assert_same_tally(ours.fitted.tally, counted(len(values)))


CALIBRATED = Recipe(
    calibration=Calibration(
        "weights",
        {"income": 0.5, "colour": 0.0, "size": 1.7, "mail": 0.25, "bag 'words'": 0.75},
        default=1.25,
        prior=0.5,
        constants={"a": 0.5, "c": -1.0},
        words={"mail": WordWeights({"red": 0.0, "green": 2.0, "blue": -0.5})},
    )
)


@law
@given(data=st.data())
def test_exponents_constants_and_weights_of_words_stay_as_they_were_fitted(data):
    rows = data.draw(MIXED.rows(1, 12))
    learner = follow(MIXED, CALIBRATED, rows, data)
    assert isinstance(answer(lambda: has_short_way(learner)), bool | str)


AGES = Part(edges=tuple(k / 2 for k in range(-3, 4)), missing=True, name="8 parts", smooth=0.1)
COLOURS = Part(values=("blue", "green", "red"))
EXTRA = (
    MIXED.schema.with_gaps()
    .with_extra(Joint(((AGES,), (AGES, COLOURS))), "income", ("income", "colour"))
)  # fmt: skip
OWN = MIXED.schema.with_extra(Gaps(), "income").with_extra(Both(), ("colour", "mail"))


@pytest.mark.parametrize("schema", [EXTRA, OWN], ids=["views and joints", "kinds of one's own"])
@law
@given(data=st.data())
def test_what_is_counted_beside_the_columns_is_learnt_too(schema, data):
    families = () if schema is EXTRA else (Whether(), Pairs())
    rows = data.draw(MIXED.rows(1, 8))
    rows = [(label, w, (*cells[:4], cells[4] or "x", cells[5])) for label, w, cells in rows]
    follow(MIXED, Recipe(families), rows, data, schema)


def test_a_family_of_ones_own_is_estimated_anew():
    class Doubled(tb.Gaussian, frozen=True):
        """A family that inherits a short way which is not its own."""

        def estimate(self, counted, info):
            found = tb.Gaussian.estimate(self, counted, info)
            return type(found)(found.mean, 2.0 * found.variance, found.used)

    for family, kind in ((Doubled(), tb.Numeric()), (Sizes(), Size())):
        schema = tb.Schema.of(["x"], [kind])
        x, y = [1.0, 2.0, 4.0, 8.0, 9.5, 7.0], [*"aabbab"]
        recipe = Recipe((family,))
        learner = Learner(Fitted(tb.Tally.of({"x": x[:4]}, y[:4], schema=schema), recipe))
        assert not has_short_way(learner)
        for value, label in zip(x[4:], y[4:], strict=True):
            learner.learn({"x": value}, label)
        whole = recipe.model(tb.Tally.of({"x": x}, y, schema=schema))
        assert learner.posterior_of({"x": 3.0}) == pytest.approx(whole.posterior_of({"x": 3.0}))


@plain
@law
@given(data=st.data())
def test_forgetting_in_any_order_gives_the_model_that_never_saw_the_rows(setting, data):
    rows = data.draw(setting.rows(1, 7))
    gone = data.draw(st.sets(st.integers(0, len(rows) - 1)))
    learner = Learner(Fitted(tb.Tally(setting.schema), setting.recipe()))
    records = records_of(setting, rows)
    for record, label, weight in records:
        learner.learn(record, label, weight)
    for k in data.draw(st.permutations(sorted(gone))):
        try:
            learner.forget(*records[k])
        except tb.TallyBayesError as refusal:
            assert "rounding" in str(refusal)  # noqa: PT017
            return
    left = [row for k, row in enumerate(rows) if k not in gone]
    assert_same_tally(learner.fitted.tally, counted(setting, left), near=1e-8)


ODD = [
    ({"income": "much"}, "a", 1.0, "number was expected"),
    ({"income": float("inf")}, "a", 1.0, "income"),
    ({"size": 0.0}, "a", 1.0, "only numbers above 0"),
    ({"visits": -1}, "a", 1.0, "negative"),
    ({"mail": 3}, "a", 1.0, "text was expected"),
    ({"colour": 3}, "a", 1.0, "mixes whole numbers and text|holds numbers"),
    ({"income": 2**70}, "a", 1.0, "beyond 64 bits"),
    ({"colours": "red"}, "a", 1.0, "did you mean 'colour'"),
    ({}, 3, 1.0, "mixes whole numbers and text"),
    ({}, None, 1.0, "label"),
    ({}, ["a"], 1.0, "y holds a list"),
    ({}, "a", -1.0, "weight of row 0 is -1.0"),
    ({}, "a", float("nan"), "weight"),
    ({}, "a", "once", "weights must be numbers"),
    ([("income", 1.0)], "a", 1.0, "a record must be a mapping"),
]


@pytest.mark.parametrize(("record", "label", "weight", "why"), ODD, ids=str)
def test_what_is_refused_changes_nothing(record, label, weight, why):
    learner = learnt()
    before, posterior = learner.fitted.tally.to_bytes(), learner.posterior_of(RECORD)
    doors = {learner.learn: why, learner.test_then_learn: why, learner.forget: None}
    for refused, said in doors.items():
        with pytest.raises(tb.TallyBayesError, match=said):
            refused(record, label, weight)
        assert learner.fitted.tally.to_bytes() == before
        assert learner.posterior_of(RECORD) == pytest.approx(posterior, rel=1e-12)
    with pytest.raises(tb.TallyBayesError, match=r"were not counted|was never counted"):
        learner.forget({"colour": "mauve"}, "a")
    assert learner.fitted.tally.to_bytes() == before


def test_a_class_without_a_stated_prior_is_refused_and_may_be_declared():
    prior = tb.Fixed({"a": 0.5, "b": 0.25, "c": 0.25})
    learner = learnt(recipe=MIXED.recipe(prior))
    with pytest.raises(tb.TallyBayesError, match="no prior is stated for class 'd'"):
        learner.learn(RECORD, "d")
    assert learner.fitted.classes == CLASSES
    learner = learnt(recipe=Recipe(declared_classes=("d", "e")))
    learner.posterior_of(RECORD)
    for label in "dd":
        learner.learn(RECORD, label)
    whole = counted(MIXED, [*SIX, *[("d", 1.0, (*RECORD.values(),))] * 2])
    expected = Recipe(declared_classes=("d", "e")).model(whole).posterior_of(RECORD)
    assert learner.posterior_of(RECORD) == pytest.approx(expected)


VALUES = [
    (np.float64(2.5), np.float32(0.5), 3, True, np.int8(4), np.bool_(True)),
    (2.5, 0.5, 3.0, 1.0, 4.0, 1.0),
]


def test_scalars_of_numpy_and_gaps_of_pandas_are_read_as_the_values_they_are():
    ours, plainly = learnt(), learnt()
    for odd, usual in zip(*VALUES, strict=True):
        record = {"income": odd, "visits": odd, "on": odd, "colour": np.str_("red")}
        ours.learn({**record, "size": odd, "mail": None}, np.str_("a"))
        usual = dict.fromkeys(("income", "visits", "on", "size"), usual) | {"colour": "red"}
        plainly.learn(usual, "a")
    gaps = {"income": float("nan"), "colour": float("nan"), "on": np.float32("nan")}
    ours.learn(gaps, "b")
    plainly.learn({}, "b")
    assert_same_tally(ours.fitted.tally, plainly.fitted.tally)
    assert ours.posterior_of({**RECORD, "size": None}) == pytest.approx(
        plainly.posterior_of({name: value for name, value in RECORD.items() if name != "size"})
    )


def test_what_it_was_made_of_and_what_it_hands_out_stay_as_they_are():
    given_ = Fitted(counted(MIXED, SIX), MIXED.recipe())
    before = given_.tally.to_bytes()
    learner = Learner(given_)
    record = dict(RECORD)
    learner.learn(record, "a")
    record["income"] = 1e9  # after it was learnt
    handed_out = learner.fitted
    learner.learn(RECORD, "b")
    handed_out.tally.update({n: [v] for n, v in RECORD.items()}, ["c"])
    assert given_.tally.to_bytes() == before
    expected = counted(MIXED, [*SIX, *[(c, 1.0, (*RECORD.values(),)) for c in "ab"]])
    assert_same_tally(learner.fitted.tally, expected)


def test_it_counts_what_waits_from_time_to_time(monkeypatch):
    monkeypatch.setattr(learner, "MOST_WAITING", 7)
    ours = Learner(Fitted(tb.Tally(MIXED.schema)))
    many = [row for row in MIXED.examples(200, 9) if row[1]]
    for record, label, weight in records_of(MIXED, many):
        ours.learn(record, label, weight)
        assert len(ours._waiting) < 7
    assert_same_tally(ours.fitted.tally, counted(MIXED, many))


def test_threads_that_learn_and_score_at_once_take_turns():
    ours, many = learnt(), [row for row in MIXED.examples(240, 6) if row[1]]
    records, sums = records_of(MIXED, many), []

    def work(share):
        for record, label, weight in records[share::3]:
            sums.append(sum(ours.posterior_of(record).values()))
            ours.learn(record, label, weight)

    threads = [Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == pytest.approx([1.0] * len(many))
    assert_same_tally(ours.fitted.tally, counted(MIXED, [*SIX, *many]))


def test_a_class_of_which_what_is_stated_by_class_knows_nothing_is_refused():
    p = tb.ByClass({"yes": 0.5, "no": 0.5})
    tally = tb.Tally.of({"c": ["a", "b"]}, ["yes", "no"])
    learner = Learner(Fitted(tally, Recipe(columns={"c": tb.Categorical(m=3, p=p)})))
    with pytest.raises(tb.TallyBayesError):
        learner.learn({"c": "a"}, "new")
    assert learner.fitted.tally == tally
    assert set(learner.posterior_of({"c": "a"})) == {"yes", "no"}


def test_a_value_of_which_what_is_stated_by_value_knows_nothing_is_refused_everywhere():
    rows, new, said = {"c": ["a", "b"]}, {"c": ["z"]}, "p of column 'c' says nothing of the value"
    family = tb.Categorical(m=3, p=tb.ByValue({"a": 0.5, "b": 0.5}))
    tally = tb.Tally.of(rows, ["yes", "no"])
    for before in (tally, tally - tally):
        learner = Learner(Fitted(before, Recipe(columns={"c": family})))
        with pytest.raises(tb.TallyBayesError, match=said):
            learner.learn({"c": "z"}, "yes")
        assert learner.fitted.tally == before
        learner.learn({"c": "a"}, "yes")
        assert learner.posterior_of({"c": "a"})["yes"] > 0.5
    model = tb.NaiveBayes({"c": family})
    with pytest.raises(tb.TallyBayesError, match=said):
        model.partial_fit(new, ["yes"])
    other = tb.NaiveBayes({"c": "categorical"}).fit(new, ["yes"])
    model.partial_fit(rows, ["yes", "no"])
    for refused in (
        lambda: model.partial_fit(new, ["yes"]),
        lambda: model.merge(other),
        lambda: model.fit(new, ["yes"]),
    ):
        with pytest.raises(tb.TallyBayesError, match=said):
            refused()
        assert model.tally_ == tally
        assert model.predict(rows).tolist() == ["yes", "no"]


def test_a_test_before_learning_is_a_score_and_then_a_record():
    ours, apart = learnt(), learnt()
    for record, label, weight in records_of(MIXED, MIXED.examples(40, 5)):
        expected = apart.posterior_of(record)
        apart.learn(record, label, weight)
        assert ours.test_then_learn(record, label, weight) == pytest.approx(expected, rel=1e-9)
    assert_same_tally(ours.fitted.tally, apart.fitted.tally)


@pytest.mark.parametrize("short", [True, False])
def test_a_test_before_learning_goes_back_to_the_table_and_counts_a_record_once(short):
    schema = MIXED.schema if short else EXTRA
    ours = Learner(Fitted(counted(MIXED, SIX, schema), MIXED.recipe()))
    assert has_short_way(ours) == short
    rows = [*SIX]
    odd = ("new", 2.0, SIX[0][2])  # a class that was not there before
    for label, weight, cells in [*MIXED.examples(6, 5), odd, *MIXED.examples(3, 7)]:
        weight = weight or 1.0
        ((record, _, _),) = records_of(MIXED, [(label, weight, cells)])
        before = MIXED.recipe().model(counted(MIXED, rows, schema)).posterior_of(record)
        assert ours.test_then_learn(record, label, weight) == pytest.approx(before, rel=1e-9)
        rows.append((label, weight, cells))
    assert_same_tally(ours.fitted.tally, counted(MIXED, rows, schema))
