"""What a command cannot do, or should not: an exit code, a sentence, and nothing is changed."""

import errno
import json
import shlex

import pytest

FIT = "fit loan.csv -t cheat -o new.tally"
APPLICANT = "explain loan.tally --set owner=No --set status=Married --set income=120"
USAGE = {
    "fit loan.csv -t cheat": "-o name.tally",
    f"{FIT} --column income": "'income' is not of the form NAME=FAMILY",
    f"{FIT} --column income=": "is not of the form NAME=FAMILY",
    f"{FIT} --column income=bins --column income=text": "Column 'income' is stated twice",
    f"{FIT} --prior No": "--prior 'No' is not of the form NAME=VALUE",
    f"{FIT} --prior No=a,Yes=b": "--prior: 'a' is not a number",
    f"{FIT} --prior No=inf,Yes=0": "--prior: 'inf' is not a number",
    f"{FIT} --alpha much": "'much' is not a valid float",
    "fit loan.csv -t cheat -o - --as html": "With --as html, standard output is taken",
    "predict loan.tally applicants.csv --keep income --keep-all": "leave out --keep",
    "predict loan.tally applicants.csv --as latex --to parquet": "leave out --to parquet",
    "predict loan.tally loan.csv --loss Yes=2": "TRUE:SAID=COST",
    "predict loan.tally loan.csv --loss Yes:No=much": "--loss Yes:No: 'much' is not a number",
    "predict loan.tally loan.csv --loss Yes:No=1 --loss Yes:No=2": "is there twice",
    "explain loan.tally": "Give one record",
    "explain loan.tally --record {} --set owner=No": "Give one record",
    "explain loan.tally --row 1 --set owner=No": "which data --row is a row of",
    "explain loan.tally applicants.csv --row 0": "--row",
    "explain loan.tally --set owner": "'owner' is not of the form NAME=VALUE",
    "explain loan.tally --set owner=No --set owner=Yes": "owner=... is there twice",
    "explain loan.tally --record [1]": "is not a JSON object",
    "explain loan.tally --record '{owner: No}'": "is no JSON",
    """explain loan.tally --record '{"owner": "No", "owner": "Yes"}'""": "names 'owner' twice",
    f"explain loan.tally --record {'[' * 100_000}": "is no JSON",
    f"{APPLICANT} --show working --for No": "Say --show evidence, or leave out --for.",
    f"{APPLICANT} --show working --keep income": "Say --show counterfactuals, or leave out --keep.",
    f"{APPLICANT} --show sums": "'sums' is not one of",
    "evaluate loan.csv": "--target",
    "evaluate loan.tally": "Name the data",
    "evaluate loan.tally loan.csv --alpha 2": "leave out --alpha",
    "evaluate loan.tally loan.csv --loo": "leave out --loo",
    "evaluate loan.csv -t cheat --loo --folds 3": "Choose one",
    "evaluate loan.csv -t cheat --loo --repeats 3": "--repeats",
    "evaluate loan.csv -t cheat --split 1.5": "1.5 is no share",
    "compare loan.tally loan.csv": "two different model files",
    "compare loan.tally loan.tally loan.csv": "two different model files",
    "compare loan.tally other.tally": "Name the data",
    "compare loan.csv": "two different model files",
    "compare loan.csv -t cheat --spec --alpha=1": "from Python, by tallybayes.validation.compare.",
    **{
        f"tune loan.csv -t cheat --try {tried}": "--try"
        for tried in ("alpha", "beta=1", "alpha=", "alpha=a", "alpha=1..0:3", "prior=best")
    },
    "merge loan.tally loan.tally": "Say where the result goes",
    "merge loan.tally -o x.tally": "Merging takes two models",
    "merge loan.tally loan.tally -o - --as latex": "standard output is taken",
    "report loan.tally -o r.html --target cheat": "There is no data: name it behind the model",
    "report loan.tally -o r.html --weight n": "name it behind the model, or leave out --weight.",
    "report loan.tally -o r.html --delimiter ;": "There is no data",
    "report loan.tally -o - --as latex": "standard output is taken",
    "predict - -": "Standard input can be read only once",
    "explain - - --row 1": "Standard input can be read only once",
    "evaluate - -": "Standard input can be read only once",
    "merge - - -o both.tally": "Standard input can be read only once",
    "update - loan.csv": "cannot be changed; name its file",
    "forget - loan.csv": "cannot be changed; name its file",
    "merge loan.tally --into -": "cannot be changed; name its file",
    "fti": "There is no command 'fti'; did you mean 'fit'? Try 'tallybayes --help'.",
    "completion": "Missing argument",
    "sample loan.tally -n 99999999999999999999": "is not in the range",
    "completion bash --jsn": "No such option",
    "completion bsh": "'bsh' is not one of",
}
FAULT = {
    f"{FIT} --column incom=bins": "did you mean 'income'?",
    f"{FIT} --column income=gausian": "did you mean 'gaussian'?",
    f"{FIT} --drop ownr": "did you mean 'owner'?",
    f"{FIT} --alpha -1": "alpha is -1",
    f"{FIT} --delimiter ::": "it must be one ASCII character",
    f"{FIT} --positive Maybe": "unknown class 'Maybe'",
    f"{FIT} --format xlsx": "xlsx",
    f"{FIT} --weight income --column income=gaussian": "says how often each row counts",
    "fit loan.csv -t cheat -o applicants.csv": "'applicants.csv' exists; overwrite it with --force",
    "fit none.csv -t cheat -o no/where.tally": "there is no such folder; make it first",
    "fit none.csv -t cheat -o lake": "lake cannot be written: it is a folder",
    "fit loan.tally -t cheat -o new.tally": "is a model file, where data are expected",
    "predict loan.tally loan.tally": "is a model file, where data are expected",
    "update loan.tally loan.tally": "is a model file, where data are expected",
    "evaluate loan.tally loan.tally": "is a model file, where data are expected",
    "explain loan.tally loan.tally --row 1": "is a model file, where data are expected",
    "predict loan.tally applicants.csv --to xlsx": "xlsx",
    "predict loan.tally spam.csv": "has no column 'owner'",
    "predict loan.tally loan.csv --threshold 2": "the threshold is 2.0",
    "evaluate loan.tally loan.csv --positive Maybe": "the positive class 'Maybe' is not a class",
    "inspect -": "standard input is not a model file",
    "explain loan.tally --set incom=1": "did you mean 'income'?",
    "explain signs.tally --set c=d=1": "the model has no column 'c'",
    f"{APPLICANT} --for Maybe": "'Maybe' is not a class",
    f"{APPLICANT} --for No --against No": "two different classes",
    f"{APPLICANT} --show counterfactuals --to Ye": "'Ye'",
    f"{APPLICANT} --show counterfactuals --to No": "No",
    f"{APPLICANT} --show counterfactuals --keep incom": "did you mean 'income'",
    "update loan.tally loan.csv -t owner": "column 'owner' is one that the model predicts from",
    "update loan.tally renamed.csv": "has no column 'cheat'",
    "forget loan.tally new.csv": "error",
    "report none.tally -o r.html": "none.tally",
    "report loan.csv -o r.html": "is not a model",
    "report loan.tally --data none.csv -o r.html": "none.csv",
    "report loan.tally --data visitors.csv -o r.html": "owner",
    "report loan.tally --data applicants.csv -o r.html": "no column 'cheat'",
    "demo loan --save lake/part.csv": "is a file",
    "demo loan --save lake": "holds something else",
    # what is read is not overwritten, even by force
    **{
        f"{args} --force": "is one of the files that are read"
        for args in (
            "fit loan.csv -t cheat -o loan.csv",
            "fit loan.csv -t cheat -o ./link.csv",
            "fit loan*.csv -t cheat -o loan.csv",
            "fit lake -t cheat -o lake/part.csv",
            "tune loan.csv -t cheat -o loan.csv",
            "predict loan.tally loan.csv -o loan.csv",
            "predict loan.tally loan.csv -o loan.tally --to csv",
            "sample loan.tally -o loan.tally --to csv",
            "report loan.tally -o loan.tally",
            "report loan.tally --data lake -o lake/part.csv",
        )
    },
    "merge loan.tally other.tally -fo loan.tally": "add the others to it with --into",
}


@pytest.fixture
def files(done, loan, data):
    """Models, data, a link to them and a folder of them."""
    (data / "other.tally").write_bytes((data / loan).read_bytes())
    (data / "lake").mkdir()
    (data / "lake" / "part.csv").write_bytes((data / "loan.csv").read_bytes())
    (data / "lake" / "applicants.csv").write_text("mine")
    (data / "link.csv").symlink_to(data / "loan.csv")
    (data / "renamed.csv").write_text((data / "loan.csv").read_text().replace("cheat", "outcome"))
    (data / "new.csv").write_text("owner,status,income,cheat\nYes,Widowed,1,Yes\n")
    (data / "signs.csv").write_text("a=b,a,y=z\nu,3,p\nv,4,q\nu,5,p\n")
    done("fit", "signs.csv", "-t", "y=z", "-qo", "signs.tally", "--no-scores")
    return data


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("line", [*USAGE, *FAULT], ids=lambda line: line[:70])
def test_a_refusal_is_a_sentence_and_changes_nothing(cli, files, piped, line):
    piped("loan.csv" if line in FAULT else "loan.tally")
    before = contents(files)
    code, out, err = cli(*shlex.split(line))
    assert (code, out) == (2 if line in USAGE else 1, "")
    *usage, sentence = err.splitlines()
    assert sentence.startswith("tallybayes: error: ")
    assert {**USAGE, **FAULT}[line] in sentence
    assert [each.split()[:2] for each in usage] == [["Usage:", "tallybayes"]] * (line in USAGE)
    assert {
        path: data for path, data in contents(files).items() if path.suffix != ".lock"
    } == before


def test_a_wrong_command_line_as_json(cli):
    code, out, err = cli("completion", "bsh", "--json")
    assert (code, out) == (2, "")
    assert "'bsh' is not one of" in json.loads(err)["error"]


@pytest.mark.parametrize(
    "line",
    [
        "inspect loan.tally",
        "predict loan.tally applicants.csv",
        "explain loan.tally --set income=120",
        "sample loan.tally",
        "evaluate loan.tally loan.csv",
        "compare loan.tally other.tally loan.csv",
    ],
)
def test_a_model_from_which_everything_was_forgotten_says_so(cli, done, files, line):
    done("forget", "loan.tally", "loan.csv", "-q")
    code, out, err = cli(*line.split())
    assert (code, out) == (1, "")
    assert err.startswith("tallybayes: error: loan.tally: everything was forgotten")
    done("update", "loan.tally", "loan.csv", "-q")
    assert cli(*line.split())[0] == 0


@pytest.mark.parametrize(
    "line",
    [
        "fit none.csv -t cheat",
        "tune none.csv -t cheat",
        "predict none.tally none.csv --to csv",
        "sample none.tally --to csv",
        "merge none.tally neither.tally",
        "report none.tally",
    ],
)
def test_a_folder_that_cannot_be_written_is_found_before_any_work(cli, data, monkeypatch, line):
    (data / "locked").mkdir()

    def locked(path, *how):  # the superuser may write everywhere
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr("tallybayes.sources.atomic_file.os.open", locked)
    code, out, err = cli(*line.split(), "-o", "locked/new.tally")
    assert (code, out) == (1, "")
    assert "locked/new.tally cannot be written: permission denied; change" in err
