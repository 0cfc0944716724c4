"""The demonstrations: their commands run, and give the numbers of the lectures."""

import json
import math
from contextlib import redirect_stdout
from fractions import Fraction
from io import StringIO

import pytest

from tallybayes.cli.demos import DEMOS
from tallybayes.cli.main import main

NAMES = tuple(DEMOS)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The results of all demonstrations, by name and command."""
    found = {}
    for name in NAMES:
        folder = tmp_path_factory.mktemp(name)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            found[name] = run_as_json(name)
        assert list(folder.iterdir()) == []
    return found


def run_as_json(name):
    with redirect_stdout(StringIO()) as out:
        assert main(["demo", name, "--json"]) == 0
    return json.loads(out.getvalue())


def result(results, name, beginning):
    steps = results[name]["steps"]
    return next(step["result"] for step in steps if step["command"].startswith(beginning))


def joint(explanation, label):
    return explanation["joint"][explanation["classes"].index(label)]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_of_a_demonstration_is_shown_with_its_output(capsys, name):
    assert main(["demo", name]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    demo = DEMOS[name]
    for file in demo.files:
        assert " ".join(demo.text(file).split()) in shown
    for step in demo.steps:
        assert f"$ {step.command}" in shown
        assert step.note in shown


def test_spam_without_smoothing_is_ruled_out_by_one_word(results):
    explanation = result(results, "spam", "tallybayes explain raw.tally")
    assert explanation["decision"] == "not spam"
    assert math.exp(joint(explanation, "not spam")) == pytest.approx(1 / 57344)
    assert joint(explanation, "spam") == "-inf"


def test_smoothed_spam_has_the_scores_of_the_lecture(results):
    explanation = result(results, "spam", "tallybayes explain spam.tally")
    spam = Fraction(3, 7) * Fraction(1, 25) * Fraction(3, 25) ** 3
    other = Fraction(4, 7) * Fraction(3, 30) * Fraction(2, 30) ** 3
    assert math.exp(joint(explanation, "spam")) == pytest.approx(float(spam), rel=1e-12)
    assert f"{math.exp(joint(explanation, 'spam')):.7f}" == "0.0000296"
    assert f"{math.exp(joint(explanation, 'not spam')):.7f}" == "0.0000169"
    rows = result(results, "spam", "tallybayes predict")["predictions"]
    assert rows[0]["P(spam)"] == pytest.approx(float(spam / (spam + other)), rel=1e-12)
    assert [row["prediction"] for row in rows] == ["spam", "not spam"]


def test_the_visitor_has_both_scores_of_the_lecture(results):
    by_n_less_one = result(results, "customers", "tallybayes explain customers.tally")
    by_n = result(results, "customers", "tallybayes explain by_n.tally")
    assert f"{math.exp(joint(by_n_less_one, 'drop out')):.4f}" == "0.0193"
    assert f"{math.exp(joint(by_n, 'drop out')):.3f}" == "0.016"
    assert by_n["decision"] == by_n_less_one["decision"] == "drop out"


def test_the_applicant_has_the_scores_of_the_lecture(results):
    density = math.exp(-100 / 5950) / math.sqrt(2 * math.pi * 2975)
    shares = result(results, "loan", "tallybayes explain shares.tally")
    expected = 0.7 * 16 / 49 * density
    assert math.exp(joint(shares, "No")) == pytest.approx(expected, rel=1e-12)
    assert joint(shares, "Yes") == "-inf"
    exercise = result(results, "loan", "tallybayes explain m.tally")
    assert f"{math.exp(joint(exercise, 'No')) / 0.7:.7f}" == "0.0025892"
    assert f"{math.exp(joint(exercise, 'Yes')) / 0.3:.4e}" == "1.3502e-10"


def test_what_is_said_of_the_scores_is_true(results):
    scores = result(results, "loan", "tallybayes evaluate")
    assert (scores["scores"]["accuracy"], scores["training"]["accuracy"]) == (0.8, 1.0)


def test_the_data_can_be_kept(done, cli, data):
    assert "go on with it" in done("demo", "loan", "--save", "kept")
    assert sorted(path.name for path in (data / "kept").iterdir()) == ["applicants.csv", "loan.csv"]
    assert (data / "kept" / "loan.csv").read_text() == DEMOS["loan"].text("loan.csv")
    assert cli("demo", "loan", "--save", "more", "--quiet") == (0, "", "")
    assert (data / "more" / "loan.csv").exists()


def test_a_command_that_fails_ends_the_demonstration(cli, monkeypatch):
    import tallybayes.workflows.training as training

    def fail(*args, **options):
        raise training.TallyBayesError("out of order")

    monkeypatch.setattr(training, "train", fail)
    code, _, err = cli("demo", "loan")
    assert (code, err) == (1, "tallybayes: error: out of order\n")
