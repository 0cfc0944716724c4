"""Disks that are full or read-only, files that are locked or damaged, servers that are gone."""

import os
import subprocess
import sys
import textwrap
from contextlib import contextmanager

import pytest

from tallybayes import TallyBayesError
from tallybayes.store import Event, StoreError, open_store, sqlite


def events(*ids):
    return [Event(str(key), b"x" * 2000) for key in ids]


FULL = """
import resource, sys
from tallybayes.store import Event, StoreError, open_store

_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
with open_store(sys.argv[1]) as store:
    store.append("log", [Event("first", b"x")])
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, hard))
    done = 0
    try:
        while True:
            store.append("log", [Event(f"{done}-{k}", b"x" * 2000) for k in range(5)])
            done += 1
    except StoreError as error:
        print(error)
    assert 0 < done < 1000
    assert len(store.since("log", 0)) == 5 * done + 1 == store.last("log")
    try:
        store.probe()
    except StoreError as error:
        print(error)
    else:
        raise AssertionError("the disk is full")
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    store.probe()
    receipts = store.append("log", [Event(f"{done}-{k}", b"x" * 2000) for k in range(5)])
    assert [r.answer for r in receipts] == ["new"] * 5, receipts
    assert len(store.since("log", 0)) == 5 * done + 6
"""


def test_a_file_that_may_not_grow_is_an_error_and_works_again_when_it_may(tmp_path):
    command = [sys.executable, "-c", textwrap.dedent(FULL), str(tmp_path / "events.db")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "cannot be used: the disk" in done.stdout


@contextmanager
def small_disk(folder, size="2m"):
    """A disk of its own, where that is allowed."""
    folder.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.getuid() or subprocess.run(mounted, capture_output=True).returncode:
        pytest.skip("only root may mount a small disk; a limit of the file's size is tried above")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_an_error_and_the_store_works_again_when_there_is_room(tmp_path):
    with small_disk(tmp_path / "disk") as disk, open_store(disk / "events.db") as store:
        store.append("log", events("first"))
        ballast, done = disk / "ballast", 0
        ballast.write_bytes(bytes(1_000_000))
        why = None
        while why is None:
            try:
                store.append("log", events(*range(5 * done, 5 * done + 5)))
                done += 1
            except StoreError as error:
                why = str(error)
        assert "the disk is full; make room" in why or "the disk fails" in why
        assert store.last("log") == 5 * done + 1 == len(store.since("log", 0))
        ballast.unlink()
        assert {r.answer for r in store.append("log", events(*range(5 * done, 5 * done + 5)))} == {
            "new"
        }


def test_a_disk_that_can_only_be_read_is_an_error_until_it_can_be_written(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        with open_store(disk / "events.db") as store:
            store.append("log", events("first"))
        remount = ["mount", "-o", "remount,{}", str(disk)]
        subprocess.run([each.format("ro") for each in remount], check=True)
        with pytest.raises(StoreError, match=r"can only be read|cannot be opened"):
            open_store(disk / "events.db")
        subprocess.run([each.format("rw") for each in remount], check=True)
        with open_store(disk / "events.db") as store:
            assert store.append("log", events("first", "second"))[1].answer == "new"


def test_a_file_that_another_program_holds_is_waited_for_but_not_for_ever(tmp_path, monkeypatch):
    import apsw

    monkeypatch.setattr(sqlite, "PATIENCE", 0.1)
    with open_store(tmp_path / "events.db") as store:
        store.append("log", events("first"))
        other = apsw.Connection(str(tmp_path / "events.db"))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"another program has held it for 0\.1 s"):
            store.append("log", events("second"))
        assert store.last("log") == 1  # readers do not wait
        other.execute("ROLLBACK")
        other.close()
        assert store.append("log", events("second"))[0].answer == "new"


def test_what_is_no_store_is_left_as_it_is(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("no store at all " * 500)
    with pytest.raises(StoreError, match="damaged, or no store at all"):
        open_store(path)
    assert path.read_text() == "no store at all " * 500


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "is no address of a store"),
        (":memory:", "is no address of a store"),
        ("sqlite:events.db", "is no address of a store"),
        ("mysql://localhost/events", "is no address of a store"),
        ("nowhere/at/all/events.db", "check that its folder is there"),
        (".", "that is a folder; name a file in it"),
    ],
)
def test_an_address_that_leads_nowhere_is_refused(tmp_path, monkeypatch, url, why):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TallyBayesError, match=why):
        open_store(url)
    assert list(tmp_path.iterdir()) == []


def test_addresses_of_files_are_relative_or_begin_at_the_root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for url in ("sqlite:///one.db", f"sqlite:///{tmp_path}/two.db", tmp_path / "three.db"):
        open_store(url).close()
    assert {path.name for path in tmp_path.glob("*.db")} == {"one.db", "two.db", "three.db"}


def test_a_server_that_is_not_there_is_named_without_the_password(tmp_path):
    pytest.importorskip("psycopg")
    url = f"postgresql://me:secret@/events?host={tmp_path}"
    with pytest.raises(
        StoreError, match=r"store postgresql://me@/events cannot .* reached"
    ) as error:
        open_store(url)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "package", "extra"),
    [("sqlite:///a.db", "apsw", "serve"), ("postgresql://me@/a", "psycopg", "postgres")],
)
def test_a_package_that_is_not_installed_is_named(monkeypatch, url, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(TallyBayesError, match=rf"pip install tallybayes\[{extra}\]"):
        open_store(url)
