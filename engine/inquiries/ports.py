"""What answering a question changes, beyond what the engine's other parts do."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from typing_extensions import override

from engine.model.inquiry import Inquiry
from engine.ports import Cards, Tx


class Inquiries(Protocol):
    """Questions people asked."""

    async def get(self, inquiry_id: str) -> Inquiry | None:
        """One question."""

    async def alone(self, inquiry_id: str) -> Inquiry | None:
        """One question, decided about alone until the transaction ends."""

    async def save(self, inquiry: Inquiry) -> None:
        """Keep where it stands now."""


class InquiryCards(Cards, Protocol):
    """Cards, of questions too."""

    async def wish_inquiry(self, inquiry: Inquiry) -> None:
        """Ask for the question's message to be drawn (again)."""


class InquiryTx(Tx, Protocol):
    """One transaction as answering sees it."""

    @property
    def inquiries(self) -> Inquiries:
        """Questions people asked."""

    @property
    @override
    def cards(self) -> InquiryCards:
        """Cards wished for."""


class InquiryStore(Protocol):
    """The database."""

    def begin(self) -> AbstractAsyncContextManager[InquiryTx]:
        """Open a transaction: committed on leaving, rolled back on an error."""
