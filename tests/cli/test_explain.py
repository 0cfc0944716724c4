"""`tallybayes explain --show ...`: evidence for any pair, the working, and what would change it."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

APPLICANT = ["--set", "owner=No", "--set", "status=Married", "--set", "income=120"]


def test_the_evidence_for_another_pair(done, loan):
    shown = done("explain", loan, *APPLICANT, "--for", "Yes", "--against", "No")
    assert "the evidence for Yes against No" in shown
    facts = json.loads(done("explain", loan, *APPLICANT, "--for", "Yes", "--json"))
    assert (facts["against"]["one"], facts["against"]["other"]) == ("Yes", "No")
    by_default = json.loads(done("explain", loan, *APPLICANT, "--json"))
    assert facts["against"]["total_bits"] == -by_default["against"]["total_bits"]


def test_the_working_in_four_ways(done, loan):
    working = [*APPLICANT, "--show", "working"]
    text = done("explain", loan, *working)
    assert "P(status = Married | Yes) = (0 + 1)/(3 + 3) = 1/6 = 0.1667" in text
    assert done("explain", loan, *working, "--as", "text") == text
    assert r"\frac{0 + 1}{3 + 3}" in done("explain", loan, *working, "--as", "latex")
    assert "$" in done("explain", loan, *working, "--as", "markdown")
    assert "<mfrac>" in done("explain", loan, *working, "--as", "html")


def test_exact_fractions_in_json(done, loan):
    args = ("--set", "owner=No", "--set", "status=Married", "--show", "working", "--json")
    facts = json.loads(done("explain", loan, *args))
    no = Fraction(7, 10) * Fraction(5, 9) * Fraction(5, 10)
    yes = Fraction(3, 10) * Fraction(4, 5) * Fraction(1, 6)
    said = json.dumps(facts)
    assert str(no / (no + yes)) in said
    assert str(yes / (no + yes)) in said


def test_changes_that_change_the_answer_do(done, loan):
    facts = json.loads(done("explain", loan, *APPLICANT, "--show", "counterfactuals", "--json"))
    assert facts["found"]
    for found in facts["found"]:
        changed = {"owner": "No", "status": "Married", "income": 120}
        changed |= {change["column"]: change["after"] for change in found["changes"]}
        answer = json.loads(done("explain", loan, "--record", json.dumps(changed), "--json"))
        assert answer["decision"] == found["decision"] == "Yes"


def test_what_is_kept_does_not_change(done, loan):
    args = ["--show", "counterfactuals", "--keep", "income", "--to", "Yes", "--json"]
    facts = json.loads(done("explain", loan, *APPLICANT, *args))
    changed = {change["column"] for each in facts["found"] for change in each["changes"]}
    assert "income" not in changed


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--as", "html"], "Say --show working, or leave out --as."),
        (["--show", "working", "--for", "No"], "Say --show evidence, or leave out --for."),
        (
            ["--show", "working", "--keep", "income"],
            "Say --show counterfactuals, or leave out --keep.",
        ),
        (["--show", "counterfactuals", "--as", "text"], "Say --show working, or leave out --as."),
        (["--for", "Maybe"], "'Maybe' is not a class"),
        (["--for", "No", "--against", "No"], "two different classes"),
        (["--show", "counterfactuals", "--to", "Ye"], "'Ye'"),
        (["--show", "counterfactuals", "--to", "No"], "No"),
        (["--show", "counterfactuals", "--keep", "incom"], "did you mean 'income'"),
        (["--show", "sums"], "'sums' is not one of"),
    ],
)
def test_mistakes_get_a_sentence(cli, loan, args, message):
    code, out, err = cli("explain", loan, *APPLICANT, *args)
    assert code in (1, 2)
    assert not out
    assert message in err
    assert "Traceback" not in err


def test_rows_are_counted_with_the_bad_ones_among_them(done, cli, loan):
    Path("bad.csv").write_text(
        "owner,status,income\nYes,Single,90\nYes,Single,90,1,2\nNo,Married,7\n"
    )
    third = done("explain", loan, "bad.csv", "--row", "3", "--bad-rows", "skip")
    assert third == done(
        "explain", loan, "--record", '{"owner":"No","status":"Married","income":7}'
    )
    code, _, err = cli("explain", loan, "bad.csv", "--row", "2", "--bad-rows", "skip")
    assert code == 1
    assert "row 2 of bad.csv is one of those set aside" in err
    code, _, err = cli("explain", loan, "bad.csv", "--row", "4", "--bad-rows", "skip")
    assert code == 1
    assert "bad.csv has 3 rows; there is no row 4" in err
