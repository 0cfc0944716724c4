"""What the commands understand and print; the numbers are those of the lectures."""

import csv
import io
import json
import math

import pyarrow.parquet
import pytest

from tallybayes.modelfile import load

APPLICANT = ("--set", "owner=No", "--set", "status=Married", "--set", "income=120")
P_MARRIED_120 = math.exp(-100 / 5950) / math.sqrt(2 * math.pi * 2975)
LAPLACE = {  # by hand: prior x owner No x Married x density
    "No": 7 / 10 * 5 / 9 * 5 / 10 * P_MARRIED_120,
    "Yes": 3 / 10 * 4 / 5 * 1 / 6 * math.exp(-900 / 50) / math.sqrt(2 * math.pi * 25),
}
P_NO = LAPLACE["No"] / sum(LAPLACE.values())


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


# fit


def test_fit_prints_what_it_understood_and_saves_the_model(done):
    shown = done("fit", "loan.csv", "--target", "cheat", "-o", "a.tally")
    assert "10 rows, to predict 'cheat': 7 'No', 3 'Yes'" in shown
    assert "income  Gaussian()" in shown
    assert "each left out on its own" in shown
    assert "Saved as a.tally" in shown
    assert load("a.tally").fitted.classes == ("No", "Yes")


def test_fit_as_json(done):
    facts = json.loads(done("fit", "loan.csv", "-t", "cheat", "-o", "a.tally", "--json"))
    assert (facts["rows"], facts["out"], facts["warnings"]) == (10, "a.tally", [])
    assert [each["name"] for each in facts["columns"]] == ["owner", "status", "income"]
    assert facts["leave_one_out"]["rows"] == 10


def test_a_quiet_fit_prints_nothing(cli):
    assert cli("fit", "loan.csv", "-t", "cheat", "-o", "a.tally", "-q") == (0, "", "")


def test_fit_without_a_place_for_the_model_is_an_error_of_usage(cli):
    code, out, err = cli("fit", "loan.csv", "-t", "cheat")
    assert (code, out) == (2, "")
    assert "-o name.tally" in err


def test_a_dry_run_writes_nothing(done, data):
    before = sorted(data.iterdir())
    assert "income  Gaussian()" in done("fit", "loan.csv", "-t", "cheat", "--dry-run")
    assert sorted(data.iterdir()) == before


def test_a_model_is_not_overwritten_without_leave(cli, data):
    (data / "a.tally").write_text("precious")
    code, out, err = cli("fit", "loan.csv", "-t", "cheat", "-o", "a.tally")
    assert (code, out) == (1, "")
    assert err == (
        "tallybayes: error: 'a.tally' exists; overwrite it with --force, or name another file\n"
    )
    assert (data / "a.tally").read_text() == "precious"
    assert cli("fit", "loan.csv", "-t", "cheat", "-qfo", "a.tally")[0] == 0
    assert load("a.tally").provenance.rows == 10


def test_a_file_that_cannot_be_written_is_refused_before_any_work(cli, data):
    code, _, err = cli("fit", "none.csv", "-t", "cheat", "-o", "no/where.tally")
    assert code == 1
    assert "there is no folder 'no'" in err
    (data / "folder").mkdir()
    assert "'folder' is a folder" in cli("fit", "none.csv", "-t", "cheat", "-o", "folder")[2]


def test_options_of_columns_reach_the_model(done):
    done(
        *("fit", "loan.csv", "-t", "cheat", "-o", "a.tally", "-q", "--no-scores"),
        *("--column", "status=categorical:alpha=0.5", "--column", "income=bins:edges=80;100"),
        *("--drop", "owner", "--positive", "Yes", "--prior", "No=0.9,Yes=0.1"),
    )
    fitted = load("a.tally").fitted
    assert list(fitted.tally.schema.names) == ["status", "income"]
    assert fitted.recipe.columns["status"].alpha == 0.5
    assert fitted.tally.schema.edges["income"] == (80.0, 100.0)
    assert fitted.recipe.positive == "Yes"
    assert fitted.model.prior.tolist() == [0.9, 0.1]


def test_best_families_leave_stated_ones_alone(done):
    said = ("--families", "best", "--column", "income=log_normal")
    done("fit", "loan.csv", "-t", "cheat", "-o", "a.tally", "-q", "--no-scores", *said)
    family = load("a.tally").fitted.recipe.columns["income"]
    assert type(family).__name__ == "LogNormal"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (["--column", "income"], "'income' is not of the form NAME=FAMILY"),
        (["--column", "income="], "is not of the form NAME=FAMILY"),
        (["--column", "x=bins", "--column", "x=text"], "Column 'x' is stated twice"),
        (["--prior", "No"], "'No' is not a prior"),
        (["--prior", "No=a,Yes=b"], "is not a prior"),
        (["--prior", "No=inf,Yes=0"], "is not a prior"),
        (["--families", "all"], "'all' is not one of"),
        (["--alpha", "much"], "'much' is not a valid float"),
    ],
    ids=["no family", "empty family", "twice", "prior", "no number", "infinite", "choice", "alpha"],
)
def test_a_wish_that_cannot_be_read_is_an_error_of_usage(cli, said, message):
    code, out, err = cli("fit", "loan.csv", "-t", "cheat", "-o", "a.tally", *said)
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (["--column", "incom=bins"], "did you mean 'income'?"),
        (["--column", "income=gausian"], "did you mean 'gaussian'?"),
        (["--drop", "ownr"], "did you mean 'owner'?"),
        (["--alpha", "-1"], "alpha is -1"),
        (["--delimiter", "::"], "it must be one ASCII character"),
        (["--positive", "Maybe"], "'Maybe' is not a class"),
    ],
    ids=["column", "family", "drop", "alpha", "delimiter", "positive"],
)
def test_a_wish_that_does_not_fit_the_data_is_an_error_with_a_remedy(cli, said, message):
    code, out, err = cli("fit", "loan.csv", "-t", "cheat", "-o", "a.tally", *said)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert message in err


def test_reading_options_reach_the_reader(done, data):
    (data / "b.txt").write_text("1,5;a;-\n2,5;b;x\n3,0;a;y\n4,0;b;y\n", encoding="utf-16")
    done(
        *("fit", "b.txt", "-t", "x1", "-o", "b.tally", "-q", "--no-scores", "--format", "csv"),
        *("--delimiter", ";", "--decimal", ",", "--missing", "-", "--no-header"),
        *("--encoding", "utf-16"),
    )
    tally = load("b.tally").fitted.tally
    assert list(tally.schema.names) == ["x0", "x2"]
    assert [str(type(kind).__name__) for _, kind, _ in tally.schema] == ["Numeric", "Categories"]


@pytest.mark.parametrize("typed", ["\t", r"\t", "tab"])
def test_a_tab_can_be_typed_in_any_shell(done, data, typed):
    (data / "b.txt").write_text("x\ty\n1.5\ta\n2.5\tb\n")
    args = ("fit", "b.txt", "-t", "y", "-o", "b.tally", "-q", "--no-scores")
    done(*args, "--format", "csv", "--delimiter", typed)
    assert list(load("b.tally").fitted.tally.schema.names) == ["x"]


# predict


def test_predictions_are_csv_on_standard_output(cli, loan):
    code, out, err = cli("predict", loan, "applicants.csv")
    assert code == 0
    rows = rows_of(out)
    assert [row["prediction"] for row in rows] == ["No", "Yes", "No"]
    assert float(rows[0]["probability"]) == pytest.approx(P_NO, rel=1e-12)
    assert err.startswith("tallybayes: 3 rows predicted: 2 'No', 1 'Yes'")


def test_probabilities_of_all_classes_and_columns_can_be_written_too(done, loan):
    rows = rows_of(done("predict", loan, "applicants.csv", "--proba", "--keep-all", "-q"))
    assert list(rows[0]) == ["owner", "status", "income", "prediction", "P(No)", "P(Yes)"]
    assert float(rows[0]["P(Yes)"]) == pytest.approx(1 - P_NO, rel=1e-6)
    assert rows[2]["income"] == ""
    kept = rows_of(done("predict", loan, "applicants.csv", "--keep", "income", "-q"))
    assert list(kept[0]) == ["income", "prediction", "probability"]


def test_predictions_as_one_json_object(cli, loan):
    code, out, err = cli("predict", loan, "applicants.csv", "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert facts["rows"] == 3
    assert [row["prediction"] for row in facts["predictions"]] == ["No", "Yes", "No"]
    assert facts["warnings"] == []


def test_predictions_of_no_rows_as_json(done, loan, data):
    (data / "none.csv").write_text("owner,status,income\n")
    facts = json.loads(done("predict", loan, "none.csv", "--json"))
    assert (facts["rows"], facts["predictions"]) == (0, [])


def test_an_early_error_leaves_no_half_object(cli, loan):
    code, out, err = cli("predict", loan, "spam.csv", "--json")
    assert (code, out) == (1, "")
    assert "has no column 'owner'" in json.loads(err)["error"]


def test_predictions_in_a_file(done, loan):
    shown = done("predict", loan, "applicants.csv", "-o", "p.parquet")
    assert "3 rows predicted" in shown
    assert "Saved as p.parquet" in shown
    assert pyarrow.parquet.read_table("p.parquet").column_names == ["prediction", "probability"]
    facts = json.loads(done("predict", loan, "applicants.csv", "-fo", "p.parquet", "--json"))
    assert (facts["rows"], facts["out"]) == (3, "p.parquet")


def test_predictions_never_overwrite_the_data(cli, loan, data):
    before = (data / "applicants.csv").read_text()
    code, _, err = cli("predict", loan, "applicants.csv", "-o", "applicants.csv")
    assert code == 1
    assert "is one of the files that are read" in err
    assert (data / "applicants.csv").read_text() == before


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--keep", "income", "--keep-all"], "leave out --keep"),
        (["--json", "--to", "parquet"], "leave out --to parquet"),
        (["--to", "xlsx"], "'xlsx' is not one of"),
    ],
    ids=["keep", "json", "format"],
)
def test_predict_refuses_wishes_that_contradict_each_other(cli, loan, args, message):
    code, out, err = cli("predict", loan, "applicants.csv", *args)
    assert (code, out) == (2, "")
    assert message in err


def test_rows_that_do_not_fit_are_counted_or_listed(cli, loan, data):
    text = "owner,status,income\nNo,Married,120\nNo,Single,x\nYes,Single,y\n"
    (data / "bad.csv").write_text(text)
    code, out, err = cli("predict", loan, "bad.csv")
    assert (code, out) == (1, "")
    assert "row 2, column 'income': 'x' is not a number" in err
    assert "--bad-rows" in err
    code, out, err = cli("predict", loan, "bad.csv", "--bad-rows", "skip")
    assert (code, len(rows_of(out))) == (0, 1)
    assert "rows set aside: 2" in err
    code, out, err = cli("predict", loan, "bad.csv", "--bad-rows", "report")
    assert err.count("set aside: bad.csv, row") == 2
    facts = json.loads(cli("predict", loan, "bad.csv", "--bad-rows", "report", "--json")[1])
    assert (facts["bad_rows"], len(facts["bad_examples"])) == (2, 2)


@pytest.mark.parametrize(
    "args",
    [
        ["evaluate", "loan.tally"],
        ["compare", "loan.tally", "b.tally"],
        ["evaluate"],
        ["tune", "--nested", "0"],
        ["compare", "--folds", "2", "--spec", "a:", "--spec", "b: --alpha 2"],
    ],
    ids=["evaluate a model", "compare models", "evaluate", "tune", "compare"],
)
def test_every_command_that_reads_rows_can_list_those_set_aside(cli, done, loan, data, args):
    done("fit", "loan.csv", "-t", "cheat", "--only", "income", "-o", "b.tally", "-q", "--no-scores")
    bad = "".join(f"No,Single,x{k},Yes\n" for k in range(7))
    header, rows = (data / "loan.csv").read_text().split("\n", 1)
    (data / "bad.csv").write_text(f"{header}\n{rows * 10}{bad}")
    command = [*args, "bad.csv", "-t", "cheat"]
    code, _, err = cli(*command, "--bad-rows", "report")
    assert (code, err.count("set aside: bad.csv, row 1")) == (0, 7)
    code, _, err = cli(*command, "--bad-rows", "skip")
    assert (code, err.count("rows set aside: 7, the first of them bad.csv, row 101")) == (0, 1)
    facts = json.loads(done(*command, "--bad-rows", "skip", "--json"))
    assert (facts["bad_rows"], len(facts["bad_examples"])) == (7, 5)


# explain, inspect, sample


def test_a_typed_record_is_explained(done, loan):
    shown = done("explain", loan, *APPLICANT)
    assert "Married" in shown
    assert f"{math.log(LAPLACE['No']):.4f}" in shown
    facts = json.loads(done("explain", loan, *APPLICANT, "--json"))
    assert facts["decision"] == "No"


def test_a_record_may_be_json_or_a_row_of_a_file(done, loan):
    typed = done("explain", loan, *APPLICANT)
    record = '{"owner": "No", "status": "Married", "income": 120}'
    assert done("explain", loan, "--record", record) == typed
    assert done("explain", loan, "applicants.csv", "--row", "1") == typed


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["--record", "{}", "--set", "owner=No"],
        ["applicants.csv"],
        ["--row", "1", "--set", "owner=No"],
        ["applicants.csv", "--row", "0"],
        ["--set", "owner"],
        ["--set", "owner=No", "--set", "owner=Yes"],
        ["--record", "[1]"],
        ["--record", "{owner: No}"],
    ],
    ids=str,
)
def test_explain_takes_one_record_that_can_be_read(cli, loan, args):
    code, out, _ = cli("explain", loan, *args)
    assert (code, out) == (2, "")


def test_explain_names_columns_that_are_probably_meant(cli, loan):
    code, _, err = cli("explain", loan, "--set", "incom=1")
    assert code == 1
    assert "did you mean 'income'?" in err


def test_inspect_shows_fractions(done):
    args = ("fit", "loan.csv", "-t", "cheat", "--alpha", "0", "-o", "a.tally", "-q", "--no-scores")
    done(*args)
    shown = done("inspect", "a.tally")
    for number in ("7/10 = 0.7", "4/7 = 0.5714", "0/3 = 0", "2975"):
        assert number in shown
    only = done("inspect", "a.tally", "--column", "income")
    assert "2975" in only
    assert "Married" not in only
    assert json.loads(done("inspect", "a.tally", "--json"))["warnings"] == []


def test_samples_are_rows_given_what_is_known(done, loan):
    args = ("sample", loan, "-n", "5", "--given", "cheat=Yes", "--seed", "1")
    rows = rows_of(done(*args))
    assert len(rows) == 5
    assert {row["cheat"] for row in rows} == {"Yes"}
    facts = json.loads(done(*args, "--json"))
    assert [row["status"] for row in facts["records"]] == [row["status"] for row in rows]
    assert (facts["n"], facts["seed"], facts["given"]) == (5, 1, {"cheat": "Yes"})
    assert "Saved as s.jsonl" in done(*args, "-o", "s.jsonl")


# evaluate, compare, tune


def test_a_model_is_scored_on_a_test_file(done, loan):
    facts = json.loads(done("evaluate", loan, "loan.csv", "--json"))
    assert (facts["rows"], facts["scores"]["accuracy"]) == (10, 1.0)


def test_ways_to_make_models_are_scored_by_leaving_rows_out(done):
    shown = done("evaluate", "loan.csv", "-t", "cheat", "--loo")
    assert "each left out on its own" in shown
    fitted = json.loads(done("fit", "loan.csv", "-t", "cheat", "-o", "a.tally", "--json"))
    facts = json.loads(done("evaluate", "loan.csv", "-t", "cheat", "--loo", "--json"))
    for name, score in fitted["leave_one_out"]["scores"].items():
        assert facts["scores"][name] == pytest.approx(score) or score is None, name


@pytest.mark.parametrize(
    ("held", "folds", "rows"),
    [
        (["--folds", "3"], 3, 10),
        (["--split", "0.3"], 0, 3),
        (["--folds", "3", "--repeats", "2"], 6, 10),
    ],
    ids=["folds", "split", "repeats"],
)
def test_rows_are_held_out_as_asked(done, held, folds, rows):
    facts = json.loads(done("evaluate", "loan.csv", "-t", "cheat", *held, "--json"))
    assert len(facts["folds"]) == folds
    assert facts["rows"] == rows


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["loan.csv"], "--target"),
        (["loan.tally"], "Name the data"),
        (["loan.tally", "loan.csv", "--alpha", "2"], "leave out --alpha"),
        (["loan.tally", "loan.csv", "--loo"], "leave out --loo"),
        (["loan.csv", "-t", "cheat", "--loo", "--folds", "3"], "Choose one"),
        (["loan.csv", "-t", "cheat", "--loo", "--repeats", "3"], "--repeats"),
        (["loan.csv", "-t", "cheat", "--split", "1.5"], "1.5 is no share"),
    ],
    ids=["no target", "no data", "model", "held out", "two ways", "repeats", "share"],
)
def test_evaluate_refuses_what_makes_no_sense(cli, loan, args, message):
    code, out, err = cli("evaluate", *args)
    assert (code, out) == (2, "")
    assert message in err


def test_models_are_compared_on_a_test_file(done, loan):
    done("fit", "loan.csv", "-t", "cheat", "--only", "income", "-o", "b.tally", "-q", "--no-scores")
    shown = done("compare", loan, "b.tally", "loan.csv")
    assert "McNemar" in shown
    assert "loan" in shown


def test_specifications_are_compared_with_what_is_said_for_all(done):
    args = ("compare", "loan.csv", "-t", "cheat", "--folds", "2", "--drop", "owner")
    shown = done(*args, "--spec", "curve:", "--spec", "cut: --column income=bins --alpha 0.5")
    assert "curve - cut" in shown
    facts = json.loads(done(*args, "--spec", "a: --alpha 1", "--spec", "b:", "--json"))
    assert facts["warnings"] == [] or isinstance(facts["warnings"], list)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["loan.tally", "loan.csv"], "two different model files"),
        (["loan.tally", "loan.tally", "loan.csv"], "two different model files"),
        (["loan.tally", "loan.tally"], "Name the data"),
        (["loan.csv", "-t", "cheat"], "--spec"),
        (["loan.csv", "--spec", "a:", "--spec", "b:"], "--target"),
        (["loan.csv", "-t", "cheat", "--spec", "a:"], "two specifications"),
        (["loan.csv", "-t", "cheat", "--spec", "a:", "--spec", "a:"], "called 'a'"),
        (["loan.csv", "-t", "cheat", "--spec", "--alpha 1", "--spec", "a:"], "has no name"),
        (
            ["loan.csv", "-t", "cheat", "--spec", "a: --alhpa 1", "--spec", "b:"],
            "--spec 'a': No such",
        ),
        (["loan.csv", "-t", "cheat", "--spec", "a: 'x", "--spec", "b:"], "No closing quotation"),
    ],
    ids=[
        *("one model", "same model", "no data", "no spec", "no target", "one spec"),
        *("same name", "no name", "option", "quotes"),
    ],
)
def test_compare_refuses_what_makes_no_sense(cli, loan, args, message):
    code, out, err = cli("compare", *args)
    assert (code, out) == (2, "")
    assert message in err


def test_tuning_tries_values_and_saves_the_best(done):
    args = ("tune", "loan.csv", "-t", "cheat", "--nested", "0", "-o", "t.tally", "--json")
    facts = json.loads(
        done(*args, "--try", "alpha=0.01..100:5", "--try", "prior=empirical,uniform")
    )
    assert len(facts["candidates"]) == 10
    alphas = {each["params"]["alpha"] for each in facts["candidates"]}
    assert sorted(alphas) == pytest.approx([0.01, 0.1, 1.0, 10.0, 100.0])
    best = min(facts["candidates"], key=lambda each: each["score"])
    assert facts["best_params"] == best["params"]
    prior = type(load("t.tally").fitted.recipe.prior).__name__
    assert prior.lower() == best["params"]["prior"]


@pytest.mark.parametrize(
    "tried",
    ["alpha", "beta=1", "alpha=", "alpha=a", "alpha=1..0:3", "alpha=0..1:3", "prior=best"],
)
def test_values_that_cannot_be_tried_are_an_error_of_usage(cli, tried):
    code, out, err = cli("tune", "loan.csv", "-t", "cheat", "--try", tried)
    assert (code, out) == (2, "")
    assert "--try" in err


# update, forget, merge


def test_update_and_forget_undo_each_other(done, loan, data):
    before = load(loan)
    assert "20 now: 14 'No', 6 'Yes'" in done("update", loan, "loan.csv")
    facts = json.loads(done("forget", loan, "loan.csv", "--json"))
    assert (facts["rows"], facts["total"], facts["model"]) == (10, 10, loan)
    after = load(loan)
    assert after.fitted.model.prior.tolist() == before.fitted.model.prior.tolist()
    assert after.provenance.history[1:] == ("update loan.csv: 10 rows", "forget loan.csv: 10 rows")


def test_rows_never_learned_cannot_be_forgotten(cli, loan, data):
    (data / "new.csv").write_text("owner,status,income,cheat\nYes,Widowed,1,Yes\n")
    before = (data / loan).read_bytes()
    code, out, err = cli("forget", loan, "new.csv")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert (data / loan).read_bytes() == before


def test_merging_adds_rows(done, loan):
    assert "both.tally has 20 rows now: 14 'No', 6 'Yes'" in done(
        "merge", loan, loan, "-o", "both.tally"
    )
    facts = json.loads(done("merge", loan, "--into", "both.tally", "--json"))
    assert (facts["rows"], facts["out"]) == (30, "both.tally")
    assert load("both.tally").provenance.rows == 30


@pytest.mark.parametrize(
    "args",
    [
        ["loan.tally", "loan.tally"],
        ["loan.tally", "-o", "x.tally"],
        ["loan.tally", "-o", "-", "--json"],
    ],
    ids=["nowhere", "one", "json"],
)
def test_merge_refuses_what_makes_no_sense(cli, loan, args):
    code, out, _ = cli("merge", *args)
    assert (code, out) == (2, "")
