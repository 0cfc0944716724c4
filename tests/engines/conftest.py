"""A real Spark session, one for all tests.

Where there is no Java the tests are skipped and say why; under CI=true that is a failure.
"""

import os
import shutil
import sys
import warnings

import pytest

WHY = (
    "there is no Java here, which Spark needs; on Debian, root installs it with "
    "apt-get install openjdk-17-jre-headless, or make system"
)
OPTIONS = {
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.log.level": "OFF",
}
PANDAS = "PySpark does not yet fully support pandas >= 3.0.0"


@pytest.fixture(scope="session")
def java():
    """Java; without it the test is skipped, or fails where none may be skipped."""
    if shutil.which("java") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(WHY)


def started(builder):
    """Return the session of a builder, with quick settings."""
    for name, value in OPTIONS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@pytest.fixture(scope="session")
def session(java, tmp_path_factory):
    """The session, in a process of Java that ends with the tests."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", PANDAS, FutureWarning)
        from pyspark.sql import SparkSession

        folder = str(tmp_path_factory.mktemp("spark"))
        builder = SparkSession.builder.master("local[2,4]").config("spark.local.dir", folder)
        builder = builder.config("spark.sql.warehouse.dir", folder)
        session = started(builder)
    yield session
    session.stop()


@pytest.fixture
def spark(session):
    """The session, and its word on pandas unheard."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", PANDAS, FutureWarning)
        yield session
