"""Spam filters of others, each run as its users run it and fed with files, one mail a file.

A filter learns and judges through one long-lived process where it has such a mode, so that what is
timed is the work and not the start of a program. The higher its score, the more it is spam.
"""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent


class Said(NamedTuple):
    """What a filter says of a mail: spam, ham or unsure, and how strongly."""

    answer: str
    score: float


class Peer:
    """A filter with a folder of its own; `program` is what it needs to be there."""

    name = program = ""
    bulk = True  # whether learning many mails at once does the same as one after the other
    pid: int | None = None  # of the process that does the work, if it is one that runs on

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    @classmethod
    def there(cls) -> bool:
        return shutil.which(cls.program) is not None

    def train(self, paths: Sequence[Path], spam: Sequence[bool]) -> None:
        """Learn mails, in this order where the order counts."""
        for label in (False, True):
            self.learn([path for path, one in zip(paths, spam, strict=True) if one == label], label)

    def learn(self, paths: Sequence[Path], spam: bool) -> None:
        raise NotImplementedError

    def judge(self, paths: Sequence[Path]) -> list[Said]:
        raise NotImplementedError

    def close(self) -> None:
        pass

    def run(self, *command: str, given: Any = "", **options: Any) -> str:
        done = subprocess.run(
            command, input=given, capture_output=True, text=True, errors="replace",
            cwd=self.folder, check=False, **options,
        )  # fmt: skip
        return done.stdout


class Bogofilter(Peer):
    """bogofilter with its defaults: Robinson's tests of words, cutoffs .45 and .99."""

    name = program = "bogofilter"

    def learn(self, paths: Sequence[Path], spam: bool) -> None:
        self.run(self.program, "-C", "-d", ".", "-s" if spam else "-n", "-b", given=_lines(paths))

    def judge(self, paths: Sequence[Path]) -> list[Said]:
        options = "-C", "-d", ".", "-t", "-b", "--terse-format=%1.1c %0.16f"
        lines = self.run(self.program, *options, given=_lines(paths)).splitlines()
        names = {"S": "spam", "H": "ham", "U": "unsure"}
        return [Said(names[line.split()[-2]], float(line.split()[-1])) for line in lines]


class SpamProbe(Peer):
    """spamprobe with its defaults: pairs of words beside single ones, one cutoff."""

    name = program = "spamprobe"

    def learn(self, paths: Sequence[Path], spam: bool) -> None:
        for start in range(0, len(paths), 500):
            some = map(str, paths[start : start + 500])
            self.run(self.program, "-d", ".", "spam" if spam else "good", *some)

    def judge(self, paths: Sequence[Path]) -> list[Said]:
        said = []
        for start in range(0, len(paths), 500):
            some = map(str, paths[start : start + 500])
            lines = self.run(self.program, "-d", ".", "score", *some).splitlines()
            found = [line.split() for line in lines if re.match("SPAM|GOOD", line)]
            said += [Said("spam" if w[0] == "SPAM" else "ham", float(w[1])) for w in found]
        return said


class Crm114(Peer):
    """CRM114's orthogonal sparse bigrams, trained on errors and near them, as its manual says."""

    name, program, bulk = "CRM114 (OSB)", "crm", False
    THICK = 10.0

    def train(self, paths: Sequence[Path], spam: Sequence[bool]) -> None:
        for label in (False, True):
            self.learn([Path("/dev/null")], label)
        for path, label in zip(paths, spam, strict=True):
            (said,) = self.judge([path])
            if said.score * (1.0 if label else -1.0) < self.THICK:
                self.learn([path], label)

    def learn(self, paths: Sequence[Path], spam: bool) -> None:
        file = "spam.css" if spam else "ham.css"
        for path in paths:
            with path.open("rb") as raw:
                script = f"-{{ learn <osb unique microgroom> ({file}) /[[:graph:]]+/ }}"
                subprocess.run(["crm", script], stdin=raw, cwd=self.folder, check=False)

    def judge(self, paths: Sequence[Path]) -> list[Said]:
        script = (
            "-{ isolate (:s:) //; { classify <osb unique microgroom> (spam.css | ham.css) (:s:) "
            "/[[:graph:]]+/ } output /:*:s:/ }"
        )
        said = []
        for path in paths:
            with path.open("rb") as raw:
                text = subprocess.run(
                    ["crm", script], stdin=raw, cwd=self.folder, check=False, capture_output=True
                ).stdout.decode("latin-1")
            ratio = re.search(r"pR:\s*(-?[\d.]+)", text)
            score = float(ratio[1]) if ratio else 0.0
            sure = abs(score) >= self.THICK
            said.append(Said(("spam" if score > 0.0 else "ham") if sure else "unsure", score))
        return said


class SpamAssassin(Peer):
    """The Bayes part of SpamAssassin alone; its rules give most points from .95 on, and up to .05."""

    name, program = "SpamAssassin's Bayes", "sa-learn"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._process = subprocess.Popen(
            ["perl", str(HERE / "spamassassin.pl"), str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

        self.pid = self._process.pid

    def _ask(self, what: str, paths: Sequence[Path]) -> list[str]:
        writing, reading = self._process.stdin, self._process.stdout
        assert writing
        assert reading
        answers = []
        for path in paths:
            writing.write(f"{what}\t{path}\n")
            writing.flush()
            answers.append(reading.readline())
        return answers

    def learn(self, paths: Sequence[Path], spam: bool) -> None:
        self._ask("spam" if spam else "ham", paths)

    def judge(self, paths: Sequence[Path]) -> list[Said]:
        scores = [float(line) for line in self._ask("score", paths)]
        return [Said("spam" if p >= 0.95 else "ham" if p <= 0.05 else "unsure", p) for p in scores]

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(60)


PEERS: tuple[type[Peer], ...] = Bogofilter, SpamProbe, Crm114, SpamAssassin


def _lines(paths: Sequence[Path]) -> str:
    return "".join(f"{path}\n" for path in paths)


def area_missed(said: Sequence[Said], spam: Sequence[bool]) -> float:
    """Return the share of pairs of a ham and a spam in the wrong order; ties count half."""
    from bisect import bisect_left, bisect_right

    ham = sorted(one.score for one, label in zip(said, spam, strict=True) if not label)
    right = [one.score for one, label in zip(said, spam, strict=True) if label]
    below = math.fsum((bisect_left(ham, z) + bisect_right(ham, z)) / 2.0 for z in right)
    return 1.0 - below / (len(ham) * len(right))
