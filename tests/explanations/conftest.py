"""Every family and option."""

import pytest

from validation.registry import SETTINGS


@pytest.fixture(params=SETTINGS, ids=str)
def setting(request):
    return request.param
