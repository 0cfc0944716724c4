"""Yu's mails: words, and why they need smoothing."""

from __future__ import annotations

from tallybayes.workflows.demos.demo import Demo, Step

MAIL = "You! Lottery! Lottery! Lottery!!"
FIT = "tallybayes fit spam.csv --target label --text mail --positive spam --no-scores"

SPAM = Demo(
    name="spam",
    title="A mail server's spam filter: counted words",
    files=("spam.csv", "new_mails.csv"),
    opening=(
        f'Seven mails are labelled by hand. A new one arrives: "{MAIL}" Is it spam? A person sees '
        "it at once."
    ),
    steps=(
        Step(
            "Count the words of both classes, and estimate without smoothing.",
            f"{FIT} --alpha 0 -o raw.tally",
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
            f"{FIT} --alpha 1 -o spam.tally",
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
