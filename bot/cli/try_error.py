"""`caveat try error`: what answers of a provider would do to a triage, one a line."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import httpx

from bot.backends.failing.decide import Answer, decide
from bot.backends.failing.job import of_job
from bot.backends.failing.replies import of_message, of_stream
from bot.backends.failing.verdict import Category, Verdict


def run_error(lines: Iterable[str]) -> Iterator[str]:
    """Judge each `{"kind", "status", "headers", "body"}`, with `"sent"` where an echo matters.

    The class is `none` for a good reply and `continue` for one that is to be resent as it is.
    """
    for line in lines:
        if line.strip():
            verdict = _judged(_object(line))
            told = {"class": _class(verdict), "category": verdict.category.value}
            yield json.dumps({**told, "retry_after_s": verdict.retry_after_s})


def _class(verdict: Verdict) -> str:
    if verdict.failure is not None:
        return verdict.failure.value
    return "continue" if verdict.category is Category.PAUSE else "none"


def _judged(given: Mapping[str, Any]) -> Verdict:
    answer = _answer(given)
    match given.get("kind"):
        case "queue":
            return of_job(answer.body)
        case "sse":
            return of_stream(answer)
        case "message":
            return of_message(answer)
        case _ if answer.status is not None and answer.status < httpx.codes.BAD_REQUEST:
            return of_message(answer)
        case _:
            return decide(answer)


def _answer(given: Mapping[str, Any]) -> Answer:
    status, headers, sent = given.get("status"), given.get("headers"), given.get("sent")
    named = headers.items() if isinstance(headers, dict) else ()
    return Answer(
        status=status if isinstance(status, int) and not isinstance(status, bool) else None,
        body=given.get("body"),
        headers={str(name): str(value) for name, value in named},
        sent=sent if isinstance(sent, str) else json.dumps(sent) if sent else "",
    )


def _object(line: str) -> Mapping[str, Any]:
    """Read a line; what is no object is taken as a body that came by itself."""
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        given = line
    return given if isinstance(given, dict) else {"kind": "http", "body": given}
