"""Yu's customers: bell curves."""

from __future__ import annotations

from tallybayes.workflows.demos.demo import Demo, Step

VISITOR = "--set facebook=2.51 --set games=4.38 --set active=2.51"
FIT = "tallybayes fit customers.csv --target outcome"
BY_N = " ".join(f"--column {name}=gaussian:ddof=0" for name in ("facebook", "games", "active"))

CUSTOMERS = Demo(
    name="customers",
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
            f"{FIT} --no-scores -o customers.tally",
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
            f"{FIT} {BY_N} --no-scores -o by_n.tally",
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
