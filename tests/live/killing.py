"""Kills workers at random moments, and recounts what they had acknowledged.

It is a program of its own: `python killing.py URL MOMENTS SEED`. Four workers learn and forget over
one log, each resending what was not acknowledged when it was killed; snapshots are written and
events folded all the time. After each moment a new reader opens the log, and its tally must be that
of one pass over what was acknowledged (and of what was stored but not acknowledged any more).
"""

import fcntl
import os
import random
import signal
import sys
import termios
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from live.streams import FIRST, same, stored, tally_of
from tallybayes.live import LiveModel, LiveOptions
from tallybayes.store import open_store

WORKERS, MOST = 4, 6
PATIENCE = 240.0  # seconds for what takes one on a machine at rest
OPTIONS = LiveOptions(snapshot_every=60, keep=2, retain=30)


def event(worker, k):
    """The k-th event of a worker, always the same."""
    draw = np.random.default_rng([worker, k])
    label = "yes" if draw.random() < 0.4 else "no"
    record = {"income": float(draw.integers(1, 99)), "status": "abcdefgh"[draw.integers(8)]}
    return {"id": f"{worker}-{k}", "record": record, "label": label}


def work(url, worker, begin, forgotten, out):
    """Learn and forget until killed; acknowledge by a line each what is durable."""
    dice = random.Random(f"{worker} {begin}")
    with open_store(url) as store:
        live = LiveModel.open(store, "loans", options=OPTIONS)
        k = begin
        while True:
            n = dice.randint(1, MOST)
            answers = live.learn([event(worker, k + j) for j in range(n)])
            assert {answer.outcome for answer in answers} <= {"new", "same"}, answers
            k += n
            os.write(out, f"L{k}\n".encode())
            if forgotten + 10 < k and dice.random() < 0.3:
                (answer,) = live.forget([event(worker, forgotten)])
                assert answer.outcome in ("new", "same"), answer
                forgotten += 2
                os.write(out, f"F{forgotten}\n".encode())
            live.catch_up()


def waiting_in(pipe):
    """Return how many bytes can be read from a pipe."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def lines_in(pipe):
    """Return the whole lines that came through a pipe whose writer is dead."""
    data = b""
    while part := os.read(pipe, 65536):
        data += part
    os.close(pipe)
    return data.decode().rpartition("\n")[0].splitlines()


def moment(url, learnt, forgotten, dice):
    """Let the workers work, kill them, and take down what they acknowledged."""
    pipes, pids = [], []
    for worker in range(WORKERS):
        reading, writing = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                work(url, worker, learnt[worker], forgotten[worker], writing)
            finally:
                os._exit(1)
        os.close(writing)
        pipes.append(reading)
        pids.append(pid)
    until = time.monotonic() + PATIENCE
    # how far they are says when, for a machine may be slow; some are killed while they start
    least, total = dice.choice([0, 1, 20, 50]), dice.randrange(400)
    while min(map(waiting_in, pipes)) < least or sum(map(waiting_in, pipes)) < total:
        assert time.monotonic() < until, "a worker does nothing"
        time.sleep(0.001)
    for pid in dice.sample(pids, WORKERS):
        assert os.waitpid(pid, os.WNOHANG) == (0, 0), "a worker failed"
        os.kill(pid, signal.SIGKILL)
        time.sleep(dice.choice([0.0, 0.0, 0.02]))
    for worker, (pid, pipe) in enumerate(zip(pids, pipes, strict=True)):
        os.waitpid(pid, 0)
        for line in lines_in(pipe):
            (learnt if line[0] == "L" else forgotten)[worker] = int(line[1:])


def check(url, learnt, forgotten):
    """Compare a new reader with a recount."""
    with open_store(url) as store:
        live, counted, gone = LiveModel.open(store, "loans", options=OPTIONS), [], []
        for worker in range(WORKERS):
            names = [f"learn:{worker}-{k}" for k in range(learnt[worker] + MOST)]
            known = store.known("loans", names)
            assert set(names[: learnt[worker]]) <= set(known), "an acknowledged event is lost"
            counted += [event(worker, k) for k, name in enumerate(names) if name in known]
            evens = range(0, forgotten[worker] + 2, 2)
            taken = store.known("loans", [f"forget:{worker}-{k}" for k in evens])
            assert len(taken) >= forgotten[worker] // 2, "an acknowledged event is not forgotten"
            gone += [event(worker, k) for k in evens if f"forget:{worker}-{k}" in taken]
        ids = {each["id"] for each in gone}
        left = [(e["record"], e["label"]) for e in counted if e["id"] not in ids]
        same(live.fitted.tally, tally_of(FIRST + left, live.fitted.tally.schema))
        state = live.state
        assert (state.learnt, state.forgotten, state.void) == (len(counted), len(gone), 0)
        assert store.last("loans") == len(counted) + len(gone)
        return len(counted), len(gone)


def main(url, moments, seed):
    with open_store(url) as store:
        LiveModel.open(store, "loans", stored())
    learnt, forgotten, dice = [0] * WORKERS, [0] * WORKERS, random.Random(seed)
    for _ in range(moments):
        moment(url, learnt, forgotten, dice)
        counts = check(url, learnt, forgotten)
    print(sum(learnt), sum(forgotten) // 2, *counts)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
