"""The zip that a model file is: members one behind the other, stored as they are.

The standard library writes it. It is read here, because a reader of zips in general takes much more
than we ever write: compressed and encrypted members, several of one name, members that overlap,
gaps between them, comments. Nothing of that is needed, so all of it is refused, and no size is
believed before it is found to lie within the file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import IO, Any, NamedTuple
from zlib import crc32

from tallybayes.modelfile.trouble import Foreign, require

MANIFEST = "manifest.json"
FIRST = b"PK\x03\x04"  # how a zip begins
MARK = b'{"tallybayes":'  # how our manifest begins
HEAD = 1024  # bytes that say whether a file is one of ours

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR64 = struct.Struct("<4sLQL")
_FULL = 0xFFFFFFFF  # "too large for 32 bits": see the field of 64 bits
_UTF8 = 0x800

Content = tuple[str, Sequence[Any]]


class Member(NamedTuple):
    """A member of the archive: where its bytes are, and what they should add up to."""

    name: str
    start: int
    size: int
    crc: int


@dataclass(frozen=True, slots=True)
class Archive:
    """The members of a file, which were found to lie one behind the other."""

    file: IO[bytes]
    members: tuple[Member, ...]

    def read(self, member: Member, into: Any = None) -> Any:
        """Return the bytes of a member, in a buffer of its size that may be given."""
        buffer = bytearray(member.size) if into is None else into
        view = memoryview(buffer)
        self.file.seek(member.start)
        done = 0
        while done < member.size:
            # a pipe or a network file system may give less than it is asked for
            n = self.file.readinto(view[done:])  # type: ignore[attr-defined]
            require(bool(n), f"the member {member.name} ends too soon")
            done += n
        require(crc32(view) == member.crc, f"the member {member.name} was changed")
        return buffer


def looks_like_one(head: bytes) -> bool:
    """Tell whether a file that begins like this is a model file, be it cut or damaged later."""
    if len(head) < _LOCAL.size or head[:4] != FIRST:
        return False
    *_, name, extra = _LOCAL.unpack_from(head)
    start = _LOCAL.size + name
    there = head[start + extra : start + extra + len(MARK)]
    return head[_LOCAL.size : start] == MANIFEST.encode() and there == MARK


def opened(file: IO[bytes]) -> Archive:
    """Find the members of a file, the manifest first; anything unusual is an error."""
    size = file.seek(0, 2)
    file.seek(0)
    head = file.read(HEAD)
    if not looks_like_one(head):
        if not head:
            raise Foreign("it is empty")
        zipped = head[:4] == FIRST
        raise Foreign("a zip of other things" if zipped else "it does not begin like one")
    entries = _directory(file, size)
    place = 0
    members = []
    for member, at in entries.found:
        require(at == place, f"the member {member.name!r} is not where it should be")
        start = _start(file, member, at, entries.at)
        members.append(member._replace(start=start))
        place = start + member.size
    require(place == entries.at, "there is something between its members and their directory")
    return Archive(file, tuple(members))


class _Directory(NamedTuple):
    """Where the directory begins, and what it lists: members and where their headers are."""

    at: int
    found: Sequence[tuple[Member, int]]


def _directory(file: IO[bytes], size: int) -> _Directory:
    """Read the directory, which ends where the file ends."""
    at = size - _END.size
    mark, disk, first, here, total, length, start, comment = _END.unpack(_bytes(file, at, _END))
    require(mark == b"PK\x05\x06" and comment == 0, "it does not end like a model file")
    locator = _LOCATOR64.unpack(_bytes(file, at - _LOCATOR64.size, _LOCATOR64))
    if locator[0] == b"PK\x06\x07":  # beyond 32 bits
        at -= _LOCATOR64.size + _END64.size
        mark, _, _, _, disk, first, here, total, length, start = _END64.unpack(
            _bytes(file, at, _END64)
        )
        require(mark == b"PK\x06\x06" and locator[1:] == (0, at, 1), "no directory")
    require(disk == first == 0 and here == total, "it is one of several parts")
    require(start + length == at and length >= total * _CENTRAL.size, "its directory is cut")
    file.seek(start)
    raw = file.read(length)  # not more than the file has
    require(len(raw) == length, "its directory is cut")
    found = []
    place = 0
    for _ in range(total):
        require(place + _CENTRAL.size <= length, "its directory is cut")
        member, where, place = _entry(raw, place)
        found.append((member, where))
    require(place == length, "its directory is longer than it says")
    return _Directory(start, found)


def _entry(raw: bytes, place: int) -> tuple[Member, int, int]:
    """Read an entry of the directory; return the member, where it is, and where the next begins."""
    (
        mark, _, _, flags, method, _, _, crc, packed, size, name, extra, comment, disk, _, _, at
    ) = _CENTRAL.unpack_from(raw, place)  # fmt: skip
    require(mark == b"PK\x01\x02", "its directory is damaged")
    place += _CENTRAL.size
    label = raw[place : place + name].decode("utf-8", "replace")
    more = raw[place + name : place + name + extra]
    require(len(more) == extra, "its directory is cut")
    require(method == 0, f"the member {label!r} is compressed")
    require(flags & ~_UTF8 == 0, f"the member {label!r} is encrypted or streamed")
    require(comment == 0 and disk == 0, f"the member {label!r} has a comment or is elsewhere")
    size, packed, at = _large(more, [size, packed, at])
    require(size == packed, f"the member {label!r} has two sizes")
    return Member(label, 0, size, crc), at, place + name + extra


def _large(extra: bytes, values: list[int]) -> list[int]:
    """Put numbers of 64 bits where those of 32 say that they are too small."""
    place = 0
    while place + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, place)
        if kind == 1:
            more = extra[place + 4 : place + 4 + length]
            wide = iter(struct.unpack(f"<{len(more) // 8}Q", more[: len(more) // 8 * 8]))
            return [next(wide, value) if value == _FULL else value for value in values]
        place += 4 + length
    return values


def _start(file: IO[bytes], member: Member, at: int, end: int) -> int:
    """Return where the bytes of a member begin; its own header must agree with the directory."""
    name: int
    extra: int
    mark, _, flags, method, _, _, crc, packed, size, name, extra = _LOCAL.unpack(
        _bytes(file, at, _LOCAL)
    )
    label = file.read(name).decode("utf-8", "replace")
    same = mark == FIRST and flags & ~_UTF8 == 0 and method == 0 and label == member.name
    same = same and crc == member.crc and {size, packed} <= {member.size, _FULL}
    start = at + _LOCAL.size + name + extra
    require(same and start + member.size <= end, f"the member {member.name!r} is damaged")
    return start


def _bytes(file: IO[bytes], at: int, what: struct.Struct) -> bytes:
    """Return the bytes of a header."""
    require(at >= 0, "it is too short")
    file.seek(at)
    raw = file.read(what.size)
    require(len(raw) == what.size, "it is too short")
    return raw


def write(file: IO[bytes], members: Iterable[Content]) -> None:
    """Write members, each given by its name and the buffers that make it up."""
    from zipfile import ZipFile, ZipInfo

    with ZipFile(file, "w") as archive:
        for name, buffers in members:
            info = ZipInfo(name)  # of 1980: the same model makes the same file
            info.file_size = sum(memoryview(each).nbytes for each in buffers)
            with archive.open(info, "w") as member:
                for each in buffers:
                    member.write(each)
