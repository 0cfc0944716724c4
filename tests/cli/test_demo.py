"""The demonstrations: their commands run, and give the numbers of the lectures."""

import json
import math
from contextlib import redirect_stdout
from io import StringIO

import pytest
from scipy.stats import norm

from tallybayes.cli.demos import DEMOS
from tallybayes.cli.main import main


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The results of all demonstrations, by name and by what is typed behind tallybayes."""
    found = {}
    for name in DEMOS:
        folder = tmp_path_factory.mktemp(name)
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out:
            patch.chdir(folder)
            assert main(["demo", name, "--json"]) == 0
        assert list(folder.iterdir()) == []
        for step in json.loads(out.getvalue())["steps"]:
            found[name, " ".join(step["command"].split()[1:3])] = step["result"]
    return found


@pytest.mark.parametrize("name", DEMOS)
def test_every_command_of_a_demonstration_is_shown_with_its_output(capsys, name):
    assert main(["demo", name]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    demo = DEMOS[name]
    for file in demo.files:
        assert " ".join(demo.text(file).split()) in shown
    for step in demo.steps:
        assert f"$ {step.command}" in shown
        assert step.note in shown


@pytest.mark.parametrize(
    ("demo", "model", "label", "score", "printed"),
    [
        ("spam", "raw", "not spam", 1 / 57344, "0.0000174"),
        ("spam", "spam", "spam", 3 / 7 * 1 / 25 * (3 / 25) ** 3, "0.0000296"),
        ("spam", "spam", "not spam", 4 / 7 * 3 / 30 * (2 / 30) ** 3, "0.0000169"),
        ("customers", "customers", "drop out", None, "0.0192754"),
        ("customers", "by_n", "drop out", None, "0.0157799"),
        ("loan", "shares", "No", 0.7 * 16 / 49 * norm(110, 2975**0.5).pdf(120), None),
        ("loan", "m", "No", 0.7 * 9 / 25 * norm(110, 2975**0.5).pdf(120), None),
        ("loan", "m", "Yes", 0.3 * 1 / 9 * norm(90, 5).pdf(120), None),
    ],
)
def test_scores_are_those_of_the_lecture(results, demo, model, label, score, printed):
    found = results[demo, f"explain {model}.tally"]
    joint = math.exp(found["joint"][found["classes"].index(label)])
    assert score is None or joint == pytest.approx(score, rel=1e-12)
    assert printed is None or f"{joint:.7f}" == printed


def test_the_data_can_be_kept(done, cli, data):
    assert "go on with it" in done("demo", "loan", "--save", "kept")
    assert sorted(path.name for path in (data / "kept").iterdir()) == ["applicants.csv", "loan.csv"]
    assert (data / "kept" / "loan.csv").read_text() == DEMOS["loan"].text("loan.csv")
    assert cli("demo", "loan", "--save", "more", "--quiet") == (0, "", "")
    assert (data / "more" / "loan.csv").exists()


def test_a_command_that_fails_ends_the_demonstration(cli, monkeypatch):
    import tallybayes.workflows.training as training
    from tallybayes.errors import TallyBayesError

    def fail(*args, **options):
        raise TallyBayesError("out of order")

    monkeypatch.setattr(training, "train", fail)
    code, _, err = cli("demo", "loan")
    assert (code, err) == (1, "tallybayes: error: out of order\n")
