"""The main job from beginning to end: train, judge, explain, write the report.

Run it with `make run`, after the lectures' examples. The ten people are the lecture's.
"""

from __future__ import annotations

import csv
from pathlib import Path
from tempfile import mkdtemp

import tallybayes as tb
from tallybayes.cli.demos import DEMOS


def step(code: str, result: object) -> None:
    """Print what is typed, and what it prints."""
    print(f">>> {code}\n{result}\n")


def main() -> None:
    """Do it step by step."""
    print("\n4. The main job: train, judge, explain, report\n" + "=" * 46)
    rows = list(csv.DictReader(DEMOS["loan"].text("loan.csv").splitlines()))
    cheat = [row.pop("cheat") for row in rows]
    loans = {name: [row[name] for row in rows] for name in ("owner", "status")}
    loans["income"] = [int(row["income"]) for row in rows]
    applicant = {"owner": "No", "status": "Married", "income": 120}

    model = tb.NaiveBayes().fit(loans, cheat)
    step("model = NaiveBayes().fit(loans, cheat); print(model.summary())", model.summary())
    judged = model.cross_val(loans, cheat, folds="loo").report()  # each row by all others' model
    step('model.cross_val(loans, cheat, folds="loo").report().accuracy', judged.accuracy)
    step("print(model.explain(applicant))", model.explain(applicant))
    page = Path(mkdtemp()) / "loan.html"
    model.report(loans, cheat).save(page)
    step('model.report(loans, cheat).save("loan.html")', f"Open it in a browser: {page}")


if __name__ == "__main__":
    main()
