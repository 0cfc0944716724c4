"""Results of two routes, which agree but for the last digits."""

import pytest


def near(found):
    """Allow numbers to differ in the last digits, wherever they stand."""
    if isinstance(found, dict):
        return {key: near(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return type(found)(near(value) for value in found)
    return pytest.approx(found, rel=1e-8, abs=1e-12) if isinstance(found, float) else found
