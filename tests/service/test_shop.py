"""The example of the lecture's shop prints what the same customers amount to in Python."""

import importlib.util
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tallybayes as tb
from service.running import PATIENCE

SHOP = Path(__file__).parents[2] / "examples" / "shop.py"


def test_the_shop_learns_from_its_customers_and_notices_nothing_that_is_not_there():
    command = [sys.executable, str(SHOP), "400"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE)
    assert done.returncode == 0, done.stderr
    spec = importlib.util.spec_from_file_location("shop", SHOP)
    shop = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(shop)
    dice, changed = random.Random(1), dict(shop.HABITS)
    changed["drop out"] = changed["drop out"] | {"games": (9.0, 2.5)}
    people = [shop.customer(dice, shop.HABITS if k < 200 else changed) for k in range(400)]
    table = {name: values + [r[name] for _, r in people] for name, values in shop.FIVE.items()}
    model = tb.estimate(tb.Tally.of(table, shop.OUTCOMES + [outcome for outcome, _ in people]))
    said = re.search(r"completes with probability ([\d.]+)", done.stdout).group(1)
    visitor = {"facebook": 2.51, "games": 4.38, "active": 2.51}
    assert float(said) == pytest.approx(model.posterior_of(visitor)["complete"], abs=1e-4)
    n = 2 + sum(outcome == "complete" for outcome, _ in people)
    assert f"counted: {{'complete': {n}, 'drop out': {405 - n}}}" in done.stdout
    assert "drift was noticed in: nothing" in done.stdout
