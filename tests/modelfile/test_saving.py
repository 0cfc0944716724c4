"""A file is written whole or not at all, whatever happens and whenever."""

import errno
import io
import os
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import tallybayes as tb
from modelfile.samples import assert_same_stored, mixed, small, stored
from tallybayes.modelfile import dump_bytes, load, save

OLD, NEW = small(), stored(mixed())


@pytest.fixture
def path(tmp_path):
    save(tmp_path / "a.tally", OLD)
    return tmp_path / "a.tally"


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def test_a_file_is_written_and_read_by_its_path_as_text_or_not(tmp_path):
    for path in (tmp_path / "a.tally", str(tmp_path / "b.tally")):
        for model in (OLD, NEW):  # which replaces it
            save(path, model)
            assert_same_stored(load(path), model)
    assert (tmp_path / "a.tally").read_bytes() == dump_bytes(NEW)
    assert names(tmp_path) == ["a.tally", "b.tally"]


def test_whoever_reads_the_old_file_goes_on_reading_the_old_file(path):
    with path.open("rb") as file:
        file.read(100)
        save(path, NEW)
        assert_same_stored(load(file), OLD)


def test_a_model_is_read_from_bytes_files_and_pipes(path):
    class Trickle(io.BytesIO):
        def seekable(self):
            return False

        def read(self, size=-1):
            return super().read(min(size, 7))

    data = path.read_bytes()
    for source in (data, bytearray(data), memoryview(data), io.BytesIO(data), Trickle(data)):
        assert_same_stored(load(source), OLD)
    with path.open("rb", buffering=0) as file:
        assert_same_stored(load(file), OLD)
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as process:
        assert_same_stored(load(process.stdout), OLD)


def test_an_error_names_the_file_as_the_user_wrote_it(path, monkeypatch):
    path.write_bytes(path.read_bytes()[:-1])
    monkeypatch.chdir(path.parent)
    with pytest.raises(tb.TallyBayesError, match=r"^a\.tally is cut or damaged: .*; restore it"):
        load("a.tally")
    with path.open("rb") as file, pytest.raises(tb.TallyBayesError, match=f"^{path} is cut"):
        load(file)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_an_old_file_keeps_its_permissions(path, mode):
    path.chmod(mode)
    save(path, NEW)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert_same_stored(load(path), NEW)


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_permissions_that_the_user_gives_to_new_files(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        save(tmp_path / "a.tally", OLD)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.tally").stat().st_mode) == mode


def test_a_link_stays_a_link(path):
    elsewhere = path.parent / "folder"
    elsewhere.mkdir()
    for link, target in (("one", path), ("two", Path("one")), ("new", elsewhere / "b.tally")):
        (path.parent / link).symlink_to(target)
        save(path.parent / link, NEW)
        assert (path.parent / link).is_symlink()
        assert_same_stored(load(path.parent / link), NEW)
    assert_same_stored(load(path), NEW)
    assert names(elsewhere) == ["b.tally"]
    assert names(path.parent) == ["a.tally", "folder", "new", "one", "two"]


def test_what_cannot_be_written_says_why_and_what_to_do(path, tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    expected = {
        tmp_path / "none" / "a.tally": "there is no such folder; make it first",
        tmp_path / "folder": "it is a folder; name another",
        tmp_path / "pipe": "it is not an ordinary file; name another",
        Path("/dev/null"): "it is not an ordinary file; name another",
        path / "b.tally": "a part of the path is not a folder; check the path",
        tmp_path / ("x" * 300): "the name is too long; choose a shorter one",
        tmp_path / "a\x00b": "embedded null byte; choose another place",
    }
    for where, why in expected.items():
        with pytest.raises(tb.TallyBayesError, match=f"cannot be written: {why}") as caught:
            save(where, NEW)
        assert str(caught.value).startswith(str(where)[:40])
    assert names(tmp_path) == ["a.tally", "folder", "pipe"]


def test_what_cannot_be_read_says_why_and_what_to_do(path, tmp_path):
    expected = {
        tmp_path: "is a folder; name a model file",
        tmp_path / "b.tally": r"there is no file .*b\.tally; did you mean 'a\.tally'",
        tmp_path / "none" / "a.tally": "there is no file .*; check the path, or fit a model first",
        path / "b.tally": "cannot be read: a part of the path is not a folder; check the path",
        "\x00": "cannot be read: embedded null byte",
    }
    for where, why in expected.items():
        with pytest.raises(tb.TallyBayesError, match=why):
            load(where)
    with pytest.raises(tb.TallyBayesError, match="takes a path, bytes or an open file, not int"):
        load(5)
    with (
        path.open(encoding="latin-1") as text,
        pytest.raises(tb.TallyBayesError, match=r"damaged|not"),
    ):
        load(text)


FULL = OSError(errno.ENOSPC, "No space left on device")
DENIED = PermissionError(errno.EACCES, "Permission denied")
STEPS = ("open", "fsync", "replace", "fchmod", "write")
REFUSALS = [
    ("fsync", FULL, "the disk is full; make room"),
    ("fsync", OSError(errno.EIO, "Input/output error"), "Input/output error; choose another"),
    ("open", DENIED, "permission denied; change the permissions"),
    ("open", OSError(errno.EROFS, "Read-only file system"), "the disk can only be read"),
    ("replace", DENIED, "permission denied; change the permissions"),
    ("fchmod", DENIED, "permission denied; change the permissions"),
    ("write", FULL, "the disk is full; make room"),
    *((step, KeyboardInterrupt(), None) for step in STEPS),
    ("write", SystemExit(1), None),
]


@pytest.mark.parametrize(("call", "error", "why"), REFUSALS)
def test_what_stops_a_step_leaves_the_old_file_and_no_other(path, monkeypatch, call, error, why):
    def stopped(*args, **options):
        raise error

    class Stopping(io.FileIO):
        def write(self, data):
            return stopped() if self.tell() else super().write(data)  # a part is written

    with monkeypatch.context() as patch:
        if call == "write":
            patch.setattr(os, "fdopen", lambda number, _: Stopping(number, "w+"))
        else:
            patch.setattr(os, call, stopped)
        expected = tb.TallyBayesError if why else type(error)
        with pytest.raises(expected, match=why and f"a.tally cannot be written: {why}"):
            save(path, NEW)
    assert_same_stored(load(path), OLD)
    assert names(path.parent) == ["a.tally"]


def test_file_and_folder_are_forced_to_the_disk_in_that_order(path, monkeypatch):
    done = []

    def fsync(number, real=os.fsync):
        done.append("folder" if stat.S_ISDIR(os.fstat(number).st_mode) else "file")
        if done[-1] == "folder":  # not every system can do that, which is no trouble
            raise OSError(errno.EINVAL, "Invalid argument")
        real(number)

    def replace(*args, real=os.replace, **options):
        done.append("replace")
        real(*args, **options)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    save(path, NEW)
    assert done == ["file", "replace", "folder"]
    assert_same_stored(load(path), NEW)


DYING = """
import os, signal, sys
from tallybayes.modelfile import load, save
stored = load(sys.argv[2])
real = getattr(os, sys.argv[3])
def dying(*args, **options):
    if sys.argv[4] == "after":
        real(*args, **options)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(os, sys.argv[3], dying)
save(sys.argv[1], stored)
"""


@pytest.mark.parametrize(
    ("call", "when", "survives"),
    [
        ("fdopen", "after", "old"),
        ("fsync", "before", "old"),
        ("fsync", "after", "old"),
        ("replace", "before", "old"),
        ("replace", "after", "new"),
    ],
)
def test_a_process_that_dies_at_a_step_leaves_the_old_file_or_the_new(path, call, when, survives):
    save(path.parent / "new.tally", NEW)
    done = subprocess.run(
        [sys.executable, "-c", DYING, path, path.parent / "new.tally", call, when], timeout=300
    )
    assert done.returncode == -signal.SIGKILL
    assert_same_stored(load(path), OLD if survives == "old" else NEW)


def test_two_threads_that_save_at_once_leave_one_whole_file(path):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda k: save(path, NEW if k % 2 else OLD), range(40)))
    there = load(path)
    assert_same_stored(there, NEW if len(there.fitted.tally.schema.names) > 2 else OLD)
    assert names(path.parent) == ["a.tally"]


def test_what_is_read_shares_no_memory_with_the_bytes_and_can_learn():
    data = bytearray(dump_bytes(OLD))
    there = load(data)
    data[:] = bytes(len(data))
    assert_same_stored(there, OLD)
    there.fitted.tally.update({"x": [3.0], "c": ["b"]}, ["y"])
    assert there.fitted.tally.rows.sum() == 4


def test_a_class_that_is_half_a_surrogate_pair_is_not_stored(tmp_path):
    """No command could write it: it is refused where it would get into a file."""
    table = {"a": ["x", "y"]}
    model = tb.NaiveBayes().fit(table, ["\ud800", "q"])
    assert model.predict({"a": ["y"]}).tolist() == ["q"]
    named = tb.NaiveBayes(labels={"p": "\ud800"}).fit(table, ["p", "q"])
    for each in (model, named):
        with pytest.raises(tb.TallyBayesError, match="surrogates not allowed"):
            each.save(tmp_path / "s.tally")
    assert list(tmp_path.iterdir()) == []
