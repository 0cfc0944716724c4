"""A Postfix of one's own: its configuration, queue and mailboxes in a temporary folder."""

import os
import shutil
import smtplib
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from ports import free_port
from spam.mail_serving import PATIENCE

WHY = (
    "there is no Postfix here, or this is not root; on Debian, root installs one with apt-get "
    "install postfix, or make system"
)
MAIN = """
compatibility_level = 3.6
queue_directory = {folder}/queue
data_directory = {folder}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = mx.example
mydestination =
mynetworks = 127.0.0.0/8
smtpd_peername_lookup = no
smtpd_recipient_restrictions = permit_mynetworks, reject
virtual_mailbox_domains = example.org
virtual_mailbox_base = {folder}/mail
virtual_mailbox_maps = static:all/Maildir/
virtual_uid_maps = static:{uid}
virtual_gid_maps = static:{gid}
virtual_minimum_uid = 1
virtual_mailbox_limit = 0
mailbox_size_limit = 0
message_size_limit = 102400000
default_process_limit = 100
minimal_backoff_time = 1s
maximal_backoff_time = 2s
queue_run_delay = 1s
transport_retry_time = 1s
milter_connect_timeout = 100s
milter_command_timeout = 100s
smtp_line_length_limit = 0
lmtp_line_length_limit = 0
maillog_file = {folder}/log/mail.log
maillog_file_prefixes = {folder}
smtp_dns_support_level = disabled
{more}
"""
MASTER = """
127.0.0.1:{port} inet n - n - - smtpd
127.0.0.1:{back} inet n - n - - smtpd -o content_filter= -o smtpd_milters=
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 1 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
scache unix - - n - 1 scache
virtual unix - n n - - virtual
lmtp unix - - n - - lmtp
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
"""


class Postfix:
    """A server that delivers all mail for example.org into one Maildir.

    `more` are lines of main.cf; {back} in them is the port at which mail comes back from a filter.
    """

    def __init__(self, more=""):
        if os.getuid() != 0 or not Path("/usr/lib/postfix/sbin/master").exists():
            (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(WHY)
        self.folder = Path(tempfile.mkdtemp(prefix="tb-pf-", dir="/tmp"))
        self.folder.chmod(0o755)
        self.port, self.back = free_port(), free_port()
        self.config = self.folder / "config"
        for name in ("config", "queue", "data", "mail", "log"):
            (self.folder / name).mkdir()
        owner = shutil._get_uid("postfix"), shutil._get_gid("postfix")
        for name in ("data", "mail"):
            os.chown(self.folder / name, *owner)
        more = more.format(back=self.back)
        values = {"folder": self.folder, "uid": owner[0], "gid": owner[1], "more": more}
        (self.config / "main.cf").write_text(MAIN.format(**values))
        (self.config / "master.cf").write_text(MASTER.format(port=self.port, back=self.back))
        (self.config / "dynamicmaps.cf").touch()

    def _run(self, *command):
        environment = {**os.environ, "MAIL_CONFIG": str(self.config)}
        return subprocess.run(
            ["postfix", "-c", str(self.config), *command],
            env=environment, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip

    def __enter__(self):
        done = self._run("start")
        assert done.returncode == 0, done.stdout + done.stderr
        return self

    def __exit__(self, *_):
        self._run("stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def log(self):
        return (self.folder / "log" / "mail.log").read_text(errors="replace")

    def client(self):
        return smtplib.SMTP("127.0.0.1", self.port, timeout=PATIENCE)

    def send(self, messages, to="user@example.org"):
        """Hand in messages over one connection; each is accepted, or tried again."""
        client, until = None, time.monotonic() + PATIENCE
        for raw in messages:
            raw = raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
            while True:
                try:
                    client = client or self.client()
                    client.sendmail("sender@example.com", [to], raw)
                    break
                except smtplib.SMTPException:
                    assert time.monotonic() < until, self.log[-3_000:]
                    time.sleep(0.05)
                    if client:
                        client.close()
                    client = None
        client.quit()

    def mailbox(self):
        """Return the messages that are there."""
        folder = self.folder / "mail" / "all" / "Maildir" / "new"
        return [path.read_bytes() for path in sorted(folder.glob("*"))]

    def delivered(self, n):
        """Return the messages in the mailbox, once there are so many."""
        until = time.monotonic() + PATIENCE
        while len(found := self.mailbox()) < n:
            assert time.monotonic() < until, (len(found), self.log[-3_000:])
            time.sleep(0.02)
        return found
