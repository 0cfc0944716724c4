"""A shop that knows while customers are there whether they will buy, and learns what they did.

Run it with `python examples/shop.py` (needs `pip install 'tallybayes[serve]'`). It starts a service
with the lecture's model of five customers, streams others through it as a shop would, and prints
how the model gets better: it scores each customer, offers a discount to those who will probably
drop out, and tells the service later what they did. Half-way their habits change.

A service that runs already is asked instead if its address is given:
`python examples/shop.py http://127.0.0.1:8765`.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import tallybayes as tb
from tallybayes.model import Fitted
from tallybayes.modelfile import Provenance, Stored, dump_bytes

MODEL = "/v1/models/customers"
FIVE = {  # hours a day on Facebook, dollars spent on games, active hours a day
    "facebook": [2.44, 9.77, 2.15, 1.96, 8.31],
    "games": [2.48, 6.82, 8.05, 3.78, 7.93],
    "active": [2.64, 0.55, 3.11, 3.75, 0.16],
}
OUTCOMES = ["drop out", "complete", "drop out", "drop out", "complete"]
HABITS = {  # mean and spread of the three, as the shop would find them out
    "complete": {"facebook": (7.0, 2.5), "games": (7.0, 2.0), "active": (1.5, 1.0)},
    "drop out": {"facebook": (3.0, 2.0), "games": (5.0, 2.5), "active": (3.0, 1.0)},
}
AT_ONCE = 50  # customers that browse at the same time


def first_model() -> bytes:
    """Return the lecture's model, as a file."""
    tally = tb.Tally.of(FIVE, OUTCOMES, target="outcome")
    return dump_bytes(Stored(Fitted(tally), Provenance.now("the lecture's customers", 5)))


@contextmanager
def service() -> Iterator[str]:
    """Run a service with an empty folder; it goes on until the shop closes."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tallybayes", "serve", folder, "--port", "0"]
        process = subprocess.Popen(
            [*command, "--log", "none"], stderr=subprocess.PIPE, text=True, bufsize=1
        )
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            yield said.partition(" at ")[2].partition(",")[0]
        finally:
            process.terminate()
            process.communicate()


class Shop:
    """What the shop asks the service, again until it is answered: nothing counts twice."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, path: str, method: str = "GET", data: bytes | None = None, **body: Any) -> Any:
        """Ask for something; what cannot be done now is asked for again."""
        data = json.dumps(body).encode() if body else data
        headers = {"content-type": "application/json"}
        while True:
            asked = Request(self.url + path, data, headers, method="POST" if body else method)
            try:
                with urlopen(asked, timeout=60) as answer:
                    return json.load(answer)
            except HTTPError as error:
                if error.code not in (429, 503):
                    raise SystemExit(error.read().decode()) from error
            except URLError:  # it is only starting, or being replaced
                pass
            time.sleep(0.2)


def customer(dice: random.Random, habits: dict[str, Any]) -> tuple[str, dict[str, float]]:
    """Draw somebody who browses, and what they will do."""
    outcome = "complete" if dice.random() < 0.4 else "drop out"
    of_them = habits[outcome].items()
    return outcome, {name: round(max(dice.gauss(*of), 0.0), 2) for name, of in of_them}


def open_for(shop: Shop, customers: int) -> None:
    """Score customers, act on it, and tell what they did."""
    dice, habits, discounts, right = random.Random(1), HABITS, 0, 0
    day = f"visit at {time.time()}"
    print(f"{'customers':>9}  {'right lately':>12}  {'log-loss lately':>15}  discounts")
    for start in range(0, customers, AT_ONCE):
        if start >= customers / 2 and habits is HABITS:
            print("(a new game comes out: those who only look spend more on games, too)")
            habits = {**HABITS, "drop out": {**HABITS["drop out"], "games": (9.0, 2.5)}}
        people = [customer(dice, habits) for _ in range(min(AT_ONCE, customers - start))]
        ids = [f"{day} {start + k}" for k in range(len(people))]
        records = [record for _, record in people]
        scored = shop.ask(f"{MODEL}/predict", records=records, ids=ids)
        discounts += scored["predictions"].count("drop out")
        right += sum(a == b for a, (b, _) in zip(scored["predictions"], people, strict=True))
        told = [{"id": i, "label": outcome} for i, (outcome, _) in zip(ids, people, strict=True)]
        shop.ask(f"{MODEL}/labels", labels=told)
        if (start // AT_ONCE) % max(customers // AT_ONCE // 8, 1) == 0 and start:
            recent = shop.ask(f"{MODEL}/scores")["recipes"][0]["recent"]
            cells = f"{recent['accuracy'] or 0:12.1%}  {recent['log_loss'] or 0:15.3f}"
            print(f"{start:>9,}  {cells}  {discounts:9,}")
    print(f"{right / customers:.1%} of all customers were foreseen.")


def main(url: str, customers: int) -> None:
    """Open the shop, and show what was learnt."""
    shop = Shop(url)
    shop.ask("/v2/health/live")
    shop.ask(MODEL, "PUT", first_model())
    open_for(shop, customers)
    while (model := shop.ask(MODEL))["live"]["learnt"] < customers:
        time.sleep(0.05)
    rows = {each["label"]: each["rows"] for each in model["classes"]}
    print(f"counted: {rows}")
    visitor = {"facebook": 2.51, "games": 4.38, "active": 2.51}
    (posterior,) = shop.ask(f"{MODEL}/predict", records=[visitor])["probabilities"]
    print(f"the lecture's new customer completes with probability {posterior[0]:.4f}")
    alarms = shop.ask(f"{MODEL}/drift")["alarms"]
    columns = sorted({alarm["column"] or "the loss" for alarm in alarms})
    print(f"drift was noticed in: {', '.join(columns) or 'nothing'}")


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if not word.isdecimal()]
    many = next((int(word) for word in sys.argv[1:] if word.isdecimal()), 6_000)
    if given:
        main(given[0], many)
    else:
        with service() as address:
            main(address, many)
