"""A scikit-learn pipeline behind HTTP, as its users have it: FastAPI, or MLflow's scoring server.

python -m benchmarks.peers.serving fastapi ROWS PORT

fits the pipeline on lines of JSON, each with a record and its label, and answers until it is told to
stop. It runs in a process of its own: MLflow may be installed elsewhere.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.peers.scikit_learn import one_hot


def fitted(rows: str) -> tuple[Any, pd.DataFrame]:
    drawn = [json.loads(line) for line in Path(rows).read_text().splitlines()]
    table = pd.DataFrame([each["record"] for each in drawn])
    return one_hot().fit(table, [each["label"] for each in drawn]), table


def fastapi(rows: str, port: str) -> None:
    """Serve it as the documentation of FastAPI has it, in one process, with uvloop and httptools."""
    import uvicorn
    from fastapi import FastAPI
    from pydantic import BaseModel

    pipeline, _ = fitted(rows)
    app = FastAPI()

    class Request(BaseModel):
        records: list[dict[str, float | str | None]]

    class Answer(BaseModel):
        classes: list[str]
        probabilities: list[list[float]]

    @app.post("/predict")
    def predict(request: Request) -> Answer:
        proba = pipeline.predict_proba(pd.DataFrame(request.records))
        return Answer(classes=pipeline.classes_.tolist(), probabilities=proba.tolist())

    uvicorn.run(app, port=int(port), access_log=False, log_level="warning")


def mlflow(rows: str, port: str) -> None:
    """Serve it with `mlflow models serve`, in one process."""
    import mlflow.sklearn

    pipeline, table = fitted(rows)
    folder = str(Path(tempfile.mkdtemp()) / "model")
    how = {"pyfunc_predict_fn": "predict_proba", "serialization_format": "cloudpickle"}
    mlflow.sklearn.save_model(pipeline, folder, input_example=table[:2], **how)
    command = [sys.executable, "-m", "mlflow", "models", "serve", "-m", folder, "-p", port]
    subprocess.run([*command, "--env-manager", "local", "--workers", "1"], check=False)


if __name__ == "__main__":
    {"fastapi": fastapi, "mlflow": mlflow}[sys.argv[1]](*sys.argv[2:])
