"""Reports to look at: small and large, with data and without, of kind and of hostile names."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tallybayes as tb
from tallybayes.cli import demos
from tallybayes.modelfile import Provenance, Stored
from tallybayes.report.page import ModelReport
from tallybayes.workflows import report

HERE = Path(demos.__file__).parent / "demo_data"
HOSTILE = (
    "<script>alert(1)</script>",
    "</table></style><img src='http://example.org/x.png' onerror=alert(1)>",
    "\u202eright to left $x_1$ \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
)
LONG = "n" * 10_000


@dataclass(frozen=True)
class Page:
    """A report, the model it is on and the labelled rows, if there are any."""

    stored: Stored
    report: ModelReport
    frame: pd.DataFrame | None = None

    @property
    def model(self) -> Any:
        return self.stored.fitted.model


def _page(estimator: Any, frame: pd.DataFrame, target: str, data: Any, **options: Any) -> Page:
    estimator.fit(frame.drop(columns=target), frame[target])
    stored = Stored(estimator.fitted_, Provenance.now("train.csv", len(frame)))
    made = report(stored, data=data, **options).page
    return Page(stored, made, data)


@cache
def loan(judged: bool) -> Page:
    frame = pd.read_csv(HERE / "loan.csv")
    return _page(tb.NaiveBayes(), frame, "cheat", frame if judged else None)


@cache
def hostile() -> Page:
    """Three classes, columns of every kind, texts, and names that try to break the page."""
    rng = np.random.default_rng(0)
    n = 240
    y = rng.integers(3, size=n)
    words = ("alpha <b>", "beta & $5", "gamma \u202e x", "delta 'quoted' \"twice\"", "\x01\x7f end")
    frame = pd.DataFrame(
        {
            "<script>alert(2)</script>": rng.normal(y, 1.0),
            "_$income_{2}$": np.exp(rng.normal(y, 1.0)),
            LONG: np.array([*HOSTILE, "\x00\x07 bell", ""], object)[(rng.integers(3, size=n) + y)],
            "\u05e9\u05dc\u05d5\u05dd": rng.poisson(1.0 + y),
            "owner": rng.random(n) < 0.3 + 0.2 * y,
            'text "quoted"': [
                " ".join(words[(k + rng.integers(3)) % len(words)] for k in range(c, c + 3))
                for c in y
            ],
            "target": np.array(HOSTILE, object)[y],
        }
    )
    frame.loc[::7, "_$income_{2}$"] = None
    columns = {'text "quoted"': tb.Text(), "\u05e9\u05dc\u05d5\u05dd": "poisson"}
    title = "<b>Title</b> & Co"
    return _page(tb.NaiveBayes(columns), frame, "target", frame, title=title, path="<i>.tally")


@cache
def large() -> Page:
    """Many rows, columns, categories and classes: everything that is cut."""
    rng = np.random.default_rng(1)
    n, classes = 3000, 30
    y = rng.integers(classes, size=n)
    columns = {f"number {k}": rng.normal(y * (k < 5), 4.0) for k in range(56)}
    columns |= {
        f"category {k}": np.char.add("value ", ((y + rng.integers(50, size=n)) % 60).astype(str))
        for k in range(4)
    }
    frame = pd.DataFrame({**columns, "target": np.char.add("class ", y.astype(str))})
    return _page(tb.NaiveBayes(calibration="temperature"), frame, "target", frame)


PAGES = {
    "loan": lambda: loan(False),
    "loan with data": lambda: loan(True),
    "hostile": hostile,
    "large": large,
}
