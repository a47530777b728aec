"""The record of a finding, without a model."""

from engine.desk.act import Act, Scene
from engine.model.action import Action
from engine.model.desk import Answer, AnswerKind, Values


async def why(scene: Scene, _: Values) -> Answer:
    """Show what it rests on; the card of the evidence is drawn from the record."""
    return scene.no(AnswerKind.SHOWN)


WHY = Act(action=Action.WHY, do=why, reads=True)
