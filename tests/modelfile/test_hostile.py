"""Files that someone made up get one clear error, whatever they say, and nothing of them runs."""

import json
import pickle
import subprocess
import sys
import warnings
import zipfile
from contextlib import suppress
from hashlib import sha256
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallybayes as tb
from modelfile.samples import CALIBRATIONS, NEW, assert_same_stored, mixed, small, stored
from tallybayes.model import Fitted
from tallybayes.modelfile import archive, dump_bytes, is_model_file, load
from tallybayes.modelfile.arrays import header_of
from tiers import scaled

MODEL = stored(mixed(calibration=CALIBRATIONS["weights"]), estimator={"alpha": 1})
WHOLE = dump_bytes(MODEL)


def taken_apart(data=WHOLE):
    """Return the manifest and the other members by name."""
    with zipfile.ZipFile(BytesIO(data)) as zipped:
        members = {name: zipped.read(name) for name in zipped.namelist()}
    return json.loads(members.pop("manifest.json")), members


def put_together(manifest, members, describe=True, **options):
    """Zip a manifest and members; the checksums in it are made right, if nothing else is."""
    if describe and isinstance(manifest, dict):
        for said in manifest.get("arrays", ()):
            if isinstance(said, dict) and said.get("name") in members:
                said["sha256"] = sha256(members[said["name"]]).hexdigest()
    head = manifest if isinstance(manifest, bytes) else json.dumps(manifest, separators=(",", ":"))
    out = BytesIO()
    with zipfile.ZipFile(out, "w", **options) as zipped:
        zipped.writestr("manifest.json", head)
        for name, content in members.items():
            zipped.writestr(name, content)
    return out.getvalue()


def refused(data, match):
    with pytest.raises(tb.TallyBayesError, match=match) as caught:
        load(data)
    assert str(caught.value).startswith("the model ")
    assert len(str(caught.value)) < 600


def npy(array):
    out = BytesIO()
    np.save(out, array)
    return out.getvalue()


def test_taking_apart_and_putting_together_changes_nothing():
    assert_same_stored(load(put_together(*taken_apart())), MODEL)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "it is empty"),
        (b"PK", "does not begin like one"),
        (b"hello, world\n" * 100, "does not begin like one"),
        (pickle.dumps({"a": 1}), "does not begin like one"),
        (bytes(1000), "does not begin like one"),
        (b"PK\x05\x06" + bytes(18), "does not begin like one"),
        (put_together({"name": "an extension of a browser"}, {}), "a zip of other things"),
        (tb.Tally.of({"x": [1.0]}, ["a"]).to_bytes(), "does not begin like one"),
    ],
    ids=["nothing", "P", "text", "pickle", "zeros", "an empty zip", "another zip", "a tally"],
)
def test_other_files_are_not_model_files(data, what, tmp_path):
    refused(data, f"the model is not a model file: .*{what}.*; give a file that tallybayes wrote")
    (tmp_path / "a").write_bytes(data)
    assert not is_model_file(tmp_path / "a")


def test_a_file_of_a_later_format_says_so_whatever_else_is_in_it():
    later = {"tallybayes": 7, "something": "else"}
    data = put_together(later, {"arrays/0.parquet": b"?"})
    refused(data, r"made by a newer version .*its format is 7, and this one reads up to 1; upgrade")


def test_a_family_of_a_later_version_says_so():
    manifest, members = taken_apart()
    manifest["columns"]["income"] = {"Student": {"df": 3.0}}
    refused(put_together(manifest, members), "newer version .*Student.*upgrade")


@pytest.mark.parametrize("version", [0, -1, 1.0, True, "1", None, [1], 10**400])
def test_a_format_without_a_version_is_an_error(version):
    manifest, members = taken_apart()
    refused(put_together({**manifest, "tallybayes": version}, members), "damaged|newer")


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=str
)
def test_compressed_members_are_an_error_and_are_not_unpacked(method):
    manifest, members = taken_apart()
    bomb = {**members, "arrays/0.npy": header_of("|u1", (2**24,)) + bytes(2**24)}
    for compressed in (members, bomb):
        out = BytesIO()
        with zipfile.ZipFile(out, "w") as zipped:
            zipped.writestr("manifest.json", json.dumps(manifest, separators=(",", ":")))
            for name, content in compressed.items():
                zipped.writestr(name, content, method)
        refused(out.getvalue(), "is compressed")


NAMES = ["../arrays/0.npy", "/etc/passwd", "arrays/../../x", "arrays/01.npy", "ARRAYS/0.NPY",
         "arrays\\0.npy", " ", "arrays/0.npy/", "manifest.json", "x" * 9000]  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_of_other_names_are_an_error_and_no_file_is_written(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    manifest, members = taken_apart()
    contents = list(members.values())
    renamed = put_together(manifest, {name: contents[0], **dict(list(members.items())[1:])})
    more = put_together(manifest, {**members, name: b"?"})
    agreed = json.loads(json.dumps(manifest))
    agreed["arrays"][0]["name"] = name
    both = put_together(agreed, {name: contents[0], **dict(list(members.items())[1:])})
    for data in (renamed, more, both):
        refused(data, "damaged")
    assert list(tmp_path.iterdir()) == []


def test_members_that_are_missing_or_in_another_order_are_an_error():
    manifest, members = taken_apart()
    items = list(members.items())
    for wrong in (items[1:], []):
        refused(put_together(manifest, dict(wrong)), "other members than its manifest says")
    for wrong in (items[::-1], [items[1], items[0], *items[2:]]):
        refused(put_together(manifest, dict(wrong)), "is no array")
    wrong = json.loads(json.dumps(manifest))
    wrong["arrays"][0]["comment"] = "?"
    refused(put_together(wrong, members), "is not described")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_an_error():
    manifest, members = taken_apart()
    out = BytesIO(put_together(manifest, members))
    with zipfile.ZipFile(out, "a") as zipped:
        zipped.writestr("arrays/0.npy", members["arrays/0.npy"])
    refused(out.getvalue(), "damaged")
    manifest["arrays"].append(manifest["arrays"][0])
    out = BytesIO(put_together(manifest, members))
    with zipfile.ZipFile(out, "a") as zipped:
        zipped.writestr("arrays/0.npy", members["arrays/0.npy"])
    refused(out.getvalue(), "damaged")


def directory_of(data):
    """Return where the directory begins, and where each of its entries does."""
    start = int.from_bytes(data[-6:-2], "little")
    places, place = [], start
    while data[place : place + 4] == b"PK\x01\x02":
        places.append(place)
        lengths = np.frombuffer(data[place + 28 : place + 34], "<u2")
        place += 46 + int(lengths.sum())
    return start, places


def changed(data, place, value, size):
    return data[:place] + value.to_bytes(size, "little") + data[place + size :]


def test_members_that_overlap_are_an_error():
    _, places = directory_of(WHOLE)
    first = int.from_bytes(WHOLE[places[1] + 42 : places[1] + 46], "little")
    refused(changed(WHOLE, places[2] + 42, first, 4), "not where it should be")
    entry = WHOLE[places[1] : places[2]]
    doubled = WHOLE[: places[2]] + entry + WHOLE[places[2] :]
    size = int.from_bytes(WHOLE[-10:-6], "little") + len(entry)
    n = int.from_bytes(WHOLE[-12:-10], "little") + 1
    end = doubled[-22:-14] + n.to_bytes(2, "little") * 2 + size.to_bytes(4, "little") + doubled[-6:]
    refused(doubled[:-22] + end, "not where it should be")


@pytest.mark.parametrize("size", [0, 1, 10**6, 2**31, 2**32 - 1])
def test_sizes_that_the_file_does_not_have_are_an_error(size):
    _, places = directory_of(WHOLE)
    for place in places:
        for of in ((20, 24), (20,), (24,)):
            data = WHOLE
            for field in of:
                data = changed(data, place + field, size, 4)
            refused(data, "damaged")


@pytest.mark.parametrize(("field", "value"), [
    (8, 1), (8, 8), (8, 0x2000), (10, 8), (10, 99), (32, 5), (34, 1), (30, 9), (28, 5),
])  # fmt: skip
def test_encrypted_streamed_commented_and_scattered_members_are_an_error(field, value):
    _, places = directory_of(WHOLE)
    refused(changed(WHOLE, places[1] + field, value, 2), "damaged")


@pytest.mark.parametrize(("field", "value"), [(6, 8), (8, 8), (6, 1), (14, 5), (26, 11)])
def test_a_member_that_says_something_else_than_the_directory_is_an_error(field, value):
    _, places = directory_of(WHOLE)
    at = int.from_bytes(WHOLE[places[1] + 42 : places[1] + 46], "little")
    refused(changed(WHOLE, at + field, value, 2), "the member 'arrays/0.npy' is damaged")


@pytest.mark.parametrize("field", [4, 6, 8, 10])
def test_a_directory_of_several_parts_is_an_error(field):
    refused(changed(WHOLE, len(WHOLE) - 22 + field, 7, 2), "it is one of several parts")


def test_comments_and_gaps_are_an_error():
    refused(WHOLE[:-2] + b"\x05\x00hello", "does not end like a model file")
    start, _ = directory_of(WHOLE)
    gap = WHOLE[:start] + bytes(10) + WHOLE[start:]
    refused(changed(gap, len(gap) - 6, start + 10, 4), "between its members and their directory")
    refused(b"#!/bin/sh\n" + WHOLE, "does not begin like one")


def test_a_directory_of_64_bits_that_lies_is_an_error():
    full = WHOLE[:-12] + b"\xff" * 10 + b"\x00\x00"
    refused(full, "damaged")
    for count in (2**63, 2**64 - 1, 10**9):
        record = b"PK\x06\x06" + (44).to_bytes(8, "little") + bytes(12)
        record += (
            count.to_bytes(8, "little") * 2 + bytes(8) + len(WHOLE[:-22]).to_bytes(8, "little")
        )
        locator = b"PK\x06\x07" + bytes(4) + len(WHOLE[:-22]).to_bytes(8, "little") + b"\1\0\0\0"
        assert len(record) == 56
        refused(WHOLE[:-22] + record + locator + full[-22:], "damaged")


def test_archives_beyond_32_bits_can_be_read(monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 700)
    large = dump_bytes(MODEL)
    assert b"PK\x06\x06" in large
    assert len(large) > len(WHOLE)
    assert_same_stored(load(large), MODEL)
    for end in range(0, len(large), 7):
        refused(large[:end], "damaged|not a model file")


SIDES = [10**6, 2**31, 2**62, 2**63, 10**30, -1, 1.0, True, "2", None]


@pytest.mark.parametrize("side", SIDES, ids=str)
def test_shapes_that_the_bytes_cannot_hold_are_an_error(side):
    manifest, members = taken_apart()
    for shape in ([side], [side, 0], [0, side], [side, side], [2, 1, side], side):
        wrong = json.loads(json.dumps(manifest))
        wrong["arrays"][0]["shape"] = shape
        refused(put_together(wrong, members), "has the shape|is not as long as its shape says")


def test_a_header_that_promises_more_than_the_manifest_is_an_error():
    manifest, members = taken_apart()
    for shape in ((2**40,), (3,), (2, 1), ()):
        raw = header_of("<i8", shape)[:128].ljust(128) + members["arrays/0.npy"][-16:]
        wrong = {**members, "arrays/0.npy": raw}
        refused(put_together(manifest, wrong), "has another header than it should")


@pytest.mark.parametrize("array", [
    np.array([1, 2], np.int32), np.array([1, 2], ">i8"), np.array([1, 2], np.uint64),
    np.array([1, 2], complex), np.array(["a", "b"]), np.array([1, 2], "M8[s]"),
    np.array([True, False]), np.array([(1, 2)], [("a", "<i8"), ("b", "<i8")]),
    np.asfortranarray(np.ones((2, 3))), np.array(1), np.ones((1, 2, 1)), np.array([1.0, 2.0]),
], ids=lambda array: f"{array.dtype} {array.shape}")  # fmt: skip
def test_arrays_of_other_types_are_an_error(array):
    manifest, members = taken_apart()
    raw = npy(array)
    for dtype in (array.dtype.str, "<i8"):
        wrong = json.loads(json.dumps(manifest))
        wrong["arrays"][0].update(dtype=dtype, shape=list(array.shape))
        said = (
            "is of the type|not as long|another header|has the shape|do not fit together"
            if dtype in ("<i8", "<f8")
            else "is of the type"
        )
        refused(put_together(wrong, {**members, "arrays/0.npy": raw}), said)


class Bomb:
    def __reduce__(self):
        return exec, ("raise SystemExit('the file ran')",)


def test_an_array_of_objects_is_an_error_and_is_not_unpickled():
    manifest, members = taken_apart()
    raw = npy(np.array([Bomb(), Bomb()], dtype=object))
    with pytest.raises(SystemExit):  # the bomb would go off
        np.load(BytesIO(raw), allow_pickle=True)
    for dtype in ("|O", "<i8", "O", "object"):
        wrong = json.loads(json.dumps(manifest))
        wrong["arrays"][0].update(dtype=dtype, shape=[2])
        said = "is not as long as its shape says" if dtype == "<i8" else "is of the type"
        refused(put_together(wrong, {**members, "arrays/0.npy": raw}), said)


def with_numbers(change):
    """Yield files in which each of the arrays in turn is changed somewhere, checksums and all."""
    manifest, members = taken_apart()
    for number, said in enumerate(manifest["arrays"]):
        name = said["name"]
        raw = members[name]
        start = len(header_of(said["dtype"], tuple(said["shape"])))
        array = np.frombuffer(raw[start:], said["dtype"]).reshape(said["shape"]).copy()
        if array.size and change(array):
            wrong = {**members, name: raw[:start] + array.tobytes()}
            yield number, put_together(json.loads(json.dumps(manifest)), wrong)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf], ids=str)
def test_counts_that_are_no_numbers_are_an_error(bad):
    def change(array):
        if array.dtype.kind != "f":
            return False
        array.flat[-1] = bad
        return True

    tried = list(with_numbers(change))
    assert len(tried) > 10
    for _, data in tried:
        refused(data, "its parts do not fit together")


def test_counts_below_zero_are_an_error():
    def change(array):
        array.flat[0] = (
            array.dtype.type(0) - array.dtype.type(1) if array.dtype != np.uint8 else 255
        )
        return True

    tried = list(with_numbers(change))
    means = 0
    for _, data in tried:
        try:
            load(data)
            means += 1
        except tb.TallyBayesError:
            pass
    assert len(tried) > 20
    assert means == 6  # and ends of numbers and of logarithms, which may be below zero


def test_edges_of_words_that_go_back_are_an_error():
    manifest, members = taken_apart()
    (said,) = (
        each for each in manifest["arrays"] if each["dtype"] == "|u1"
    )  # the letters; the edges follow
    edges = manifest["arrays"][manifest["arrays"].index(said) + 1]
    start = len(header_of("<i8", tuple(edges["shape"])))
    raw = members[edges["name"]]
    array = np.frombuffer(raw[start:], "<i8").copy()
    array[[1, 2]] = array[[2, 1]]
    wrong = {**members, edges["name"]: raw[:start] + array.tobytes()}
    refused(put_together(manifest, wrong), "its parts do not fit together")


def head(**changes):
    """Return the manifest as text, in which some values are other JSON."""
    manifest, _ = taken_apart()
    text = json.dumps({**manifest, **dict.fromkeys(changes, "@@")}, separators=(",", ":"))
    for value in changes.values():
        text = text.replace('"@@"', value, 1)
    return text.encode()


JSONS = {
    "nested deeply": "[" * 100_000 + "]" * 100_000,
    "mappings nested deeply": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "never closed": "[" * 100_000,
    "NaN": '{"a":NaN}',
    "infinity": '{"a":Infinity}',
    "less than all": '{"a":-Infinity}',
    "beyond all bounds": '{"a":1e999}',
    "beyond all bounds below": '{"a":-1e999}',
    "of many digits": '{"a":' + "9" * 5000 + "}",
    "twice the same key": '{"a":1,"a":2}',
    "not closed": '{"a":1',
    "no JSON": "{a:1}",
    "a comment": '{"a":1}//',
}


@pytest.mark.parametrize("name", JSONS)
def test_json_that_is_none_or_absurd_is_an_error(name):
    _, members = taken_apart()
    refused(put_together(head(estimator=JSONS[name]), members), "damaged")
    refused(put_together(head(prior=JSONS[name]), members), "damaged")


def test_bytes_that_are_no_text_are_an_error():
    _, members = taken_apart()
    for more in (b"\xff", b"\xed\xa0\x80", b"\x00"):
        refused(
            put_together(head().replace(b'"alpha":1}', b'"' + more + b'":1}'), members), "damaged"
        )


def test_integers_of_many_digits_are_an_error_where_a_count_is_expected():
    manifest, members = taken_apart()
    huge = 10**400
    for place in ("rows", "skipped"):
        wrong = json.loads(json.dumps(manifest))
        wrong["provenance"][place] = str(huge)
        refused(put_together(wrong, members), "damaged")
    wrong = json.loads(json.dumps(manifest))
    wrong["columns"]["income"]["Gaussian"]["ddof"] = huge
    refused(put_together(wrong, members), "damaged")


@pytest.mark.parametrize("part", [
    "tally", "families", "columns", "prior", "positive", "calibration", "announced", "shown_as",
    "reasons", "provenance", "estimator", "arrays",
])  # fmt: skip
def test_a_manifest_with_a_part_missing_is_an_error(part):
    manifest, members = taken_apart()
    del manifest[part]
    refused(put_together(manifest, members), "damaged")


def test_a_manifest_with_a_part_too_many_is_an_error():
    manifest, members = taken_apart()
    refused(put_together({**manifest, "run": "me"}, members), "damaged")


VALUES = {
    "a family that is a prior": ("columns", {"income": {"Uniform": {}}}),
    "a family that is a number": ("columns", {"income": 1.0}),
    "a list of columns": ("columns", [["income", {"Gaussian": {}}]]),
    "a class of Python": ("columns", {"income": {"object": {}}}),
    "a module of Python": ("columns", {"income": {"os.system": {"command": "true"}}}),
    "a field that is none": ("columns", {"income": {"Gaussian": {"exec": 1}}}),
    "a private field": ("columns", {"income": {"Gaussian": {"__class__": 1}}}),
    "two names": ("columns", {"income": {"Gaussian": {}, "LogNormal": {}}}),
    "no name": ("columns", {"income": {}}),
    "a floor that is a family": ("columns", {"income": {"Gaussian": {"floor": {"Gaussian": {}}}}}),
    "a negative alpha": ("columns", {"rooms": {"Categorical": {"alpha": -1.0}}}),
    "an alpha of text": ("columns", {"rooms": {"Categorical": {"alpha": "1"}}}),
    "an alpha that nobody did not state": (
        "columns", {"rooms": {"Categorical": {"alpha": {"unstated": -1.0}}}}),
    "a guess that is a number": ("columns", {"rooms": {"Categorical": {
        "m": 1.0, "p": {"ByValue": {"p": 3.0}}}}}),
    "a guess of text": ("columns", {"rooms": {"Categorical": {
        "m": 1.0, "p": {"ByValue": {"p": {"pairs": [[1, "one"]]}}}}}}),
    "keys that are lists": ("columns", {"rooms": {"Categorical": {
        "m": 1.0, "p": {"ByValue": {"p": {"pairs": [[{"pairs": []}, 1.0]]}}}}}}),
    "a key twice": ("prior", {"Fixed": {"p": {"pairs": [["yes", 0.5], ["no", 0.5], ["no", 0.5]]}}}),
    "pairs of three": ("prior", {"Fixed": {"p": {"pairs": [["yes", 0.5, 1]]}}}),
    "priors that do not add up": ("prior", {"Fixed": {"p": {"pairs": [["yes", 0.5]]}}}),
    "priors below zero": ("prior", {"Fixed": {"p": {"pairs": [["yes", 2.0], ["no", -1.0]]}}}),
    "a prior that is a family": ("prior", {"Gaussian": {}}),
    "no prior": ("prior", None),
    "a bag that is a list": ("families", [{"Multinomial": {"bag": ["a"]}}]),
    "words of a group that is not there": ("families", [{"Text": {"words": {"counted": 99}}}]),
    "words before the first group": ("families", [{"Text": {"words": {"counted": -1}}}]),
    "words that are numbers": ("families", [{"Text": {"words": {"counted": 0}}}]),
    "words of a function": ("families", [{"Text": {"words": {"Words": {"tokens": "eval"}}}}]),
    "a vocabulary that is text": ("families", [{"Text": {"vocabulary": "abc"}}]),
    "a calibration that is a prior": ("calibration", {"Uniform": {}}),
    "a calibration of another kind": ("calibration", {"Calibration": {"how": "magic"}}),
    "exponents below zero": ("calibration", {"Calibration": {
        "how": "weights", "exponents": {"pairs": [["age", -1.0]]}}}),
    "an exponent of the prior below zero": (
        "calibration", {"Calibration": {"how": "weights", "prior": -0.5}}),
    "exponents that are no numbers": (
        "calibration", {"Calibration": {"how": "temperature", "default": {"float": "nan"}}}),
    "an isotonic calibration": (
        "calibration", {"Calibration": {"how": "isotonic", "curves": {"pairs": []}}}),
    "a float that has a name": (
        "calibration", {"Calibration": {"how": "weights", "loss": {"float": "1e5"}}}),
    "labels of a dtype": ("shown_as", "O,O"),
    "labels that are wide": ("shown_as", "U1000000000"),
    "labels that are numbers": ("shown_as", "int64"),
    "announced classes of two types": ("announced", ["no", 1]),
    "announced classes that are lists": ("announced", [["no"]]),
    "a positive class that is a list": ("positive", ["yes"]),
    "reasons that are numbers": ("reasons", {"age": 1}),
    "reasons that are a list": ("reasons", ["age"]),
    "a provenance that is text": ("provenance", "here"),
    "a provenance of less": ("provenance", {"created": ""}),
    "an estimator that is a list": ("estimator", []),
    "arrays that are a mapping": ("arrays", {}),
    "arrays that are numbers": ("arrays", [1] * 40),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values_that_nobody_stores_are_an_error(name):
    part, value = VALUES[name]
    manifest, members = taken_apart()
    assert part in manifest
    refused(put_together({**manifest, part: value}, members), "damaged|newer")


def test_labels_that_their_type_cannot_hold_are_an_error():
    tally = tb.Tally.of({"x": [1.0, 2.0]}, [0.5, 1.5])
    manifest, members = taken_apart(dump_bytes(stored(Fitted(tally))))
    for name in ("int64", "bool", "str"):
        refused(put_together({**manifest, "shown_as": name}, members), "are not its classes")


SENSIBLE = st.sampled_from([
    "Gaussian", "Categorical", "pairs", "counted", "unstated", "float", "array", "Words", "yes",
    "no", "int64", "age", "nan",
])  # fmt: skip
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 5)
    | st.floats(-2, 2)
    | st.text(max_size=3)
    | SENSIBLE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SENSIBLE, inner, max_size=2),
    max_leaves=6,
)


def places_of(value, path=()):
    """Go through all places in a manifest."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places_of(value[key], (*path, key))


MANIFEST, MEMBERS = taken_apart()
PLACES = [path for path in places_of(MANIFEST) if path and path[0] != "arrays"]


@scaled(4)
@given(st.sampled_from(PLACES), JSON)
def test_any_json_anywhere_gives_an_error_or_a_model_that_can_be_asked(path, value):
    manifest = json.loads(json.dumps(MANIFEST))
    inside = manifest
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    try:
        found = load(put_together(manifest, MEMBERS))
    except tb.TallyBayesError:
        return
    assert_same_stored(load(dump_bytes(found)), found)
    with warnings.catch_warnings(), suppress(tb.TallyBayesError):
        warnings.simplefilter("ignore", tb.TallyBayesWarning)
        posterior = found.fitted.model.posterior(NEW)
        assert ((posterior >= 0.0) & (posterior <= 1.0)).all()


@scaled(4)
@given(st.binary(max_size=300))
def test_any_bytes_behind_a_beginning_like_ours_give_an_error(noise):
    refused(WHOLE[:60] + noise, "damaged")


def test_no_memory_is_taken_for_what_is_not_there(tmp_path):
    manifest, members = taken_apart(dump_bytes(small()))
    files = []
    for side in (2**33, 2**40):
        wrong = json.loads(json.dumps(manifest))
        wrong["arrays"][0]["shape"] = [side]
        files.append(put_together(wrong, members))
    wrong = json.loads(json.dumps(manifest))
    intervals = {"kind": "Intervals", "options": {}, "positions": None}
    wrong["tally"]["schema"].update(names=10**7, groups=[intervals], reasons=None, declared={})
    files.append(put_together(wrong, members))
    whole = dump_bytes(small())
    start, places = directory_of(whole)
    files.append(
        changed(changed(whole, places[0] + 20, 2**32 - 2, 4), places[0] + 24, 2**32 - 2, 4)
    )
    files.append(changed(whole, len(whole) - 10, 2**32 - 2, 4))
    assert start
    for number, data in enumerate(files):
        (tmp_path / f"{number}.tally").write_bytes(data)
    script = (
        "import resource, sys, tallybayes as tb\n"
        "from tallybayes.modelfile import load\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "for path in sys.argv[1:]:\n"
        "    try: load(path)\n"
        "    except tb.TallyBayesError as error: print('into memory' not in str(error))\n"
    )
    paths = [str(each) for each in sorted(tmp_path.iterdir())]
    done = subprocess.run(
        [sys.executable, "-c", script, *paths], capture_output=True, text=True, timeout=300
    )
    assert done.stdout.split() == ["True"] * len(files), done.stderr[-300:]


def test_a_manifest_beyond_all_measure_is_an_error(monkeypatch):
    from tallybayes.modelfile import reading, writing

    monkeypatch.setattr(reading, "LARGEST", 1000)
    refused(WHOLE, "its manifest is too long")
    monkeypatch.setattr(writing, "LARGEST", 1000)
    with pytest.raises(tb.TallyBayesError, match="more than the 1,000 that a model file may have"):
        dump_bytes(MODEL)


def test_the_beginning_of_a_file_says_whether_it_is_a_model_file(tmp_path):
    path = tmp_path / "a.tally"
    for data, is_one in ((WHOLE, True), (WHOLE[:200], True), (WHOLE[:50], False), (b"", False)):
        path.write_bytes(data)
        assert is_model_file(path) is is_one
    assert not is_model_file(tmp_path)
    assert not is_model_file(tmp_path / "b.tally")
    assert not is_model_file("\x00")
    assert archive.MARK in WHOLE[:60]
