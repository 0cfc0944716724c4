"""The lectures' three examples, worked through with tallybayes.

Run it with `make run`. It prints what a student would write on paper: counts, estimates, scores and
posteriors, so that each number can be checked by hand.
"""

from __future__ import annotations

from fractions import Fraction

import tallybayes as tb


def heading(text: str) -> None:
    """Print a heading."""
    print(f"\n{text}\n{'=' * len(text)}")


def spam_filter() -> None:
    """Model seven mails by their words, and see why that needs smoothing."""
    heading("1. The mail server's spam filter (multinomial)")
    mails = [
        ("Hi see you at dinner.", "not spam"),
        ("Buy lottery!", "spam"),
        ("Hi, wanna have dinner?", "not spam"),
        ("Hi you, nice dinner today!", "not spam"),
        ("Wanna get rich today?", "spam"),
        ("Lottery dinner?", "not spam"),
        ("Win lottery; get rich today!", "spam"),
    ]
    texts, labels = [text for text, _ in mails], [label for _, label in mails]
    model = tb.TextNB(positive="spam").fit(texts, labels)
    place, counts = model.vocabulary_, model.feature_count_.astype(int)
    print(f"{len(mails)} mails, a vocabulary of {len(place)} words. Counted:\n")
    shown = ["buy", "lottery", "you", "dinner", "today"]
    print("            " + "".join(f"{word:>9}" for word in shown) + "    all words")
    for label, row in zip(model.classes_, counts, strict=True):
        cells = "".join(f"{row[place[word]]:>9}" for word in shown)
        print(f"  {label:<10}{cells}{row.sum():>13}")

    mail = "You! Lottery! Lottery! Lottery!!"
    for alpha in (0, 1):
        model = tb.TextNB(alpha, positive="spam").fit(texts, labels)
        print(f'\nA new mail, "{mail}", with alpha = {alpha}:')
        scores = model.model_.scores({"text": [mail]})[0]
        for label, row, score in zip(model.classes_, counts, scores, strict=True):
            n, total = labels.count(label), row.sum() + alpha * len(place)
            you, lottery = (row[place[word]] + alpha for word in ("you", "lottery"))
            working = f"{n}/7 x {you}/{total} x ({lottery}/{total})^3"
            exact = Fraction(n, 7) * Fraction(int(you), int(total))
            exact *= Fraction(int(lottery), int(total)) ** 3
            print(f"  s({label:<8}) = {working:<26} = {exact!s:<15} = {score:.7f}")
        posterior = model.model_.posterior_of({"text": mail})["spam"]
        print(f"  P(spam | mail) = {posterior:.4f}: the mail is {model.predict([mail])[0]}.")
    print("\nWithout smoothing, one word never seen in spam outweighs everything else.")


def customer_insight() -> None:
    """Model five customers by bell curves."""
    heading("2. Real-time customer insight (Gaussian)")
    table = {
        "facebook": [2.44, 9.77, 2.15, 1.96, 8.31],
        "games": [2.48, 6.82, 8.05, 3.78, 7.93],
        "active": [2.64, 0.55, 3.11, 3.75, 0.16],
    }
    outcome = ["drop out", "complete", "drop out", "drop out", "complete"]
    tally = tb.Tally.of(table, outcome, target="outcome")
    customer = {"facebook": 2.51, "games": 4.38, "active": 2.51}
    for ddof in (1, 0):
        model = tb.estimate(tally, tb.Gaussian(ddof=ddof))
        normals = model.factors[0].parameters
        divisor = "N - 1 (the sample variance)" if ddof else "N (maximum likelihood)"
        print(f"\nVariances divided by {divisor}:")
        for c, label in enumerate(model.classes):
            curves = ", ".join(
                f"{name} N({normals.mean[c, j]:.2f}, {normals.variance[c, j]:.3f})"
                for j, name in enumerate(model.schema.names)
            )
            score = model.scores({name: [x] for name, x in customer.items()})[0, c]
            print(f"  {label}: prior {model.prior[c]:.1f}, {curves}")
            print(f"    s({label}) = {score:.6g}")
    print(
        "\nThe customer will drop out. The lecture prints 0.016, which comes from dividing by N;\n"
        "its own formula, with N - 1, gives 0.019."
    )


def loan_applicant() -> None:
    """Model ten loan applicants by categories and a number."""
    heading("3. The loan applicant (mixed columns)")
    table = {
        "home owner": ["Yes", "No", "No", "Yes", "No", "No", "Yes", "No", "No", "No"],
        "status": [
            "Single",
            "Married",
            "Single",
            "Married",
            "Divorced",
            "Married",
            "Divorced",
            "Single",
            "Married",
            "Single",
        ],
        "income": [125, 100, 70, 120, 95, 60, 220, 85, 75, 90],
    }
    cheat = ["No", "No", "No", "No", "Yes", "No", "No", "Yes", "No", "Yes"]
    tally = tb.Tally.of(table, cheat, target="cheat")
    print("What was understood of the columns:\n")
    print("  " + str(tally.schema).replace("\n", "\n  "))
    applicant = {"home owner": "No", "status": "Married", "income": 120}
    print("\nAn applicant:", ", ".join(f"{name} {value}" for name, value in applicant.items()))
    exercise = tb.Categorical(m=3, p=tb.ByClass({"Yes": 1 / 3, "No": 2 / 3}))
    for title, family in (
        ("maximum likelihood", tb.Categorical(alpha=0)),
        ("Laplace, alpha = 1", tb.Categorical(alpha=1)),
        ("m-estimate, m = 3, p = 1/3 (Yes) and 2/3 (No)", exercise),
    ):
        model = tb.estimate(tally, family)
        rows = {name: [value] for name, value in applicant.items()}
        print(f"\n{title}:")
        for c, label in enumerate(model.classes):
            factors = [f"{model.prior[c]:.1f}"]
            for name in ("home owner", "status", "income"):
                only = {n: [applicant[n] if n == name else None] for n in applicant}
                factors.append(f"{model.scores(only)[0, c] / model.prior[c]:.3g}")
            print(
                f"  s(cheat = {label:<3}) = {' x '.join(factors):<38} = "
                f"{model.scores(rows)[0, c]:.4g}"
            )
        print(f"  P(cheat = No | applicant) = {model.posterior_of(applicant)['No']:.8f}")
    print("\nThree plausible applicants who do not cheat, drawn from the last model:\n")
    sample = model.sample(3, given={"cheat": "No"}, seed=1)
    for row in zip(*sample.values(), strict=True):
        values = [f"{v:.0f}" if isinstance(v, float) else str(v) for v in row]
        print("  " + ", ".join(f"{n} {v}" for n, v in zip(sample, values, strict=True)))


if __name__ == "__main__":
    spam_filter()
    customer_insight()
    loan_applicant()
