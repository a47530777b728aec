"""Why a backend gave no answer, for the person who typed its address."""

from bot.backends.http import TLS
from engine.model.evidence import Gap, GapCause

_NO_PAGE = "404"


def why(name: str, url: str, gap: Gap, probe: str = "/-/ready") -> tuple[str, str]:
    """What happened, with the address, and the one thing to check.

    Args:
        name: of the backend; in small letters it is its key in caveat.yaml.
        url: as it was typed.
        gap: what came instead of an answer.
        probe: path that answers when the backend is well.
    """
    said = f"{name} at {url}: {_happened(gap)}"
    return said, _cure(name, gap, probe)


def _happened(gap: Gap) -> str:
    match gap.cause:
        case GapCause.UNREACHABLE if gap.detail.startswith(TLS):
            return f"no trusted connection ({gap.detail})"
        case GapCause.UNREACHABLE:
            return f"not reachable ({gap.detail})"
        case GapCause.TIMED_OUT:
            return f"no answer within {gap.detail}"
        case GapCause.REFUSED | GapCause.NOT_LET_IN | GapCause.TOO_OFTEN:
            return f"answers HTTP {gap.detail}"
        case _:
            return f"answers, but not as one should ({gap.detail or gap.cause})"


def _cure(name: str, gap: Gap, probe: str) -> str:
    key = name.lower()
    if gap.cause is GapCause.NOT_LET_IN:
        return f"give it a login: {key}.bearer_file, basic_file or tenant in caveat.yaml"
    if gap.cause is GapCause.TOO_OFTEN:
        return f"raise the limits {name} sets for this login, or wait"
    if gap.detail.startswith(TLS):
        return (
            f"set {key}.ca_file to the CA that signed its certificate, and check that the address"
            " has the certificate's name, and https:// only where it speaks TLS"
        )
    if gap.cause in {GapCause.UNREACHABLE, GapCause.TIMED_OUT}:
        return (
            f"check the address from this machine (curl URL{probe}); "
            f"{key}.proxy and {key}.ca_file are set in caveat.yaml, never by the environment"
        )
    if gap.cause is GapCause.GARBLED or gap.detail.startswith(_NO_PAGE):
        return f"check that the address is {name}'s base, with its path prefix and nothing after"
    return f"ask {name}'s own log why"
