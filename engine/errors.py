"""What can go wrong with a model call, by what must be done about it. Docstrings are messages."""

from typing import Self


class EngineError(Exception):
    """The triage could not go on."""

    def __init__(
        self,
        detail: str = "",
        *,
        retry_after_s: float | None = None,
        kind: str = "unclassified",
        tells: bool = False,
        echo: bool = False,
        reply: str = "",
    ) -> None:
        """Keep what is known of it.

        Args:
            detail: the provider's own words.
            retry_after_s: its hint, where it gave one.
            kind: what kind of refusal or outage it is, for counting.
            tells: an operator is told.
            echo: words of our own request were kept from deciding.
            reply: what was paid for and could not be read, as it came.
        """
        said = (type(self).__doc__ or "").strip().splitlines()[0]
        super().__init__(f"{said} {detail}".strip())
        self.detail = detail
        self.retry_after_s = retry_after_s
        self.kind = kind
        self.tells = tells
        self.echo = echo
        self.reply = reply

    def saying(self, detail: str) -> Self:
        """The same error in other words."""
        return type(self)(
            detail,
            retry_after_s=self.retry_after_s,
            kind=self.kind,
            tells=self.tells,
            echo=self.echo,
            reply=self.reply,
        )


class TerminalError(EngineError):
    """The request was refused and would be refused again."""


class PackTooLongError(TerminalError):
    """The request is longer than the provider takes."""


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


class BudgetSpentError(EngineError):
    """What the client may spend today is spent."""


class UnusableReplyError(EngineError):
    """The reply was no message that can be used."""


class StoreUnavailableError(Exception):
    """The database cannot be reached or cannot take the change now."""


class RecallError(Exception):
    """What was known of a family could not be read."""
