"""What a service is told when it starts: where its models are, who may do what, how much of it."""

from __future__ import annotations

import hmac
import ipaddress
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import IntEnum
from hashlib import sha256
from pathlib import Path
from typing import Any

from tallybayes.errors import Option, TallyBayesError, did_you_mean, number
from tallybayes.live import LiveOptions

SHORTEST_TOKEN = 16
LOOPBACK = "localhost", "127.0.0.1", "::1"


class Role(IntEnum):
    """Who may do what: each role may do what those before it may.

    Examples
    --------
    >>> Role["learn"] > Role["score"]
    True
    """

    anyone = 0
    score = 1
    learn = 2
    admin = 3


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a service one request, or all of them together, may take.

    Parameters
    ----------
    body, upload, memory
        Bytes of a request, of a model or table that is sent, and of all requests of a process that
        are being read or answered.
    records, rows, columns
        Records or events of a request, rows of an Arrow table, and columns of either.
    seconds
        How long a request may take to arrive and to be answered.
    requests, waiting, connections
        Requests of a process that run at once, those among them that wait for a thread, and
        connections.

    Examples
    --------
    >>> Limits.of({"records": 100}).records
    100
    """

    body: int = 16 << 20
    upload: int = 256 << 20
    memory: int = 512 << 20
    records: int = 10_000
    rows: int = 1_000_000
    columns: int = 10_000
    seconds: float = 30.0
    requests: int = 256
    waiting: int = 32
    connections: int = 1024

    @classmethod
    def of(cls, stated: Mapping[str, object]) -> Limits:
        """Return the limits with those that are stated, as numbers or as text."""
        types = {each.name: float if each.name == "seconds" else int for each in fields(cls)}
        for name in stated:
            if name not in types:
                raise TallyBayesError(f"there is no limit {name!r}; {did_you_mean(name, types)}")
        numbers = {name: _number(value, f"the limit {name}") for name, value in stated.items()}
        whole: Any = {name: types[name](value) for name, value in numbers.items()}
        return cls(**whole)


def _number(value: object, what: str) -> float:
    try:
        return number(float(value) if isinstance(value, str) else value, what, above=0.0)
    except ValueError:
        raise TallyBayesError(f"{what} is {value!r}; it must be a number above 0") from None


@dataclass(frozen=True, slots=True)
class Settings:
    """What a service is told when it starts.

    Parameters
    ----------
    folder
        Where the models are: every .tally in it is one.
    host, port
        Where it listens. Beyond this machine only with `tokens`.
    workers
        How many processes share the port.
    tokens
        The SHA-256 of each bearer token, and its role; without any, everybody may do everything.
    store
        Where events are kept: a file, or the address of a PostgreSQL; a file in the folder if not
        given.
    read_only
        Whether nothing can be learnt or changed.
    hosts, origins
        Names besides its own by which the service may be called, and sites whose pages may call it.
    log
        Which requests are logged: "all", "errors" or "none".
    limits
        How much requests may take.
    live
        How models that learn are kept: snapshots, retention, refits.

    Examples
    --------
    >>> import tempfile
    >>> Settings(tempfile.gettempdir()).local
    True
    """

    folder: str | os.PathLike[str]
    host: str = "127.0.0.1"
    port: int = 8765
    workers: int = 1
    tokens: Mapping[bytes, Role] = field(default_factory=dict, repr=False)
    store: str | None = field(default=None, repr=False)  # it may hold a password
    read_only: bool = False
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    log: str = "all"
    limits: Limits = field(default_factory=Limits)
    live: LiveOptions = field(default_factory=LiveOptions)

    def __post_init__(self) -> None:
        if not Path(self.folder).is_dir():
            raise TallyBayesError(
                f"there is no folder {os.fspath(self.folder)}; make it, and put models in it"
            )
        if not (self.tokens or self.local):
            raise TallyBayesError(
                f"to listen at {self.host}, beyond this machine, takes tokens, for everybody could "
                f"change the models; name a file of them: {Option('token_file')}",
                remedy=Option("token_file"),
            )

    @property
    def local(self) -> bool:
        """Whether only this machine is listened to."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:  # a name may lead anywhere
            return False

    def answers_to(self, host: str) -> bool:
        """Tell whether this is a name of the service, with or without a port.

        A page of another site could otherwise have its own name lead here. Whoever listens at all
        addresses has no name but those that were given, and tokens, which no such page knows.
        """
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        known = {*LOOPBACK, self.host, *self.hosts}
        everywhere = self.host in ("0.0.0.0", "::") and not self.hosts
        return everywhere or name.strip("[]").lower() in known or host in self.hosts

    def role_of(self, token: str | None) -> Role:
        """Return what the bearer of a token may do, after looking at all tokens, however it ends.

        Examples
        --------
        >>> import tempfile
        >>> Settings(tempfile.gettempdir()).role_of(None).name
        'admin'
        """
        if not self.tokens:
            return Role.admin
        role, given = Role.anyone, sha256((token or "").encode()).digest()
        for known, granted in self.tokens.items():
            if hmac.compare_digest(known, given):
                role = granted
        return role


def tokens_in(lines: Iterable[str], name: str = "the file of tokens") -> dict[bytes, Role]:
    """Read tokens: a line each, its role before it; what follows a # is not read.

    Parameters
    ----------
    lines
        The lines.
    name
        What errors call the file.

    Examples
    --------
    >>> list(tokens_in(["admin 3f9c2a71b6e84d05  # for the nightly job"]).values())
    [<Role.admin: 3>]
    """
    found: dict[bytes, Role] = {}
    for place, line in enumerate(lines, 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or words[0] not in Role.__members__ or words[0] == "anyone":
            raise TallyBayesError(
                f"{name}, line {place}: expected a role (score, learn or admin) and a token"
            )
        if len(words[1]) < SHORTEST_TOKEN:
            raise TallyBayesError(
                f"{name}, line {place}: the token has less than {SHORTEST_TOKEN} characters, so it "
                "could be guessed; take one from: openssl rand -hex 32"
            )
        found[sha256(words[1].encode()).digest()] = Role[words[0]]
    if not found:
        raise TallyBayesError(f"{name} has no token; write a line such as: admin TOKEN")
    return found
