"""What a question is about is said by a person where its words do not."""

from engine.inquiries.ports import InquiryTx
from engine.model.alert import Severity
from engine.model.desk import Actor, AnswerKind, Membership
from engine.model.inquiry import Inquiry, InquiryState
from engine.ports import Queue


async def look(tx: InquiryTx, inquiry: Inquiry) -> None:
    """Have a question that knows what it is about looked into."""
    if inquiry.state is InquiryState.WAITING:
        await tx.jobs.enqueue(
            Queue.TRIAGE,
            {"inquiry_id": inquiry.id},
            key=f"inquiry:{inquiry.id}",
            client_id=inquiry.client_id,
            rank=Severity.WARNING.rank,
        )


async def chosen(tx: InquiryTx, inquiry_id: str, place: int, actor: Actor) -> AnswerKind:
    """Take one of the things a question could be about; the first press decides."""
    active = actor.person is None or actor.person.active
    if actor.membership is not Membership.FULL or not active:
        return AnswerKind.GUEST
    inquiry = await tx.inquiries.alone(inquiry_id)
    if inquiry is None or not 0 <= place < len(inquiry.choices):
        return AnswerKind.NOT_THERE
    if inquiry.state is not InquiryState.CHOOSING:
        return AnswerKind.ALREADY
    scope = inquiry.choices[place]
    settled = inquiry.model_copy(update={"scope": scope, "state": InquiryState.WAITING})
    await tx.inquiries.save(settled)
    await tx.cards.wish_inquiry(settled)
    await look(tx, settled)
    return AnswerKind.DONE
