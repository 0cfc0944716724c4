"""Yu's customers: bell curves."""

from __future__ import annotations

from tallybayes.workflows.demos.demo import Demo, Step

VISITOR = "--set facebook=2.51 --set games=4.38 --set active=2.51"

CUSTOMERS = Demo(
    name="customers",
    title="Real-time customer insight: bell curves",
    files=("customers.csv", "visitors.csv"),
    opening=(
        "A shop knows of five customers how many hours a day they spend on Facebook, how many "
        "dollars on games, how many hours they are active, and whether they completed their order "
        "or dropped out. Will a new visitor drop out?"
    ),
    steps=(
        Step(
            "Learn a mean and a variance for every column and class.",
            "tallybayes fit customers.csv --target outcome -o customers.tally",
            "2 of 5 customers completed, so P(complete) = 2/5 and P(drop out) = 3/5. Each column "
            "is a Gaussian given the class, with the sample mean and the sample standard "
            "deviation, which divides by N - 1.",
        ),
        Step(
            "Look at the curves.",
            "tallybayes inspect customers.tally",
            "Who drops out spends about two hours on Facebook; who completes, about nine.",
        ),
        Step(
            "Judge a visitor: 2.51 hours on Facebook, 4.38 dollars, 2.51 hours active.",
            f"tallybayes explain customers.tally {VISITOR}",
            "s(complete) is about 0, so the visitor will drop out. Dividing by N - 1 gives "
            "s(drop out) = 0.0193; the lecture prints 0.016.",
        ),
        Step(
            "The lecture's 0.016 comes from dividing by N, which is ddof=0.",
            "tallybayes fit customers.csv --target outcome --column facebook=gaussian:ddof=0 "
            "--column games=gaussian:ddof=0 --column active=gaussian:ddof=0 -o by_n.tally --quiet",
            "Its formula and its number differ; both say that the visitor drops out.",
        ),
        Step(
            "Judge the visitor with that model.",
            f"tallybayes explain by_n.tally {VISITOR}",
            "s(drop out) = 0.016.",
        ),
        Step(
            "Ask for more visitors at once, from a file.",
            "tallybayes predict customers.tally visitors.csv --proba --keep-all",
            "The shop now shows this visitor a message, before the order is lost.",
        ),
    ),
)
