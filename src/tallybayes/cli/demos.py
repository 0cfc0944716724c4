"""The examples of three lectures: data, commands, and what the lecture says of their output."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from tallybayes.errors import TallyBayesError


class Step(NamedTuple):
    """A command, why it is run, and what to look at in what it prints."""

    about: str
    command: str
    note: str


@dataclass(frozen=True, slots=True)
class Demo:
    """An example of a lecture: its data, and its `script`.

    Paragraphs of the script are what the example wants to know, and then its steps: why a command
    is run, the command behind a dollar, and what to look at.
    """

    title: str
    files: tuple[str, ...]
    script: str

    @property
    def opening(self) -> str:
        """What the example wants to know."""
        return " ".join(self.script.split("\n\n")[0].split())

    @property
    def steps(self) -> list[Step]:
        """What to do about it."""
        parts = re.findall(r"\n\n(.*?)\n\$ (.*?)\n(.*?)(?=\n\n|\Z)", self.script, re.DOTALL)
        return [Step(*(" ".join(text.split()) for text in part)) for part in parts]

    def text(self, name: str) -> str:
        """Return what is in one of the files."""
        return (files("tallybayes.cli") / "demo_data" / name).read_text(encoding="utf-8")

    def save(self, folder: str | Path) -> list[Path]:
        """Write the data to a folder; a file that is there already is never changed."""
        from tallybayes.sources.atomic_file import replacing

        place = Path(folder)
        if place.exists() and not place.is_dir():
            raise TallyBayesError(f"{str(folder)!r} is a file; name a folder for the data")
        place.mkdir(parents=True, exist_ok=True)
        written = [place / name for name in self.files]
        for path in written:
            text = self.text(path.name)
            if path.exists() and path.read_text(encoding="utf-8", errors="replace") != text:
                raise TallyBayesError(
                    f"{str(path)!r} exists and holds something else; name another folder"
                )
        for path in written:
            with replacing(path) as file:
                file.write(self.text(path.name).encode())
        return written


MAIL = "You! Lottery! Lottery! Lottery!!"
FIT_MAILS = "tallybayes fit --plain spam.csv --target label --text mail --positive spam --no-scores"

SPAM = Demo(
    "A mail server's spam filter: counted words",
    ("spam.csv", "new_mails.csv"),
    f"""\
Seven mails are labelled by hand. A new one arrives: "{MAIL}" Is it spam? A person sees it at once.

Count the words of both classes, and estimate without smoothing.
$ {FIT_MAILS} --alpha 0 -o raw.tally
The lecture: 3 of 7 mails are spam, so P(spam) = 3/7. The vocabulary has 14 words; the mails that
are spam have 11 words in all, the others 16.

Let the model judge the new mail, factor by factor. The table shows logarithms: they add up where
probabilities multiply.
$ tallybayes explain raw.tally --set "mail={MAIL}"
The lecture: "you" has never been in spam, so P(you | spam) = 0/11 and the score of spam is
3/7 x 0/11 x (2/11)^3 = 0. The mail is not taken for spam because of one word, whatever the others
say.

Smooth: add 1 to every count.
$ {FIT_MAILS} --alpha 1 -o spam.tally
The lecture: P(you | spam) = (0 + 1)/(11 + 14) = 1/25, P(lottery | spam) = 3/25.

Judge the mail again.
$ tallybayes explain spam.tally --set "mail={MAIL}"
The lecture: s(spam) = 3/7 x 1/25 x (3/25)^3 = 0.0000296, whose logarithm is -10.427, and
s(not spam) = 4/7 x 3/30 x (2/30)^3 = 0.0000169, with -10.986. So it is spam, with a probability of
0.0000296 / (0.0000296 + 0.0000169) = 0.636.

Look at the words that tell the classes apart.
$ tallybayes inspect spam.tally --words 5
The lecture's table: dinner is 4 of 16 words of mails that are not spam, and 0 of 11 in spam;
smoothed, 5/30 and 1/25.

Classify a file of new mails.
$ tallybayes predict spam.tally new_mails.csv --proba --keep mail
The lecture: a mail is spam if s(spam) > s(not spam); on a tie it is not. That is what
--positive spam stands for.
""",
)

VISITOR = "--set facebook=2.51 --set games=4.38 --set active=2.51"
FIT_CUSTOMERS = "tallybayes fit --plain customers.csv --target outcome"
BY_N = " ".join(f"--column {name}=gaussian:ddof=0" for name in ("facebook", "games", "active"))

CUSTOMERS = Demo(
    "Real-time customer insight: bell curves",
    ("customers.csv", "visitors.csv"),
    f"""\
Of five customers a shop knows how many hours a day they spend on Facebook, how many dollars on
games, how many hours they are active, and whether they completed their order or dropped out. Will a
new visitor drop out?

Learn a mean and a variance for every column and class.
$ {FIT_CUSTOMERS} --no-scores -o customers.tally
The lecture: P(complete) = 2/5 and P(drop out) = 3/5.

Look at the curves.
$ tallybayes inspect customers.tally
The lecture takes the sample mean and the sample standard deviation, which divides by N - 1.

Judge a visitor: 2.51 hours on Facebook, 4.38 dollars on games, 2.51 hours active.
$ tallybayes explain customers.tally {VISITOR}
The lecture: s(complete) is about 0, so the visitor will drop out. Its formula gives s(drop out) =
exp(-3.949) = 0.0193, but it prints 0.016.

The number comes from dividing by N, which is ddof=0.
$ {FIT_CUSTOMERS} {BY_N} --no-scores -o by_n.tally
How a variance is estimated is an option of the family.

Judge the visitor with that model.
$ tallybayes explain by_n.tally {VISITOR}
s(drop out) = exp(-4.149) = 0.0158: the lecture's 0.016.

Ask about a whole file of visitors.
$ tallybayes predict customers.tally visitors.csv --proba --keep-all
The lecture: the shop sends this customer a message, before the order is lost.
""",
)

APPLICANT = "--set owner=No --set status=Married --set income=120"
FIT_LOAN = "tallybayes fit --plain loan.csv --target cheat"
GUESS = "categorical:m=3,p=Yes:1/3;No:2/3"

LOAN = Demo(
    "The loan applicant: categories and a number together",
    ("loan.csv", "applicants.csv"),
    f"""\
Ten people had a loan; three of them cheated. An applicant owns no home, is married, and earns 120
thousand. Will this one cheat?

Learn from the ten, without smoothing.
$ {FIT_LOAN} --alpha 0 --no-scores -o shares.tally
The lecture: P(No) = 7/10 and P(Yes) = 3/10.

Look at the tables.
$ tallybayes inspect shares.tally
The lecture: P(Married | No) = 4/7 and P(Married | Yes) = 0. Incomes of class No have mean 110 and
variance 2975, those of class Yes mean 90 and variance 25.

Judge the applicant, factor by factor. The table shows logarithms: they add up where probabilities
multiply.
$ tallybayes explain shares.tally {APPLICANT}
The lecture: P(x | No) P(No) = 4/7 x 4/7 x 0.0072 x 0.7 = 0.00168 and P(x | Yes) P(Yes) = 0, so the
class is No. (It rounds on the way; exp(-6.4107) = 0.00164.) One factor of 0 decides alone: no cheat
among three was married.

Laplace's estimate adds 1 to every count.
$ {FIT_LOAN} --alpha 1 --no-scores -o loan.tally
The lecture: P(Married | Yes) = (0 + 1)/(3 + 3) = 1/6.

Judge the applicant again.
$ tallybayes explain loan.tally {APPLICANT}
No class is impossible any more, and the answer is the same.

The lecture's exercise: an m-estimate with m = 3, and p = 1/3 for Yes, 2/3 for No.
$ {FIT_LOAN} --column 'owner={GUESS}' --column 'status={GUESS}' --no-scores -o m.tally
P(HomO=No | Yes) = (3 + 3 x 1/3)/(3 + 3) = 2/3, P(Single | Yes) = 1/2.

Its last question: P(x | No) and P(x | Yes) of the applicant.
$ tallybayes explain m.tally {APPLICANT}
Without the priors, P(x | No) = 3/5 x 3/5 x 0.0072 = 0.0026 and P(x | Yes) = 2/3 x 1/6 x 1.2e-9 =
1.35e-10.

How good is such a model? Leave each of the ten out in turn.
$ tallybayes evaluate --plain loan.csv --target cheat --loo
All ten are right if the model has seen them (training), eight if it has not.

Predict new applicants; one of them did not state an income.
$ tallybayes predict loan.tally applicants.csv --proba --keep-all
A missing value leaves its factor out.

Naive Bayes models the features given the class, so it can make some up: applicants who would cheat.
$ tallybayes sample loan.tally -n 3 --given cheat=Yes --seed 1
Columns are drawn one by one, as if independent: that is what is naive.
""",
)

DEMOS = {"spam": SPAM, "customers": CUSTOMERS, "loan": LOAN}
