"""The page on the service: its commands print what it shows, and it leaves nothing out."""

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import msgspec
import pytest

from service.running import PATIENCE
from tallybayes.live import LiveOptions
from tallybayes.service import Limits, Settings, application

ROOT = Path(__file__).parents[2]
COMMANDS = (ROOT / "docs" / "commands.md").read_text()
PAGE = (ROOT / "docs" / "service.md").read_text()


def steps():
    """Return the commands of the page, each with the output that is shown."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            found.append(step.partition("\n")[::2])
    return found


class Shell:
    """Runs commands in a folder, and services on ports that are free instead of those named."""

    def __init__(self, folder):
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        self.folder, self.ports, self.services = folder, {}, []
        self.more = {"cwd": folder, "env": {**os.environ, "PATH": path, "COLUMNS": "100"}}

    def serve(self, command):
        said = re.search(r"--port (\d+)", command)
        command = command.removesuffix("&").replace("0.0.0.0", "127.0.0.1")
        command = command.replace(said.group(), "") if said else command
        log = self.folder / f"{len(self.services)}.log"
        with log.open("w") as file:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {command} --port 0"], stderr=file, **self.more
            )
        self.services.append(process)
        start = time.monotonic()
        while not (found := re.search(r"at http://[\d.]+:(\d+),", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() - start < PATIENCE
            time.sleep(0.02)
        self.ports[said.group(1) if said else "8765"] = found.group(1)

    def run(self, command):
        for named, port in self.ports.items():
            command = command.replace(f"localhost:{named}", f"localhost:{port}")
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, **self.more)
        return done.stdout

    def close(self):
        for service in self.services:
            service.terminate()
            service.wait(PATIENCE)


@pytest.mark.skipif(not shutil.which("curl"), reason="the tour is told in commands of curl")
def test_the_tour_prints_what_the_page_shows(tmp_path):
    shell = Shell(tmp_path)
    try:
        for command, shown in steps():
            if command.endswith("&"):
                shell.serve(command)
                continue
            expected = ".*".join(re.escape(part.strip()) for part in shown.split("..."))
            start = time.monotonic()
            while not re.fullmatch(expected, out := shell.run(command).strip(), flags=re.DOTALL):
                # what is learnt is known within a second, so what only asks is asked again
                asks = command.startswith("curl") and not re.search(r" -[dX] ", command)
                late = time.monotonic() - start > PATIENCE
                assert asks > late, (command, out)
                time.sleep(0.1)
    finally:
        shell.close()


def test_the_page_has_every_endpoint_limit_and_option():
    endpoints = application(Settings(ROOT)).endpoints
    for endpoint in endpoints:
        line = rf"`{endpoint.method} {re.escape(endpoint.path)}`.*\| .*\b{endpoint.role.name}\b"
        assert re.search(line, PAGE), (endpoint.method, endpoint.path, endpoint.role)
    for limit in fields(Limits):
        assert re.search(rf"`{limit.name}` [\d,]+", PAGE), limit.name
        value = f"{limit.default:,.0f}" if limit.default < 1 << 20 else f"{limit.default >> 20} MB"
        assert f"`{limit.name}` {value}" in PAGE
    for option in msgspec.structs.fields(LiveOptions):
        assert f"`{option.name}`" in PAGE
    for setting in fields(Settings):
        names = {"tokens": "--token-file", "hosts": "--allow-host", "origins": "--allow-origin"}
        names |= {"limits": "--limit", "live": "--keep", "folder": "folder"}
        assert names.get(setting.name, f"--{setting.name.replace('_', '-')}") in PAGE, setting.name


def test_the_unit_and_the_container_start_what_there_is():
    for name in ("tallybayes.service", "Containerfile"):
        told = (ROOT / "examples" / "service" / name).read_text()
        for option in re.findall(r"--(?:host|workers|token-file|log|keep|store)\b", told):
            assert f"  {option} " in COMMANDS
        assert f"examples/service/{name}" in PAGE
