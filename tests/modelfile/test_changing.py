"""A model file is changed by one process at a time, and nothing that one of them counts is lost."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import tallybayes as tb
from modelfile.samples import assert_same_stored, mixed, small, stored
from tallybayes.model import Fitted, Recipe
from tallybayes.modelfile import Provenance, Stored, changing, load, save


@pytest.fixture
def path(tmp_path):
    save(tmp_path / "a.tally", small())
    return tmp_path / "a.tally"


def grown(before, n=1):
    rows = {"x": [1.0] * n, "c": ["r"] * n}
    more = tb.Tally.of(rows, ["y"] * n, schema=before.fitted.tally.schema)
    fitted = Fitted(before.fitted.tally + more, Recipe(prior=before.fitted.recipe.prior))
    return Stored(fitted, before.provenance.then(f"update: {n} rows", n))


def refused(path, match, timeout=60.0):
    with pytest.raises(tb.TallyBayesError, match=match), changing(path, timeout):
        raise AssertionError


def test_changes_are_written_one_after_the_other(path):
    with changing(path) as change:
        assert_same_stored(change.stored, small())
        for _ in range(3):
            new = grown(change.stored)
            change.save(new)
            assert change.stored is new
    assert_same_stored(load(path), new)
    assert load(path).fitted.tally.rows.sum() == 6
    assert load(path).provenance.history[-3:] == ("update: 1 rows",) * 3
    assert sorted(each.name for each in path.parent.iterdir()) == [".a.tally.lock", "a.tally"]


def test_nothing_is_written_unless_it_is_asked_for(path):
    before = path.read_bytes()
    with changing(path):
        pass
    with pytest.raises(RuntimeError, match="in between"), changing(path):
        raise RuntimeError("in between")
    assert path.read_bytes() == before
    with changing(path, timeout=0.0):
        pass  # the lock was given back


def test_who_waits_too_long_is_told_so(path):
    with changing(path):
        refused(path, r"another program is changing .*a\.tally .*0\.05 s", timeout=0.05)
    with changing(path, timeout=0.0):
        pass


def test_who_waits_reads_what_the_other_one_wrote(path):
    waiting = threading.Event()

    def second():
        waiting.set()
        with changing(path) as change:
            change.save(grown(change.stored, 10))

    thread = threading.Thread(target=second)
    with changing(path) as change:
        thread.start()
        waiting.wait()
        change.save(grown(change.stored, 100))
    thread.join()
    assert load(path).fitted.tally.rows.sum() == 3 + 100 + 10


def test_a_link_and_what_it_leads_to_have_one_lock(path):
    folder = path.parent / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(path)
    with changing(folder / "link") as change:
        refused(path, "another program", timeout=0.0)
        change.save(grown(change.stored))
    assert load(path).fitted.tally.rows.sum() == 4
    assert [each.name for each in folder.iterdir()] == ["link"]


def test_a_file_that_was_replaced_in_the_meantime_is_left_alone(path):
    other = stored(mixed())
    with changing(path) as change:
        save(path, other)  # by someone who knows nothing of the lock
        with pytest.raises(tb.TallyBayesError, match=r"replaced by another program .*do it again"):
            change.save(grown(change.stored))
    assert_same_stored(load(path), other)
    with changing(path) as change:
        path.unlink()
        with pytest.raises(tb.TallyBayesError, match="was replaced by another program"):
            change.save(small())
    assert not path.exists()


def test_a_file_that_is_not_there_or_is_none_is_an_error_and_leaves_no_lock(path, tmp_path):
    refused(tmp_path / "b", "there is no file")
    refused(tmp_path, "is a folder")
    assert [each.name for each in tmp_path.iterdir()] == ["a.tally"]
    path.write_text("hello")
    refused(path, "is not a model file")
    refused(path, "is not a model file", timeout=0.0)  # the lock was given back


def test_whoever_may_write_the_model_may_lock_it(path):
    path.chmod(0o664)
    with changing(path):
        assert (path.parent / ".a.tally.lock").stat().st_mode & 0o777 == 0o664


UPDATING = """
import sys
import tallybayes as tb
from tallybayes.model import Fitted
from tallybayes.modelfile import Stored, changing
for k in range(int(sys.argv[2])):
    with changing(sys.argv[1]) as change:
        fitted, provenance = change.stored.fitted, change.stored.provenance
        more = tb.Tally.of({"x": [k / 8], "c": [sys.argv[3]]}, ["y"], schema=fitted.tally.schema)
        grown = Fitted(fitted.tally + more, fitted.recipe)
        change.save(Stored(grown, provenance.then(f"update {sys.argv[3]} {k}", 1)))
"""


def test_processes_that_update_at_once_lose_nothing(path):
    n, who = 30, ["p", "q", "s"]
    processes = [
        subprocess.Popen([sys.executable, "-c", UPDATING, path, str(n), name]) for name in who
    ]
    assert [process.wait(300) for process in processes] == [0] * len(who)
    there = load(path)
    assert there.fitted.tally.rows.sum() == 3 + n * len(who)
    assert there.provenance.rows == 6 + n * len(who)
    assert len(there.provenance.history) == 2 + n * len(who)
    for name in who:
        lines = [line for line in there.provenance.history if line.startswith(f"update {name} ")]
        assert lines == [f"update {name} {k}" for k in range(n)]
    (block,) = (b for b in there.fitted.tally.blocks if hasattr(b, "labels"))
    counted = dict(zip(block.labels[0], block.rows.sum(axis=0).tolist(), strict=True))
    assert {name: counted[name] for name in who} == dict.fromkeys(who, n)
    assert sorted(each.name for each in path.parent.iterdir()) == [".a.tally.lock", "a.tally"]


def test_a_process_that_dies_with_the_lock_does_not_keep_it(path):
    script = (
        "import os, signal, sys\n"
        "from tallybayes.modelfile import changing\n"
        "with changing(sys.argv[1]):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script, path], timeout=300)
    with changing(path, timeout=1.0) as change:
        change.save(grown(change.stored))
    assert load(path).fitted.tally.rows.sum() == 4


def test_provenance_keeps_a_line_for_each_change():
    made = Provenance.now("loan.csv", 10, 2)
    assert made.created == made.changed
    assert made.created.endswith("+00:00")
    assert np.datetime64(made.created.removesuffix("+00:00")) > np.datetime64("2024-01-01")
    assert made.version == tb.__version__
    assert (made.sources, made.rows, made.skipped) == (("loan.csv",), 10, 2)
    assert made.history == ("fit loan.csv: 10 rows",)
    more = made.then("update more.csv: 5 rows", 5, 1, "more.csv").then("forget: 3 rows", -3)
    assert more.created == made.created
    assert (more.sources, more.rows, more.skipped) == (("loan.csv", "more.csv"), 12, 3)
    assert more.history[1:] == ("update more.csv: 5 rows", "forget: 3 rows")
    assert Provenance.now(None, 1).history == ("fit: 1 row",)
    assert Provenance.now("a", 1, said="merge a b").history == ("merge a b",)
