"""The examples of three lectures: data, commands, and what the lecture says of their output."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from tallybayes.errors import TallyBayesError


@dataclass(frozen=True, slots=True)
class Step:
    """A command, why it is run, and what to look at in what it prints."""

    about: str
    command: str
    note: str


@dataclass(frozen=True, slots=True)
class Demo:
    """An example of a lecture: what it wants to know, the data, and what to do about it."""

    title: str
    files: tuple[str, ...]
    opening: str
    steps: tuple[Step, ...]

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
FIT_MAILS = "tallybayes fit spam.csv --target label --text mail --positive spam --no-scores"

SPAM = Demo(
    title="A mail server's spam filter: counted words",
    files=("spam.csv", "new_mails.csv"),
    opening=(
        f'Seven mails are labelled by hand. A new one arrives: "{MAIL}" Is it spam? A person sees '
        "it at once."
    ),
    steps=(
        Step(
            "Count the words of both classes, and estimate without smoothing.",
            f"{FIT_MAILS} --alpha 0 -o raw.tally",
            "The lecture: 3 of 7 mails are spam, so P(spam) = 3/7. The vocabulary has 14 words; "
            "the mails that are spam have 11 words in all, the others 16.",
        ),
        Step(
            "Let the model judge the new mail, factor by factor. The table shows logarithms: they "
            "add up where probabilities multiply.",
            f'tallybayes explain raw.tally --set "mail={MAIL}"',
            'The lecture: "you" has never been in spam, so P(you | spam) = 0/11 and the score of '
            "spam is 3/7 x 0/11 x (2/11)^3 = 0. The mail is not taken for spam because of one "
            "word, whatever the others say.",
        ),
        Step(
            "Smooth: add 1 to every count.",
            f"{FIT_MAILS} --alpha 1 -o spam.tally",
            "The lecture: P(you | spam) = (0 + 1)/(11 + 14) = 1/25, P(lottery | spam) = 3/25.",
        ),
        Step(
            "Judge the mail again.",
            f'tallybayes explain spam.tally --set "mail={MAIL}"',
            "The lecture: s(spam) = 3/7 x 1/25 x (3/25)^3 = 0.0000296, whose logarithm is "
            "-10.427, and s(not spam) = 4/7 x 3/30 x (2/30)^3 = 0.0000169, with -10.986. So it is "
            "spam, with a probability of 0.0000296 / (0.0000296 + 0.0000169) = 0.636.",
        ),
        Step(
            "Look at the words that tell the classes apart.",
            "tallybayes inspect spam.tally --words 5",
            "The lecture's table: dinner is 4 of 16 words of mails that are not spam, and 0 of 11 "
            "in spam; smoothed, 5/30 and 1/25.",
        ),
        Step(
            "Classify a file of new mails.",
            "tallybayes predict spam.tally new_mails.csv --proba --keep mail",
            "The lecture: a mail is spam if s(spam) > s(not spam); on a tie it is not. That is "
            "what --positive spam stands for.",
        ),
    ),
)

VISITOR = "--set facebook=2.51 --set games=4.38 --set active=2.51"
FIT_CUSTOMERS = "tallybayes fit customers.csv --target outcome"
BY_N = " ".join(f"--column {name}=gaussian:ddof=0" for name in ("facebook", "games", "active"))

CUSTOMERS = Demo(
    title="Real-time customer insight: bell curves",
    files=("customers.csv", "visitors.csv"),
    opening=(
        "Of five customers a shop knows how many hours a day they spend on Facebook, how many "
        "dollars on games, how many hours they are active, and whether they completed their order "
        "or dropped out. Will a new visitor drop out?"
    ),
    steps=(
        Step(
            "Learn a mean and a variance for every column and class.",
            f"{FIT_CUSTOMERS} --no-scores -o customers.tally",
            "The lecture: P(complete) = 2/5 and P(drop out) = 3/5.",
        ),
        Step(
            "Look at the curves.",
            "tallybayes inspect customers.tally",
            "The lecture takes the sample mean and the sample standard deviation, which divides by "
            "N - 1.",
        ),
        Step(
            "Judge a visitor: 2.51 hours on Facebook, 4.38 dollars on games, 2.51 hours active.",
            f"tallybayes explain customers.tally {VISITOR}",
            "The lecture: s(complete) is about 0, so the visitor will drop out. Its formula gives "
            "s(drop out) = exp(-3.949) = 0.0193, but it prints 0.016.",
        ),
        Step(
            "The number comes from dividing by N, which is ddof=0.",
            f"{FIT_CUSTOMERS} {BY_N} --no-scores -o by_n.tally",
            "How a variance is estimated is an option of the family.",
        ),
        Step(
            "Judge the visitor with that model.",
            f"tallybayes explain by_n.tally {VISITOR}",
            "s(drop out) = exp(-4.149) = 0.0158: the lecture's 0.016.",
        ),
        Step(
            "Ask about a whole file of visitors.",
            "tallybayes predict customers.tally visitors.csv --proba --keep-all",
            "The lecture: the shop sends this customer a message, before the order is lost.",
        ),
    ),
)

APPLICANT = "--set owner=No --set status=Married --set income=120"
FIT_LOAN = "tallybayes fit loan.csv --target cheat"
GUESS = "categorical:m=3,p=Yes:1/3;No:2/3"

LOAN = Demo(
    title="The loan applicant: categories and a number together",
    files=("loan.csv", "applicants.csv"),
    opening=(
        "Ten people had a loan; three of them cheated. An applicant owns no home, is married, and "
        "earns 120 thousand. Will this one cheat?"
    ),
    steps=(
        Step(
            "Learn from the ten, without smoothing.",
            f"{FIT_LOAN} --alpha 0 --no-scores -o shares.tally",
            "The lecture: P(No) = 7/10 and P(Yes) = 3/10.",
        ),
        Step(
            "Look at the tables.",
            "tallybayes inspect shares.tally",
            "The lecture: P(Married | No) = 4/7 and P(Married | Yes) = 0. Incomes of class No have "
            "mean 110 and variance 2975, those of class Yes mean 90 and variance 25.",
        ),
        Step(
            "Judge the applicant, factor by factor. The table shows logarithms: they add up where "
            "probabilities multiply.",
            f"tallybayes explain shares.tally {APPLICANT}",
            "The lecture: P(x | No) P(No) = 4/7 x 4/7 x 0.0072 x 0.7 = 0.00168 and P(x | Yes) "
            "P(Yes) = 0, so the class is No. (It rounds on the way; exp(-6.4107) = 0.00164.) One "
            "factor of 0 decides alone: no cheat among three was married.",
        ),
        Step(
            "Laplace's estimate adds 1 to every count.",
            f"{FIT_LOAN} --alpha 1 --no-scores -o loan.tally",
            "The lecture: P(Married | Yes) = (0 + 1)/(3 + 3) = 1/6.",
        ),
        Step(
            "Judge the applicant again.",
            f"tallybayes explain loan.tally {APPLICANT}",
            "No class is impossible any more, and the answer is the same.",
        ),
        Step(
            "The lecture's exercise: an m-estimate with m = 3, and p = 1/3 for Yes, 2/3 for No.",
            f"{FIT_LOAN} --column 'owner={GUESS}' --column 'status={GUESS}' --no-scores -o m.tally",
            "P(HomO=No | Yes) = (3 + 3 x 1/3)/(3 + 3) = 2/3, P(Single | Yes) = 1/2.",
        ),
        Step(
            "Its last question: P(x | No) and P(x | Yes) of the applicant.",
            f"tallybayes explain m.tally {APPLICANT}",
            "Without the priors, P(x | No) = 3/5 x 3/5 x 0.0072 = 0.0026 and P(x | Yes) = 2/3 x "
            "1/6 x 1.2e-9 = 1.35e-10.",
        ),
        Step(
            "How good is such a model? Leave each of the ten out in turn.",
            "tallybayes evaluate loan.csv --target cheat --loo",
            "All ten are right if the model has seen them (training), eight if it has not.",
        ),
        Step(
            "Predict new applicants; one of them did not state an income.",
            "tallybayes predict loan.tally applicants.csv --proba --keep-all",
            "A missing value leaves its factor out.",
        ),
        Step(
            "Naive Bayes models the features given the class, so it can make some up: applicants "
            "who would cheat.",
            "tallybayes sample loan.tally -n 3 --given cheat=Yes --seed 1",
            "Columns are drawn one by one, as if independent: that is what is naive.",
        ),
    ),
)

DEMOS = {"spam": SPAM, "customers": CUSTOMERS, "loan": LOAN}
