"""`tallybayes spam`: train a mail filter, judge mail with it, and let it learn."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from tallybayes.cli.console import Session
from tallybayes.cli.main import LazyGroup, argument, command, option

if TYPE_CHECKING:
    from tallybayes.spam.mail_filter import MailFilter
    from tallybayes.spam.shared_filter import SharedFilter
    from tallybayes.spam.token_table import TokenTable
    from tallybayes.spam.verdict import Cutoffs, Verdict

SQLITE = b"SQLite format 3"  # how the file of a store begins
STANDARD = "-"
PLACE = click.Path(readable=False, allow_dash=True)
MAIL = "Files, mboxes, Maildirs or folders; - is standard input."
MODEL = argument("model", PLACE, "The filter, as train writes it, or a store, as serve keeps it.")
COSTS = (
    option(
        "--false-alarm",
        float,
        "What a false alarm costs, if it costs 1 to look at an unsure message: the more, the "
        "surer spam has to be.",
    ),
    option("--miss", float, "What a spam that is let pass costs, by the same measure."),
)
COMMANDS = {
    "train": "Make a filter of sorted mail.",
    "classify": "Judge messages.",
    "filter": "Pass a message on, with what it is in its header.",
    "learn": "Learn messages, or correct what was learnt.",
    "unlearn": "Take messages away again, as if never seen.",
    "explain": "Show why a message is judged as it is.",
    "report": "Show what a filter has learnt.",
    "serve": "Judge mail for a mail server, and learn from its users.",
    "users": "List the users with mail of their own, or remove one.",
}


class SpamGroup(LazyGroup):
    """The commands for mail, whose exit codes tell what a message is."""

    sections: ClassVar = {"Commands": COMMANDS}
    error_code: ClassVar = 3

    def module_of(self, section: str) -> str:
        return __name__


@command(
    """
    # of two folders, or Maildirs, or mboxes
    tallybayes spam train --ham Mail/inbox --spam Mail/junk -o mail.tally
    # rather unsure than a false alarm
    tallybayes spam train --ham ham/ --spam spam/ --false-alarm 1000 -o mail.tally
""",
    option("--ham", ["PLACE"], f"Mail that is wanted. {MAIL}", required=True),
    option("--spam", ["PLACE"], f"Mail that is not. {MAIL}", required=True),
    option("-o --out", "FILE", "The filter to write: name.tally.", required=True),
    option("-f --force", bool, "Replace it if it is there."),
    *COSTS,
)
def train(
    session: Session,
    ham: tuple[str, ...],
    spam: tuple[str, ...],
    out: str,
    force: bool,
    false_alarm: float | None,
    miss: float | None,
) -> None:
    """Make a filter of sorted mail.

    Every message counts once. With 20 messages of each class or more each token gets a weight of
    its own, and how sure the filter may be is found on messages that were held out.
    """
    from tallybayes.cli.paths import check_free
    from tallybayes.spam.findings import TrainedFilter
    from tallybayes.spam.training import train as trained

    check_free(session, out, force, (*ham, *spam))
    with session.progress():
        made = trained(ham, spam, _cutoffs(None, false_alarm, miss))
    made.filter.save(out)
    session.report(TrainedFilter(made), f"Saved as {out}.", out=out)


@command(
    """
    # a message, by its exit code: 0 spam, 1 ham, 2 unsure, 3 an error
    tallybayes spam classify mail.tally message.eml
    # a folder, a line a message
    tallybayes spam classify mail.tally Mail/inbox
    # the same for programs
    tallybayes spam classify mail.tally Mail/inbox --json
""",
    MODEL,
    argument("paths", PLACE, MAIL, nargs=-1),
    *COSTS,
)
def classify(
    session: Session,
    model: str,
    paths: tuple[str, ...],
    false_alarm: float | None,
    miss: float | None,
) -> None:
    """Judge messages.

    Each is on a line: spam, ham or unsure, the probability that it is spam, and where it is. With
    --json each line is an object. The exit code is 0 for spam, 1 for ham, 2 for unsure and 3 for an
    error; of several messages it is 0 if any is spam, and else 2 if any is unsure.
    """
    from tallybayes.spam.features import features
    from tallybayes.spam.mailboxes import messages_in
    from tallybayes.spam.messages import Message
    from tallybayes.spam.verdict import judge, shown_of

    lookup, cutoffs = _opened(model, false_alarm, miss)
    codes = set()
    for found in messages_in(paths or (STANDARD,)):
        verdict = judge(lookup, features(Message(found.raw)), cutoffs)
        codes.add(verdict.code)
        if session.json:
            text = json.dumps(shown_of(found.name, verdict))
        else:
            text = f"{verdict.answer:<6} {verdict.probability:.6f} {found.name}"
        session.line(text)
    _exit(next((code for code in (0, 2, 1) if code in codes), 1))


@command(
    """
    # in a pipe, as procmail, maildrop and Postfix have it
    cat message.eml | tallybayes spam filter mail.tally > marked.eml
    # where only 0 is no failure
    cat message.eml | tallybayes spam filter -e mail.tally > marked.eml
""",
    MODEL,
    option("-e --embedded", bool, "Exit with 0, be it spam, ham or unsure."),
    *COSTS,
)
def filter(  # noqa: A001
    session: Session, model: str, embedded: bool, false_alarm: float | None, miss: float | None
) -> None:
    """Pass a message on, with what it is in its header.

    X-Spam-Status and X-Tallybayes are added in front; all else is passed on byte for byte. If the
    message cannot be judged, it is passed on as it is, and the exit code is 3.
    """
    from tallybayes.spam.features import features
    from tallybayes.spam.messages import Message
    from tallybayes.spam.passing import pass_on
    from tallybayes.spam.verdict import judge

    def judged(message: Message) -> Verdict:
        lookup, cutoffs = _opened(model, false_alarm, miss)
        return judge(lookup, features(message), cutoffs)

    verdict = pass_on(sys.stdin.buffer, sys.stdout.buffer, judged)
    _exit(0 if embedded else verdict.code)


@command(
    """
    # what a user moved
    tallybayes spam learn mail.tally --spam Mail/junk/new
    # only what the filter was wrong about, or unsure of
    tallybayes spam learn mail.tally --ham Mail/inbox --only unsure
    # a correction: it was learnt as spam
    cat message.eml | tallybayes spam learn mail.tally --ham -
    # in the store of servers, which know it within a second
    tallybayes spam learn mail.db --spam Mail/junk/new
""",
    MODEL,
    option("--ham", ["PLACE"], f"Mail that is wanted. {MAIL}"),
    option("--spam", ["PLACE"], f"Mail that is not. {MAIL}"),
    option(
        "--only",
        ("errors", "unsure"),
        "Learn only what is judged wrongly, or also what the filter is unsure of.",
    ),
)
def learn(
    session: Session, model: str, ham: tuple[str, ...], spam: tuple[str, ...], only: str | None
) -> None:
    """Learn messages, or correct what was learnt.

    No message is learnt twice, by its content. One that was learnt as the other is unlearnt first.
    Counts change at once; the weights of tokens stay until the filter is trained again.
    """
    from tallybayes.rendering import Document
    from tallybayes.spam.mailboxes import messages_in
    from tallybayes.spam.messages import Message

    if not ham and not spam:
        raise click.UsageError("Say what to learn: --ham or --spam, or both.")
    counts = {"learnt": 0, "corrected": 0, "known": 0, "left": 0}
    with session.progress(), _changing(model) as mail:
        for label, paths in (("ham", ham), ("spam", spam)):
            for found in messages_in(paths):
                message = Message(found.raw)
                if only is not None and mail.label_of(message.digest) is None:
                    said = mail.classify(message).answer
                    if said == label or (only == "errors" and said == "unsure"):
                        counts["left"] += 1
                        continue
                counts[mail.learn(message, label)] += 1
    left = f", {counts['left']:,} left out" if only else ""
    text = (
        f"{counts['learnt']:,} learnt, {counts['corrected']:,} corrected, {counts['known']:,} "
        f"known before{left}."
    )
    session.report(Document((text,), counts))


@command(
    """
    # whatever it was learnt as
    tallybayes spam unlearn mail.tally message.eml
""",
    MODEL,
    argument("paths", PLACE, MAIL, nargs=-1),
)
def unlearn(session: Session, model: str, paths: tuple[str, ...]) -> None:
    """Take messages away again, as if never seen.

    Each is taken from where it was learnt, ham or spam; those that never were are passed by.
    """
    from tallybayes.rendering import Document
    from tallybayes.spam.mailboxes import messages_in
    from tallybayes.spam.messages import Message

    counts = {"ham": 0, "spam": 0, "unknown": 0}
    with session.progress(), _changing(model) as mail:
        for found in messages_in(paths or (STANDARD,)):
            counts[mail.unlearn(Message(found.raw)) or "unknown"] += 1
    text = (
        f"{counts['ham']:,} ham and {counts['spam']:,} spam unlearnt, {counts['unknown']:,} never "
        "learnt."
    )
    session.report(Document((text,), counts))


@command(
    """
    # what speaks for spam, and what against it
    tallybayes spam explain mail.tally message.eml
""",
    MODEL,
    argument("path", PLACE, "A message; - is standard input.", required=False, default=STANDARD),
    *COSTS,
)
def explain(
    session: Session, model: str, path: str, false_alarm: float | None, miss: float | None
) -> None:
    """Show why a message is judged as it is.

    What each part of the message says, as odds, and by which of its tokens.
    """
    from tallybayes.errors import TallyBayesError
    from tallybayes.spam.findings import Explained
    from tallybayes.spam.mailboxes import messages_in
    from tallybayes.spam.messages import Message

    lookup, cutoffs = _opened(model, false_alarm, miss)
    found = next(messages_in((path,)), None)
    if found is None:
        raise TallyBayesError(f"there is no message in {path}")
    session.show(Explained.of(lookup, cutoffs, found.name, Message(found.raw)))


@command(
    """
    # how much, how well, and the tokens that tell most
    tallybayes spam report mail.tally
    # the same of the store of servers
    tallybayes spam report mail.db
""",
    MODEL,
)
def report(session: Session, model: str) -> None:
    """Show what a filter has learnt.

    How many messages and tokens, how it did on messages that it had not seen, and the tokens that
    speak loudest; of a store those of the latest messages. For a page with pictures, tallybayes
    report MODEL.
    """
    from tallybayes.spam.findings import FilterReport
    from tallybayes.spam.mail_filter import MailFilter

    if _is_store(model):
        with _shared(model) as shared:
            session.show(FilterReport.of_store(model, shared))
    else:
        session.show(FilterReport.of(model, MailFilter.open(model)))


PLACES = "HOST:PORT or unix:PATH"


@command(
    """
    # beside Postfix: smtpd_milters = inet:127.0.0.1:8891
    tallybayes spam serve mail.db --model mail.tally --milter 127.0.0.1:8891
    # and learn from what users move into Junk, or out of it
    tallybayes spam serve mail.db --milter 127.0.0.1:8891 --watch '/home/*/Maildir'
    # between Postfix and Dovecot
    tallybayes spam serve mail.db --lmtp 127.0.0.1:8024 --forward 127.0.0.1:24
""",
    argument("store", PLACE, "Where the filter is kept: a file, or a postgresql:// address."),
    option("--model", "FILE", "The filter to begin with, where the store is new."),
    option("--milter", "PLACE", f"Listen as a milter, at {PLACES}."),
    option("--smtp", "PLACE", f"Listen as a proxy for SMTP, at {PLACES}."),
    option("--lmtp", "PLACE", f"Listen as a proxy for LMTP, at {PLACES}."),
    option("--forward", "HOST:PORT", "Where mail that came by SMTP or LMTP goes on to."),
    option("--watch", ["PATTERN"], "Maildirs to learn from, with * for users: /home/*/Maildir."),
    option(
        "--learn",
        ("errors", "unsure", "all"),
        "What is learnt of the mail that users move: what the filter was wrong about, also what "
        "it was unsure of, or all of it.  [default: unsure]",
    ),
    option(
        "--own share",
        float,
        "Users teach filters of their own, of which a message counts so many of the site's.",
    ),
    option(
        "--on-fault",
        ("pass", "defer"),
        "What becomes of mail that cannot be judged.  [default: pass]",
    ),
    option("--connections", click.IntRange(1, 10_000), "How many at once.  [default: 100]"),
    option("--longest", click.IntRange(1), "Bytes of a mail by a proxy.  [default: 100000000]"),
    option(
        "--keep",
        ["NAME=NUMBER"],
        "How the filter is kept: snapshot_every, retain, refit_every, refit_rows (events), "
        "most_tokens, forget_days.",
    ),
    *COSTS,
)
def serve(
    session: Session, store: str, false_alarm: float | None, miss: float | None, **stated: Any
) -> None:
    """Judge mail for a mail server, and learn from its users.

    A milter adds fields to the header while Postfix or Sendmail receives a message; a proxy passes
    mail on to another server. Both add what spam filter adds. All that is learnt is in the store,
    which several servers may share. Its log, a JSON object a line without anything of a message,
    goes to standard error.
    """
    from msgspec import ValidationError, convert

    from tallybayes.cli import options
    from tallybayes.spam.mail_server import MailSettings, serve as run
    from tallybayes.spam.shared_filter import SharedOptions

    said = {name: value for name, value in stated.items() if value not in (None, ())}
    if "keep" in said:
        try:
            pairs = options.pairs(said["keep"], "--keep")
            said["keep"] = convert(pairs, SharedOptions, strict=False)
        except ValidationError as error:
            raise click.UsageError(f"--keep: {error}.") from None
    if cutoffs := _cutoffs(None, false_alarm, miss):
        said["cutoffs"] = cutoffs
    run(MailSettings(store, **said), session.say)


@command(
    """
    # who taught a filter something
    tallybayes spam users mail.db
    # forget all that a user taught; nobody else notices
    tallybayes spam users mail.db --remove ann
""",
    argument("store", PLACE, "Where the filter is kept."),
    option("--remove", "USER", "Delete what a user taught."),
)
def users(session: Session, store: str, remove: str | None) -> None:
    """List the users with mail of their own, or remove one."""
    from tallybayes.errors import TallyBayesError, did_you_mean
    from tallybayes.spam.mail_server import NAME
    from tallybayes.spam.shared_filter import users_of

    with _shared(store) as shared:
        opened = shared.store
        names = users_of(opened, NAME)
        if remove is not None:
            if remove not in names:
                raise TallyBayesError(f"there is no user {remove!r}; {did_you_mean(remove, names)}")
            opened.remove(f"{NAME}/{remove}")
            names.remove(remove)
    for name in names:
        session.line(name)


@contextmanager
def _changing(model: str) -> Iterator[MailFilter | SharedFilter]:
    """Open a filter for a change: in its file, or in a store, of which others learn at once."""
    if _is_store(model):
        with _shared(model) as shared:
            yield shared
    else:
        from tallybayes.spam.mail_filter import changing_filter

        with changing_filter(model) as mail:
            yield mail


def _is_store(model: str) -> bool:
    """Tell whether a filter is kept in a store."""
    if "://" in model:
        return True
    try:
        with Path(model).open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except OSError:
        return False


@contextmanager
def _shared(model: str) -> Iterator[SharedFilter]:
    """Open a filter in a store that has one."""
    from tallybayes.errors import TallyBayesError
    from tallybayes.spam.mail_server import NAME
    from tallybayes.spam.shared_filter import SharedFilter
    from tallybayes.store import open_store

    with open_store(model) as store:
        if NAME not in store.logs():
            raise TallyBayesError(
                f"there is no mail filter in {store.url}; begin one with: tallybayes spam serve"
            )
        yield SharedFilter.open(store, NAME)


def _opened(
    model: str, false_alarm: float | None, miss: float | None
) -> tuple[TokenTable, Cutoffs]:
    """Open what judges: the table beside the model, or the model."""
    from tallybayes.spam.token_table import opened
    from tallybayes.spam.verdict import Cutoffs

    if _is_store(model):
        with _shared(model) as shared:
            return shared.table, _cutoffs(shared.cutoffs, false_alarm, miss) or shared.cutoffs
    lookup = opened(model)
    if lookup is None:
        from tallybayes.spam.mail_filter import quick

        lookup = quick(model)
    cutoffs = Cutoffs(*lookup.extra["cutoffs"])
    return lookup, _cutoffs(cutoffs, false_alarm, miss) or cutoffs


def _cutoffs(
    known: Cutoffs | None, false_alarm: float | None, miss: float | None
) -> Cutoffs | None:
    """Return the cutoffs that were asked for, beside those that are known."""
    from tallybayes.spam.verdict import Cutoffs

    if false_alarm is None and miss is None:
        return known
    given = {"false_alarm": false_alarm, "miss": miss}
    stated = Cutoffs.of_costs(**{name: cost for name, cost in given.items() if cost is not None})
    if known is None:
        return stated
    return Cutoffs(
        known.ham if miss is None else stated.ham,
        known.spam if false_alarm is None else stated.spam,
    )


def _exit(code: int) -> None:
    """End with what tells what a message is."""
    click.get_current_context().exit(code)


spam = SpamGroup(
    "spam",
    help="""Judge mail: spam, ham or unsure.

    A filter is made of sorted mail, and learns on: see docs/spam.md. Exit codes of classify and
    filter: 0 spam, 1 ham, 2 unsure; of all commands for mail 3 is an error, of the command line
    too.
    """,
)
