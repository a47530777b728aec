"""What a press asks for."""

from enum import StrEnum


class Action(StrEnum):
    """Every act a button can stand for."""

    TAKE = "take"
    RIGHT_CAUSE = "right_cause"
    WRONG_CAUSE = "wrong_cause"
    WHY = "why"
    RETRIAGE = "retriage"
    MUTE = "mute"
    SNOOZE = "snooze"
    SAME_AS = "same_as"
    NOT_RELATED = "not_related"
    INVESTIGATE = "investigate"
    STOP = "stop"
    CHOOSE_SCOPE = "choose_scope"
    KEEP_OPEN = "keep_open"
    APPROVE_FIX = "approve_fix"
    REJECT_FIX = "reject_fix"
    FIX_WORKED = "fix_worked"
    DID_NOT_WORK = "did_not_work"
    SAVE_TO_MEMORY = "save_to_memory"
