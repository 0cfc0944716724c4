"""Pan's loans: categories and numbers together."""

from __future__ import annotations

from tallybayes.workflows.demos.demo import Demo, Step

APPLICANT = "--set owner=No --set status=Married --set income=120"
FIT = "tallybayes fit loan.csv --target cheat"
GUESS = "categorical:m=3,p=Yes:1/3;No:2/3"

LOAN = Demo(
    name="loan",
    title="The loan applicant: categories and a number together",
    files=("loan.csv", "applicants.csv"),
    opening=(
        "Ten people had a loan; three of them cheated. An applicant owns no home, is married, and "
        "earns 120 thousand. Will this one cheat?"
    ),
    steps=(
        Step(
            "Learn from the ten, without smoothing.",
            f"{FIT} --alpha 0 --no-scores -o shares.tally",
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
            f"{FIT} --alpha 1 --no-scores -o loan.tally",
            "The lecture: P(Married | Yes) = (0 + 1)/(3 + 3) = 1/6.",
        ),
        Step(
            "Judge the applicant again.",
            f"tallybayes explain loan.tally {APPLICANT}",
            "No class is impossible any more, and the answer is the same.",
        ),
        Step(
            "The lecture's exercise: an m-estimate with m = 3, and p = 1/3 for Yes, 2/3 for No.",
            f"{FIT} --column 'owner={GUESS}' --column 'status={GUESS}' --no-scores -o m.tally",
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
