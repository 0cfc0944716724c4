"""The description tells the truth: programs that read it get what it says, and nothing breaks."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from service.running import made, serving
from tallybayes.service import Settings, application
from tallybayes.service.description import openapi, page
from tiers import DEEP, scaled

ENDPOINTS = application(Settings(Path(__file__).parent)).endpoints
OPERATIONS = [(e.method, e.path) for e in ENDPOINTS if e.path != "/v1/models/{model}/events"]


TOKEN = "described-0123456789"


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    """A service with tokens, which must not be ignored, and what a reader makes of it."""
    import schemathesis

    folder = tmp_path_factory.mktemp("described")
    made(folder)
    (folder / "tokens").write_text(f"admin {TOKEN}")
    with serving(folder, "--token-file", str(folder / "tokens")) as service:
        schema = schemathesis.openapi.from_dict(service.get("/openapi.json").json())
        # what a record may hold depends on the model, which no description knows
        schema.left_out = [schemathesis.checks.CHECKS.get_one("positive_data_acceptance")]
        schema.url = service.url
        yield schema


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=lambda x: x)
@scaled(2 if DEEP else 0.12)
@given(data=st.data())
def test_whatever_is_sent_is_answered_as_described(described, method, path, data):
    case = data.draw(described[path][method].as_strategy())
    if "model" in (case.path_parameters or {}):
        names = {"PUT": ["new"], "DELETE": ["new"]}.get(method, ["mixed", "texts", "none"])
        case.path_parameters["model"] = data.draw(st.sampled_from(names))
    case.call_and_validate(
        base_url=described.url,
        headers={"Authorization": f"Bearer {TOKEN}"},
        excluded_checks=described.left_out,
        timeout=120,  # drawing a report takes a while where much else runs
    )


def test_every_endpoint_says_what_it_does_and_who_may():
    described = openapi(ENDPOINTS)
    names = [said["operationId"] for each in described["paths"].values() for said in each.values()]
    assert len(names) == len(set(names)) == len(ENDPOINTS)
    for each in described["paths"].values():
        for said in each.values():
            assert said["summary"].endswith(".")
            assert said["x-role"] in ("anyone", "score", "learn", "admin")
    json.dumps(described)


def test_the_page_names_every_endpoint_and_loads_nothing(served):
    answer = served.get("/docs")
    assert answer.text == page(ENDPOINTS) == served.get("/").text
    for endpoint in ENDPOINTS:
        assert f"{endpoint.method} {endpoint.path}" in answer.text.replace("&#x27;", "'")
    assert not re.search(r"<script|<link|https?://", answer.text)
