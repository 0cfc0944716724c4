"""The bar: on a terminal only, after a while, and with escape codes only where they are welcome."""

import io
import os
import subprocess
import sys
from threading import Thread

import pytest

from tallybayes.cli import progress
from tallybayes.cli.progress import Progress, Silence
from tallybayes.cli.session import Session

pty = pytest.importorskip("pty")  # terminals of Unix

SCRIPT = """
import sys
from tallybayes.cli import progress
from tallybayes.cli.session import Session
progress.PATIENCE = {patience}
progress.EVERY = -1
session = Session({options})
with session.progress() as bar:
    bar.begin("reading a.csv", {total})
    for _ in range(3):
        bar.advance(1000, 25)
    session.say("a message")
    bar.advance(1000, 25)
    bar.end()
print("rich" in sys.modules)
"""


def on_a_terminal(options="", patience=-1, total="100", **variables):
    """Run the script with a terminal as standard error; give back what both streams got."""
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM", "FORCE_COLOR")}
    master, slave = pty.openpty()
    script = SCRIPT.format(options=options, patience=patience, total=total)
    done = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=slave,
        env={**kept, "TERM": "xterm-256color", "COLUMNS": "100", **variables},
    )
    os.close(slave)
    written = b""
    try:
        while piece := os.read(master, 4096):
            written += piece
    except OSError:  # the other end is closed
        pass
    os.close(master)
    out = done.communicate(timeout=300)[0].decode()
    assert done.returncode == 0, written
    return written.decode(), out.strip() == "True"


def test_a_bar_shows_rows_speed_share_and_time_left():
    written, rich = on_a_terminal()
    assert rich
    for word in ("reading a.csv", "75%", "3,000 rows", "rows/s", "s left", "\x1b["):
        assert word in written


def test_work_of_a_moment_shows_nothing_and_loads_no_rich():
    assert on_a_terminal(patience=3600) == ("tallybayes: a message\r\n", False)


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["colour", "dumb"])
def test_where_escape_codes_are_unwelcome_a_plain_line_is_shown(variables):
    written, rich = on_a_terminal(**variables)
    assert not rich
    assert "\x1b" not in written
    assert "\rreading a.csv: 75%, 3,000 rows" in written
    assert written.endswith("\r")


def test_a_message_stands_on_a_line_of_its_own():
    written, _ = on_a_terminal(NO_COLOR="1")
    assert "\rtallybayes: a message\r\n" in written


def test_without_a_number_of_bytes_no_time_left_is_told():
    written, _ = on_a_terminal(total="None", NO_COLOR="1")
    assert "\rreading a.csv: 3,000 rows" in written
    assert "left" not in written
    assert "%" not in written


@pytest.mark.parametrize("option", ["quiet", "json", "no_progress"])
def test_no_bar_when_none_is_wanted(option):
    written, rich = on_a_terminal(f"{option}=True")
    assert not rich
    assert "reading" not in written


def test_no_bar_in_a_pipe(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Session().progress() as bar:
        assert type(bar) is Silence


def test_no_bar_without_standard_error(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with Session().progress() as bar:
        bar.begin("x")
        bar.advance(1)
        assert type(bar) is Silence


def test_rows_of_many_threads_add_up(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(progress, "EVERY", -1.0)
    monkeypatch.setenv("NO_COLOR", "1")
    bar = Progress()
    bar.begin("counting", 8000)
    threads = [Thread(target=lambda: [bar.advance(1, 1) for _ in range(1000)]) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert "100%, 8,000 rows" in capsys.readouterr().err


def test_long_waits_are_told_in_minutes(monkeypatch, capsys):
    clock = iter([0.0, 0.0, 100.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    monkeypatch.setenv("NO_COLOR", "1")
    bar = Progress()
    bar.begin("counting", 400)
    bar.advance(1000, 100)
    assert "25%, 1,000 rows, 10 rows/s, 5 min 0 s left" in capsys.readouterr().err
