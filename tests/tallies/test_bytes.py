"""Bytes from elsewhere are either a tally or one clear error; nothing else ever comes of them."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallybayes as tb
from tallybayes.tallies import Codes, Counts, container
from tiers import scaled

TABLE = {"x": [1.0, 2.5, None], "colour": ["red", "blue", "red"], "n": [0, 3, 1], "on": [0, 1, 1]}
KINDS = {"n": tb.Count(), "on": tb.Binary()}
TALLY = tb.Tally.of(TABLE, ["yes", "no", "no"], [1.0, 2.0, 0.5], columns=KINDS)
WHOLE = TALLY.to_bytes()
START = len(container.MAGIC) + 8


def assert_sound(tally):
    """Whatever was read is a tally like one that was counted: it can be added, and estimated."""
    assert tally.classes == tuple(sorted(set(tally.classes)))
    assert len({type(label) for label in tally.classes}) <= 1
    assert (tally.rows > 0).all()
    assert (tally.weight > 0.0).all()
    for block in tally.blocks:
        assert (block.rows >= 0).all()
        assert ((block.weight > 0.0) == (block.rows > 0)).all()
        assert (block.rows <= tally.rows[:, None]).all()
        if isinstance(block, Codes):
            assert all(each == tuple(sorted(set(each))) for each in block.labels)
        elif isinstance(block, Counts):
            assert (block.sums >= 0.0).all()
        else:
            assert (block.m2 >= 0.0).all()
    assert tb.Tally.from_bytes(tally.to_bytes()) == tally
    assert tally + tb.Tally(tally.schema) == tally
    str(tally.schema)
    if tally.classes:
        tb.estimate(tally)


def read(data):
    """Read bytes that may be a tally; only our own error may come out."""
    try:
        tally = tb.Tally.from_bytes(data)
    except tb.TallyBayesError:
        return
    assert_sound(tally)


def repacked(**changes):
    """Return bytes whose manifest says something else; None takes a part out."""
    size = int.from_bytes(WHOLE[len(container.MAGIC) : START], "little")
    manifest = {**json.loads(WHOLE[START : START + size]), **changes}
    head = json.dumps({k: v for k, v in manifest.items() if v is not None}).encode()
    return container.MAGIC + len(head).to_bytes(8, "little") + head + WHOLE[START + size :]


def manifest():
    size = int.from_bytes(WHOLE[len(container.MAGIC) : START], "little")
    return json.loads(WHOLE[START : START + size])


def test_the_tally_itself_is_sound_and_comes_back():
    assert_sound(TALLY)
    assert tb.Tally.from_bytes(WHOLE) == TALLY == tb.Tally.from_bytes(repacked())
    assert tb.Tally.from_bytes(bytearray(WHOLE)) == TALLY == tb.Tally.from_bytes(memoryview(WHOLE))


def test_what_is_read_shares_no_memory_with_the_bytes():
    data = bytearray(WHOLE)
    tally = tb.Tally.from_bytes(data)
    data[:] = bytes(len(data))
    assert tally == TALLY


def test_every_cut_is_an_error():
    for end in range(len(WHOLE)):
        with pytest.raises(tb.TallyBayesError, match="not a tally"):
            tb.Tally.from_bytes(WHOLE[:end])


def test_bytes_after_the_end_are_an_error():
    with pytest.raises(tb.TallyBayesError, match="not a tally"):
        tb.Tally.from_bytes(WHOLE + b"\x00")


@pytest.mark.parametrize(
    "data", [b"", b"PK\x03\x04", b"\x80\x04]\x94.", b"hello", bytes(1000), container.MAGIC]
)
def test_foreign_bytes_are_an_error(data):
    with pytest.raises(tb.TallyBayesError, match="not a tally"):
        tb.Tally.from_bytes(data)


@scaled(4)
@given(st.integers(0, 8 * len(WHOLE) - 1))
def test_a_flipped_bit_gives_an_error_or_a_sound_tally(bit):
    data = bytearray(WHOLE)
    data[bit // 8] ^= 1 << bit % 8
    read(bytes(data))


@scaled(2)
@given(st.binary(max_size=200))
def test_any_bytes_after_the_magic_give_an_error_or_a_sound_tally(noise):
    read(container.MAGIC + noise)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 5) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@scaled(4)
@given(st.sampled_from(["classes", "labels", "arrays", "schema"]), JSON)
def test_any_manifest_gives_an_error_or_a_sound_tally(part, value):
    read(repacked(**{part: value}))


@scaled(4)
@given(st.sampled_from(sorted(manifest()["schema"])), JSON)
def test_any_schema_gives_an_error_or_a_sound_tally(part, value):
    read(repacked(schema={**manifest()["schema"], part: value}))


@pytest.mark.parametrize(
    "changes",
    [
        {"classes": ["yes", "no"]},
        {"classes": ["no", "no"]},
        {"classes": ["no", 1]},
        {"classes": [["no"], ["yes"]]},
        {"classes": None},
        {"labels": [None, [["red", "blue"]], None, None]},
        {"labels": [None, [["red", "red"]], None, None]},
        {"labels": [None, [["red", {}]], None, None]},
        {"arrays": [["|O", [2]]]},
    ],
    ids=str,
)
def test_keys_that_no_tally_has_are_an_error(changes):
    with pytest.raises(tb.TallyBayesError):
        tb.Tally.from_bytes(repacked(**changes))


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_numbers_that_no_count_can_be_give_an_error_or_a_sound_tally(bad):
    for place in range(8, 8 * 20, 8):
        data = bytearray(WHOLE)
        data[-place : len(data) - place + 8] = np.float64(bad).tobytes()
        read(bytes(data))


@pytest.mark.parametrize("side", [10**6, 2**31, 2**62, 10**30, -1, 1.0, True, "2"])
def test_shapes_that_the_bytes_cannot_hold_are_an_error(side):
    for shape in ([side], [side, 0], [0, side], [side, side]):
        arrays = [["<i8", shape], *manifest()["arrays"][1:]]
        with pytest.raises(tb.TallyBayesError, match="not a tally"):
            tb.Tally.from_bytes(repacked(arrays=arrays))


@pytest.mark.parametrize("names", [10**9, 10**15, 10**40, -4])
def test_a_number_of_columns_that_the_bytes_cannot_hold_is_an_error_and_takes_no_memory(names):
    script = (
        "import resource, sys, tallybayes as tb\n"
        "tb.Tally.from_bytes\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "try: tb.Tally.from_bytes(sys.stdin.buffer.read())\n"
        "except tb.TallyBayesError: print('refused')\n"
    )
    numeric = {"kind": "Numeric", "options": {}, "positions": None}
    data = repacked(
        schema={**manifest()["schema"], "names": names, "groups": [numeric], "reasons": None},
        labels=[None],
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], input=data, capture_output=True, timeout=300
    )
    assert ran.stdout.strip() == b"refused", ran.stderr.decode()[-300:]


def test_deep_nesting_is_an_error():
    head = b'{"arrays":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    with pytest.raises(tb.TallyBayesError, match="not a tally"):
        tb.Tally.from_bytes(container.MAGIC + len(head).to_bytes(8, "little") + head)
