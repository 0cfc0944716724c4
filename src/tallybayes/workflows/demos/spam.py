"""Yu's mails: words, and why they need smoothing."""

from __future__ import annotations

from tallybayes.workflows.demos.demo import Demo, Step

MAIL = "You! Lottery! Lottery! Lottery!!"

SPAM = Demo(
    name="spam",
    title="A mail server's spam filter: counted words",
    files=("spam.csv", "new_mails.csv"),
    opening=(
        "Seven mails are labelled by hand. A new one arrives: "
        f'"{MAIL}" Is it spam? A person sees it at once.'
    ),
    steps=(
        Step(
            "Count the words of both classes, and estimate without smoothing.",
            "tallybayes fit spam.csv --target label --text mail --positive spam --alpha 0 "
            "-o raw.tally",
            "3 of 7 mails are spam, so P(spam) = 3/7. The vocabulary has 14 words; spam has 11 "
            "words in all, the rest 16.",
        ),
        Step(
            "Let the model judge the new mail, factor by factor.",
            f'tallybayes explain raw.tally --set "mail={MAIL}"',
            '"you" never occurs in spam: P(you | spam) = 0/11, so the score of spam is '
            "3/7 x 0/11 x (2/11)^3 = 0. One word rules everything else out: not spam, which is "
            "wrong.",
        ),
        Step(
            "Add 1 to every count (alpha = 1); the same counts give the new model.",
            "tallybayes fit spam.csv --target label --text mail --positive spam --alpha 1 "
            "-o spam.tally --quiet",
            "P(you | spam) = (0 + 1) / (11 + 14) = 1/25, and P(lottery | spam) = 3/25.",
        ),
        Step(
            "Judge the mail again.",
            f'tallybayes explain spam.tally --set "mail={MAIL}"',
            "s(spam) = 3/7 x 1/25 x (3/25)^3 = 0.0000296 and s(not spam) = 4/7 x 3/30 x (2/30)^3 "
            "= 0.0000169, so P(spam | mail) = 0.0000296 / (0.0000296 + 0.0000169) = 0.636: spam.",
        ),
        Step(
            "Look at the words that tell the classes apart.",
            "tallybayes inspect spam.tally --words 5",
            "Of 27 words, dinner speaks most against spam: 4 of 16 in other mails, never in spam.",
        ),
        Step(
            "Classify a file of new mails.",
            "tallybayes predict spam.tally new_mails.csv --proba --keep mail",
            "If s(spam) > s(not spam) the mail is spam; on a tie it is not. "
            "(--positive spam says so.)",
        ),
    ),
)
