"""What is blanked, what must survive, and that no text makes it slow."""

import base64
import json
import time
from collections.abc import Callable
from html import escape
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.redact import Redactor
from engine.secret_shapes import MASK

SECRETS = ("hunter2/Correct+horse", 'qu"ote\\d <&> pass', "пароль-тайна", "abc123")
REDACTOR = Redactor(SECRETS)
TOKEN = "AAHk3vX9q2LmZ0pTRs7uVwYbCdEfGhIjKl4"  # 35 characters, as Telegram's are


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "written",
    [
        str,
        lambda s: quote(s, safe=""),
        lambda s: json.dumps(s)[1:-1],
        lambda s: json.dumps(s, ensure_ascii=False)[1:-1],
        escape,
        lambda s: base64.b64encode(s.encode()).decode(),
        lambda s: base64.urlsafe_b64encode(s.encode()).decode(),
        lambda s: base64.b64encode(b"admin:" + s.encode() + b"\n").decode(),
        lambda s: base64.b64encode(b"ab:" + s.encode()).decode(),
        lambda s: base64.b64encode(b"a:" + s.encode()).decode(),
    ],
)
def test_a_secret_we_hold_never_gets_through(secret: str, written: Callable[[str], str]) -> None:
    form = written(secret)
    masked = REDACTOR.text(f"before {form} after")
    assert masked.startswith("before ")
    assert masked.endswith(" after")
    assert secret not in masked
    core = form.rstrip("=")
    assert core not in masked
    assert not any(core[n : n + 12] in masked for n in range(max(1, len(core) - 11)))


def test_a_short_secret_would_blank_ordinary_words() -> None:
    assert Redactor(["", "a", "prod1"]).text("a prod1 b") == "a prod1 b"


LOOKS = {
    "Authorization: Bearer abc.DEF-123_456~7/8+9": "Authorization: [redacted]",
    "authorization=Basic YWRtaW46aHVudGVyMg==": "authorization=[redacted]",
    "sent bearer eyJhbGciOi.J9xxxxxxxxxxx to": "sent bearer [redacted] to",
    "curl -H 'X-Api-Key: k-12345'": "curl -H 'X-Api-Key: [redacted]'",
    "postgres://caveat:s3cr3t@db:5432/x": "postgres://caveat:[redacted]@db:5432/x",
    "https://ghx0123456789abcdef01@git.example/r": "https://[redacted]@git.example/r",
    "password=hunter2 user=bob": "password=[redacted] user=bob",
    "DB_PASSWORD: 'two words' next": "DB_PASSWORD: [redacted] next",
    '{"password": "two words", "user": "bob"}': '{"password": [redacted], "user": "bob"}',
    r"{\"client_secret\": \"x y\", \"a\": 1}": r"{\"client_secret\": [redacted], \"a\": 1}",
    'token="never ended': "token=[redacted] ended",
    "basic_auth_pass=x1": "basic_auth_pass=[redacted]",
    "?api_key=12&page=3": "?api_key=[redacted]&page=3",
    "aws_secret_access_key = wJalrXUtnFEMI": "aws_secret_access_key = [redacted]",
    "key AKIAIOSFODNN7EXAMPLE used": "key [redacted] used",
    "push ghp_0123456789abcdefghijABCDEFGHIJ012345 x": "push [redacted] x",
    "xoxb-123456789012-abcdefghij": "[redacted]",
    "https://hooks.slack.com/services/T00/B00/xyzxyz": "https://hooks.slack.com/services/[redacted]",
    f"GET /bot123456789:{TOKEN}/getMe": "GET /bot[redacted]/getMe",
    "sk-ant-api03-abcdefghijklmnop-qrst": "[redacted]",
    "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_ end": "jwt [redacted] end",
    "POST /webhooks/am/tok_9f8e7d6c HTTP/1.1": "POST /webhooks/am/[redacted] HTTP/1.1",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- x": "[redacted] x",
    "a -----BEGIN PRIVATE KEY-----\nMIIE cut off": "a [redacted]",
    "Cookie: a=1; session=abc\nHost: x": "Cookie: [redacted]\nHost: x",
}


@pytest.mark.parametrize(("text", "masked"), LOOKS.items())
def test_what_looks_like_a_secret_is_blanked(text: str, masked: str) -> None:
    assert Redactor(()).text(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "image registry.example/shop/cart@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c",
        "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "trace 550e8400-e29b-41d4-a716-446655440000",
        "pod sk-frontend-7d9f8b6c5-xkp2q and cart-7d9f8b6c5-xkp2q",
        'secret "db-credentials" not found',
        "basic authentication failed, bearer authentication-required",
        "max_tokens: 4000, tokens=12, token_count=3, monkey: 1",
        "at 2026-11-30T19:49:02.372693Z took 12:30:45 on 10.0.0.1:9100",
        "http://prometheus.example:9090/graph?g0.expr=up+%3D%3D+0&g0.tab=1",
        "user@host.example, git@github.example:a/b.git, redis://cache:6379/0",
        'rate(http_requests_total{code=~"5..",namespace="shop"}[5m]) > 0.05',
        "1701380942:4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "AWS_ACCESS_KEY_ID is not set",
    ],
)
def test_what_a_model_must_read_survives(text: str) -> None:
    assert Redactor(()).text(text) == text


def test_a_value_is_blanked_whole_where_its_name_says_secret() -> None:
    given_ = {"basic_auth_pass": "two words", "apiToken": "x", "secret": "db-credentials"}
    assert REDACTOR.mapping(given_ | {"a": "is abc123", "password": ""}) == {
        "basic_auth_pass": MASK,
        "apiToken": MASK,
        "secret": "db-credentials",
        "a": f"is {MASK}",
        "password": "",
    }


@given(st.text() | st.sampled_from(list(LOOKS)))
def test_blanking_twice_changes_nothing(text: str) -> None:
    once = REDACTOR.text(text)
    assert REDACTOR.text(once) == once


def seconds(text: str) -> float:
    began = time.process_time()
    REDACTOR.text(text)
    return time.process_time() - began


MARKS = " key ghp_ eyj :// cookie: bearer basic akia sk- pass "
BLOBS = {
    "dashes": "a-a-a-",
    "hex": "9f86d081884c7d659a2feaa0c55ad015",
    "base64": "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4",
    "jwt": "eyJ",
    "nearly jwt": "eyJaaaaaaaaa.",
    "addresses": "://a:",
    "quotes": 'token="',
    "escapes": "\\",
    "spaces": " ",
    "digits": "1234567890",
    "colons": "123456:",
    "private keys": "-----BEGIN PRIVATE KEY-----",
    "words": "password ",
}


@pytest.mark.timeout(100)
@pytest.mark.parametrize("piece", BLOBS.values(), ids=BLOBS)
def test_ten_times_the_text_costs_about_ten_times_the_time(piece: str) -> None:
    """A rule that reads a stretch again at every position would cost a hundred times as much."""
    size = 100_000
    small, large = (MARKS + (piece * (n // len(piece) + 1))[:n] for n in (size, 10 * size))
    assert seconds(large) < 30 * max(seconds(small), 0.01)
