"""What the commands understand and print; the numbers are those of the lectures."""

import csv
import io
import json
import math

import duckdb
import pytest

from tallybayes.modelfile import load

APPLICANT = ("--set", "owner=No", "--set", "status=Married", "--set", "income=120")
P_MARRIED_120 = math.exp(-100 / 5950) / math.sqrt(2 * math.pi * 2975)
LAPLACE = {  # by hand: prior x owner No x Married x density
    "No": 7 / 10 * 5 / 9 * 5 / 10 * P_MARRIED_120,
    "Yes": 3 / 10 * 4 / 5 * 1 / 6 * math.exp(-900 / 50) / math.sqrt(2 * math.pi * 25),
}
P_NO = LAPLACE["No"] / sum(LAPLACE.values())
FIT = ("fit", "loan.csv", "-t", "cheat", "-qo", "a.tally", "--no-scores", "--plain")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def facts(done):
    """Run a command and give back its JSON."""
    return lambda *args: json.loads(done(*args, "--json"))


# fit


def test_fit_prints_what_it_understood_and_saves_the_model(cli, done):
    shown = done("fit", "loan.csv", "--target", "cheat", "-o", "a.tally")
    for said in (
        "10 rows, to predict 'cheat': 7 'No', 3 'Yes'",
        "income  Gaussian()",
        "each left out on its own",
        "Saved as a.tally",
    ):
        assert said in shown
    assert load("a.tally").fitted.classes == ("No", "Yes")
    assert cli(*FIT, "-f") == (0, "", "")


def test_the_rows_of_a_query_are_learnt_as_those_of_a_file(done, loan, data):
    with duckdb.connect(str(data / "bank.duckdb")) as bank:
        bank.execute("create table loans as select * from 'loan.csv'")
    asked = ("-t", "cheat", "-q", "--plain", "--no-scores")
    done("fit", "--sql", "select * from loans", "--db", "bank.duckdb", *asked, "-o", "a.tally")
    done("fit", "--sql", "from 'loan.csv'", *asked, "-o", "b.tally")
    one, here, there = load(loan), load(data / "a.tally"), load(data / "b.tally")
    assert one.fitted.tally.rows.tolist() == here.fitted.tally.rows.tolist() == [7, 3]
    assert here.fitted.tally == there.fitted.tally
    assert here.provenance.sources == ("bank.duckdb: select * from loans",)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("loan.csv", "--sql", "select 1"), "one of the two"),
        ((), "Name files with the rows, or a query"),
        (("loan.csv", "--db", "bank.duckdb"), "--db goes with --sql"),
        (("--sql", "select nothing from nowhere"), "nowhere"),
        (("--sql", ";"), "this gives no rows"),
        (
            (
                "--sql",
                "select cast(if(range = 200000, 'x', '1') as int) a, 'y' cheat from range(300000)",
            ),
            "Could not convert string",
        ),
        (("--sql", "select 1 as a", "--db", "none.duckdb"), "none.duckdb"),
    ],
)
def test_a_query_that_cannot_be_asked_is_one_clear_error(cli, data, line, said):
    code, _, err = cli("fit", *line, "-t", "cheat", "-o", "a.tally")
    assert code != 0
    assert said in err


def test_options_of_columns_reach_the_model(done):
    done(
        *(*FIT, "--column", "status=categorical:alpha=0.5", "--column", "income=bins:edges=80;100"),
        *("--drop", "owner", "--positive", "Yes", "--prior", "No=0.9,Yes=0.1"),
    )
    recipe, schema = load("a.tally").fitted.recipe, load("a.tally").fitted.tally.schema
    assert (schema.names, schema.edges["income"]) == (("status", "income"), (80.0, 100.0))
    assert (recipe.columns["status"].alpha, recipe.positive) == (0.5, "Yes")
    assert recipe.prior.p == {"No": 0.9, "Yes": 0.1}


def test_reading_options_reach_the_reader(done, data):
    (data / "b.txt").write_text("1,5;a;-\n2,5;b;x\n3,0;a;y\n4,0;b;y\n", encoding="utf-16")
    done(
        *("fit", "b.txt", "-t", "x1", "-o", "b.tally", "-q", "--no-scores", "--format", "csv"),
        *("--delimiter", ";", "--decimal", ",", "--na", "-", "--no-header"),
        *("--encoding", "utf-16"),
    )
    kinds = {name: type(kind).__name__ for name, kind, _ in load("b.tally").fitted.tally.schema}
    assert kinds == {"x0": "Numeric", "x2": "Categories"}
    (data / "b.txt").write_text("x\ty\n1.5\ta\n2.5\tb\n")
    for typed in ("\t", r"\t", "tab"):  # a tab can be typed in any shell
        args = ("fit", "b.txt", "-t", "y", "-fo", "b.tally", "-q", "--no-scores")
        done(*args, "--format", "csv", "--delimiter", typed)
        assert load("b.tally").fitted.tally.schema.names == ("x",)


@pytest.mark.parametrize(
    "options",
    [
        ["odd.csv", "-t", "y", "--bad-rows", "skip"],
        ["loan.csv", "-t", "cheat", "--column", "income=bins", "--prior", "uniform"],
    ],
    ids=["bad rows", "bins"],
)
def test_a_dry_run_shows_what_fit_understands_and_writes_nothing(done, data, options):
    values = [str(row) if row != 30 else "unknown" for row in range(60)]
    lines = [f"{value},{'pq'[row % 2]}" for row, value in enumerate(values)]
    (data / "odd.csv").write_text("\n".join(["b,y", *lines]) + "\n")
    before = sorted(data.iterdir())
    dry = done("fit", *options, "--dry-run")
    assert sorted(data.iterdir()) == before
    real = done("fit", *options, "--no-scores", "-o", "a.tally")
    assert dry.split("\n\n")[0].splitlines() == real.split("\n\n")[0].splitlines()


# predict


def test_predictions_are_csv_on_standard_output(cli, done, loan):
    code, out, err = cli("predict", loan, "applicants.csv")
    assert code == 0
    rows = rows_of(out)
    assert [row["prediction"] for row in rows] == ["No", "Yes", "No"]
    assert float(rows[0]["probability"]) == pytest.approx(P_NO, rel=1e-12)
    assert err.startswith("tallybayes: 3 rows predicted: 2 'No', 1 'Yes'")
    rows = rows_of(done("predict", loan, "applicants.csv", "--proba", "--keep-all", "-q"))
    assert list(rows[0]) == ["owner", "status", "income", "prediction", "P(No)", "P(Yes)"]
    assert float(rows[0]["P(Yes)"]) == pytest.approx(1 - P_NO, rel=1e-6)
    assert rows[2]["income"] == ""
    kept = rows_of(done("predict", loan, "applicants.csv", "--keep", "income", "-q"))
    assert list(kept[0]) == ["income", "prediction", "probability"]


def test_predictions_as_one_json_object(cli, loan, data):
    code, out, err = cli("predict", loan, "applicants.csv", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["rows"], found["out"], found["warnings"]) == (3, None, [])
    assert [row["prediction"] for row in found["predictions"]] == ["No", "Yes", "No"]
    (data / "none.csv").write_text("owner,status,income\n")
    found = json.loads(cli("predict", loan, "none.csv", "--json")[1])
    assert (found["rows"], found["predictions"]) == (0, [])


@pytest.mark.parametrize(
    "args",
    [
        ["fit", "-fo", "new.tally", "--no-scores"],
        ["fit", "--dry-run"],
        ["predict", "loan.tally", "-fo", "out.csv"],
        ["evaluate", "loan.tally"],
        ["compare", "loan.tally", "b.tally"],
        ["evaluate", "--folds", "2"],
        ["tune", "--nested", "0"],
    ],
    ids=" ".join,
)
def test_rows_that_do_not_fit_are_an_error_counted_or_listed(cli, facts, done, loan, data, args):
    done("fit", "loan.csv", "-t", "cheat", "--only", "income", "-qo", "b.tally", "--no-scores")
    bad = "".join(f"No,Single,x{k},Yes\n" for k in range(7))
    header, rows = (data / "loan.csv").read_text().split("\n", 1)
    (data / "bad.csv").write_text(f"{header}\n{rows * 10}{bad}")
    command = [*args, "bad.csv", *(["-t", "cheat"] if args[0] != "predict" else [])]
    code, out, err = cli(*command)
    assert (code, out) == (1, "")
    assert "row 101, column 'income': 'x0' is not a number" in err
    assert "--bad-rows skip" in err
    code, _, err = cli(*command, "--bad-rows", "report")
    assert (code, err.count("set aside: bad.csv, row 1")) == (0, 7)
    code, _, err = cli(*command, "--bad-rows", "skip")
    assert (code, err.count("rows set aside: 7, the first of them bad.csv, row 101")) == (0, 1)
    found = facts(*command, "--bad-rows", "skip")
    assert (found["bad_rows"], len(found["bad_examples"])) == (7, 5)


# explain, inspect, sample


def test_a_record_may_be_typed_or_json_or_a_row_of_a_file(done, facts, loan):
    typed = done("explain", loan, *APPLICANT)
    assert f"{math.log(LAPLACE['No']):.4f}" in typed
    assert facts("explain", loan, *APPLICANT)["decision"] == "No"
    record = '{"owner": "No", "status": "Married", "income": 120}'
    assert done("explain", loan, "--record", record) == typed
    assert done("explain", loan, "applicants.csv", "--row", "1") == typed


def test_changes_that_change_the_answer_do(facts, loan):
    found = facts("explain", loan, *APPLICANT, "--show", "counterfactuals")["found"]
    assert found
    for each in found:
        changed = {"owner": "No", "status": "Married", "income": 120}
        changed |= {change["column"]: change["after"] for change in each["changes"]}
        answer = facts("explain", loan, "--record", json.dumps(changed))
        assert answer["decision"] == each["decision"] == "Yes"
    args = ("--show", "counterfactuals", "--keep", "income", "--to", "Yes")
    kept = facts("explain", loan, *APPLICANT, *args)["found"]
    assert "income" not in {change["column"] for each in kept for change in each["changes"]}


def test_samples_are_rows_given_what_is_known(done, facts, loan):
    args = ("sample", loan, "-n", "5", "--given", "cheat=Yes", "--seed", "1")
    rows = rows_of(done(*args))
    assert len(rows) == 5
    assert {row["cheat"] for row in rows} == {"Yes"}
    found = facts(*args)
    assert [row["status"] for row in found["records"]] == [row["status"] for row in rows]
    assert (found["n"], found["seed"], found["given"]) == (5, 1, {"cheat": "Yes"})
    assert "Saved as s.jsonl" in done(*args, "-o", "s.jsonl")


@pytest.mark.parametrize(
    ("held", "folds", "rows"),
    [("--folds 3", 3, 10), ("--split 0.3", 0, 3), ("--folds 3 --repeats 2", 6, 10)],
)
def test_rows_are_held_out_as_asked(facts, held, folds, rows):
    found = facts("evaluate", "loan.csv", "-t", "cheat", *held.split())
    assert (len(found["folds"]), found["rows"]) == (folds, rows)


def test_tuning_tries_values_and_saves_the_best(facts):
    args = ("tune", "loan.csv", "-t", "cheat", "--nested", "0", "-o", "t.tally")
    found = facts(*args, "--try", "alpha=0.01..100:5", "--try", "prior=empirical,uniform")
    assert len(found["candidates"]) == 10
    alphas = {each["params"]["alpha"] for each in found["candidates"]}
    assert sorted(alphas) == pytest.approx([0.01, 0.1, 1.0, 10.0, 100.0])
    best = min(found["candidates"], key=lambda each: each["score"])
    assert found["best_params"] == best["params"]
    prior = type(load("t.tally").fitted.recipe.prior).__name__
    assert prior.lower() == best["params"]["prior"]


# update, forget, merge


def test_update_and_forget_undo_each_other(done, facts, loan, data):
    before = load(loan)
    assert "20 now: 14 'No', 6 'Yes'" in done("update", loan, "loan.csv")
    found = facts("forget", loan, "loan.csv")
    assert (found["rows"], found["total"], found["model"]) == (10, 10, loan)
    after = load(loan)
    assert after.fitted.tally == before.fitted.tally
    assert after.provenance.history[1:] == ("update loan.csv: 10 rows", "forget loan.csv: 10 rows")
    (data / "renamed.csv").write_text((data / "loan.csv").read_text().replace("cheat", "outcome"))
    done("update", loan, "renamed.csv", "--target", "outcome")
    done("forget", loan, "renamed.csv", "-t", "outcome")
    assert load(loan).fitted.tally == before.fitted.tally
    assert load(loan).fitted.tally.schema.target == "cheat"


def test_merging_adds_rows_also_to_none(done, facts, loan):
    shown = done("merge", loan, loan, "-o", "both.tally")
    assert shown == "merged: 10 rows; the model has 20 now: 14 'No', 6 'Yes'\n"
    found = facts("merge", loan, "--into", "both.tally")
    assert (found["total"], found["out"]) == (30, "both.tally")
    assert load("both.tally").provenance.rows == 30
    done(*FIT)
    assert done("forget", loan, "loan.csv") == "forgot: 10 rows; the model has 0 now\n"
    assert done("merge", loan, loan, "-o", "none.tally") == "merged: 0 rows; the model has 0 now\n"
    assert "has 10 now" in done("merge", loan, "a.tally", "-fo", "both.tally")


def test_of_data_without_a_number_the_first_row_is_explained(done, loan):
    done(*FIT)
    first = done("explain", loan, "applicants.csv", "--row", "1")
    assert done("explain", loan, "applicants.csv") == first
    assert done("explain", loan, "applicants.csv", "--row", "2") != first


@pytest.mark.parametrize(
    "line",
    [
        "predict {} applicants.csv -q",
        "explain {} --set income=120",
        "explain {} applicants.csv --row 2",
        "sample {} -n 3 --seed 1",
        "evaluate {} loan.csv",
        "merge {} a.tally -o both.tally --force",
    ],
)
def test_a_command_says_the_same_of_a_model_in_a_pipe(piped, done, loan, line):
    done(*FIT)
    piped(loan)
    assert done(*line.format("-").split()) == done(*line.format(loan).split())


@pytest.mark.parametrize(
    ("values", "noticed"),
    [("1,5 2,25 3", True), ("1,234 5,678 9,012", False), ("red green 1,5", False)],
    ids=["decimals", "thousands", "words"],
)
def test_decimal_commas_are_noticed(cli, data, values, noticed):
    rows = "".join(f"{value};{label}\n" for value, label in zip(values.split(), "aba", strict=True))
    (data / "commas.csv").write_text("x;y\n" + rows)
    args = ("fit", "commas.csv", "-t", "y", "-fo", "a.tally", "--no-scores")
    said = cli(*args)[2]
    assert ("looks like numbers with decimal commas" in said) is noticed
    assert ("--decimal ," in said) is noticed
    if noticed:
        assert cli(*args, "-q", "--decimal", ",") == (0, "", "")


def test_predict_decides_by_a_threshold_losses_and_another_prior(done, loan):
    def said(*options):
        rows = done("predict", loan, "applicants.csv", "-q", *options).splitlines()[1:]
        return [row.split(",")[0] for row in rows]

    assert said() == ["No", "Yes", "No"]
    assert said("--positive", "Yes", "--threshold", "0.2") == ["No", "Yes", "Yes"]
    assert said("--threshold", "0.2", "--positive", "No") == ["No", "Yes", "No"]
    assert said("--loss", "Yes:No=10") == ["No", "Yes", "Yes"]
    assert said("--loss", "No:Yes=99") == ["No", "No", "No"]
    assert said("--prior", "No=0.1,Yes=0.9") == ["No", "Yes", "Yes"]
    found = done("evaluate", loan, "loan.csv", "--threshold", "0")
    assert "decided by a rule: 'Yes' is said from a probability of 0 on" in found
    done(*FIT, "-f", "--loss", "Yes:No=10")
    assert "what is said costs least; 'No' where 'Yes' is true costs 10" in done(
        "inspect", "a.tally"
    )
