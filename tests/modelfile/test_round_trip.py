"""A model that was stored and read again is the same model, bit for bit."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from msgspec import msgpack, structs
from safetensors.numpy import load_file, save as safetensors_bytes

import tallybayes as tb
from modelfile.samples import (
    CALIBRATIONS,
    COLUMNS,
    LABELS,
    NEW,
    PROVENANCE,
    TABLE,
    WEIGHTS,
    assert_same_stored,
    mixed,
    stored,
)
from tallybayes.families import FAMILIES
from tallybayes.kinds import KINDS, Joint, Scatter
from tallybayes.model import Fitted, Recipe
from tallybayes.model.calibration import Calibration, How
from tallybayes.modelfile import Provenance, Stored, dump_bytes, load, save
from tallybayes.tallies.container import FORMAT
from test_imports import heavy_packages_after
from validation.registry import EVERY_SETTING


def again(fitted, **changes):
    """Store a model and read it back; it must be the same."""
    before = stored(fitted, **changes)
    data = dump_bytes(before)
    after = load(data)
    assert_same_stored(after, before)
    assert dump_bytes(after) == data
    return after.fitted


def assert_same_answers(ours, expected, rows):
    found, wanted = (each.model.joint_log_likelihood(rows) for each in (ours, expected))
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


@pytest.mark.parametrize("setting", EVERY_SETTING, ids=str)
def test_every_family_with_every_setting_comes_back_exactly(setting):
    labels, weights, cells = zip(*setting.examples(13), strict=True)
    rows = setting.source(list(cells))
    before = Fitted(tb.Tally.of(rows, labels, weights, schema=setting.schema), setting.recipe())
    assert_same_answers(again(before), before, rows)
    again(Fitted(tb.Tally(setting.schema)))


def test_there_are_settings_of_every_family():
    of = [
        setting.recipe().family_of(setting.schema, n)
        for setting in EVERY_SETTING
        for n in setting.names
    ]
    shipped = {each for each in FAMILIES.values() if each.__module__.startswith("tallybayes.")}
    assert set(map(type, of)) == shipped


OTHERS = {name: family for name, family in COLUMNS.items() if name != "owner"}
MODELS = {
    **{how: {"calibration": CALIBRATIONS[how]} for how in get_args(How)},
    **{
        str(prior): {"prior": prior}
        for prior in (
            tb.Empirical(1), tb.Uniform(), tb.Fixed({"yes": 0.1, "no": 0.9}),
            tb.Fixed({"no": np.float32(0.5), "yes": 0.5}), tb.Fixed({"no": 1, "yes": 0}),
        )
    },
    "declared classes": {"declared_classes": ("maybe", "no", "yes"), "columns": OTHERS},
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_a_model_with_columns_of_every_kind_comes_back_exactly(name):
    before = mixed(**MODELS[name])
    shipped = {each for each in KINDS.values() if each.__module__.startswith("tallybayes.")}
    assert {type(group.kind) for group in before.tally.schema.groups} == shipped - {Joint, Scatter}
    after = again(before)
    assert_same_answers(after, before, NEW)
    assert (after.classes, after.model.prior.tolist()) == (
        before.classes,
        before.model.prior.tolist(),
    )
    for column in before.tally.schema.names:
        assert after.model.column(column).support == before.model.column(column).support


LABEL_TYPES = {
    "text": ["b", "a", "ü"],
    "empty text": ["", " ", "\x00a"],
    "integers": [3, -1, 2**62],
    "decimals": [0.1 + 0.2, -0.5, 1e300],
    "infinities": [float("inf"), -float("inf"), 0.5],
    "booleans": [True, False, True],
}


def labelled(labels):
    """A model in which labels stand wherever they can."""
    cells = np.array(labels, dtype=object)
    tally = tb.Tally.of({"c": cells, "d": [1, 2, 3]}, cells, columns={"c": tb.Categories()})
    classes = tally.classes
    guess = tb.ByClass(dict.fromkeys(classes, tb.ByValue(dict.fromkeys(classes, 1 / 3))))
    recipe = Recipe(
        columns={"c": tb.Categorical(m=1, p=guess)},
        prior=tb.Fixed({label: 1 / len(classes) for label in classes}),
        positive=classes[0],
        declared_classes=classes[::-1],
    )
    return Fitted(tally, recipe, np.fromiter(classes, object, len(classes)))


@pytest.mark.parametrize("name", LABEL_TYPES)
def test_labels_of_every_type_come_back_exactly(name):
    before = labelled(LABEL_TYPES[name])
    assert_same_answers(again(before), before, {"c": LABEL_TYPES[name], "d": [1, 1, 1]})


@pytest.mark.parametrize("labels", [[2**70, -(2**70), 0], ["a", "b", "\udce9"]], ids=str)
def test_labels_that_no_file_can_hold_are_refused(labels):
    with pytest.raises(tb.TallyBayesError, match="64 bits"):
        dump_bytes(stored(labelled(labels)))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64", "float32", "bool", "<U1"])
def test_the_labels_that_predictions_return_keep_their_type(dtype):
    tally = tb.Tally.of({"x": [1.0, 2.0]}, np.array([0, 1]).astype(dtype))
    labels = np.array(tally.classes).astype(dtype)
    assert again(Fitted(tally, labels=labels)).labels.dtype.kind == np.dtype(dtype).kind
    for wrong in (labels[:1], labels[::-1], labels.astype("S1")):
        with pytest.raises(tb.TallyBayesError, match="must be the classes"):
            dump_bytes(stored(Fitted(tally, labels=wrong)))


def test_a_model_of_which_everything_was_forgotten_comes_back_and_can_learn_again():
    before = mixed()
    everything = tb.Tally.of(TABLE, LABELS, WEIGHTS, schema=before.tally.schema)
    empty = replace(before, tally=before.tally - everything)
    assert again(empty).tally + everything == before.tally
    again(replace(empty, labels=np.array(())))
    again(Fitted(tb.Tally(before.tally.schema)))
    numbered = Fitted(tb.Tally.of(np.arange(12.0).reshape(4, 3), [0, 1, 0, 1]))
    assert type(again(numbered).tally.schema.names) is type(numbered.tally.schema.names)


def test_what_an_estimator_keeps_comes_back():
    again(mixed(), estimator={"name": "NB", "deep": [{"a": None}, [True, -1, 1e999]], "ü": "\0"})
    data = dump_bytes(stored(mixed(), estimator={"ngrams": (1, (2,)), "n": np.float32(0.5)}))
    assert load(data).estimator == {"ngrams": [1, [2]], "n": 0.5}
    with pytest.raises(tb.TallyBayesError, match="no type that a file can hold"):
        dump_bytes(stored(mixed(), estimator={"a": object()}))


@pytest.mark.parametrize(
    "columns", [{"id": "drop"}, {"id": "drop", "b": "drop"}, {"x": "auto", ...: "drop"}], ids=str
)
def test_a_column_that_was_dropped_stays_dropped(columns, tmp_path):
    table = {"x": [1.0, 2.0, 3.0, 4.0], "id": list("pqrs"), "b": list("xxyy")}
    model = tb.NaiveBayes(columns).fit(table, list("uuvv"))
    model.save(tmp_path / "a.tally")
    loaded = tb.load(tmp_path / "a.tally").partial_fit(table, list("uuvv"))
    assert loaded.schema_.names == model.schema_.names


def test_the_name_of_a_file_that_is_no_unicode_is_written_as_python_does():
    made = Provenance.now("gr\udce9.csv", 1).then("update gr\udce9.csv", 1, source="gr\udce9.csv")
    assert made.sources == ("gr\\udce9.csv",) * 2
    assert_same_stored(load(dump_bytes(Stored(mixed(), made))), Stored(mixed(), made))


def test_a_function_that_makes_words_is_refused():
    words = tb.Words(tokens=str.split)
    tally = tb.Tally.of({"letter": ["a b"]}, ["a"], columns={"letter": words})
    for write in (tally.to_bytes, lambda: dump_bytes(stored(Fitted(tally)))):
        with pytest.raises(tb.TallyBayesError, match=r"is a function.*'whitespace'"):
            write()


class OwnFamily:
    kind = tb.Numeric()

    def estimate(self, block, columns):
        raise AssertionError


class Gaussian(tb.Gaussian, frozen=True):
    """A family that only has the name of one that is known."""


def test_what_could_not_be_read_again_is_not_written():
    fitted = mixed()

    def said(**options):
        return stored(replace(fitted, recipe=replace(fitted.recipe, **options)))

    unknown = fitted.tally.with_classes(("maybe", "no", "yes"))
    wrong = [
        (said(families=(OwnFamily(),)), "OwnFamily .*@register"),
        (said(columns={"income": Gaussian()}), "Gaussian.* cannot be stored.*@register"),
        (said(calibration=Calibration("magic")), "Invalid enum value 'magic'"),
        (stored(replace(fitted, tally=unknown)), "'maybe' without a row of it"),
        (Stored(fitted, structs.replace(PROVENANCE, sources=5)), "Expected `array`, got `int`"),
        (fitted, r"Stored\(fitted, provenance\), not Fitted"),
    ]
    for model, message in wrong:
        with pytest.raises(tb.TallyBayesError, match=message):
            dump_bytes(model)


def test_the_same_model_makes_the_same_file_which_others_can_look_into(tmp_path):
    before = mixed()
    for name in ("a.tally", "b.tally"):
        save(tmp_path / name, stored(before))
    assert (tmp_path / "a.tally").read_bytes() == (tmp_path / "b.tally").read_bytes()
    tensors = load_file(tmp_path / "a.tally")
    assert tensors["rows"].tolist() == before.tally.rows.tolist()
    assert msgpack.decode(tensors["manifest"].tobytes())["tally"]["target"] == "cheat"
    tensors["sha256"] = np.zeros(32, np.uint8)
    theirs = safetensors_bytes(tensors, {"tallybayes": f"model file {FORMAT}"})
    assert (tmp_path / "a.tally").read_bytes()[:-32] == theirs[:-32]


def test_reading_a_small_model_loads_no_heavy_package(tmp_path):
    path = str(tmp_path / "a.tally")
    save(path, stored(mixed()))
    assert (
        heavy_packages_after(
            f"from tallybayes import modelfile as m; m.save({path!r}, m.load({path!r}))"
        )
        == []
    )
