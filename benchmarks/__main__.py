"""Measure speed and memory, or some parts of it, and write docs/benchmarks.md.

python -m benchmarks               all parts
python -m benchmarks core text     some of them; the others stay as they were measured before
"""

from benchmarks.run import Page
from benchmarks.speed import (
    core,
    estimators,
    events,
    evidence,
    explanations,
    files,
    live,
    mail,
    service,
    spark,
    text,
    validation,
)

FIRST = (
    "Written by `make bench` (some parts of it: `python -m benchmarks core text`) from `benchmarks.json`; "
    "what stands in one part was measured in one run. Data is random and seeded (`benchmarks/cases.py`); "
    "all competitors get the same number of turns on the same arrays, in two rounds, and each figure is "
    "the best of them. Our times include encoding labels and checking input; the kernels are compiled "
    "beforehand. Misses of what a figure is held to are in bold, unless the target stands beside it."
)
PARTS = {
    "core": core.part,
    "events": events.part,
    "estimators": estimators.part,
    "text": text.part,
    "validation": validation.part,
    "explanations": explanations.part,
    "evidence": evidence.part,
    "files": files.part,
    "live": live.part,
    "mail": mail.part,
    "service": service.part,
    "spark": spark.part,
}
PAGE = Page("benchmarks", "Benchmarks", FIRST, PARTS)

if __name__ == "__main__":
    PAGE.main()
