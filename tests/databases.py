"""Stores for tests: a file of SQLite, and a real PostgreSQL server on a socket of its own."""

import os
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest

SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",  # a killed process loses nothing by that, only a killed machine
    "max_connections": "200",
    "shared_buffers": "32MB",
    "autovacuum": "off",
    "max_wal_size": "256MB",
}
WHY = (
    "there is no PostgreSQL server here; on Debian, root installs one with "
    "apt-get install postgresql, or make system"
)


def program(name):
    """Find a program of the server: Debian keeps them apart from the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return str(found[0]) if found else shutil.which(name)


class PostgresServer:
    """A server with its data and its socket in a temporary folder."""

    def __init__(self, folder):
        self.folder, self.process, self.databases = Path(folder), None, 0
        self._as = []
        if os.getuid() == 0:  # it refuses to run as root
            shutil.chown(self.folder, "postgres" if _is_user("postgres") else "nobody")
            user = "postgres" if _is_user("postgres") else "nobody"
            self._as = ["setpriv", f"--reuid={user}", f"--regid={_group(user)}", "--clear-groups"]
        made = [*self._as, program("initdb"), "-D", self.data, "-A", "trust", "-U", "test"]
        quick = ["--no-sync", "-E", "UTF8", "--locale=C.UTF-8"]
        done = subprocess.run([*made, *quick], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    @property
    def data(self):
        return str(self.folder / "data")

    def start(self):
        """Start it, and wait until it answers."""
        import psycopg

        settings = [f"-c{name}={value}" for name, value in SETTINGS.items()]
        command = [*self._as, program("postgres"), "-D", self.data, "-k", str(self.folder)]
        with (self.folder.parent / f"{self.folder.name}.txt").open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *settings], cwd=self.folder, stdout=log, stderr=log
            )
        until = time.monotonic() + 240
        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
                return
            except psycopg.OperationalError:
                assert self.process.poll() is None, "the server ended"
                assert time.monotonic() < until, "the server does not answer"
                time.sleep(0.02)

    def stop(self, how="INT"):
        """Stop it: INT ends connections, QUIT ends at once as if it had crashed."""
        import signal

        self.process.send_signal(getattr(signal, f"SIG{how}"))
        self.process.wait(240)

    def url(self, database):
        return f"postgresql://test@/{database}?host={self.folder}"

    def new_database(self):
        """Make a database of one's own."""
        import psycopg

        self.databases += 1
        name = f"test_{self.databases}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} STRATEGY wal_log")
        return self.url(name)


def _is_user(name):
    import pwd

    with suppress(KeyError):
        return bool(pwd.getpwnam(name))
    return False


def _group(user):
    import pwd

    return pwd.getpwnam(user).pw_gid


def start_server():
    """Start a server; without one the test is skipped, or fails where none may be skipped."""
    if program("initdb") is None or program("postgres") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(WHY)
    folder = tempfile.mkdtemp(prefix="tb-pg-", dir="/tmp")  # the path of a socket must be short
    Path(folder).chmod(0o755)
    server = PostgresServer(folder)
    server.start()
    return server


def remove_server(server):
    """Stop a server and delete what it left."""
    server.stop("QUIT")
    shutil.rmtree(server.folder, ignore_errors=True)
    (server.folder.parent / f"{server.folder.name}.txt").unlink(missing_ok=True)
