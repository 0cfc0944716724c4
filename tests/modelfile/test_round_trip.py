"""A model that was stored and read again is the same model, bit for bit."""

import inspect
import pkgutil
import subprocess
import sys
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallybayes as tb
from laws.conftest import REGISTRY
from modelfile.samples import (
    CALIBRATIONS,
    COLUMNS,
    LABELS,
    NEW,
    PROVENANCE,
    TABLE,
    WORDS,
    assert_equal,
    assert_same_stored,
    mixed,
    stored,
)
from tallybayes import families, priors
from tallybayes.kinds import KINDS
from tallybayes.model import Fitted, Recipe
from tallybayes.model.calibration import Calibration
from tallybayes.modelfile import Stored, dump_bytes, load, save, values


def again(fitted, **changes):
    """Store a model and read it back; it must be the same."""
    before = stored(fitted, **changes)
    data = dump_bytes(before)
    after = load(data)
    assert_same_stored(after, before)
    assert dump_bytes(after) == data
    return after.fitted


def assert_same_answers(ours, expected, rows):
    np.testing.assert_allclose(
        ours.model.posterior(rows), expected.model.posterior(rows), rtol=1e-9
    )
    assert ours.model.predict(rows).tolist() == expected.model.predict(rows).tolist()
    found, wanted = (each.model.joint_log_likelihood(rows) for each in (ours, expected))
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def classes_with(module, *methods):
    """Find the classes of a package that are no protocols and have these attributes."""
    names = [module.__name__]
    if hasattr(module, "__path__"):
        names += [each.name for each in pkgutil.walk_packages(module.__path__, names[0] + ".")]
    return {
        each
        for name in names
        for _, each in inspect.getmembers(import_module(name), inspect.isclass)
        if each.__module__.startswith(module.__name__)
        and not getattr(each, "_is_protocol", False)
        and all(hasattr(each, method) for method in methods)
    }


def test_every_family_there_is_can_be_stored():
    found = classes_with(families, "kind", "estimate")
    bases = {base for each in found for base in each.__mro__[1:]}
    registered = set(families.FAMILIES.values())
    assert registered <= found
    assert found - registered <= bases


def test_every_prior_there_is_can_be_stored():
    found = classes_with(priors, "probabilities")
    assert len(found) == 3
    assert found == set(values.PRIORS)


def test_everything_a_family_is_made_of_can_be_stored():
    floors = {each for each in classes_with(families, "lift") if each.__name__[0] != "_"}
    guesses = {each for each in classes_with(families) if each.__name__.startswith("By")}
    assert len(floors) == len(guesses) == 2
    assert {*floors, *guesses, Calibration} == set(values._PARTS)


EVERY_FAMILY = {
    "Gaussian": (tb.Numeric(), [
        tb.Gaussian(), tb.Gaussian(0), tb.Gaussian(1 / 3, tb.RelativeFloor(0.1)),
        tb.Gaussian(floor=tb.AdditiveFloor()), tb.Gaussian(floor=tb.AdditiveFloor(0, of=0.1 + 0.2)),
    ]),
    "LogNormal": (tb.Numeric(log=True), [
        tb.LogNormal(), tb.LogNormal(0, tb.AdditiveFloor(1e-300)),
    ]),
    "Categorical": (tb.Categories(), [
        tb.Categorical(), tb.Categorical(0), tb.Categorical(1.0), tb.Categorical((0.1,)),
        tb.Categorical(np.array([2.5])), tb.Categorical(unseen="ignore"),
        tb.Categorical(unseen="smooth"), tb.Categorical(1, unseen="error"),
        tb.Categorical(m=2), tb.Categorical(m=3, p=0.25), tb.Categorical(m=0.1, p=1),
        tb.Categorical(m=3, p=tb.ByValue({1: 0.2, 2: 0.3, 3: 0.5})),
        tb.Categorical(m=3, p=tb.ByClass({"yes": 1 / 3, "no": np.float32(0.1)})),
        tb.Categorical(m=3, p=tb.ByClass({"yes": tb.ByValue({1: 1, 2: 0, 3: 0.5}), "no": 0.5})),
    ]),
    "Bins": (tb.Intervals((1.0, 1.5)), [
        tb.Bins(), tb.Bins((1, 1.5)), tb.Bins(alpha=0), tb.Bins((1.0, 1.5), (0.3,)),
    ]),
    "Bernoulli": (tb.Binary(1), [
        tb.Bernoulli(threshold=1), tb.Bernoulli(0, 1.0), tb.Bernoulli([0.5], np.float64(1)),
    ]),
    "Multinomial": (tb.Count("a"), [
        tb.Multinomial(bag="a"), tb.Multinomial(0.1, "a"), tb.Multinomial((3,), "a"),
    ]),
    "Complement": (tb.Count("a"), [
        tb.Complement(bag="a"), tb.Complement(0.1, "a", norm=True), tb.Complement((3,), bag="a"),
    ]),
    "Poisson": (tb.Count("a"), [tb.Poisson(bag="a"), tb.Poisson((0.1,), "a")]),
    "Text": (WORDS, [
        tb.Text(WORDS), tb.Text(WORDS, "boolean", 0), tb.Text(WORDS, "complement", np.float32(0.1)),
        tb.Text(WORDS, "bernoulli", min_df=0, max_df=5), tb.Text(WORDS, min_df=0.1, max_df=0.9),
        tb.Text(WORDS, max_features=2), tb.Text(WORDS, vocabulary=("you", "lunch now", "never")),
        tb.Text(WORDS, best=3), tb.Text(WORDS, best=2, by="chi2", min_df=1),
    ]),
}  # fmt: skip


def test_the_examples_below_are_of_every_family():
    assert sorted(EVERY_FAMILY) == sorted(each.__name__ for each in families.FAMILIES.values())
    for name, (_, examples) in EVERY_FAMILY.items():
        assert {type(each).__name__ for each in examples} == {name}


@pytest.mark.parametrize("name", EVERY_FAMILY)
def test_a_family_comes_back_exactly_whether_for_all_columns_or_for_one(name):
    kind, examples = EVERY_FAMILY[name]
    column = "mail" if name == "Text" else "rooms"
    tally = tb.Tally.of({column: TABLE[column]}, LABELS, columns={column: kind})
    rows = {column: NEW[column]} if name == "Text" else {column: [1, 2, 3, None]}
    for family in examples:
        for before in (
            Fitted(tally, Recipe((family,))),
            Fitted(tally, Recipe(columns={column: family})),
        ):
            ours, expected = (
                each.model.joint_log_likelihood(rows) for each in (again(before), before)
            )
            np.testing.assert_allclose(ours, expected, rtol=1e-9)


@pytest.mark.parametrize("given", [(), (1.0, None, None, "ignore")])
def test_what_nobody_stated_stays_unstated(given):
    tally = tb.Tally.of({"rooms": TABLE["rooms"]}, LABELS, columns={"rooms": tb.Categories()})
    (family,) = again(Fitted(tally, Recipe((tb.Categorical(*given),)))).recipe.families
    assert (family.alpha, family.unseen) == ((1.0, "ignore") if given else (None, None))


def test_a_model_with_columns_of_every_kind_comes_back_exactly():
    before = mixed()
    assert {type(group.kind) for group in before.tally.schema.groups} == {
        each for each in KINDS.values() if each.__module__.startswith("tallybayes.")
    }
    assert_same_answers(again(before), before, NEW)


def test_what_a_column_can_be_comes_back():
    before, after = mixed().model, again(mixed()).model
    for name in before.schema.names:
        assert after.column(name).support == before.column(name).support


@pytest.mark.parametrize("how", CALIBRATIONS)
def test_a_calibration_comes_back_exactly(how):
    before = mixed(calibration=CALIBRATIONS[how])
    after = again(before)
    assert_same_answers(after, before, NEW)
    assert after.recipe.calibration.headline == before.recipe.calibration.headline


def test_there_is_a_calibration_of_every_kind_among_them():
    from typing import get_args

    from tallybayes.model.calibration import How

    assert set(CALIBRATIONS) == set(get_args(How))


@pytest.mark.parametrize(
    "prior",
    [
        tb.Empirical(), tb.Empirical(alpha=0.1), tb.Empirical(1), tb.Uniform(),
        tb.Fixed({"yes": 0.1, "no": 0.9}), tb.Fixed({"no": np.float32(0.5), "yes": 0.5}),
        tb.Fixed({"no": 1, "yes": 0}), tb.Fixed({"no": 1 / 3, "yes": 2 / 3}),
    ],
    ids=str,
)  # fmt: skip
def test_a_prior_comes_back_exactly(prior):
    before = mixed(prior=prior)
    after = again(before)
    assert after.model.prior.tolist() == before.model.prior.tolist()


LABEL_TYPES = {
    "text": ["b", "a", "ü\udce9"],
    "empty text": ["", " ", "\x00a"],
    "integers": [3, -1, 2**62],
    "integers beyond 64 bits": [2**70, -(2**70), 0],
    "decimals": [0.1 + 0.2, -0.5, 1e300],
    "infinities": [float("inf"), -float("inf"), 0.5],
    "booleans": [True, False, True],
}


@pytest.mark.parametrize("name", LABEL_TYPES)
def test_labels_of_every_type_come_back_exactly(name):
    labels = np.array(LABEL_TYPES[name], dtype=object)
    tally = tb.Tally.of({"c": labels, "d": [1, 2, 3]}, labels, columns={"c": tb.Categories()})
    classes = tally.classes
    assert len(classes) == len(set(LABEL_TYPES[name]))
    by_value = tb.ByValue(dict.fromkeys(classes, 1 / 3))
    guess = tb.ByClass(dict.fromkeys(classes, by_value))
    before = Fitted(
        tally,
        Recipe(
            columns={"c": tb.Categorical(m=1, p=guess)},
            prior=tb.Fixed({label: 1 / len(classes) for label in classes}),
            positive=classes[0],
            declared_classes=classes[::-1],
        ),
        labels=np.fromiter(classes, object, len(classes)),
    )
    assert_same_answers(again(before), before, {"c": labels, "d": [1, 1, 1]})


@pytest.mark.parametrize(
    "dtype",
    ["int8", "int16", "int32", "int64", "uint8", "uint64", "float32", "float64", "bool"],
)
def test_the_labels_that_predictions_return_keep_their_type(dtype):
    tally = tb.Tally.of({"x": [1.0, 2.0]}, np.array([0, 1], dtype))
    labels = np.array(tally.classes).astype(dtype)
    assert again(Fitted(tally, labels=labels)).labels.dtype == dtype


@pytest.mark.parametrize("labels", [["a", "longer"], ["z" * 300, "ü"]], ids=["short", "long"])
def test_labels_of_text_keep_their_type(labels):
    tally = tb.Tally.of({"x": [1.0, 2.0]}, labels)
    assert again(Fitted(tally, labels=np.array(labels))).labels.dtype == np.array(labels).dtype


def test_labels_that_are_not_the_classes_are_refused():
    tally = tb.Tally.of({"x": [1.0, 2.0]}, ["a", "b"])
    for labels in (np.array(["a", "c"]), np.array(["a"]), np.array(["a", "b"]).astype("S1")):
        with pytest.raises(tb.TallyBayesError, match="must be the classes"):
            dump_bytes(stored(Fitted(tally, labels=labels)))


def test_classes_that_were_announced_come_back():
    others = {name: family for name, family in COLUMNS.items() if name != "owner"}
    before = mixed(declared_classes=("maybe", "no", "yes"), columns=others)
    after = again(before)
    assert after.classes == ("maybe", "no", "yes")
    assert_same_answers(after, before, NEW)


def test_a_model_of_which_everything_was_forgotten_comes_back_and_can_learn_again():
    before = mixed()
    everything = tb.Tally.of(
        TABLE, LABELS, [1.0, 2.0, 0.5, 1.0, 0.25, 3.0], schema=before.tally.schema
    )
    empty = replace(before, tally=before.tally - everything)
    after = again(empty)
    assert after.tally.classes == ()
    assert after.tally + everything == before.tally
    again(replace(empty, labels=np.array(())))


def test_a_tally_that_never_counted_comes_back():
    again(Fitted(tb.Tally(mixed().tally.schema)))


@pytest.mark.parametrize(
    "words",
    [
        tb.Words(),
        tb.Words(buckets=16),
        tb.Words(buckets=2**20, tf="log"),
        tb.Words(idf=tb.Idf({"lunch": 0.1 + 0.2, "über": 2.0, "never": 0.0})),
        tb.Words(norm="l2", ngrams=(1, 3), min_length=1, lowercase=False),
        tb.Words(tokens="characters", ngrams=(2, 4)),
        tb.Words(tokens="whitespace", strip_accents=True, stop_words=("now", "a")),
        tb.Words(tokens="unicode"),
    ],
    ids=str,
)
def test_text_of_every_kind_comes_back_exactly(words):
    tally = tb.Tally.of({"mail": TABLE["mail"]}, LABELS, columns={"mail": words})
    for family in (tb.Text(words), tb.Text(words, event="boolean", alpha=0.1)):
        before = Fitted(tally, Recipe((family,)))
        after = again(before)
        assert_same_answers(after, before, {"mail": NEW["mail"]})
        # long lists of weights are there once
        assert after.recipe.families[0].words is after.tally.schema.groups[0].kind


def test_words_that_were_not_counted_come_back_too():
    words = tb.Words(idf=tb.Idf({"lunch": 1 / 3}), min_length=3)
    tally = tb.Tally.of({"x": [1.0, 2.0]}, ["a", "b"])
    after = again(Fitted(tally, Recipe(columns={"mail": tb.Text(words)})))
    assert after.recipe.columns["mail"].words == words


def test_columns_without_names_come_back():
    before = Fitted(tb.Tally.of(np.arange(12.0).reshape(4, 3), [0, 1, 0, 1]))
    after = again(before)
    assert type(after.tally.schema.names) is type(before.tally.schema.names)
    assert_same_answers(after, before, np.ones((2, 3)))


def test_what_an_estimator_keeps_comes_back_as_json_has_it():
    kept = {
        "name": "NaiveBayes",
        "alpha": 0.1,
        "deep": [{"a": None}, [True, -1]],
        "ü\ud800": "\x00",
    }
    again(mixed(), estimator=kept)
    again(mixed(), estimator={})
    data = dump_bytes(stored(mixed(), estimator={"ngrams": (1, (2,))}))
    assert load(data).estimator == {"ngrams": [1, [2]]}


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), {1: 2}, {1, 2}, object(), b"x", np.float64(1), len, [{None: 1}]],
    ids=["nan", "inf", "a number as key", "a set", "an object", "bytes", "NumPy's", "f", "deep"],
)
def test_what_json_would_change_is_refused(value):
    with pytest.raises(tb.TallyBayesError, match="mappings with text as keys"):
        dump_bytes(stored(mixed(), estimator={"a": value}))


def test_a_function_that_makes_words_is_refused_by_the_name_of_its_column():
    words = tb.Words(tokens=str.split)
    tally = tb.Tally.of({"x": [1.0], "letter": ["a b"]}, ["a"], columns={"letter": words})
    with pytest.raises(tb.TallyBayesError, match=r"column 'letter' .* function.*; use tokens="):
        dump_bytes(stored(Fitted(tally)))
    plain = tb.Tally.of({"x": [1.0]}, ["a"])
    with pytest.raises(tb.TallyBayesError, match=r"column 'letter' .* function.*; use tokens="):
        dump_bytes(stored(Fitted(plain, Recipe(columns={"letter": tb.Text(words)}))))


class OwnFamily:
    kind = tb.Numeric()

    def estimate(self, block, columns):
        raise AssertionError


class Gaussian(tb.Gaussian):
    """A family that only has the name of one that is known."""


@pytest.mark.parametrize("family", [OwnFamily(), Gaussian()], ids=["another", "the same name"])
def test_a_family_that_is_not_ours_is_refused_by_the_name_of_its_column(family):
    tally = tb.Tally.of({"x": [1.0]}, ["a"])
    with pytest.raises(tb.TallyBayesError, match=r"column 'x': .* cannot be stored"):
        dump_bytes(stored(Fitted(tally, Recipe(columns={"x": family}))))
    with pytest.raises(tb.TallyBayesError, match=r"a default family: .* cannot be stored"):
        dump_bytes(stored(Fitted(tally, Recipe((family,)))))


def test_what_could_not_be_read_again_is_not_written():
    fitted = mixed()

    def said(**options):
        return replace(fitted, recipe=replace(fitted.recipe, **options))

    wrong = {
        "without a row": replace(fitted, tally=fitted.tally.with_classes(("maybe", "no", "yes"))),
        "the reasons": said(reasons={"age": 5}),
        "how of Calibration": said(calibration=Calibration("magic")),
    }
    for message, each in wrong.items():
        with pytest.raises(tb.TallyBayesError, match=message):
            dump_bytes(stored(each))
    with pytest.raises(tb.TallyBayesError, match="other types"):
        dump_bytes(Stored(fitted, replace(PROVENANCE, sources=["a list"])))
    with pytest.raises(tb.TallyBayesError, match=r"Stored\(fitted, provenance\), not Fitted"):
        dump_bytes(fitted)


@given(st.data())
def test_random_tallies_of_every_registered_kind_come_back_exactly(data):
    kind = data.draw(st.sampled_from(REGISTRY))
    tally = kind.tally(data.draw(kind.rows()))
    again(Fitted(tally))


FLOATS = st.floats(0.0, 1e200)  # what an alpha may be


@given(FLOATS, st.lists(FLOATS, min_size=1, max_size=4), st.text(), FLOATS.filter(lambda x: x > 0))
def test_numbers_of_any_size_come_back_bit_for_bit(one, several, text, floor):
    examples = (
        tb.Gaussian(one, tb.AdditiveFloor(one, of=one)),
        tb.Gaussian(floor=tb.RelativeFloor(floor)),
        tb.Categorical(several),
        tb.Categorical(m=one, p=tb.ByClass({text: tb.ByValue({one: one, text: 1})})),
        tb.Multinomial(one, bag=text),
        tb.Bernoulli(threshold=-one),
        tb.Empirical(one),
        Calibration("weights", {text: one}, one, loss=one, loss_before=-one),
    )
    for value in examples:
        assert_equal(values.from_plain(values.to_plain(value, [], ""), []), value)


def test_the_same_model_makes_the_same_file(tmp_path):
    for name in ("a.tally", "b.tally"):
        save(tmp_path / name, stored(mixed()))
    assert (tmp_path / "a.tally").read_bytes() == (tmp_path / "b.tally").read_bytes()


def test_an_array_can_be_read_with_numpy_and_the_file_unpacked_with_zipfile(tmp_path):
    from zipfile import ZipFile

    before = mixed()
    save(tmp_path / "a.tally", stored(before))
    with ZipFile(tmp_path / "a.tally") as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert names[0] == "manifest.json"
        with archive.open("arrays/0.npy") as file:
            assert np.load(file, allow_pickle=False).tolist() == before.tally.rows.tolist()
        for name in names[1:]:
            with archive.open(name) as file:
                np.load(file, allow_pickle=False)


def test_reading_a_small_model_loads_no_heavy_package(tmp_path):
    save(tmp_path / "a.tally", stored(mixed()))
    script = (
        "import sys\n"
        "from tallybayes.modelfile import load, save\n"
        "stored = load(sys.argv[1])\n"
        "save(sys.argv[1], stored)\n"
        "heavy = ('numba', 'sklearn', 'pyarrow', 'pandas', 'scipy', 'filelock')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "a.tally"],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"
