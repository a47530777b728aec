"""What can go wrong with a model call, by what must be done about it. Docstrings are messages."""


class EngineError(Exception):
    """The triage could not go on."""

    def __init__(self, detail: str = "", *, retry_after_s: float | None = None) -> None:
        """Keep the provider's own words and its hint, where it gave one."""
        said = (type(self).__doc__ or "").strip().splitlines()[0]
        super().__init__(f"{said} {detail}".strip())
        self.detail = detail
        self.retry_after_s = retry_after_s


class TerminalError(EngineError):
    """The request was refused and would be refused again."""


class TransientError(EngineError):
    """The provider is busy or unreachable; later may work."""


class TimedOutError(TransientError):
    """The provider did not answer in the time it was given."""


class OperatorActionRequiredError(EngineError):
    """Only a person can clear this: credit, quota or permission."""


class OperationalError(EngineError):
    """The gateway itself is not working; it needs its own time."""


class UnknownModelError(EngineError):
    """The provider does not know this model name."""


class UnusableReplyError(EngineError):
    """The reply was no message that can be used."""


class StoreUnavailableError(Exception):
    """The database cannot be reached or cannot take the change now."""


class RecallError(Exception):
    """What was known of a family could not be read."""
