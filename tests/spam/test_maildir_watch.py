"""What users do with their mail is learnt, once, exactly, and also what they did meanwhile."""

import asyncio
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from spam.mail_serving import mail_serving, trained
from spam.mails import mail
from tallybayes.spam.desk import Desk
from tallybayes.spam.maildir_watch import MaildirWatch, files_of, move_of
from tallybayes.spam.messages import Message
from tallybayes.spam.shared_filter import SharedFilter, users_of
from tallybayes.store import open_store


def maildir(place, *folders):
    for name in ("", *folders):
        for each in ("cur", "new", "tmp"):
            (place / name / each).mkdir(parents=True, exist_ok=True)
    return place


def said(answer, raw):
    """Return a mail as it is delivered, with what the filter said of it."""
    return b"X-Tallybayes: " + answer.encode() + b", log-odds=1.00, learnt=9+9\n" + raw


class Here:
    """A watch that is told by hand what to look at."""

    def __init__(self, folder, learn="unsure", share=0.0):
        self.store = open_store(folder / "mail.db")
        self.desk = Desk(self.store, SharedFilter.open(self.store, "mail"), share)
        self.watch = MaildirWatch(self.desk, [f"{folder}/*/Maildir"], learn)

    def look(self):
        roots = self.watch.roots()
        files = {file for root in roots for file in files_of(root)}
        with ThreadPoolExecutor(1) as thread:  # this one may have a loop, that of a browser
            return thread.submit(asyncio.run, self.watch._learnt(files, roots)).result()

    def label(self, raw, user=None):
        return self.desk.filter_of(user).label_of(Message(raw).digest)

    def close(self):
        self.desk.threads.shutdown()
        self.store.close()


@pytest.fixture
def here(tmp_path):
    maildir(tmp_path / "ann" / "Maildir", ".Junk", ".Trash", ".Work")
    made = Here(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("learn", "answer", "place", "flags", "expected"),
    [
        ("unsure", "ham", ".Junk/cur", "S", "spam"),  # a miss
        ("unsure", "unsure", ".Junk/cur", "", "spam"),
        ("unsure", "spam", ".Junk/new", "", None),  # it was right
        ("unsure", "ham", "cur", "S", None),
        ("unsure", "unsure", "cur", "S", "ham"),  # read and kept
        ("unsure", "unsure", "cur", "", None),  # not read yet
        ("unsure", "unsure", "new", "", None),
        ("unsure", "spam", "cur", "S", None),  # nobody sorts spam out there
        ("unsure", "unsure", ".Work/cur", "RS", "ham"),
        ("unsure", "unsure", ".Trash/cur", "S", None),
        ("unsure", "unsure", "cur", "ST", None),
        ("unsure", "unsure", "tmp", "S", None),
        ("errors", "unsure", ".Junk/cur", "S", None),
        ("errors", "ham", ".Junk/cur", "S", "spam"),
        ("errors", "unsure", "cur", "S", None),
        ("all", "spam", ".Junk/cur", "", "spam"),
        ("all", "ham", "cur", "S", "ham"),
        ("all", "ham", "cur", "", None),
    ],
)
def test_what_is_learnt_of_a_mail_in_its_place(
    learn, answer, place, flags, expected, here, tmp_path
):
    here.watch._learn = learn
    raw = said(answer, mail(True, 1))
    name = "1700000000.M1P2.mx" + (f":2,{flags}" if place.endswith("cur") else "")
    (tmp_path / "ann" / "Maildir" / place / name).write_bytes(raw)
    assert here.look() == set()
    assert here.label(raw) == expected
    n = here.desk.site.position
    here.look()
    assert here.desk.site.position == n  # nothing twice


def test_mail_that_was_moved_into_junk_and_out_again(here, tmp_path):
    root = tmp_path / "ann" / "Maildir"
    raw = said("ham", mail(False, 1))
    inbox, junk = root / "cur" / "1.mx:2,S", root / ".Junk" / "cur" / "2.mx:2,S"
    inbox.write_bytes(raw)
    here.look()
    inbox.rename(junk)
    here.look()
    assert here.label(raw) == "spam"
    junk.rename(inbox)
    here.look()
    assert here.label(raw) == "ham"
    truth = SharedFilter.open(here.store, "other")
    truth.learn(Message(raw), "ham")
    assert here.desk.site.table.hams == truth.table.hams


def test_a_false_alarm_is_taken_out_of_junk(here, tmp_path):
    root = tmp_path / "ann" / "Maildir"
    raw = said("spam", mail(False, 1))
    junk, inbox = root / ".Junk" / "new" / "1.mx", root / "cur" / "1.mx:2,"
    junk.write_bytes(raw)
    here.look()
    assert here.label(raw) is None
    junk.rename(inbox)
    here.look()
    assert here.label(raw) == "ham"


def test_users_have_filters_of_their_own(tmp_path):
    made = Here(tmp_path, share=5.0)
    made.desk.site.tell(
        [(Message(mail(k % 2 == 0, k)), ("ham", "spam")[k % 2 == 0]) for k in range(40)]
    )
    for user in ("ann", "bob"):
        maildir(tmp_path / user / "Maildir", ".Junk")
    raw = said("ham", mail(False, 77))
    (tmp_path / "ann" / "Maildir" / ".Junk" / "cur" / "1:2,").write_bytes(raw)
    before = made.desk.judge(raw, ["ann@example.org"])
    made.look()
    after = made.desk.judge(raw, ["Ann+lists@example.org"])
    assert after.log_odds > before.log_odds
    for others in (["bob@example.org"], ["ann@example.org", "bob@example.org"], []):
        assert made.desk.judge(raw, others).log_odds == before.log_odds
    assert made.label(raw) is None
    assert (made.label(raw, "ann"), users_of(made.store, "mail")) == ("spam", ["ann"])
    made.store.remove("mail/ann")
    made.desk.follow()
    assert made.desk.judge(raw, ["ann@example.org"]).log_odds == before.log_odds
    made.close()


def test_patterns_name_users(tmp_path):
    made = Here(tmp_path)
    root = maildir(tmp_path / "Home.example" / "Ann" / "Maildir", "Junk", ".Lists.Spam")
    maildir(tmp_path / "bob" / "mail")
    watch = MaildirWatch(made.desk, [f"{tmp_path}/*/*/Maildir", f"{tmp_path}/*/mail"])
    assert watch.roots() == {root: "ann@home.example", tmp_path / "bob" / "mail": "bob"}
    for place, junk in (("Junk/cur/1", True), (".Lists.Spam/new/1", True), ("cur/1", False)):
        assert move_of(root / place, watch.roots()).junk is junk
    for place in ("tmp/1", "cur/.1", "dovecot.index", ".Sent/cur/1"):
        assert move_of(root / place, watch.roots()) is None
    assert move_of(tmp_path / "elsewhere" / "cur" / "1", watch.roots()) is None
    made.close()


def test_a_server_learns_from_what_is_moved_while_it_runs_and_meanwhile(tmp_path):
    model = trained(tmp_path)
    root = maildir(tmp_path / "ann" / "Maildir", ".Junk")
    raws = [said("ham", mail(True, 5_000 + k)) for k in range(6)]
    for k, raw in enumerate(raws):
        (root / "cur" / f"{k}.mx:2,S").write_bytes(raw)
    options = "--model", model, "--watch", f"{tmp_path}/*/Maildir"

    def move(k):
        (root / "cur" / f"{k}.mx:2,S").rename(root / ".Junk" / "cur" / f"{k}.mx:2,S")

    move(0)
    with mail_serving(tmp_path, *options) as served:
        served.wait_for("moved", 1)
        for k in (1, 2):
            move(k)
        served.wait_for("moved", 3)
        assert served.stop() == 0
    move(3)
    with mail_serving(tmp_path, *options) as served:
        served.wait_for("moved", 1)
        other = maildir(tmp_path / "bob" / "Maildir", ".Junk")  # who came later
        shutil.copy(root / "cur" / "4.mx:2,S", other / ".Junk" / "cur" / "9.mx:2,S")
        served.wait_for("moved", 2)
        served.stop()
    with open_store(tmp_path / "mail.db") as store:
        shared = SharedFilter.open(store, "mail")
        labels = [shared.label_of(Message(raw).digest) for raw in raws]
    assert labels == ["spam"] * 5 + [None]
