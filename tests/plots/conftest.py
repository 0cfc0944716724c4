import matplotlib
import pytest

from validation.registry import SETTINGS

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.fixture(params=SETTINGS, ids=str)
def setting(request):
    """Every family and option."""
    return request.param
