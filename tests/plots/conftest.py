import matplotlib
import pytest

from validation.registry import SETTINGS

matplotlib.use("Agg")


@pytest.fixture(params=SETTINGS, ids=str)
def setting(request):
    """Every family and option."""
    return request.param
