"""`tallybayes report`: a page in a file, and a word about it."""

import html
import json
import re
import shlex

import pytest

from nearness import near

pytestmark = pytest.mark.usefixtures("words_only")


def test_a_report_is_written_and_said(done, loan, data):
    said = done("report", loan, "-o", "report.html", "--title", "Loans <2026>")
    page = (data / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<title>Loans &lt;2026&gt;</title>" in page
    assert said.startswith("Loans <2026>: 10 sections, ")
    assert said.endswith("Saved as report.html.\n")
    assert done("report", loan, "-o", "-").startswith("<!DOCTYPE html>")


def test_with_data_it_has_scores_and_as_json_they_are_told(done, loan, data):
    rows = (data / "loan.csv").read_text().splitlines()
    bad = [rows[0], "Yes,Single,no number,No", *rows[1:]]
    (data / "bad.csv").write_text("\n".join(bad) + "\n")
    how = ("--bad-rows", "skip", "--json")
    args = ("report", loan, "-d", "bad.csv", "-d", "loan.csv", "-o", "r.html")
    told = json.loads(done(*args, *how))
    evaluated = json.loads(done("evaluate", loan, "bad.csv", "loan.csv", *how))
    assert told["scores"] == near(evaluated["scores"])
    assert (told["path"], told["bytes"]) == ("r.html", (data / "r.html").stat().st_size)
    assert told["sections"][:4] == ["summary", "model", "data", "scores"]
    assert (told["bad_rows"], type(told["report_warnings"])) == (1, list)
    page = (data / "r.html").read_text(encoding="utf-8")
    assert "20 labelled rows" in page
    assert "set aside: 1 bad row" in page


def test_rows_that_the_model_has_learned_from_are_warned_of_by_any_name(done, loan, data):
    (data / "other.csv").write_bytes((data / "loan.csv").read_bytes())
    done("report", loan, "loan.csv", "-fo", "r.html", "-q")
    page = (data / "r.html").read_text(encoding="utf-8")
    assert "These are the rows that the model has learned from, so each was left out" in page
    assert "flatter the model" not in page
    with (data / "loan.csv").open("a") as file:  # a file of the name, and not of these rows alone
        file.write("No,Single,95,No\n")
    for name, warned in (("./loan.csv", True), (data / "loan.csv", True), ("other.csv", False)):
        done("report", loan, name, "-fo", "r.html", "-q")
        page = (data / "r.html").read_text(encoding="utf-8")
        assert ("scores on it flatter the model" in page) is warned


def test_the_commands_on_the_page_make_it_again(done, loan, data):
    """What is to be typed is typed, by a shell's rules, and gives the same page and scores."""
    rows = (data / "loan.csv").read_text().replace("cheat", "the truth").replace(",", ";")
    head, *rest = rows.splitlines()
    folder = data / ("f" * 120)
    folder.mkdir()
    lines = [f"{head};w", *(f"{row};{k % 3 + 1}" for k, row in enumerate(rest))]
    (folder / "my  loans.csv").write_text("\n".join([lines[0], "No;Single;x;No;1", *lines[1:]]))
    more = ["--target", "the truth", "--weight", "w", "--delimiter", ";", "--na", "?"]
    more += ["--na", "", "--bad-rows", "skip"]
    name = f"{folder.name}/my  loans.csv"
    done("report", loan, "-d", name, *more, "--title", "it's $HOME", "-o", "a.html", "-q")
    page = (data / "a.html").read_text(encoding="utf-8")
    block = re.search(r"<h3>Commands</h3>\s*<pre[^>]*><code>(.*?)</code>", page, re.DOTALL)[1]
    typed = [shlex.split(line) for line in html.unescape(block).splitlines() if line[0] != "#"]
    assert [words[1] for words in typed] == ["inspect", "evaluate", "report"]
    scores = json.loads(done(*typed[1][1:], "--json"))["scores"]
    done(*typed[2][1:], "-q")
    again = (data / "report.html").read_text(encoding="utf-8")
    made = r"This page was made</dt><dd>[^<]*"
    assert re.sub(made, "", again) == re.sub(made, "", page)
    assert f"{scores['brier_score']:.4f}" in page
    assert "<title>it&#39;s $HOME</title>" in page
