"""A file that is cut or changed is one clear error, or still the very same model; never another."""

import random

import pytest

import tallybayes as tb
from modelfile.samples import assert_same_stored, mixed, small, stored
from tallybayes.modelfile import dump_bytes, load

FEW, MANY = small(), stored(mixed(), estimator={"alpha": 1})
SMALL, MIXED = dump_bytes(FEW), dump_bytes(MANY)


def read(data, expected):
    """Read bytes that may be damaged; return whether they could be read."""
    try:
        found = load(data)
    except tb.TallyBayesError as error:
        message = str(error)
        assert message.startswith("the model is ")
        assert "; " in message  # and a remedy
        return False
    assert_same_stored(found, expected)
    return True


def test_every_cut_is_an_error():
    assert read(SMALL, FEW)
    for end in range(len(SMALL)):
        assert not read(SMALL[:end], FEW)


def test_a_cut_file_on_disk_is_the_same_error(tmp_path):
    path = tmp_path / "a.tally"
    for end in (60, 61, 70, 100, len(SMALL) - 1):
        path.write_bytes(SMALL[:end])
        with pytest.raises(
            tb.TallyBayesError, match=r"is cut or damaged: it (is too short|does not)"
        ):
            load(path)


def test_every_missing_beginning_is_an_error():
    for start in range(1, len(SMALL)):
        assert not read(SMALL[start:], FEW)


def test_whatever_is_appended_is_an_error():
    for more in (b"\x00", b"\n", SMALL, b"PK\x05\x06" + bytes(18), bytes(70_000)):
        assert not read(SMALL + more, FEW)


def test_every_byte_that_is_left_out_or_doubled_is_an_error():
    for place in range(len(SMALL)):
        assert not read(SMALL[:place] + SMALL[place + 1 :], FEW)
        assert not read(SMALL[:place] + SMALL[place : place + 1] + SMALL[place:], FEW)


@pytest.mark.parametrize("which", ["small", "mixed"])
def test_a_flipped_bit_gives_an_error_or_the_same_model(which):
    whole, expected = (SMALL, FEW) if which == "small" else (MIXED, MANY)
    chance = random.Random(6)
    some = chance.sample(range(8 * len(whole)), 2_000)
    if which == "small":  # two bits of every byte
        some = [8 * k + bit for k in range(len(whole)) for bit in chance.sample(range(8), 2)]
    unharmed = 0
    for bit in some:
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        unharmed += read(bytes(damaged), expected)
    # times, versions and permissions in the headers of the archive say nothing of the model
    assert 0 < unharmed < len(some) / 4


def test_pages_that_never_reached_the_disk_are_an_error():
    for start in range(0, len(MIXED), 512):
        damaged = MIXED[:start] + bytes(len(MIXED[start : start + 512])) + MIXED[start + 512 :]
        assert not read(damaged, MANY)


def test_an_array_of_another_model_is_an_error_even_if_the_archive_is_sound():
    from io import BytesIO
    from zipfile import ZipFile

    other = tb.Tally.of({"x": [1.0, 2.5, 5.0], "c": ["r", "b", "r"]}, ["y", "n", "n"])
    foreign = ZipFile(BytesIO(dump_bytes(stored(tb.model.Fitted(other)))))
    out = BytesIO()
    with ZipFile(BytesIO(SMALL)) as ours, ZipFile(out, "w") as new:
        for name in ours.namelist():
            new.writestr(name, (foreign if name == "arrays/4.npy" else ours).read(name))
    with pytest.raises(tb.TallyBayesError, match=r"arrays/4.npy was changed"):
        load(out.getvalue())
