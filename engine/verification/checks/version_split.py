"""Is the symptom as strong on the version that did not change? Asked where versions are known."""

from engine.model.pack import ChangeFacts, ChangeKind
from engine.verification.kind import CheckKind, Reach, Seen, Subject
from engine.verification.splitting import Split, carries, expression_of, taken_apart

LABELS = ("version", "image", "image_tag", "revision")
SPLIT = Split(name="symptom", labels=LABELS, joined=(".+_build_info", "kube_pod_container_info"))
_READ = frozenset({ChangeKind.IMAGE, ChangeKind.BUILD})


async def run(subject: Subject, reach: Reach) -> Seen:
    """Set the alert's own series of each version side by side."""
    return await taken_apart(SPLIT, subject, reach)


def fits(subject: Subject, reach: Reach) -> bool:
    """Whether a version can be told: a series carries one, or one was seen to change."""
    if reach.metrics is None or expression_of(subject.pack) is None:
        return False
    changes = [i.facts for i in subject.pack.items if isinstance(i.facts, ChangeFacts)]
    return any(change.change in _READ for change in changes) or carries(subject.pack, LABELS)


CHECK = CheckKind(name="version_split", run=run, floor=fits, promised=False)
