"""Both twins of the kernels, and the blocks that parameters are asked about."""

import pytest

from tallybayes.batches import batches
from tallybayes.kernels import choice
from tallybayes.sources import as_source


@pytest.fixture(params=["plain", "compiled"])
def twin(request, monkeypatch):
    """Run a test once with the plain kernels and once with the compiled ones."""
    monkeypatch.setattr(choice, "LARGE", 0 if request.param == "compiled" else float("inf"))
    return request.param


@pytest.fixture(scope="session")
def block_of():
    """Return what a model's parameters see of some rows, for models of one factor."""

    def block(model, X):
        (factor,) = model.factors
        (batch,) = batches(as_source(X), model.schema)
        return factor.block_of(batch)

    return block


@pytest.fixture(scope="session")
def log_prob(block_of):
    """Return log P(x | class) of each row, column and class."""
    return lambda model, X: model.factors[0].parameters.log_prob(block_of(model, X))
