"""Files that are cut, changed or made up get one clear error, and nothing of them runs.

Whoever makes up a file can make its digest right, too: then it is an error, or a sound model.
"""

import io
import json
import pickle
import subprocess
import sys
import warnings
from contextlib import suppress
from copy import deepcopy
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given, strategies as st
from msgspec import msgpack
from safetensors.numpy import load as tensors_of, save as saved

import tallybayes as tb
from modelfile.samples import CALIBRATIONS, NEW, assert_same_stored, mixed, small, stored
from tallybayes.model import Fitted
from tallybayes.modelfile import dump_bytes, is_model_file, load
from tallybayes.tallies.container import FORMAT
from tiers import scaled

MODEL = stored(mixed(calibration=CALIBRATIONS["weights"]), estimator={"alpha": 1})
WHOLE, SMALL = dump_bytes(MODEL), dump_bytes(small())
READERS = {"model file": load, "tally": tb.Tally.from_bytes}


def taken_apart(data=WHOLE):
    """Return the manifest as plain data, and the arrays by name."""
    tensors = {name: tensor.copy() for name, tensor in tensors_of(data).items() if name != "sha256"}
    return msgpack.decode(tensors.pop("manifest").tobytes()), tensors


def signed(content):
    """Return content with its digest behind it."""
    return content + sha256(content).digest()


def put_together(manifest, tensors, version=FORMAT, what="model file"):
    """Return a file with a digest that is right, if nothing else is."""
    head = manifest if isinstance(manifest, bytes) else msgpack.encode(manifest)
    tensors = {**tensors, "manifest": np.frombuffer(head, np.uint8)}
    tensors["sha256"] = np.zeros(32, np.uint8)
    return signed(saved(tensors, {"tallybayes": f"{what} {version}"})[:-32])


def with_header(header, content=b"", length=None):
    """Return a file with this header, as JSON or as text, and a digest that is right."""
    mark = {"__metadata__": {"tallybayes": f"model file {FORMAT}"}}
    if isinstance(header, dict):
        header = json.dumps({**mark, **header}, separators=(",", ":"))
    head = header.encode()
    return signed((len(head) if length is None else length).to_bytes(8, "little") + head + content)


def refused(data, match, read=load):
    with pytest.raises(tb.TallyBayesError, match=match) as caught:
        read(data)
    assert len(str(caught.value)) < 600
    assert "; " in str(caught.value)  # and a remedy


def test_taking_apart_and_putting_together_changes_nothing():
    assert put_together(*taken_apart()) == WHOLE
    assert_same_stored(load(WHOLE), MODEL)


@pytest.mark.parametrize("what", READERS)
def test_every_cut_every_bit_and_every_byte_more_or_less_is_an_error(what):
    data = SMALL if what == "model file" else small().fitted.tally.to_bytes()
    wrong = [data[:end] for end in range(len(data))] + [data[k:] for k in range(1, len(data))]
    wrong += [data[:k] + data[k + 1 :] for k in range(len(data))]
    wrong += [data + more for more in (b"\x00", b"\n", data, bytes(70_000))]
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        wrong.append(bytes(flipped))
    for each in wrong:
        with pytest.raises(tb.TallyBayesError, match=rf"cut or damaged: |not a {what}|newer"):
            READERS[what](each)


@pytest.mark.parametrize(
    "data",
    [b"", b"hello, world\n" * 100, pickle.dumps({"a": 1}), bytes(1000), saved({"a": np.ones(3)})],
    ids=["nothing", "text", "pickle", "zeros", "other tensors"],
)
def test_other_files_are_not_model_files(data, tmp_path):
    for what, read in READERS.items():
        refused(data, f"is not a {what}: it does not begin like one; give what", read)
    (tmp_path / "a").write_bytes(data)
    assert not is_model_file(tmp_path / "a")


def test_files_of_another_kind_or_format_are_named():
    refused(MODEL.fitted.tally.to_bytes(), "is not a model file")
    refused(WHOLE, "is not a tally", tb.Tally.from_bytes)
    refused(b"PK\x03\x04" + bytes(100), "is not a model file")
    later = put_together({"something": "else"}, {"x": np.ones(2, np.float32)}, FORMAT + 5)
    refused(later, rf"newer version .*its format is {FORMAT + 5}, and .* up to {FORMAT}; upgrade")


def test_the_beginning_of_a_file_says_whether_it_is_a_model_file(tmp_path):
    path = tmp_path / "a.tally"
    for data, is_one in ((WHOLE, True), (WHOLE[:200], True), (WHOLE[:50], False)):
        path.write_bytes(data)
        assert is_model_file(path) is is_one
    assert not any(map(is_model_file, (tmp_path, tmp_path / "b.tally", "\x00")))


def tensor(dtype="U8", shape=(8,), place=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(place)}


END = {"sha256": tensor(shape=(32,), place=(8, 40))}
HEADERS = {
    "nothing": with_header({}),
    "no manifest": with_header({"a": tensor(), **END}, bytes(8)),
    "no digest": with_header({"manifest": tensor(), "a": tensor(place=(8, 40))}, bytes(8)),
    "a hole": with_header({"manifest": tensor(shape=(4,), place=(0, 4)), **END}, bytes(8)),
    "an overlap": with_header({"manifest": tensor(), "a": tensor(), **END}, bytes(8)),
    "more than there is": with_header({"manifest": tensor(shape=(2**40,)), **END}, bytes(8)),
    "offsets beyond": with_header({"manifest": tensor(place=(0, 2**62)), **END}, bytes(8)),
    "offsets that go back": with_header({"manifest": tensor(place=(8, 0)), **END}, bytes(8)),
    "sides that overflow": with_header({"manifest": tensor(shape=(2**33, 2**33)), **END}, bytes(8)),
    "a negative side": with_header({"manifest": tensor(shape=(-8,)), **END}, bytes(8)),
    "an unknown type": with_header({"manifest": tensor("OBJECT"), **END}, bytes(8)),
    "a rare type": with_header({"manifest": tensor("BF16", (4,)), **END}, bytes(8)),
    "deep nesting": with_header(with_header({})[8:-33].decode() + ',"a":' + "[" * 10**5),
    "a header longer than all": with_header({}, length=2**63),
    "a long header": with_header({}, bytes(2**20), length=2**24 + 8),
    "a header that is short": with_header({}, length=60),
}  # fmt: skip


def parts_of(table, y, columns=None):
    return taken_apart(dump_bytes(stored(Fitted(tb.Tally.of(table, y, columns=columns)))))


MANIFEST, TENSORS = taken_apart()
LETTERS = {"mail": ["lunch now", "buy a lottery"] * 3, "n": [1, 2, 3] * 2}
TEXTS = parts_of(LETTERS, ["a", "b"] * 3, {"mail": tb.Words(), "n": tb.Count()})
IDF = tb.Words(idf=tb.Idf({"lunch": 1.0, "now": 2.0}))
WEIGHED = parts_of({"mail": ["lunch now"]}, ["a"], {"mail": IDF})
DECIMALS = parts_of({"x": [1.0, 2.0]}, [0.5, 1.5])


def changed(path, value, manifest=MANIFEST):
    manifest = deepcopy(manifest)
    *inner, last = path.split(".") if isinstance(path, str) else path
    place = manifest
    for key in inner:
        place = place[int(key) if isinstance(place, list) else key]
    place[int(last) if isinstance(place, list) else last] = value
    return manifest


def filled(parts, **values):
    """Return a file with arrays that are full of one number each."""
    manifest, tensors = parts
    full = {name: np.full_like(tensors[name], value) for name, value in values.items()}
    return put_together(manifest, {**tensors, **full})


def of_columns(n):
    """Return a model of which nothing but the number of its columns is claimed."""
    tally = tb.Tally.of(np.zeros((2, 3)), [0, 1])
    manifest, tensors = taken_apart(dump_bytes(stored(Fitted(tally - tally))))
    shapes = {name: (0, n) if array.ndim == 2 else 0 for name, array in tensors.items()}
    wide = {name: np.zeros(shape, tensors[name].dtype) for name, shape in shapes.items()}
    return put_together(changed("tally.names", n, manifest), wide)


def of_classes(n):
    """Return a model of so many classes, of which each has a word of its own."""
    labels = [f"{k:06d}" for k in range(n)]
    return put_together(*parts_of({"mail": labels}, labels, {"mail": tb.Words()}))


def kind_named(name):
    return [each["type"] for each in MANIFEST["tally"]["kinds"]].index(name)


AGE, MAIL, STATUS = kind_named("Intervals"), kind_named("Words"), kind_named("Categories")
CODES = [k for k, labels in enumerate(MANIFEST["tally"]["labels"]) if labels is not None]
CHANGES = {
    "a part that is none": ("run", "me"),
    "a family that is a prior": ("columns.income", {"type": "Uniform"}),
    "a family of nobody": ("columns.income.type", "Student"),
    "a class of Python": ("columns.income.type", "object"),
    "a field that is none": ("columns.income.exec", 1),
    "a negative alpha": ("columns.status.alpha", -1.0),
    "priors that do not add up": ("prior", {"type": "Fixed", "p": {"yes": 0.5}}),
    "priors below zero": ("prior", {"type": "Fixed", "p": {"yes": 2.0, "no": -1.0}}),
    "words of a function": ("columns.mail.words.tokens", "eval"),
    "a calibration of another kind": ("calibration.how", "isotonic"),
    "exponents below zero": ("calibration.exponents.income", -1.0),
    "exponents that are no numbers": ("calibration.default", float("nan")),
    "labels that are wide": ("label_type", "U1000000000"),
    "labels that are numbers": ("label_type", "int64"),
    "declared classes of two types": ("declared_classes", ["no", 1]),
    "classes unsorted": ("tally.classes", ["yes", "no"]),
    "a class twice": ("tally.classes", ["no", "no"]),
    "classes of two types": ("tally.classes", ["no", 1]),
    "a class that is no number": ("tally.classes", [1.0, float("nan")]),
    "values unsorted": (f"tally.labels.{CODES[0]}.0", [True, False]),
    "a value that is no number": (f"tally.labels.{CODES[0]}.0", [False, float("nan")]),
    "no values": (f"tally.labels.{CODES[0]}", None),
    "names twice": ("tally.names.0", "age"),
    "a kind too few": ("tally.kinds", MANIFEST["tally"]["kinds"][1:]),
    "too few reasons": ("tally.reasons", ["declared", "declared"]),
    "edges that go back": (f"tally.kinds.{AGE}.edges", [2.0, 1.0]),
    "no edges": (f"tally.kinds.{AGE}.edges", None),
    "fewer edges than were counted": (f"tally.kinds.{AGE}.edges", [18.0]),
    "ngrams the wrong way round": (f"tally.kinds.{MAIL}.ngrams", [2, 1]),
    "declared values of two types": (f"tally.kinds.{STATUS}.values", [1, "a"]),
    "a unit that reads beyond": ("tally.extra", [[{"type": "Numeric"}, [[99]]]]),
}
CLAIMS = {
    **HEADERS,
    **{name: put_together(changed(*said), TENSORS) for name, said in CHANGES.items()},
    **{
        f"idf {said}": put_together(changed("tally.kinds.0.idf", said, WEIGHED[0]), WEIGHED[1])
        for said in (
            {"lunch": 1.0}, {"lunch": -1.0, "now": 2.0}, {"lunch": np.inf, "now": 2.0},
            {"lunch": "1", "now": 2.0}, {1: 1.0}, ["lunch", "now"], 0,
        )
    },
    **{
        f"labels as {name}": put_together({**DECIMALS[0], "label_type": name}, DECIMALS[1])
        for name in ("int64", "bool", "str")
    },
    **{
        f"{n} names": put_together(changed("tally.names", n, DECIMALS[0]), DECIMALS[1])
        for n in (10**7, 10**9, 2**63, -4)
    },
    **{  # an array, a mapping, bytes, text
        f"{claim} of any length": put_together(claim + b"\xff" * 4, TENSORS)
        for claim in (b"\xdd", b"\xdf", b"\xc6", b"\xdb")
    },
    "a deep manifest": put_together(b"\x91" * 10**6, TENSORS),
    "a manifest of less": put_together({k: MANIFEST[k] for k in [*MANIFEST][1:]}, TENSORS),
}  # fmt: skip


@pytest.mark.parametrize("name", CLAIMS)
def test_what_nobody_stores_is_an_error(name):
    refused(CLAIMS[name], "cannot be read by this version|cut or damaged")


def test_no_memory_is_taken_for_what_is_not_there(tmp_path):
    for number, data in enumerate(CLAIMS.values()):
        (tmp_path / f"{number}.tally").write_bytes(data)
    script = (
        "import resource, sys, tallybayes as tb\n"
        "from tallybayes.modelfile import load\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "for path in sys.argv[1:]:\n"
        "    try: load(path)\n"
        "    except tb.TallyBayesError as error: print('into memory' not in str(error))\n"
    )
    command = [sys.executable, "-c", script, *map(str, tmp_path.iterdir())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["True"] * len(CLAIMS), done.stderr[-300:]


def test_arrays_that_are_missing_or_many_or_of_other_types_or_shapes_are_an_error():
    for name, array in TENSORS.items():
        less = {key: value for key, value in TENSORS.items() if key != name}
        wrong = [array.astype(np.float32), array[None], array[..., :-1], array.astype(np.uint16)]
        others = [{**TENSORS, f"{name}x": array}, *({**TENSORS, name: each} for each in wrong)]
        for tensors in (less, *others):
            refused(put_together(MANIFEST, tensors), "cannot be read by this version of")


WORDS = next(name.partition(".")[0] for name in TENSORS if name.endswith(".letters"))

UMLAUT = TENSORS[f"{WORDS}.letters"].tolist().index(0xC3)  # where the first word with one begins


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


BROKEN = {
    "edges that begin below zero": ("edges", put(0, -1)),
    "edges that go back": ("edges", lambda e: np.array([e[0], *e[1:-1][::-1], e[-1]])),
    "an edge beyond the letters": ("edges", put(-1, 10**9)),
    "no edges": ("edges", lambda e: e[:0]),
    "a word that ends within a character": ("edges", lambda e: e + (e == UMLAUT)),
    "letters that are not UTF-8": ("letters", put(0, 0xFF)),
    "words in another order": ("letters", put(0, ord("z"))),
    "a row more than there are": ("rows", put((0, 0), 99)),
    "negative rows": ("rows", put((0, 0), -1)),
    "rows without weight": ("weight", put((0, 0), 0.0)),
    "pairs that go back": ("keys", put(0, 99)),
    "a word out of range": ("keys", put(-1, (1 << 32) + 99)),
    "a class out of range": ("keys", put(-1, 1 << 40)),
    "a negative word": ("keys", put(0, -1)),
    "a word far below zero": ("keys", put(-1, -(1 << 63))),
    "a word twice in a class": ("keys", put(1, 0)),
    "a count below zero": ("sums", put((0, 2), -1.0)),
    "half a document": ("sums", put((0, 0), 0.5)),
    "more documents than there are": ("sums", put((0, 0), 99.0)),
    "more weight than there is": ("sums", put((0, 1), 99.0)),
}
UNFIT = {
    **{
        name: put_together(
            MANIFEST, {**TENSORS, f"{WORDS}.{part}": change(TENSORS[f"{WORDS}.{part}"].copy())}
        )
        for name, (part, change) in BROKEN.items()
    },
    **{
        f"{name} of {weight}": filled(TEXTS, **{name: weight})
        for name in ("0.weight", "1.weight", "weight")
        for weight in (1.7e308, 1e300, 1e-308, 5e-324)
    },
    "sums beyond numbers": filled(TEXTS, **{"0.sums": 1.7e308}),
    "a least above the most": filled(DECIMALS, **{"0.least": 3.0, "0.most": 2.0}),
    "a most below the least": filled(DECIMALS, **{"0.least": 1e308, "0.most": -1e308}),
    "more words than are there": of_classes(9000),
    "more columns than are there": of_columns(10**7),
}


@pytest.mark.parametrize("name", UNFIT)
def test_arrays_that_no_rows_have_are_an_error(name):
    refused(UNFIT[name], "its parts do not fit together|utf-8")


def test_what_is_claimed_within_bounds_is_read():
    assert load(of_classes(8000)).fitted.tally.rows.sum() == 8000
    assert len(load(of_columns(10**6)).fitted.tally.schema.names) == 10**6


def test_documents_of_a_claimed_length_are_drawn_no_longer_than_anyone_reads():
    manifest, tensors = TEXTS
    sums = tensors["1.sums"].copy()
    sums[:, 2] = 1e300
    model = load(put_together(manifest, {**tensors, "1.sums": sums})).fitted.model
    assert len(model.sample(1, seed=0)["mail"][0].split()) < 200_000


def test_a_pipe_without_end_is_read_no_further_than_its_header_says():
    class Endless(io.BytesIO):
        taken = 0

        def read(self, size):
            self.taken += size
            return super().read(size).ljust(size, b"\0")

    for data in (b"", WHOLE, WHOLE[:2000]):
        endless = Endless(data)
        refused(endless, "cut or damaged|not a model file")
        assert endless.taken < len(WHOLE) + 2**18


def read(data):
    """Read bytes with a right digest: they are refused, or what they hold is sound."""
    try:
        found = load(data)
    except tb.TallyBayesError:
        return
    tally = found.fitted.tally
    assert_same_stored(load(dump_bytes(found)), found)
    assert tally + tb.Tally(tally.schema) == tally
    assert (tally.rows > 0).all()
    assert all((block.rows >= 0).all() and (block.weight >= 0.0).all() for block in tally.blocks)
    with warnings.catch_warnings(), suppress(tb.TallyBayesError):
        warnings.simplefilter("ignore")
        posterior = found.fitted.model.posterior(NEW)
        assert ((posterior >= 0.0) & (posterior <= 1.0)).all()


SENSIBLE = st.sampled_from(["Gaussian", "Words", "type", "p", "yes", "no", "int64", "age"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 5) | st.floats() | st.text(max_size=3) | SENSIBLE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SENSIBLE, inner, max_size=2),
    max_leaves=6,
)


def places_of(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places_of(value[key], (*path, key))


@scaled(8)
@given(st.sampled_from([path for path in places_of(MANIFEST) if path]), ANYTHING)
def test_anything_anywhere_gives_an_error_or_a_sound_model(path, value):
    read(put_together(changed(path, value), TENSORS))


@scaled(8)
@given(st.sampled_from(sorted(TENSORS)), st.data())
def test_any_number_in_an_array_gives_an_error_or_a_sound_model(name, data):
    array = TENSORS[name].copy()
    place = data.draw(st.integers(0, array.size - 1))
    raw = data.draw(st.binary(min_size=array.itemsize, max_size=array.itemsize))
    odd = st.sampled_from([0, 1, -1, 2**62, np.nan, np.inf, 1e300, 0.5])
    with suppress(OverflowError, ValueError):
        array.flat[place] = data.draw(odd | st.just(np.frombuffer(raw, array.dtype)[0]))
    with np.errstate(all="ignore"):
        read(put_together(MANIFEST, {**TENSORS, name: array}))


@scaled(4)
@given(st.binary(max_size=200))
def test_any_bytes_as_a_manifest_or_behind_a_beginning_like_ours_are_an_error(noise):
    refused(put_together(noise, TENSORS), "cannot be read by this version of")
    refused(signed(WHOLE[:64] + noise), "cannot be read by this version of")


def test_nan_is_no_value_of_a_column():
    schema = tb.Schema.of(["c"], [tb.Categories((float("nan"),))])
    data = tb.Tally(schema).with_classes(("n", "y")).to_bytes()
    with pytest.raises(tb.TallyBayesError, match="do not fit together"):
        tb.Tally.from_bytes(data)
