"""How a reply ended, by what can be done with it."""

from enum import StrEnum

from engine.model.llm import ModelReply, StopReason


class Stop(StrEnum):
    """What a reply is good for."""

    WHOLE = "whole"
    CUT = "cut"
    """It ran out of room; what is there is not read."""
    SILENT = "silent"
    """It says nothing."""
    REFUSED = "refused"
    ASKS = "asks"
    """It asks for tools; what it says beside that is no conclusion."""


def stop_of(reply: ModelReply) -> Stop:
    """Say what a reply is good for."""
    match reply.stop_reason:
        case StopReason.REFUSAL:
            return Stop.REFUSED
        case StopReason.MAX_TOKENS | StopReason.CONTEXT_WINDOW:
            return Stop.CUT
        case StopReason.PAUSE_TURN:
            return Stop.SILENT
        case StopReason.END_TURN | StopReason.STOP_SEQUENCE | StopReason.TOOL_USE:
            if reply.calls:
                return Stop.ASKS
            return Stop.WHOLE if reply.text.strip() else Stop.SILENT
