"""What a filter in a file takes when many mails were learnt: this process has nothing else in it."""

import json
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tallybayes.spam.mail_filter import MailFilter
from tallybayes.spam.messages import Message


def main() -> None:
    """Learn the mails that another process draws, and print what it took."""
    made, took, n = MailFilter(), 0.0, 0
    command = [sys.executable, "-m", "benchmarks.speed.mail"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as drawing:
        assert drawing.stdout is not None
        while (drawn := pickle.load(drawing.stdout)) is not None:
            raw, label = drawn
            start = time.process_time()
            made.learn(Message(raw), label)
            took += time.process_time() - start
            n += 1
    start = time.process_time()
    made.settle()
    took += time.process_time() - start
    made.classify(Message(raw))
    tokens = sum(column.tokens for column in made.lookup.columns.values())
    with tempfile.TemporaryDirectory() as folder:
        made.save(Path(folder, "mail.tally"))
        size = Path(folder, "mail.tally").stat().st_size / 1e6
    status = Path("/proc/self/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6
    print(json.dumps({"peak": peak, "tokens": tokens, "ms": 1e3 * took / n, "size": size}))


if __name__ == "__main__":
    main()
