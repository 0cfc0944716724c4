"""`tallybayes spam`: every command, by its results, its exit codes and its errors."""

import io
import json
import mailbox
import subprocess
import sys

import pytest

from spam.mails import mail, mails, write_folder
from tallybayes.cli.console import FORMS
from tallybayes.cli.main import main
from tallybayes.spam.passing import marked
from tallybayes.spam.token_table import beside, opened

HEAVY = "numpy", "msgspec", "scipy", "sklearn", "numba", "pyarrow", "rich"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A filter, and folders of mail that it has not seen."""
    folder = tmp_path_factory.mktemp("mail")
    for name, start in (("old", 0), ("new", 500)):
        write_folder(folder / name / "ham", mails(40, False, start))
        write_folder(folder / name / "spam", mails(40, True, start))
    args = ["--ham", folder / "old" / "ham", "--spam", folder / "old" / "spam", "-q"]
    assert main(["spam", "train", *map(str, args), "-o", str(folder / "mail.tally")]) == 0
    return folder


@pytest.fixture
def spam(trained, tmp_path, capfdbinary, monkeypatch):
    """Run a command on a copy of the filter; give back its exit code and what it printed."""
    for name in ("mail.tally", beside("mail.tally").name):
        (tmp_path / name).write_bytes((trained / name).read_bytes())
    monkeypatch.chdir(tmp_path)

    def run(*args, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(["spam", *map(str, args)])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return run


def test_training_tells_how_good_the_filter_is(spam, trained):
    folders = "--ham", trained / "old" / "ham", "--spam", trained / "old" / "spam"
    code, out, _ = spam("train", *folders, "-o", "new.tally", "--miss", 3)
    assert code == 0
    assert "Learnt 40 messages as ham and 40 messages as spam." in out
    assert "Saved as new.tally." in out
    code, out, _ = spam("train", *folders, "-o", "new.tally", "--json", "-f")
    found = json.loads(out)
    assert found["learnt"] == {"ham": 40, "spam": 40}
    assert found["held_out"]["false_alarms"] <= 2
    code, _, err = spam("train", *folders, "-o", "new.tally")
    assert code == 3
    assert "'new.tally' exists; overwrite it with --force" in err


def test_a_message_is_judged_by_its_exit_code(spam, trained):
    for label, code in (("spam", 0), ("ham", 1)):
        raw = (trained / "new" / label / "00001.eml").read_bytes()
        for args in (("--miss", 2.1, "--false-alarm", 2.1),):
            found, out, _ = spam("classify", "mail.tally", *args, stdin=raw)
            assert (found, out.split()[0]) == (code, label)
    assert spam("classify", "mail.tally", "--false-alarm", 1e9, "--miss", 1e9, stdin=raw)[0] == 2


def test_folders_are_judged_a_line_a_message(spam, trained):
    code, out, _ = spam("classify", "mail.tally", trained / "new" / "spam", "--false-alarm", 5)
    lines = [line.split(maxsplit=2) for line in out.splitlines()]
    assert len(lines) == 40
    assert sum(answer == "spam" for answer, *_ in lines) > 35
    assert code == 0  # some is spam
    code, out, _ = spam("classify", "mail.tally", trained / "new" / "ham", "--json")
    found = [json.loads(line) for line in out.splitlines()]
    assert {"path", "answer", "probability", "log_odds", "reasons", "learnt"} == {*found[0]}
    assert found[3]["path"].endswith("00003.eml")
    assert max(each["probability"] for each in found) < 0.9
    assert code in (1, 2)


def test_a_message_passes_the_filter_with_its_header(spam):
    raw = mail(True, 501).replace(b"\n", b"\r\n") + b"\x00\xff"
    code, _, _ = spam("classify", "mail.tally", stdin=raw)
    done = subprocess.run(
        [sys.executable, "-m", "tallybayes", "spam", "filter", "mail.tally"],
        input=raw, capture_output=True, timeout=300,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (code, b"")
    fields = done.stdout.removesuffix(raw).decode().splitlines()
    assert done.stdout == b"".join(marked(raw, fields))
    assert [field.partition(":")[0] for field in fields] == [
        "X-Spam-Status", "X-Tallybayes", "X-Tallybayes-Reasons"
    ]  # fmt: skip
    args = [sys.executable, "-m", "tallybayes", "spam", "filter", "-e", "mail.tally"]
    assert subprocess.run(args, input=raw, capture_output=True, timeout=300).returncode == 0


def test_a_message_passes_as_it_is_where_there_is_no_filter(spam):
    args = [sys.executable, "-m", "tallybayes", "spam", "filter", "nowhere.tally"]
    done = subprocess.run(args, input=mail(True, 1), capture_output=True, timeout=300)
    assert done.returncode == 3
    assert done.stdout == mail(True, 1)
    assert b"there is no file nowhere.tally" in done.stderr


def test_judging_loads_nothing_heavy(spam):
    code = f"""
import sys
from tallybayes.cli.main import main
code = main(["spam", "filter", "mail.tally"])
print(code, *[name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], input=mail(True, 501), capture_output=True, timeout=300
    )
    assert done.stderr.decode().split() in (["0"], ["2"])


def test_messages_are_learnt_once_corrected_and_unlearnt(spam):
    before = opened("mail.tally").score({"body": "cheap"}).log_odds
    raw = mail(True, 900)
    assert (
        "1 learnt, 0 corrected, 0 known" in spam("learn", "mail.tally", "--spam", "-", stdin=raw)[1]
    )
    assert (
        "0 learnt, 0 corrected, 1 known" in spam("learn", "mail.tally", "--spam", "-", stdin=raw)[1]
    )
    assert opened("mail.tally").spam == 41
    assert (
        "0 learnt, 1 corrected, 0 known" in spam("learn", "mail.tally", "--ham", "-", stdin=raw)[1]
    )
    assert (opened("mail.tally").ham, opened("mail.tally").spam) == (41, 40)
    assert "1 ham and 0 spam unlearnt, 0 never" in spam("unlearn", "mail.tally", stdin=raw)[1]
    assert "0 ham and 0 spam unlearnt, 1 never" in spam("unlearn", "mail.tally", stdin=raw)[1]
    assert opened("mail.tally").score({"body": "cheap"}).log_odds == pytest.approx(before)


def test_only_errors_or_what_is_unsure_is_learnt(spam, tmp_path):
    box = mailbox.mbox(tmp_path / "box")
    for raw in mails(30, True, 700):
        box.add(raw)
    box.close()
    found = {}
    for only in ("errors", "unsure"):
        out = spam("learn", "mail.tally", "--spam", "box", "--only", only, "--json")[1]
        found[only] = json.loads(out)
    assert found["errors"]["learnt"] <= found["unsure"]["learnt"]
    assert found["errors"]["left"] == 30 - found["errors"]["learnt"]


def test_a_judgement_is_explained_by_parts_and_tokens(spam, trained):
    path = trained / "new" / "spam" / "00001.eml"
    _, out, _ = spam("explain", "mail.tally", path)
    assert "odds of spam" in out
    assert " : 1 for spam" in out
    found = json.loads(spam("explain", "mail.tally", path, "--json")[1])
    assert sum(found["evidence"].values()) == pytest.approx(found["log_odds"])
    assert found["tokens"]["body"][0].keys() == {"token", "log_odds"}


def test_a_report_tells_what_was_learnt(spam):
    found = json.loads(spam("report", "mail.tally", "--json")[1])
    assert found["learnt"] == {"ham": 40, "spam": 40}
    words = {token for token, *_ in found["telling"]["spam"]}
    assert words & {"cash", "casino", "lottery", "viagra"}
    assert "Tokens that speak for ham" in spam("report", "mail.tally")[1]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["train", "learn", "unlearn", "explain", "report"])
def test_every_result_has_every_form(spam, trained, name, form):
    path = trained / "new" / "spam" / "00002.eml"
    args = {
        "train": ("--ham", trained / "old" / "ham", "--spam", path, "-fo", "other.tally"),
        "learn": ("mail.tally", "--spam", path),
        "unlearn": ("mail.tally", path),
        "explain": ("mail.tally", path),
        "report": ("mail.tally",),
    }[name]
    code, out, err = spam(name, *args, "--as", form)
    assert (code, out != "") == (0, True), err
    if form == "json":
        assert json.loads(out)["warnings"] == []


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["classify", "mail.tally", "nowhere"], "cannot read nowhere"),
        (["classify", "nowhere.tally"], "there is no file nowhere.tally"),
        (["classify"], "Missing argument 'MODEL'"),
        (["classify", "mail.tally", "--miss", "0"], "a miss is said to cost 0"),
        (["learn", "mail.tally"], "Say what to learn: --ham or --spam"),
        (["guess"], "There is no command 'guess'"),
        (["learn", "loan.tally", "--ham", "-"], "no mail filter"),
        (["report", "loan.tally"], "no mail filter"),
        (["explain", "loan.tally"], "no mail filter"),
        (["filter", "mail.tally", "--what"], "No such option"),
    ],
)
def test_errors_are_one_sentence_and_their_code_is_3(spam, tmp_path, args, why):
    (tmp_path / "loan.csv").write_text("status,cheat\nSingle,Yes\nMarried,No\n")
    assert main(["fit", "loan.csv", "-t", "cheat", "-qo", "loan.tally"]) == 0
    code, _, err = spam(*args)
    assert code == 3
    assert why in err
    assert "Traceback" not in err


def test_the_group_names_its_commands(spam):
    code, out, _ = spam("--help")
    assert code == 0
    assert "classify  Judge messages." in out
