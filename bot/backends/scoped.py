"""A metrics backend shared by many clients, seen through the matchers of one."""

from collections.abc import Mapping

from engine.model.evidence import Invalid, InvalidReason, Outcome, Question
from engine.ports import EvidenceTool
from engine.promql.narrow import Inserted, insert_matchers


class Scoped:
    """An evidence tool whose every selector carries the client's own matchers."""

    def __init__(self, tool: EvidenceTool, matchers: Mapping[str, str]) -> None:
        self.name = tool.name
        self._tool = tool
        self._matchers = dict(matchers)

    async def ask(self, question: Question) -> Outcome:
        """Narrow every query and ask; one that cannot be narrowed safely is never sent."""
        narrowed: dict[str, str] = {}
        for name, query in question.queries.items():
            done = insert_matchers(query, self._matchers, only_where_missing=False)
            if not isinstance(done, Inserted):
                return Invalid(expression=query, reason=InvalidReason.SCOPE, detail=done.detail)
            narrowed[name] = done.expr
        return await self._tool.ask(question.model_copy(update={"queries": narrowed}))
