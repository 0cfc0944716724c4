"""What every fuzzer shares: inputs that are changed at random, and what may come of them.

`TALLYBAYES_FUZZ_SECONDS` says how long each fuzzer runs in the deep tier; without it each tries so
many cases. A case is a number: `TALLYBAYES_FUZZ_CASE` tries that one again, or so many from there
on: "7:100". What ends the process leaves its number in a file, `tallybayes-fuzz-PID` among the
temporary ones.
"""

import contextlib
import os
import random
import signal
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from tallybayes import TallyBayesError, TallyBayesWarning
from tiers import DEEP, EXAMPLES

SECONDS = float(os.environ.get("TALLYBAYES_FUZZ_SECONDS", 0))
CASE = os.environ.get("TALLYBAYES_FUZZ_CASE")
LAST = Path(tempfile.gettempdir(), f"tallybayes-fuzz-{os.getpid()}")
PATIENCE = 120  # seconds that no small input may take, even on a busy machine
ODD_BYTES = [
    *(b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b"\n", b"\r\n", b"\t", b'"', b'""'),
    *(
        b",",
        b";",
        b"|",
        b"'",
        b"\\",
        b"=1+1",
        b"\x1b[31m",
        b"\xed\xa0\x80",
        b"\xc0\x80",
        b"\xe2\x80",
    ),
    *(
        b"NaN",
        b"nan",
        b"NA",
        b"?",
        b"inf",
        b"-inf",
        b"1e308",
        b"-1e308",
        b"1e999",
        b"5e-324",
        b"-0",
    ),
    *(b"9007199254740993", b"18446744073709551616", b"0x10", b"1_000", b"1,5", b"007", b"true"),
    *(b"2024-02-30", b"2024-02-29", b"0000-00-00", b"9999-12-31T23:59:60Z", b"1969-12-31 23:59"),
    *(b"null", b"{}", b"[]", b"[" * 300, b'{"a":' * 300, b'"\\ud800"', b"__proto__", b"prediction"),
    *("é".encode(), "\u202e".encode(), "\u0000x".encode(), "😀".encode(), b"A" * 300),
]


def mutated(rng, data, tokens=()):
    """Return bytes with a few changes: flipped, cut, doubled, moved, odd ones put in."""
    data, odd = bytearray(data), [*ODD_BYTES, *tokens]
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 5, 12])):
        at = rng.randrange(len(data) + 1)
        length = min(rng.choice([1, 1, 2, 4, 16, 64]), len(data) - at)
        match rng.randrange(8):
            case 0 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                del data[at : at + length]
            case 2:
                data[at:at] = data[at : at + length] * rng.choice([1, 2, 40])
            case 3:
                part = data[at : at + length]
                del data[at : at + length]
                there = rng.randrange(len(data) + 1)
                data[there:there] = part
            case 4:
                data[at : at + length] = rng.choice(odd)
            case 5 if rng.random() < 0.2:
                del data[at:]
            case _:
                data[at:at] = rng.choice(odd)
    return bytes(data)


@contextlib.contextmanager
def in_time():
    """Raise if the main thread is not done in a time that no small input may take."""

    def late(*_):
        raise AssertionError(f"not done in {PATIENCE} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def refused_or_sound():
    """Let our own error pass, and no other; arithmetic that warns is none that was thought of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", TallyBayesWarning)
        with contextlib.suppress(TallyBayesError):
            yield


def cases(factor):
    """Go through the numbers of the cases to try: other ones each time in the deep tier."""
    if CASE:
        first, _, n = CASE.partition(":")
        yield from range(int(first), int(first) + int(n or 1))
        return
    first = random.SystemRandom().randrange(1 << 40) if DEEP else 0
    end, number = time.monotonic() + SECONDS, first
    while time.monotonic() < end if SECONDS and DEEP else number < first + factor * EXAMPLES:
        yield number
        number += 1


def fuzz(try_one, factor=4):
    """Try one case after the other; fail with each distinct fault, and the case that shows it."""
    faults, tried = {}, 0
    for number in cases(factor):
        tried += 1
        LAST.write_text(str(number))
        try:
            with in_time(), refused_or_sound():
                try_one(random.Random(number))
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            ours = [each for each in frames if "tallybayes" in each.filename] or frames
            place = f"{type(error).__name__} in {ours[-1].filename}:{ours[-1].lineno}"
            if CASE and ":" not in CASE:
                raise
            if place not in faults:
                faults[place] = f"TALLYBAYES_FUZZ_CASE={number}: {place}: {str(error)[:300]}"
                print(faults[place], flush=True)
    LAST.unlink(missing_ok=True)
    print(f"{tried:,} cases, {len(faults)} faults", flush=True)
    assert not faults, "\n".join(faults.values())
