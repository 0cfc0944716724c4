"""Pan's loans: categories and numbers together."""

from __future__ import annotations

from tallybayes.workflows.demos.demo import Demo, Step

APPLICANT = "--set owner=No --set status=Married --set income=120"

LOAN = Demo(
    name="loan",
    title="The loan applicant: categories and a number together",
    files=("loan.csv", "applicants.csv"),
    opening=(
        "Ten people had a loan; three cheated. An applicant owns no home, is married, and earns "
        "120 thousand. Will this one cheat?"
    ),
    steps=(
        Step(
            "Learn from the ten, without smoothing.",
            "tallybayes fit loan.csv --target cheat --alpha 0 -o shares.tally",
            "P(No) = 7/10 and P(Yes) = 3/10.",
        ),
        Step(
            "Look at the tables.",
            "tallybayes inspect shares.tally",
            "P(Married | No) = 4/7 and P(Married | Yes) = 0/3. Incomes of No have mean 110 and "
            "variance 2975, those of Yes mean 90 and variance 25.",
        ),
        Step(
            "Judge the applicant, factor by factor.",
            f"tallybayes explain shares.tally {APPLICANT}",
            "P(No) P(x | No) = 0.7 x 4/7 x 4/7 x 0.0072 = 0.0016 (the lecture rounds on the way, "
            "and prints 0.00168), and P(Yes) P(x | Yes) = 0.3 x 1 x 0 x 1.2e-9 = 0: not a cheat. "
            "But only because no cheat among three was married.",
        ),
        Step(
            "Laplace's estimate adds 1 to every count.",
            "tallybayes fit loan.csv --target cheat --alpha 1 -o loan.tally",
            "P(Married | Yes) = (0 + 1) / (3 + 3) = 1/6.",
        ),
        Step(
            "Judge the applicant again.",
            f"tallybayes explain loan.tally {APPLICANT}",
            "No class is impossible any more, and the answer stays the same: No.",
        ),
        Step(
            "How good is such a model? Leave each of the ten out in turn.",
            "tallybayes evaluate loan.csv --target cheat --loo",
            "Ten rows are few: scores of rows that the model has seen say nothing, these do.",
        ),
        Step(
            "Predict new applicants; one of them did not state an income.",
            "tallybayes predict loan.tally applicants.csv --proba --keep-all",
            "A missing value leaves its factor out.",
        ),
        Step(
            "Naive Bayes is generative: draw applicants who would cheat.",
            "tallybayes sample loan.tally -n 3 --given cheat=Yes --seed 1",
            "A generative model describes the features given the class, so it can make some up.",
        ),
    ),
)
