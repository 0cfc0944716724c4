"""What scikit-learn's users write for tables and for text."""

from __future__ import annotations

from typing import Any

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder

NUMBERS = make_column_selector(dtype_include="number")
OTHERS = make_column_selector(dtype_exclude="number")


def text(**options: Any) -> Any:
    """Return a pipeline for documents, whose words are counted with these options."""
    return make_pipeline(CountVectorizer(**options), MultinomialNB())


def one_hot() -> Any:
    """Return the pipeline for a mixed table."""
    return of_columns(SimpleImputer(), _one_hot(), GaussianNB())


def of_tables() -> dict[str, Any]:
    """Return three ways to fit a mixed table, each with missing values filled in."""
    mean = SimpleImputer(strategy="mean", keep_empty_features=True)
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    bins = KBinsDiscretizer(
        n_bins=5, encode="onehot-dense", quantile_method="averaged_inverted_cdf"
    )
    return {
        "codes": of_columns(mean, codes, GaussianNB()),
        "one-hot": of_columns(mean, _one_hot(), GaussianNB()),
        "bins": of_columns(make_pipeline(mean, bins), _one_hot(), BernoulliNB()),
    }


def _one_hot() -> Any:
    return OneHotEncoder(handle_unknown="ignore", sparse_output=False)


def of_columns(for_numbers: Any, for_others: Any, model: Any) -> Any:
    """Return a pipeline for a mixed table, in which missing categories are the most frequent."""
    filled = make_pipeline(SimpleImputer(strategy="most_frequent"), for_others)
    columns = make_column_transformer((for_numbers, NUMBERS), (filled, OTHERS))
    return make_pipeline(columns, model)
