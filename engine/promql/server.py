"""What a Prometheus must be able to do for an expression, by its version and its flags."""

import re
from typing import Final, Self

from engine.model.base import Frozen

EXPERIMENTAL_FLAG: Final = "promql-experimental-functions"
_THREE = (3, 0)


class ServerInfo(Frozen):
    """The server that will be asked; without one, Prometheus 3 with its default flags is meant."""

    version: tuple[int, int] = _THREE
    """Major and minor, from `/api/v1/status/buildinfo`."""
    features: frozenset[str] = frozenset()
    """Values of `--enable-feature`, from `/api/v1/status/flags`."""

    @classmethod
    def of(cls, version: str, enabled: str = "") -> Self:
        """Read the texts of the two endpoints: `2.42.0+ds` and `a,b`; odd ones mean the default."""
        match = re.match(r"v?(\d{1,4})\.(\d{1,4})", version)
        features = frozenset(name.strip() for name in enabled.split(",") if name.strip())
        if match is None:
            return cls(features=features)
        return cls(version=(int(match[1]), int(match[2])), features=features)

    @property
    def before_three(self) -> bool:
        """Whether it lacks UTF-8 names, numbers as durations and durations as numbers."""
        return self.version < _THREE


DEFAULT: Final = ServerInfo()

# Experimental since 3.0 at the latest, and read rightly by the parser: sure once the flag is set.
_FLAGGED = frozenset(
    {"double_exponential_smoothing", "mad_over_time", "sort_by_label", "sort_by_label_desc"}
)
# Younger than 3.0, renamed meanwhile or misread by the parser: only the server itself knows.
_ASK = frozenset(
    {"end", "first_over_time", "histogram_quantiles", "info", "limit_ratio", "limitk"}
    | {"max_of", "min_of", "range", "start", "start_timestamp", "step", "ts_of_first_over_time"}
    | {"ts_of_last_over_time", "ts_of_max_over_time", "ts_of_min_over_time"}
)
_SINCE_THREE = frozenset({"histogram_avg", "histogram_stddev", "histogram_stdvar"})
GONE_IN_THREE: Final = "holt_winters"


def may_lack(function: str, server: ServerInfo) -> bool:
    """Whether `server` may lack a function or aggregation that the parser knows."""
    if function in _FLAGGED:
        return server.before_three or EXPERIMENTAL_FLAG not in server.features
    return function in _ASK or (server.before_three and function in _SINCE_THREE)
