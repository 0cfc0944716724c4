"""`tallybayes report`: a page in a file, and a word about it."""

import html
import json
import re
import shlex

import pytest

pytestmark = pytest.mark.usefixtures("words_only")


def test_a_report_is_written_and_said(done, loan, data):
    said = done("report", loan, "-o", "report.html")
    page = (data / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "loan.tally" in page
    assert said.startswith("Naive Bayes for cheat: 10 sections, ")
    assert said.endswith("Saved as report.html.\n")


def test_with_data_it_has_scores_and_as_json_they_are_told(done, loan, data):
    told = json.loads(done("report", loan, "--data", "loan.csv", "-o", "r.html", "--json"))
    evaluated = json.loads(done("evaluate", loan, "loan.csv", "--json"))
    assert told["scores"] == evaluated["scores"]
    assert told["path"] == "r.html"
    assert told["bytes"] == (data / "r.html").stat().st_size
    assert told["sections"][:4] == ["summary", "model", "data", "scores"]
    assert told["bad_rows"] == 0
    assert isinstance(told["report_warnings"], list)


def test_several_files_are_judged_together(done, loan, data):
    told = json.loads(
        done("report", loan, "-d", "loan.csv", "-d", "loan.csv", "-o", "r.html", "--json")
    )
    assert told["scores"]["accuracy"] == 1.0
    assert "20 labelled rows" in (data / "r.html").read_text(encoding="utf-8")


def test_rows_that_the_model_has_learned_from_are_warned_of(done, loan, data):
    done("report", loan, "--data", "loan.csv", "-o", "r.html", "-q")
    assert "scores on it flatter the model" in (data / "r.html").read_text(encoding="utf-8")
    (data / "other.csv").write_bytes((data / "loan.csv").read_bytes())
    done("report", loan, "--data", "other.csv", "-o", "s.html", "-q")
    assert "flatter" not in (data / "s.html").read_text(encoding="utf-8")


def test_an_old_report_stays_unless_force_is_said(cli, done, loan, data):
    done("report", loan, "-o", "r.html", "-q")
    (data / "r.html").write_text("mine")
    code, out, err = cli("report", loan, "-o", "r.html")
    assert (code, out) == (1, "")
    assert "'r.html' exists; overwrite it with --force" in err
    assert (data / "r.html").read_text() == "mine"
    done("report", loan, "-o", "r.html", "--force", "-q")
    assert "<!DOCTYPE html>" in (data / "r.html").read_text(encoding="utf-8")


def test_the_page_can_go_to_standard_output(done, loan):
    assert done("report", loan, "-o", "-", "--title", "Mine & yours").startswith("<!DOCTYPE html>")


def test_the_title_is_the_one_that_is_said(done, loan, data):
    done("report", loan, "-o", "r.html", "--title", "Loans <2026>", "-q")
    assert "<title>Loans &lt;2026&gt;</title>" in (data / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--target", "cheat"], "--target is a column of the data; name that with --data"),
        (["--weight", "n"], "--weight is a column of the data; name that with --data"),
        (["--delimiter", ";"], "There is no data to read"),
        (["--json", "-o", "-"], "standard output is taken"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_options_that_lead_nowhere_are_refused(cli, loan, data, more, said):
    code, out, err = cli("report", loan, "-o", "r.html", *more)
    assert (code, out) == (2, "")
    assert said in (json.loads(err)["error"] if err.startswith("{") else err)
    assert not (data / "r.html").exists()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["none.tally"], "none.tally"),
        (["loan.csv"], "is not a model"),
        (["loan.tally", "--data", "none.csv"], "none.csv"),
        (["loan.tally", "--data", "visitors.csv"], "owner"),
        (["loan.tally", "--data", "applicants.csv"], "no column 'cheat' for what is right"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_what_cannot_be_read_is_an_error_and_leaves_no_page(cli, loan, data, args, said):
    code, out, err = cli("report", *args, "-o", "r.html")
    assert (code, out) == (1, "")
    assert said in err
    assert not (data / "r.html").exists()


def test_another_spelling_of_the_file_is_the_same_file(done, loan, data):
    for k, name in enumerate(("./loan.csv", data / "loan.csv")):
        done("report", loan, "--data", name, "-o", f"{k}.html", "-q")
        page = (data / f"{k}.html").read_text(encoding="utf-8")
        assert "scores on it flatter the model" in page


def test_the_commands_on_the_page_make_it_again(done, loan, data):
    """What is to be typed is typed, by a shell's rules, and gives the same page and scores."""
    rows = (data / "loan.csv").read_text().replace("cheat", "the truth").replace(",", ";")
    head, *rest = rows.splitlines()
    folder = data / ("f" * 120)
    folder.mkdir()
    lines = [f"{head};w", *(f"{row};{k % 3 + 1}" for k, row in enumerate(rest))]
    (folder / "my  loans.csv").write_text("\n".join([lines[0], "No;Single;x;No;1", *lines[1:]]))
    more = ["--target", "the truth", "--weight", "w", "--delimiter", ";", "--missing", "?"]
    more += ["--missing", "", "--bad-rows", "skip"]
    name = f"{folder.name}/my  loans.csv"
    done("report", loan, "-d", name, *more, "--title", "it's $HOME", "-o", "a.html", "-q")
    page = (data / "a.html").read_text(encoding="utf-8")
    block = re.search(r"<h3>Commands</h3>\s*<pre[^>]*><code>(.*?)</code>", page, re.DOTALL)[1]
    typed = [shlex.split(line) for line in html.unescape(block).splitlines() if line[0] != "#"]
    assert [words[:2] for words in typed] == [
        ["tallybayes", "inspect"],
        ["tallybayes", "evaluate"],
        ["tallybayes", "report"],
    ]
    scores = json.loads(done(*typed[1][1:], "--json"))["scores"]
    done(*typed[2][1:], "-q")
    again = (data / "report.html").read_text(encoding="utf-8")
    made = r"This page was made</dt><dd>[^<]*"
    assert re.sub(made, "", again) == re.sub(made, "", page)
    assert f"{scores['brier_score']:.4f}" in page
    assert "<title>it&#39;s $HOME</title>" in page


def test_rows_have_the_numbers_that_they_have_in_the_files(done, loan, data):
    """Bad rows, whether they cannot be read or the model refuses them, are counted too."""
    head, *rows = (data / "loan.csv").read_text().splitlines()
    clean = "\n".join([head, *rows]) + "\n"
    (data / "clean.csv").write_text(clean)
    bad = [head, "Yes,Single,no number,No", rows[0], "Yes,Single,1,Perhaps", *rows[1:]]
    (data / "bad.csv").write_text("\n".join(bad) + "\n")

    def shown(*names):
        files = [word for name in names for word in ("-d", name)]
        done("report", loan, *files, "-o", "r.html", "--force", "-q", "--bad-rows", "skip")
        page = (data / "r.html").read_text(encoding="utf-8")
        return [int(number) for number in re.findall(r"Row (\d+) of the data", page)]

    found = shown("clean.csv")
    assert len(found) >= 2
    assert shown("bad.csv") == [row + 1 if row == 1 else row + 2 for row in found]


def test_rows_that_do_not_fit_are_set_aside_and_counted(done, cli, loan, data):
    rows = (data / "loan.csv").read_text().splitlines()
    bad = [rows[0], "Yes,Single,no number,No", *rows[1:]]
    (data / "bad.csv").write_text("\n".join(bad) + "\n")
    assert cli("report", loan, "-d", "bad.csv", "-o", "r.html")[0] == 1
    args = ("report", loan, "-d", "bad.csv", "-o", "r.html", "--bad-rows", "skip", "--json")
    told = json.loads(done(*args))
    assert told["bad_rows"] == 1
    assert "1 bad row was set aside" in (data / "r.html").read_text(encoding="utf-8")
