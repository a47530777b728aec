"""How Telegram refuses, and how it counts."""

from typing import Any

Json = dict[str, Any]


class RefusedError(Exception):
    """The Bot API says no."""

    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code, self.description, self.parameters = code, description, parameters

    def wire(self) -> Json:
        """Say it as the Bot API does."""
        said: Json = {"ok": False, "error_code": self.code, "description": self.description}
        return said | ({"parameters": self.parameters} if self.parameters else {})


def bad_request(reason: str) -> RefusedError:
    """Refuse a request for what it says."""
    return RefusedError(400, f"Bad Request: {reason}")


def too_many_requests(retry_after_s: int) -> RefusedError:
    """Ask to wait."""
    reason = f"Too Many Requests: retry after {retry_after_s}"
    return RefusedError(429, reason, retry_after=retry_after_s)


def units(text: str) -> int:
    """Count UTF-16 code units, Telegram's measure of length."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
