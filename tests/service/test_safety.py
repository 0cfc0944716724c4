"""Who may do what, how much of it, and what a client gets that asks for something else."""

import json
import select
import socket
import time

import httpx
import pytest

from service.running import PATIENCE, made, serving
from tallybayes.cli.main import main
from tallybayes.errors import TallyBayesError
from tallybayes.service import Limits, Role, Settings, tokens_in

TOKENS = {role.name: f"{role.name}-0123456789abcdef" for role in Role if role}
PREDICT = "/v1/models/mixed/predict"
ONE = {"records": [{"age": 1}]}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A service with tokens, small limits, and another name and site."""
    folder = tmp_path_factory.mktemp("guarded")
    made(folder)
    tokens = folder / "tokens.txt"
    tokens.write_text("# who may what\n" + "".join(f"{r} {t} # x\n" for r, t in TOKENS.items()))
    limits = {"body": 20_000, "upload": 50_000, "memory": 60_000, "records": 50, "columns": 10}
    limits |= {"requests": 8, "waiting": 4, "connections": 40}
    options = [word for k, v in limits.items() for word in ("--limit", f"{k}={v}")]
    with serving(
        folder,
        *("--token-file", str(tokens), "--allow-host", "bayes.example", *options),
        *("--allow-origin", "https://studio.example"),
    ) as service:
        yield service


def by(role):
    return {"authorization": f"Bearer {TOKENS[role]}"} if role else {}


def test_each_role_may_do_what_those_before_it_may(guarded):
    data = guarded.get("/v1/models/numbers/export", headers=by("admin")).content
    asked = [
        (0, lambda h: guarded.get("/v2/health/ready", headers=h)),
        (1, lambda h: guarded.post(PREDICT, json=ONE, headers=h)),
        (1, lambda h: guarded.get("/v1/models", headers=h)),
        (3, lambda h: guarded.put("/v1/models/own", content=data, headers=h)),
    ]
    for place, role in enumerate((None, "score", "learn", "admin")):
        for needed, ask in asked:
            status = ask(by(role)).status_code
            assert status == (200 if place >= needed else 401 if role is None else 403)


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer wrong", "Basic " + TOKENS["admin"], TOKENS["admin"], "Bearer \xff"],
)
def test_what_is_no_token_is_none(guarded, header):
    answer = guarded.post(PREDICT, json=ONE, headers={"authorization": header.encode("latin-1")})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["code"] == "unauthorized"


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["admin short"], "less than 16 characters"),
        (["root 0123456789abcdef"], "line 1: expected a role"),
        (["anyone 0123456789abcdef"], "expected a role"),
        (["admin"], "expected a role"),
        (["", "# nothing"], "has no token"),
    ],
)
def test_a_file_of_tokens_that_is_none_is_refused(lines, says):
    with pytest.raises(TallyBayesError, match=says):
        tokens_in(lines)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", ""])
def test_others_are_only_listened_to_with_tokens(tmp_path, host):
    with pytest.raises(TallyBayesError, match="takes tokens"):
        Settings(tmp_path, host=host)
    assert not Settings(tmp_path, host=host, tokens=tokens_in(["admin 0123456789abcdef"])).local


def test_the_command_line_says_what_is_missing(tmp_path, capsys):
    assert main(["serve", str(tmp_path), "--host", "0.0.0.0"]) == 1
    assert "--token-file" in capsys.readouterr().err
    assert main(["serve", str(tmp_path / "none")]) == 1
    assert "there is no folder" in capsys.readouterr().err
    assert main(["serve", str(tmp_path), "--limit", "recods=3"]) == 1
    assert "did you mean 'records'?" in capsys.readouterr().err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["serve", str(tmp_path), "--port", port]) == 1
    assert "choose another port: --port" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 403),
        ({"host": "bayes.example"}, 200),
        ({"host": "bayes.example:443"}, 200),
        ({"host": "localhost:1"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "https://studio.example"}, 200),
        ({"origin": "http://localhost:1", "host": "localhost:1"}, 200),
        ({"origin": "http://localhost:2", "host": "localhost:1"}, 403),
    ],
)
def test_other_names_and_other_sites_are_refused(guarded, headers, status):
    answer = guarded.post(PREDICT, json=ONE, headers=by("score") | headers)
    assert answer.status_code == status, answer.text


def test_pages_of_a_site_that_may_call_get_the_answer(guarded):
    site = {"origin": "https://studio.example"}
    asked = {"access-control-request-method": "POST"}
    answer = guarded.options(PREDICT, headers=site | asked)  # a browser sends no token with this
    assert answer.status_code == 204
    assert "authorization" in answer.headers["access-control-allow-headers"]
    for role, status in (("score", 200), (None, 401)):
        answer = guarded.post(PREDICT, json=ONE, headers=site | by(role))
        allowed = answer.headers["access-control-allow-origin"]
        assert (answer.status_code, allowed) == (status, site["origin"])
    other = guarded.options(PREDICT, headers=asked | {"origin": "https://evil.example"})
    own = guarded.post(PREDICT, json=ONE, headers=by("score"))
    assert "access-control-allow-origin" not in other.headers.keys() | own.headers.keys()
    assert (other.status_code, guarded.options(PREDICT).status_code) == (403, 405)


def test_what_is_too_large_is_refused(guarded):
    def asked(path, **body):
        return guarded.post(path, headers=by("admin"), **body).status_code

    assert asked(PREDICT, json={"records": [{}] * 50}) == 200
    assert asked(PREDICT, json={"records": [{}] * 51}) == 413
    assert asked(PREDICT, json={"records": [{f"x{k}": 1 for k in range(11)}]}) == 413
    assert asked(PREDICT, content=b" " * 30_000) == 413
    assert asked(PREDICT, content=(b" " * 999 for _ in range(30))) == 413  # of no stated length
    assert asked("/v1/models/mixed/sample", json={"n": 51}) == 413
    big = guarded.put("/v1/models/big", content=b"x" * 55_000, headers=by("admin"))
    assert (big.status_code, big.json()["code"]) == (413, "too_large")
    assert guarded.post(PREDICT, json=ONE, headers=by("score")).status_code == 200


HOSTILE = {
    "deep": b'{"records": ' + b"[" * 5_000,
    "deep and closed": b'{"records": [{"age": ' + b"[" * 900 + b"]" * 900 + b"}]}",
    "deep where nothing is expected": b'{"x": ' + b"[" * 900 + b"]" * 900 + b"}",
    "nan": b'{"records": [{"age": NaN}]}',
    "infinity": b'{"records": [{"age": 1e999}]}',
    "a long number": b'{"records": [{"age": ' + b"9" * 5_000 + b"}]}",
    "twice": b'{"records": [], "records": [{"nope": 1}]}',
    "no text": b'{"records": [{"\xff": 1}]}',
    "half a surrogate": b'{"records": [{"plan": "\\ud800"}]}',
    "a list": b"[]",
    "null": b"null",
    "nothing": b"",
    "cut": b'{"records": [{"age"',
    "a boolean": b'{"records": [true]}',
    "an object": b'{"records": [{"age": {}}]}',
    "more": b'{"records": [{}], "more": 1}',
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_bodies_get_an_answer_that_says_why(guarded, what):
    for path in (PREDICT, "/v2/models/mixed/infer", "/v1/models/mixed/explain"):
        answer = guarded.post(path, content=HOSTILE[what], headers=by("admin"))
        assert 400 <= answer.status_code < 500, (path, answer.text)
        assert answer.json()["error"]


def raw(service, *parts):
    """Send bytes over a connection; return what comes back until it is closed."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE) as connection:
        for part in parts:
            connection.sendall(part)
        found = []
        try:
            while part := connection.recv(65536):
                found.append(part)
        except ConnectionResetError:
            pass
        return b"".join(found)


HEAD = (
    "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n"
    "content-length: {length}\r\nconnection: close\r\n\r\n"
)


def head(path, length):
    return HEAD.format(path=path, token=TOKENS["admin"], length=length).encode()


def test_a_body_that_comes_too_slowly_is_given_up(models):
    with serving(models, "--limit", "seconds=0.5") as service:
        answer = raw(service, head(PREDICT, 500), b'{"records"')
    assert answer.startswith(b"HTTP/1.1 408")
    assert b'"code":"timeout"' in answer


def test_what_is_no_http_gets_the_same_shape_of_error(guarded):
    answer = raw(guarded, b"\x16\x03\x01 hello\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "bad_request"


def asked_until(status, ask):
    """Ask until the answer has a status, and return it."""
    until = time.monotonic() + PATIENCE
    while (answer := ask()).status_code != status:
        assert time.monotonic() < until, answer.text
    return answer


def test_one_connection_too_many_is_refused_and_the_others_work(guarded):
    held = [socket.create_connection(("127.0.0.1", guarded.port)) for _ in range(45)]
    try:
        held[-1].settimeout(PATIENCE)
        assert held[-1].recv(1000).startswith(b"HTTP/1.1 429")
    finally:
        for each in held:
            each.close()
    # once the service has noticed that they are closed
    asked_until(200, lambda: httpx.post(guarded.url + PREDICT, json=ONE, headers=by("score")))


def test_each_of_several_processes_keeps_to_the_limit_of_connections(models):
    with serving(models, "--workers", "2", "--limit", "connections=3") as service:
        held = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(7)]
        try:  # one of two has more than three
            ready, _, _ = select.select(held, [], [], PATIENCE)
            assert ready[0].recv(1000).startswith(b"HTTP/1.1 429")
        finally:
            for each in held:
                each.close()


def test_more_requests_than_can_wait_are_told_when_to_come_again(guarded):
    """Eight bodies that never arrive in full leave no room for a ninth request."""
    held = [socket.create_connection(("127.0.0.1", guarded.port)) for _ in range(8)]
    try:
        for each in held:
            each.sendall(head(PREDICT, 500) + b"{")
        answer = asked_until(429, lambda: guarded.post(PREDICT, json=ONE, headers=by("score")))
        assert answer.headers["retry-after"] == "1"
        assert answer.json()["code"] == "busy"
    finally:
        for each in held:
            each.close()
    asked_until(200, lambda: guarded.post(PREDICT, json=ONE, headers=by("score")))


def test_bodies_together_take_no_more_memory_than_is_allowed(guarded):
    held = [socket.create_connection(("127.0.0.1", guarded.port)) for _ in range(3)]
    try:
        for each in held:
            each.sendall(head("/v1/models/x", 20_000).replace(b"POST", b"PUT") + b"x" * 19_000)
        much = {"content": b" " * 10_000, "headers": by("score")}
        asked_until(429, lambda: guarded.post(PREDICT, **much))
    finally:
        for each in held:
            each.close()


def test_the_log_has_every_request_and_no_data(guarded):
    secret = "a-very-secret-value"
    guarded.post(PREDICT, json={"records": [{"plan": secret}]}, headers=by("score"))
    answer = guarded.post(PREDICT, json={"records": [{secret: 1}]}, headers=by("score"))
    number, until = answer.headers["x-request-id"], time.monotonic() + PATIENCE
    while number not in (lines := guarded.log.read_text()).rpartition("\n")[0]:  # after the answer
        assert time.monotonic() < until, lines
        time.sleep(0.01)
    assert secret not in lines
    assert not any(token in lines for token in TOKENS.values())
    entry = next(json.loads(x) for x in lines.splitlines() if number in x)
    assert entry | {"event": "request", "status": 422, "model": "mixed"} == entry
    assert entry["endpoint"] == "/v1/models/{model}/predict"


def test_limits_are_numbers_above_nothing():
    assert Limits.of({"records": "5", "seconds": "0.5"}) == Limits(records=5, seconds=0.5)
    for text in ("0", "-1", "x", "nan", "inf"):
        with pytest.raises(TallyBayesError, match="the limit records"):
            Limits.of({"records": text})


def test_read_only_means_that_nothing_changes(models):
    with serving(models, "--read-only") as service:
        assert service.ask(PREDICT, **ONE)["classes"] == ["leave", "stay"]
        data = service.get("/v1/models/numbers/export").content
        for answer in (service.put("/v1/models/x", content=data), service.delete("/v1/models/raw")):
            assert (answer.status_code, answer.json()["code"]) == (403, "read_only")
        assert service.get("/v2/health/ready").json() == {
            "ready": True,
            "learning": False,
            "reason": "it was started with --read-only",
        }
        assert (models / "raw.tally").exists()
