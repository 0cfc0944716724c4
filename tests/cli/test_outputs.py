"""Files to be written are looked at before the work, and what is read is never overwritten."""

import os

import pytest

from tallybayes.cli import outputs

FIT = ["-t", "cheat", "--no-scores"]
ONTO_INPUT = [
    ["fit", "loan.csv", *FIT, "-o", "loan.csv"],
    ["fit", "loan.csv", *FIT, "-o", "./link.csv"],
    ["fit", "loan*.csv", *FIT, "-o", "loan.csv"],
    ["fit", "lake", *FIT, "-o", "lake/part.csv"],
    ["tune", "loan.csv", "-t", "cheat", "-o", "loan.csv"],
    ["predict", "loan.tally", "loan.csv", "-o", "loan.csv"],
    ["predict", "loan.tally", "loan.csv", "-o", "loan.tally", "--to", "csv"],
    ["sample", "loan.tally", "-o", "loan.tally", "--to", "csv"],
    ["merge", "loan.tally", "other.tally", "-o", "other.tally"],
    ["report", "loan.tally", "-o", "loan.tally"],
    ["report", "loan.tally", "--data", "lake", "-o", "lake/part.csv"],
]


@pytest.fixture
def files(done, loan, data):
    """Models, data, a link to them and a folder of them."""
    (data / "other.tally").write_bytes((data / loan).read_bytes())
    (data / "lake").mkdir()
    (data / "lake" / "part.csv").write_bytes((data / "loan.csv").read_bytes())
    (data / "link.csv").symlink_to(data / "loan.csv")
    return data


@pytest.mark.parametrize("args", ONTO_INPUT, ids=" ".join)
def test_what_is_read_is_not_overwritten_even_by_force(cli, files, args):
    kept = {path: path.read_bytes() for path in files.rglob("*") if path.is_file()}
    code, out, err = cli(*args, "--force")
    assert (code, out) == (1, "")
    assert "is one of the files that are read" in err
    assert {path: path.read_bytes() for path in files.rglob("*") if path.is_file()} == kept


def test_merging_onto_a_model_has_a_remedy(cli, files):
    err = cli("merge", "loan.tally", "other.tally", "-fo", "loan.tally")[2]
    assert "add the others to it with --into" in err


def test_another_file_of_the_same_content_may_be_overwritten(done, files):
    (files / "copy.csv").write_bytes((files / "loan.csv").read_bytes())
    done("fit", "loan.csv", *FIT, "-qfo", "copy.csv")


@pytest.mark.parametrize(
    "args",
    [
        ["fit", "none.csv", *FIT],
        ["tune", "none.csv", "-t", "cheat"],
        ["predict", "none.tally", "none.csv", "--to", "csv"],
        ["sample", "none.tally", "--to", "csv"],
        ["merge", "none.tally", "neither.tally"],
        ["report", "none.tally"],
    ],
    ids=lambda args: args[0],
)
def test_a_folder_that_cannot_be_written_is_found_before_any_work(cli, data, monkeypatch, args):
    # the superuser may write everywhere, so the answer of the system is given here
    locked = data / "locked"
    locked.mkdir()
    real = os.access
    monkeypatch.setattr(
        outputs.os, "access", lambda path, how: os.fspath(path) != str(locked) and real(path, how)
    )
    code, out, err = cli(*args, "-o", "locked/new.tally")
    assert (code, out) == (1, "")
    assert "nothing can be written into the folder 'locked'" in err
