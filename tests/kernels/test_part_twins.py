"""The parts that scores are made of: compiled loops and their twins agree, and add up to scores."""

import inspect

import numpy as np
import pytest

from kernels import test_twins as scores
from tallybayes.kernels import compiled_parts, plain, plain_parts

SIZES = {"small": (3, 4, 2), "one class": (9, 5, 1), "large": (400, 7, 3)}
NAMES = ["part_binary", "part_codes", "part_counts", "part_normals"]


def cases(name, size):
    """Inputs of the kernel that adds the same terms up."""
    rng = np.random.default_rng(list(f"{name} {size}".encode()))
    n, k, c = SIZES[size]
    case = getattr(scores, name.replace("part", "score"))
    for inputs, _ in case(rng, n, k, c):
        yield inputs, n, k, c, rng


def test_every_loop_has_a_twin():
    for module in (compiled_parts, plain_parts):
        assert sorted(name for name in vars(module) if name.startswith("part_")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_twins_take_the_same_arguments(name):
    by_name = inspect.signature(getattr(compiled_parts, name).py_func).parameters
    assert list(by_name) == list(inspect.signature(getattr(plain_parts, name)).parameters)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_twins_agree_and_write_nothing_else(name, size):
    for inputs, n, k, c, rng in cases(name, size):
        for places in (None, rng.permutation(k + 2)[:k]):
            shape = (c, n + 5, k if places is None else k + 2)
            ours, oracle = np.full(shape, 7.5), np.full(shape, 7.5)
            getattr(compiled_parts, name)(*inputs, ours, 3, places)
            getattr(plain_parts, name)(*inputs, oracle, 3, places)
            np.testing.assert_allclose(ours, oracle, rtol=1e-12, atol=1e-12)
            assert (ours[:, :3] == 7.5).all()
            assert (ours[:, n + 3 :] == 7.5).all()
            if places is not None:
                rest = np.setdiff1d(np.arange(k + 2), places)
                assert (ours[:, :, rest] == 7.5).all()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("loops", [plain_parts, compiled_parts])
def test_parts_add_up_to_the_score(loops, name, size):
    for inputs, n, k, c, _ in cases(name, size):
        parts, score = np.empty((c, n, k)), np.zeros((n, c))
        getattr(loops, name)(*inputs, parts, 0, None)
        getattr(plain, name.replace("part", "score"))(*inputs, score)
        np.testing.assert_allclose(parts.sum(axis=2).T, score, rtol=1e-11, atol=1e-11)
