"""A dry run shows what fit would do."""

import json

import pyarrow
import pyarrow.parquet
import pytest

MANY = 40_000  # more than a sample of Parquet has


@pytest.fixture
def odd(data):
    """Numbers with one odd value among sixty."""
    values = [str(row) if row != 30 else "unknown" for row in range(60)]
    lines = [f"{value},{'pq'[row % 2]}" for row, value in enumerate(values)]
    (data / "odd.csv").write_text("\n".join(["b,y", *lines]) + "\n")
    return "odd.csv"


def understood(text):
    """The lines that say how many rows there are and what the columns are."""
    return text.split("\n\n")[0].splitlines()


@pytest.mark.parametrize(
    "options",
    [
        ["odd.csv", "-t", "y", "--bad-rows", "skip"],
        ["odd.csv", "-t", "y", "--column", "b=categorical"],
        ["loan.csv", "-t", "cheat", "--column", "income=bins", "--prior", "uniform"],
        ["loan.csv", "-t", "cheat", "--families", "best"],
        ["comma.csv", "-t", "y", "--decimal", ",", "--weight", "w"],
    ],
    ids=["bad rows", "declared", "bins", "best", "decimal commas"],
)
@pytest.mark.filterwarnings("ignore:column 'b' has 60 different values")
def test_it_shows_what_fit_understands(done, data, odd, options):
    (data / "comma.csv").write_text("x;w;y\n" + "1,5;1;a\n2,5;2;b\n3,5;1;a\n" * 3)
    dry = done("fit", *options, "--dry-run")
    assert understood(dry) == understood(done("fit", *options, "--no-scores", "-o", "a.tally"))


def test_it_stops_where_fit_stops(cli, odd):
    code, out, err = cli("fit", odd, "-t", "y", "--dry-run")
    assert (code, out) == (1, "")
    assert err == cli("fit", odd, "-t", "y", "-o", "a.tally")[2]
    assert "odd.csv, row 31, column 'b': 'unknown' is not a number" in err


def test_rows_without_a_label_are_set_aside_as_asked(cli, data):
    (data / "ml.csv").write_text("a,y\n1,p\n2,\n3,q\n")
    code, out, err = cli("fit", "ml.csv", "-t", "y", "--dry-run", "--bad-rows", "report")
    assert code == 0, err
    assert "2 rows, to predict 'y': 1 'p', 1 'q'" in out
    assert "set aside: ml.csv, row 2" in err
    assert "ml.csv, row 2" in cli("fit", "ml.csv", "-t", "y", "--dry-run")[2]


def test_of_many_rows_it_counts_the_first_and_says_so(done, data):
    labels = ["p"] * 10_000 + ["q"] * (MANY - 10_000)
    table = pyarrow.table({"x": list(range(MANY)), "y": labels})
    pyarrow.parquet.write_table(table, data / "many.parquet")
    facts = json.loads(done("fit", "many.parquet", "-t", "y", "--dry-run", "--json"))
    n = facts["first_rows"]
    assert 10_000 < n < MANY
    assert facts["classes"] == [{"label": "p", "rows": 10_000}, {"label": "q", "rows": n - 10_000}]
    shown = done("fit", "many.parquet", "-t", "y", "--dry-run")
    assert shown.startswith(f"From the first {n:,} rows only\n{n:,} rows, to predict 'y'")


def test_a_class_that_comes_late_may_have_a_prior(done, data):
    labels = ["p"] * 39_000 + ["q"] * (MANY - 39_000)
    table = pyarrow.table({"x": list(range(MANY)), "y": labels})
    pyarrow.parquet.write_table(table, data / "late.parquet")
    args = ("late.parquet", "-t", "y", "--prior", "p=0.5,q=0.5", "--dry-run")
    assert json.loads(done("fit", *args, "--json"))["columns"][0]["name"] == "x"


def test_it_reads_standard_input(tallybayes, data):
    rows = (data / "loan.csv").read_text()
    shown = tallybayes("fit", "-", "-t", "cheat", "--dry-run", stdin=rows)
    assert shown.returncode == 0, shown.stderr
    assert "10 rows, to predict 'cheat': 7 'No', 3 'Yes'" in shown.stdout


def test_bad_rows_among_many_are_found_at_their_place(cli, data):
    lines = [f"{row % 50},{'pq'[row % 2]},{'a long filler ' * 8}{row % 9}" for row in range(60_000)]
    lines[100] = "1,p"
    lines[59_000] = "2,q"
    (data / "big.csv").write_text("\n".join(["x,y,f", *lines]) + "\n")
    args = ("fit", "big.csv", "-t", "y", "--drop", "f", "--dry-run", "--bad-rows", "report")
    code, out, err = cli(*args, "--json")
    facts = json.loads(out)
    assert code == 0, err
    assert facts["bad_rows"] == 1
    assert facts["bad_examples"][0].startswith("big.csv, row 101:")
    assert facts["rows"] == facts["first_rows"] - 1 < 59_000
