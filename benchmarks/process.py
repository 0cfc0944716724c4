"""Run a command in a process of its own: its time, its peak memory and what it printed, as JSON.

    python -I -S benchmarks/process.py COMMAND ...

A process inherits the peak of the one that starts it, until it has grown beyond. So this script
stands between: it imports next to nothing.
"""

import os
import resource  # noqa: F401  (os.wait4 makes its results of it)
import sys
import time


def main() -> None:
    reading, writing = os.pipe()
    start = time.perf_counter()
    child = os.fork()
    if not child:
        os.dup2(writing, 1)
        os.close(reading)
        os.execvp(sys.argv[1], sys.argv[1:])
    os.close(writing)
    parts = []
    while part := os.read(reading, 1 << 16):
        parts.append(part)
    _, status, used = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    import json

    said = b"".join(parts).decode("utf-8", "replace")
    found = {
        "seconds": seconds,
        "user": used.ru_utime,
        "system": used.ru_stime,
        "from_disk": used.ru_inblock * 512,
        "peak": used.ru_maxrss * 1024,
        "status": os.waitstatus_to_exitcode(status),
        "said": said,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
