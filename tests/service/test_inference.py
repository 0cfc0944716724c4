"""The Open Inference Protocol, spoken by a client that others wrote."""

import numpy as np
import pytest
import tritonclient.http as triton
from tritonclient.utils import InferenceServerException

from service.running import mixed_table


@pytest.fixture
def client(served):
    client = triton.InferenceServerClient(served.url.removeprefix("http://"))
    yield client
    client.close()


def tensors(table, binary=True, column=False):
    """Make the inputs of a client of columns, of the types that users have at hand."""
    types = {"age": "FP64", "visits": "INT64", "plan": "BYTES", "new": "BOOL"}
    made = []
    for name, values in table.items():
        array = np.array(values, {"BYTES": object}.get(types[name]))
        array = array.reshape(-1, 1) if column else array
        made.append(triton.InferInput(name, list(array.shape), types[name]))
        made[-1].set_data_from_numpy(array, binary_data=binary)
    return made


def table_of(n):
    table, _ = mixed_table(n, seed=5)
    return table | {"age": [40.0 if v != v else v for v in table["age"]]}


@pytest.mark.parametrize("n", [1, 5, 200])
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("column", [True, False], ids=["n x 1", "n"])
def test_a_client_of_triton_gets_the_probabilities_of_python(served, client, n, binary, column):
    table = table_of(n)
    outputs = [
        triton.InferRequestedOutput(x, binary_data=binary) for x in ("probabilities", "prediction")
    ]
    found = client.infer(
        "mixed", tensors(table, binary, column), outputs=None if column else outputs
    )
    model = served.stored("mixed").fitted.model
    np.testing.assert_allclose(found.as_numpy("probabilities"), model.posterior(table), rtol=1e-12)
    decided = [x.decode() if isinstance(x, bytes) else x for x in found.as_numpy("prediction")]
    assert decided == model.predict(table).tolist()


def test_columns_that_are_left_out_and_nan_and_empty_text_are_missing(served, client):
    table = {"age": [np.nan, 50.0], "plan": ["pro", ""]}
    found = client.infer("mixed", tensors(table)).as_numpy("probabilities")
    model = served.stored("mixed").fitted.model
    expected = [list(model.posterior_of(r).values()) for r in ({"plan": "pro"}, {"age": 50.0})]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_model_says_what_it_takes_and_gives(served, client):
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready("mixed")
    assert client.is_model_ready("mixed", "1")
    assert not client.is_model_ready("nothing")
    said = client.get_model_metadata("mixed")
    assert said["inputs"] == [
        {"name": "age", "datatype": "FP64", "shape": [-1]},
        {"name": "visits", "datatype": "INT64", "shape": [-1]},
        {"name": "plan", "datatype": "BYTES", "shape": [-1]},
        {"name": "new", "datatype": "BOOL", "shape": [-1]},
    ]
    assert [each["name"] for each in said["outputs"]] == ["prediction", "probabilities"]
    assert client.get_model_metadata("numbers")["outputs"][0]["datatype"] == "INT64"
    assert "binary_tensor_data" in client.get_server_metadata()["extensions"]
    states = {each["name"]: each["state"] for each in client.get_model_repository_index()}
    assert states["mixed"] == "READY"


def test_labels_that_are_numbers_stay_numbers(served, client):
    tensor = triton.InferInput("a", [2], "FP32")
    tensor.set_data_from_numpy(np.array([1.0, 5.0], np.float32))
    found = client.infer("numbers", [tensor], request_id="7")
    assert found.as_numpy("prediction").tolist() == [0, 1]
    assert found.get_response()["id"] == "7"


def one(name="age", shape=(1,), datatype="FP64", data=(1,), **more):
    return {"inputs": [{"name": name, "shape": shape, "datatype": datatype, "data": data, **more}]}


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"inputs": []}, "the inputs have"),
        (one(shape=[2]), "its shape says 2"),
        (one(datatype="FP"), "did you mean"),
        (one(shape=[1, 2], data=[1, 2]), "[n, 1]"),
        (one(shape=[1 << 60]), "at most"),
        (one(data=[[[1]]]), "among its"),
        (one("agee"), "mean 'age'"),
        ({"inputs": one()["inputs"] * 2}, "there twice"),
        ({**one(), "outputs": [{"name": "proba"}]}, "no output 'proba'"),
        (one(parameters={"binary_data_size": 8}), "with 0 left"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(served, body, says):
    answer = served.post("/v2/models/mixed/infer", json=body)
    assert 400 <= answer.status_code < 500
    assert says in answer.json()["error"]


def test_a_client_of_triton_shows_the_error(client):
    tensor = triton.InferInput("plan", [1], "FP32")
    tensor.set_data_from_numpy(np.array([1.5], np.float32))
    with pytest.raises(InferenceServerException, match="there is no model 'mixd'"):
        client.infer("mixd", [tensor])
    with pytest.raises(InferenceServerException, match="there is no version '3'"):
        client.infer("mixed", [tensor], model_version="3")


@pytest.mark.parametrize("length", ["x", "-1", "99999999", "10"])
def test_a_wrong_length_of_the_json_is_refused(served, length):
    body = b'{"inputs": [{"name": "age", "shape": [1], "datatype": "FP64", "data": [1]}]}'
    headers = {"inference-header-content-length": length}
    answer = served.post("/v2/models/mixed/infer", content=body, headers=headers)
    assert answer.status_code == 400
