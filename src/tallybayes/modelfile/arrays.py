"""Arrays as members of the archive: `.npy` files with a header that is known beforehand.

The manifest says of each array what its type and shape are. From those follows what its header must
be, byte for byte, so that no header is ever interpreted; and how long it must be, so that no memory
is taken for what is not there.

Each array has a SHA-256 in the manifest. The archive's own CRC finds damage by chance; the digest
also finds an array that was put there from another file, and costs little beside reading.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallybayes.modelfile.archive import Archive, Member
from tallybayes.modelfile.trouble import require

Array = NDArray[Any]

TYPES = ("<i8", "<f8", "|u1")
_LINE = 64  # headers end where a line of memory ends, as the format asks


class Packed(NamedTuple):
    """An array as it is written: what the manifest says of it, its header and its numbers."""

    described: dict[str, Any]
    header: bytes
    numbers: Any


def member_name(number: int) -> str:
    """Return the name of the member that holds an array."""
    return f"arrays/{number}.npy"


def header_of(dtype: str, shape: tuple[int, ...]) -> bytes:
    """Return the header of a `.npy` file, version 1.0 of that format."""
    said = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    used = 10 + len(said) + 1
    said += " " * (-used % _LINE) + "\n"
    return b"\x93NUMPY\x01\x00" + len(said).to_bytes(2, "little") + said.encode("ascii")


def packed(array: Array, number: int) -> Packed:
    """Prepare an array to be written."""
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    dtype = plain.dtype.str
    assert dtype in TYPES, f"arrays of {dtype} are not stored"
    header, numbers = header_of(dtype, plain.shape), plain.reshape(-1).view(np.uint8).data
    digest = sha256(header)
    digest.update(numbers)
    said = {
        "name": member_name(number),
        "dtype": dtype,
        "shape": list(plain.shape),
        "sha256": digest.hexdigest(),
    }
    return Packed(said, header, numbers)


def unpacked(archive: Archive, member: Member, said: Any, number: int) -> Array:
    """Read an array of which the manifest says this."""
    what = f"the array {member.name}"
    require(set(said) == {"name", "dtype", "shape", "sha256"}, f"{what} is not described")
    require(said["name"] == member.name == member_name(number), f"{member.name!r} is no array")
    dtype, shape = said["dtype"], said["shape"]
    require(dtype in TYPES, f"{what} is of the type {dtype!r}")
    sides = isinstance(shape, list) and all(type(side) is int and side >= 0 for side in shape)
    require(sides and 1 <= len(shape) <= 2, f"{what} has the shape {shape!r}")
    header = header_of(dtype, tuple(shape))
    size = np.dtype(dtype).itemsize
    for side in shape:
        size *= side
    require(member.size == len(header) + size, f"{what} is not as long as its shape says")
    raw = np.empty(member.size, np.uint8)
    archive.read(member, raw)
    require(raw[: len(header)].tobytes() == header, f"{what} has another header than it should")
    require(sha256(raw.data).hexdigest() == said["sha256"], f"{what} was changed")
    numbers: Array = raw[len(header) :].view(dtype).reshape(shape)
    return numbers.astype(numbers.dtype.newbyteorder("="), copy=False)
