"""Messages made for tests: ordinary ones by chance and seed, hostile ones by hand, mutated ones."""

import base64
import random

HAM = "meeting report agenda minutes project budget lunch review patch release thread notes"
SPAM = "viagra lottery winner cash prize casino cheap pills offer click unsubscribe million"
BOTH = "the a of and to we you it is for with today please send mail time people new one"


def mail(spam, seed, words=40):
    """Return a message that is probably spam or ham by its words, its header and its links."""
    draw = random.Random(f"{spam}{seed}")
    own, other = (SPAM.split(), HAM.split()) if spam else (HAM.split(), SPAM.split())
    text = draw.choices(BOTH.split() + own * 2 + other[:2], k=words)
    name = draw.choice(["ann", "bob", "eve", "joe"])
    host = f"{draw.choice('abcdef')}.{'offers.example' if spam else 'work.example'}"
    lines = [
        f"Received: from {host} ({host} [192.0.2.{draw.randrange(255)}]) by mx.example;"
        " Mon, 1 Jan 2024 10:00:05 +0000",
        f"From: {name}@{host}",
        "To: you@mx.example",
        f"Subject: {' '.join(draw.choices(own + BOTH.split(), k=4))}",
        "Date: Mon, 1 Jan 2024 10:00:00 +0000",
        f"Message-ID: <{seed}.{draw.getrandbits(40)}@{host}>",
    ]
    if spam and draw.random() < 0.6:
        lines += ["MIME-Version: 1.0", "Content-Type: text/html; charset=utf-8"]
        text.insert(3, f'<a href="http://{host}/buy?id={seed}">')
    return ("\n".join(lines) + "\n\n" + " ".join(text) + "\n").encode()


def mails(n, spam, start=0):
    """Return several such messages."""
    return [mail(spam, start + k) for k in range(n)]


def write_folder(folder, messages):
    """Write a message a file."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, raw in enumerate(messages):
        (folder / f"{number:05}.eml").write_bytes(raw)
    return folder


def multipart(*parts, boundary=b"b1", kind=b"mixed"):
    """Return a message of parts, each of which is a header and a body."""
    body = b"".join(b"--" + boundary + b"\n" + part + b"\n" for part in parts)
    head = b"MIME-Version: 1.0\nContent-Type: multipart/" + kind + b'; boundary="' + boundary
    return b"Subject: parts\n" + head + b'"\n\n' + body + b"--" + boundary + b"--\n"


def part(kind, body, *more):
    return b"\n".join([b"Content-Type: " + kind, *more, b"", body])


def nested(depth):
    """Return parts within parts."""
    raw = part(b"text/plain", b"core")
    for level in range(depth):
        edge = b"edge%d" % level
        head = b'Content-Type: multipart/mixed; boundary="' + edge + b'"\n\n'
        raw = head + b"--" + edge + b"\n" + raw + b"\n--" + edge + b"--"
    return b"Subject: deep\nMIME-Version: 1.0\n" + raw


BASE64 = b"Content-Transfer-Encoding: base64"
QUOTED = b"Content-Transfer-Encoding: quoted-printable"
HOSTILE = {
    "empty": b"",
    "blank": b"\n\n\n",
    "nul": b"\x00" * 1000,
    "all bytes": bytes(range(256)) * 4,
    "no header": b"just some words\nand some more",
    "header only": b"Subject: only",
    "no body": b"Subject: x\n\n",
    "no colon": b"Subject\nFrom x\n:\n: y\n\nbody",
    "carriage returns": b"Subject: a\rFrom: b\r\rbody\r",
    "nul in header": b"Sub\x00ject: x\nFr\x00om: \x00\n\nbo\x00dy",
    "unknown charset": part(b"text/plain; charset=klingon", b"caf\xe9 words"),
    "charset that is a codec": part(b"text/plain; charset=zip", b"words here", BASE64),
    "charset that decodes escapes": part(b"text/plain; charset=unicode_escape", b"\\ud800 words"),
    "punycode": part(b"text/plain; charset=punycode", b"a" * 50_000 + b"-" + b"9" * 50_000),
    "utf-7": part(b"text/plain; charset=utf-7", b"+2AA- words +AGE"),
    "utf-16": part(b"text/plain; charset=utf-16", "caf\u00e9 words".encode("utf-16")),
    "surrogates": part(b"text/plain; charset=utf-8", b"\xed\xa0\x80 words \xff"),
    "broken base64": part(b"text/plain", b"SGVsbG8gd29ybG=Q=!!\x80*A", BASE64),
    "broken quoted": part(b"text/plain", b"=ZZ =\n=4 words=", QUOTED),
    "broken uuencode": part(b"text/plain", b"begin 666 x\n\xff\xff~~\nend",
                            b"Content-Transfer-Encoding: x-uuencode"),
    "lying html": part(b"text/plain", b"<html><a href=http://x.example>words</a>"),
    "lying image": part(b"image/gif", b"these are words"),
    "lying multipart": part(b"multipart/mixed", b"--x\nno boundary was said"),
    "empty boundary": part(b'multipart/mixed; boundary=""', b"--\n\n--"),
    "cut parts": multipart(part(b"text/plain", b"words"))[:-12],
    "same boundary twice": multipart(multipart(part(b"text/plain", b"words"))),
    "nested 10": nested(10),
    "nested 2000": nested(2000),
    "many parts": multipart(*[part(b"text/plain", b"x")] * 5000),
    "many boundaries": b'Content-Type: multipart/mixed; boundary="x"\n\n' + b"--x\n" * 100_000,
    "many headers": b"".join(b"X-%d: y\n" % n for n in range(20_000)) + b"\nbody",
    "long header": b"Subject: " + b"word " * 100_000 + b"\n\nbody",
    "long parameters": b"Content-Type: text/plain" + b'; a="' * 100_000 + b"\n\nbody",
    "folded forever": b"Subject: x\n" + b" y\n" * 200_000 + b"\nbody",
    "encoded words": b"Subject: " + b"=?utf-8?b?" * 20_000 + b"\n\nbody",
    "broken encoded words": b"Subject: =?utf-8?b?a?= =?x?q?=ZZ?= =?utf-8?b?YWJj?= =?\n\nbody",
    "odd addresses": b"From: @@@<>,;:\\\"((((\nTo: " + b"a@b," * 20_000 + b"\n\nbody",
    "odd dates": b"Date: 99 Foo 99999 99:99:99 +99999999999\nReceived: x; Mon, 0 Jan 0000\n\nx",
    "html comments": part(b"text/html", b"<!--" * 50_000),
    "html open tags": part(b"text/html", b"<a b=" * 100_000),
    "html scripts": part(b"text/html", b"<script>" * 50_000),
    "html attributes": part(b"text/html", b'<a b="' + b"c='" * 100_000 + b">x"),
    "html entities": part(b"text/html", b"&#x110000; &#-1; &#99999999999999; &nosuch; &am" * 1000),
    "one long word": part(b"text/plain", b"a" * 1_000_000),
    "one long link": part(b"text/plain", b"http://" + b"a." * 200_000),
    "many links": part(b"text/plain", b"http://a.example/b?c=d " * 50_000),
    "many words": part(b"text/plain", b" ".join(b"w%d" % n for n in range(120_000))),
    "chinese": part(b"text/plain; charset=gb2312", "\u4f60\u597d\u4e16\u754c".encode("gb2312")),
    "message within": part(b"message/rfc822", part(b"text/plain", b"words within")),
    "odd names": multipart(part(b'application/x; name="=?utf-8?b?/w==?="', b"x",
                                b"Content-Disposition: attachment; filename*=utf-8''%ff%00.exe")),
    "eicar-like": multipart(part(b"application/octet-stream; name=virus.exe",
                                 base64.b64encode(b"MZ" + bytes(3000)), BASE64)),
}  # fmt: skip


def mutated(raw, draw):
    """Return a message that something happened to: bytes, lines and pieces changed, lost, moved."""
    raw = bytearray(raw)
    for _ in range(draw.randrange(1, 8)):
        how, at = draw.randrange(8), draw.randrange(len(raw) + 1)
        size = draw.choice([1, 2, 8, 80, 800])
        if how == 0:
            raw[at : at + 1] = draw.randbytes(1)
        elif how == 1:
            del raw[at : at + size]
        elif how == 2:
            raw[at:at] = raw[at : at + size] * draw.randrange(1, 5)
        elif how == 3:
            raw[at:at] = draw.choice([b"\n", b"\r\n", b"\n\n", b"\x00", b"=", b"--", b'"', b"<!--"])
        elif how == 4:
            lines = bytes(raw).split(b"\n")
            draw.shuffle(lines)
            raw = bytearray(b"\n".join(lines))
        elif how == 5:
            raw[at:at] = draw.choice([*HOSTILE.values()])[:20_000]
        elif how == 6:
            raw[at : at + size] = draw.randbytes(size)
        else:
            del raw[at:]
    return bytes(raw)
