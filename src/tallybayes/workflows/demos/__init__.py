"""The examples of three lectures, as a user would work through them, with their data."""

from tallybayes.workflows.demos.customers import CUSTOMERS
from tallybayes.workflows.demos.demo import Demo, Step
from tallybayes.workflows.demos.loan import LOAN
from tallybayes.workflows.demos.spam import SPAM

DEMOS = {demo.name: demo for demo in (SPAM, CUSTOMERS, LOAN)}

__all__ = ["DEMOS", "Demo", "Step"]
