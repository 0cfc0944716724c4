"""A real Spark session, one for all tests.

Where there is no Java the tests are skipped and say why; under CI=true that is a failure.
"""

import gc
import os
import shutil
import sys
import warnings
from pathlib import Path

import pytest

from ports import free_port

WHY = (
    "there is no Java here, which Spark needs; on Debian, root installs it with "
    "apt-get install openjdk-17-jre-headless, or make system"
)
CLASSIC = {
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.python.authenticate.socketTimeout": "240s",  # a busy machine is slow to connect
    "spark.log.level": "OFF",
}
PANDAS = "PySpark does not yet fully support pandas >= 3.0.0"


def pytest_collection_modifyitems(items):
    """Put the tests of this folder side by side, so that one worker runs them: Java starts once."""
    items.sort(key=lambda item: Path(__file__).parent not in item.path.parents)


@pytest.fixture(scope="session")
def java():
    """Java; without it the test is skipped, or fails where none may be skipped."""
    if shutil.which("java") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(WHY)


@pytest.fixture(scope="session")
def remote():
    """The address at which the session also answers clients of Spark Connect."""
    return f"sc://127.0.0.1:{free_port()}"


@pytest.fixture(scope="session")
def session(java, remote, tmp_path_factory):
    """The session, in a process of Java that ends with the tests."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", PANDAS, FutureWarning)
        from pyspark.sql import SparkSession

        folder = str(tmp_path_factory.mktemp("spark"))
        options = {
            **CLASSIC,
            "spark.local.dir": folder,
            "spark.sql.warehouse.dir": folder,
            "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": remote.rpartition(":")[2],
        }
        builder = SparkSession.builder.master("local[2,4]")
        for name, value in options.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def spark(session):
    """The session, and its word on pandas unheard."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", PANDAS, FutureWarning)
        yield session


@pytest.fixture
def pools(spark):
    """Let go of the pools of threads that Spark's `CrossValidator` leaves running."""
    warnings.filterwarnings("ignore", "unclosed running multiprocessing pool", ResourceWarning)
    yield
    gc.collect()
