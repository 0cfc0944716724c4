"""What users type that is nearly right, and names that are hard to type."""

import json

import pytest

from tallybayes.modelfile import load

USES = [
    ["inspect", "loan.tally"],
    ["predict", "loan.tally", "applicants.csv"],
    ["explain", "loan.tally", "--set", "income=120"],
    ["sample", "loan.tally"],
    ["evaluate", "loan.tally", "loan.csv"],
    ["compare", "loan.tally", "other.tally", "loan.csv"],
]


@pytest.mark.parametrize("args", USES, ids=lambda args: args[0])
def test_a_model_from_which_everything_was_forgotten_says_so(cli, done, loan, args):
    done("merge", loan, loan, "-qo", "other.tally")
    done("forget", loan, "loan.csv", "-q")
    code, out, err = cli(*args)
    assert (code, out) == (1, "")
    assert err.startswith("tallybayes: error: loan.tally: everything was forgotten")
    assert "update it with some rows" in err
    done("update", loan, "loan.csv", "-q")
    assert cli(*args)[0] == 0


def test_what_is_left_of_a_model_without_rows_is_said_in_whole_sentences(cli, done, loan):
    assert done("forget", loan, "loan.csv") == "forgot: 10 rows; the model has 0 now\n"
    assert done("merge", loan, loan, "-o", "both.tally") == "both.tally has 0 rows now\n"
    assert cli("forget", loan, "loan.csv")[2].endswith("known: none\n")


def test_a_model_without_rows_can_still_be_merged(done, loan):
    done("fit", "loan.csv", "-t", "cheat", "-qo", "other.tally", "--no-scores")
    done("forget", loan, "loan.csv", "-q")
    assert "has 10 rows now" in done("merge", loan, "other.tally", "-o", "both.tally")


@pytest.fixture
def equal_signs(done, data):
    """A model of columns whose names have signs of equality."""
    rows = "a=b,a,y=z\nu,3,p\nv,4,q\nu,5,p\n"
    (data / "signs.csv").write_text(rows)
    done("fit", "signs.csv", "-t", "y=z", "-qo", "signs.tally", "--no-scores")
    return "signs.tally"


def test_a_column_whose_name_has_an_equal_sign_can_be_set_in_json(done, equal_signs):
    args = ("explain", equal_signs, "--record", '{"a=b": "u", "a": 3}', "--json")
    factors = {e["column"]: e["value"] for e in json.loads(done(*args))["terms"]}
    assert (factors["a=b"], factors["a"]) == ("u", 3)


def test_a_name_that_no_column_has_is_cut_at_the_first_sign(cli, equal_signs):
    err = cli("explain", equal_signs, "--set", "c=d=1")[2]
    assert "the model has no column 'c'" in err


@pytest.mark.parametrize(
    "args",
    [
        ["predict", "loan.tally", "loan.tally"],
        ["fit", "loan.tally", "-t", "cheat", "-o", "new.tally"],
        ["update", "loan.tally", "loan.tally"],
        ["evaluate", "loan.tally", "loan.tally"],
        ["explain", "loan.tally", "loan.tally", "--row", "1"],
    ],
    ids=lambda args: args[0],
)
def test_a_model_where_data_are_expected_is_called_one(cli, loan, args):
    code, out, err = cli(*args)
    assert (code, out) == (1, "")
    assert "loan.tally is a model file, where data are expected" in err


def test_a_zip_that_is_no_model_is_not_called_one(cli, data):
    import zipfile

    with zipfile.ZipFile(data / "rows.zip", "w") as archive:
        archive.write(data / "loan.csv", "loan.csv")
    assert "is a zip archive" in cli("fit", "rows.zip", "-t", "cheat", "-o", "a.tally")[2]


def test_a_column_of_weights_cannot_be_declared_too(cli):
    args = ("--weight", "income", "--column", "income=gaussian", "-o", "a.tally")
    code, _, err = cli("fit", "loan.csv", "-t", "cheat", *args)
    assert code == 1
    assert "column 'income' says how often each row counts (--weight)" in err


def test_labels_may_have_another_name_when_rows_are_learned_or_forgotten(done, cli, loan, data):
    before = load(loan).fitted.tally
    (data / "renamed.csv").write_text((data / "loan.csv").read_text().replace("cheat", "outcome"))
    code, _, err = cli("update", loan, "renamed.csv")
    assert code == 1
    assert "has no column 'cheat'" in err
    assert "20 now: 14 'No', 6 'Yes'" in done("update", loan, "renamed.csv", "--target", "outcome")
    done("forget", loan, "renamed.csv", "-t", "outcome")
    assert load(loan).fitted.tally == before
    assert load(loan).fitted.tally.schema.target == "cheat"


def test_labels_that_are_one_of_the_columns_are_refused(cli, loan):
    err = cli("update", loan, "loan.csv", "-t", "owner")[2]
    assert "column 'owner' is one that the model predicts from" in err


def test_decimal_commas_are_noticed(cli, done, data):
    (data / "commas.csv").write_text("x;y\n1,5;a\n2,25;b\n3;a\n?;a\n")
    code, _, err = cli("fit", "commas.csv", "-t", "y", "-o", "a.tally", "--no-scores")
    assert code == 0
    assert "column 'x' looks like numbers with decimal commas" in err
    assert "--decimal ," in err
    said = cli("fit", "commas.csv", "-t", "y", "-qfo", "a.tally", "--no-scores", "--decimal", ",")
    assert said == (0, "", "")
    shown = json.loads(done("inspect", "a.tally", "--json"))
    assert "Gaussian" in json.dumps(shown["columns"])


def test_decimal_points_are_noticed_where_commas_were_asked_for(cli, data):
    (data / "points.csv").write_text("x;y\n1.5;a\n2.25;b\n3;a\n")
    err = cli("fit", "points.csv", "-t", "y", "-o", "a.tally", "--decimal", ",")[2]
    assert "column 'x' looks like numbers with decimal points" in err


@pytest.mark.parametrize(
    "values",
    ["1,234 5,678 9,012", "a,5 b,5 1,5", "red green 1,5", "1,2,3 4,5,6 7,8,9"],
    ids=["thousands", "letters", "words", "lists"],
)
@pytest.mark.parametrize("declared", [[], ["--column", "x=categorical"]], ids=["", "declared"])
def test_other_commas_are_no_decimal_commas(cli, data, values, declared):
    rows = "".join(f"{value};{label}\n" for value, label in zip(values.split(), "aba", strict=True))
    (data / "other.csv").write_text("x;y\n" + rows)
    args = ("fit", "other.csv", "-t", "y", "-o", "a.tally", "--no-scores")
    assert "decimal" not in cli(*args, *declared)[2]


def test_declared_categories_with_commas_bring_no_warning(cli, data):
    (data / "sizes.csv").write_text("x;y\n1,5;a\n2,5;b\n1,5;a\n")
    args = ("fit", "sizes.csv", "-t", "y", "-o", "a.tally", "--no-scores")
    assert cli(*args, "--column", "x=categorical")[2] == ""
