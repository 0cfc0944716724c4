"""The filter of a server is used by the other commands; what cannot be served is refused."""

import json

import pytest

from spam.mail_serving import trained
from spam.mails import mail, mails, write_folder
from tallybayes.cli.main import main
from tallybayes.spam.mail_filter import MailFilter
from tallybayes.spam.messages import Message
from tallybayes.spam.shared_filter import SharedFilter
from tallybayes.store import open_store


@pytest.fixture
def run(capsys):
    def run(*args):
        code = main(["spam", *map(str, args)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def place(tmp_path):
    """A store with a filter, which a server has open."""
    seed = MailFilter.open(trained(tmp_path))
    with open_store(tmp_path / "mail.db") as store:
        SharedFilter.open(store, "mail", seed)
    return tmp_path / "mail.db"


def test_messages_are_judged_learnt_and_unlearnt_in_a_store(run, place, tmp_path):
    file = tmp_path / "message"
    file.write_bytes(mail(True, 900, words=150))
    assert run("classify", place, file)[:2] == (0, pytest.approx(run("classify", place, file)[1]))
    assert run("explain", place, file)[0] == 0
    more = write_folder(tmp_path / "more", mails(7, True, 2_000))
    with open_store(place) as store:
        server = SharedFilter.open(store, "mail")
        assert json.loads(run("learn", place, "--spam", more, "--json")[1])["learnt"] == 7
        assert run("learn", place, "--spam", more)[1].startswith("0 learnt, 0 corrected, 7 known")
        server.follow()
        assert server.label_of(Message(mail(True, 2_000)).digest) == "spam"
        assert server.table.spam == 107
        assert run("unlearn", place, more)[1].startswith("0 ham and 7 spam unlearnt")
        server.follow()
        assert server.table.spam == 100


def test_a_report_on_a_store_names_tokens_of_its_latest_messages(run, place, tmp_path):
    found = json.loads(run("report", place, "--json")[1])
    assert found["learnt"] == {"ham": 100, "spam": 100}
    assert found["held_out"]["ham"] == 100
    assert found["telling"] == {"ham": [], "spam": []}  # of the model it began with it has hashes
    for label, spam in (("ham", False), ("spam", True)):
        folder = write_folder(tmp_path / f"new-{label}", mails(30, spam, 3_000))
        run("learn", place, f"--{label}", folder)
    found = json.loads(run("report", place, "--json")[1])
    assert found["learnt"] == {"ham": 130, "spam": 130}
    (ham,) = [row[2:] for row in found["telling"]["ham"] if row[0] == "meeting"] or [(9, 0)]
    assert ham[0] > ham[1]
    assert {token for token, *_ in found["telling"]["spam"]} & {"cash", "casino", "lottery"}
    assert "Tokens that speak for spam" in run("report", place)[1]


def test_users_are_listed_and_removed(run, place):
    with open_store(place) as store:
        for user in ("ann", "bob"):
            SharedFilter.open(store, f"mail/{user}").learn(Message(mail(True, 1)), "spam")
    assert run("users", place)[1].split() == ["ann", "bob"]
    assert run("users", place, "--remove", "ann")[1].split() == ["bob"]
    code, _, error = run("users", place, "--remove", "ann")
    assert (code, "there is no user 'ann'" in error) == (3, True)


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (["x.db"], "has nothing to do"),
        (["x.db", "--smtp", "127.0.0.1:0"], "has to go on"),
        (["x.db", "--smtp", "127.0.0.1:0", "--forward", "there"], "'there' is no place"),
        (["x.db", "--milter", "nonsense"], "'nonsense' is no place"),
        (["x.db", "--milter", "127.0.0.1:0", "--model", "none.tally"], "there is no file"),
        (["x.db", "--milter", "127.0.0.1:0", "--keep", "most=1"], "--keep"),
        (["x.db", "--milter", "127.0.0.1:0", "--miss", "0"], "a miss is said to cost 0"),
    ],
)
def test_what_cannot_be_served_is_refused(args, error, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, said = run("serve", *args)
    assert (code, error in said) == (3, True), said


def test_a_store_without_a_filter_is_refused(run, tmp_path):
    open_store(tmp_path / "x.db").close()
    code, _, error = run("learn", tmp_path / "x.db", "--spam", tmp_path)
    assert (code, "there is no mail filter in sqlite:" in error) == (3, True)
