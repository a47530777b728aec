"""Is what fails bound to one node, zone or database, or as bad beside it?"""

from engine.pack.suspects import common_labels
from engine.verification.kind import CheckKind, Reach, Seen, Subject
from engine.verification.splitting import Split, carries, expression_of, taken_apart

LABELS = ("node", "host", "zone", "region", "database", "datname")
SPLIT = Split(name="symptom", labels=LABELS, joined=("kube_pod_info",))


async def run(subject: Subject, reach: Reach) -> Seen:
    """Set the alert's own series of each place side by side."""
    return await taken_apart(SPLIT, subject, reach)


def fits(subject: Subject, reach: Reach) -> bool:
    """Whether a place can be told: a series carries one, or the members were found to share one."""
    if reach.metrics is None or expression_of(subject.pack) is None:
        return False
    return bool(set(LABELS) & set(common_labels(subject.incident))) or carries(subject.pack, LABELS)


CHECK = CheckKind(name="common_denominator", run=run, floor=fits, promised=False)
