"""Reads a request's body within its bounds, while it streams."""

from fastapi import Request

MAX_ALERT_BYTES = 16 * 1024 * 1024
MAX_OTHER_BYTES = 1024 * 1024


class RefusedBodyError(Exception):
    """The body was not read, or not to its end."""

    def __init__(self, status: int, reason: str) -> None:
        """Keep the HTTP status and what the sender must change."""
        super().__init__(reason)
        self.status = status
        self.reason = reason


async def read_json_bytes(request: Request, max_bytes: int) -> bytes:
    """Read a JSON body.

    Raises:
        RefusedBodyError: 415 for another type or a compressed body, 413 past `max_bytes`.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise RefusedBodyError(415, "send Content-Type: application/json")
    return await read_bytes(request, max_bytes)


async def read_bytes(request: Request, max_bytes: int) -> bytes:
    """Read a body of any type.

    Raises:
        RefusedBodyError: 415 for a compressed body, 413 past `max_bytes`.
    """
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise RefusedBodyError(415, "send the body uncompressed")
    said = request.headers.get("content-length", "")
    if said.isdigit() and int(said) > max_bytes:
        raise RefusedBodyError(413, f"a body may have {max_bytes} bytes")
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > max_bytes:
            raise RefusedBodyError(413, f"a body may have {max_bytes} bytes")
        parts.append(part)
    return b"".join(parts)
