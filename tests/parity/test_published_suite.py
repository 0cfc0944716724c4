"""scikit-learn's own tests of its naive Bayes estimators, run against the drop-ins.

The installed file is taken as it is; only the one import of the estimators is replaced.
"""

from pathlib import Path

import pytest
import sklearn.tests

import tallybayes

FILE = Path(sklearn.tests.__path__[0]) / "test_naive_bayes.py"
THEIRS, OURS = "from sklearn.naive_bayes import", "from tallybayes import"

source = FILE.read_text(encoding="utf-8")
assert source.count(THEIRS) == 1
exec(compile(source.replace(THEIRS, OURS), FILE, "exec"))

# this one calls GaussianNB._update_mean_variance, a private helper that a tally has no use for
del test_gnb_check_update_with_no_data  # noqa: F821
# the drop-ins take NumPy arrays, and do not claim to take those of other libraries (array API)
del test_gnb_array_api_compliance  # noqa: F821

# the warning about a tiny alpha is tested in some places and let through in others
pytestmark = pytest.mark.filterwarnings("ignore:alpha too small:UserWarning")


@pytest.fixture(params=[0, 1, 42])
def global_random_seed(request):
    return request.param


@pytest.fixture(params=["float32", "float64"])
def global_dtype(request):
    return request.param


def test_the_suite_is_about_our_classes():
    for name in ("BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"):
        assert globals()[name] is getattr(tallybayes, name)
