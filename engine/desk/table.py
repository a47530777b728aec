"""Every act the desk knows; a button is offered only when its act stands here."""

from collections.abc import Mapping

from engine.desk.act import Act
from engine.desk.acts import investigating, keep_open, memory, quiet, take, together, verdicts, why
from engine.model.action import Action

ACTS: Mapping[Action, Act] = {
    act.action: act
    for act in (
        take.TAKE,
        verdicts.RIGHT_CAUSE,
        verdicts.WRONG_CAUSE,
        verdicts.FIX_WORKED,
        verdicts.DID_NOT_WORK,
        investigating.INVESTIGATE,
        investigating.RETRIAGE,
        investigating.STOP,
        quiet.MUTE_ACT,
        quiet.SNOOZE_ACT,
        why.WHY,
        keep_open.KEEP_OPEN,
        together.SAME_AS,
        together.NOT_RELATED,
        memory.SAVE_TO_MEMORY,
    )
}
OFFERED = frozenset(ACTS)
