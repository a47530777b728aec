"""Changes: who tells us of deploys, and whether metrics show them."""

from bot.cli.checks.line import Line, absent, ok

PART = "changes"


def changes(sources: int, *, from_metrics: bool) -> Line:
    """Judge what is known of changes."""
    read = "deploys are read from metrics"
    if sources:
        return ok(PART, f"{sources} source(s) told us{'; ' + read if from_metrics else ''}")
    if from_metrics:
        return ok(PART, f"no source told us yet; {read}")
    return absent(
        PART,
        "none",
        "post deploys to /webhooks/changes, or export a *_build_info metric",
        "suspects without deploys: the most frequent cause stays unseen",
    )
