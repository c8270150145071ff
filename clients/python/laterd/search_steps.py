"""search_steps.py: search() as steps: looks through a queue, the newest first, a page at a time."""
from typing import TYPE_CHECKING, Any, Dict, List, Tuple

from .asked import Search
from .bounds import LOOKED_MAX
from .script import PEEK
from .told import Found, found_of, text_of

if TYPE_CHECKING:
    from .steps import State, Steps

PAGE = 500


class Walk:
    """One search. What moves meanwhile may be missed, but nothing is found twice."""

    def __init__(self, state: "State", what: Search):
        self._state, self._what = state, what
        self._found: Dict[Tuple[str, bytes], Found] = {}
        self._left = LOOKED_MAX

    def run(self, queue: str) -> "Steps[List[Found]]":
        plan = yield from self._state.learn(queue)
        for place in plan.places(queue):
            for name in self._what.states:
                for key, token in (yield from self._sets(place, name)):
                    yield from self._look_through(place, name, key, token)
        return list(self._found.values())

    def _sets(self, place: str, name: str) -> "Steps[List[Tuple[str, str]]]":
        """Returns the keys of the sets of this state: reserved jobs are under tokens."""
        key = "%s:{%s}:%s" % (self._state.prefix, place, name)
        if name != "reserved":
            return [(key, "")]
        return [("%s:%s" % (key, text_of(token)), text_of(token)) for token in (yield ["ZRANGE", key, 0, -1])]

    def _look_through(self, place: str, name: str, key: str, token: str) -> "Steps[None]":
        end = 0 if self._is_over() else int((yield ["ZCARD", key]))
        while end and not self._is_over():
            begin = max(0, end - PAGE)
            page = yield from self._page(place, name, token, begin, end)
            for id, score, record, document in reversed(page):
                self._look(text_of(id), place, (name, score, record, document))
            end = begin

    def _page(self, place: str, name: str, token: str, begin: int, end: int) -> "Steps[List[Any]]":
        """A reply may have fewer than asked: it is bounded in bytes, too."""
        page: List[Any] = []
        while begin + len(page) < end:
            reply = yield PEEK.call(self._state.prefix, place, [name, begin + len(page), end - begin - len(page)], token)
            if not reply:
                break
            page += [reply[i:i + 4] for i in range(0, len(reply), 4)]
        return page

    def _look(self, id: str, place: str, reply: Tuple[str, Any, Any, Any]) -> None:
        if self._is_over():
            return
        self._left -= 1
        found = found_of(id, place, reply)
        if self._what.fits(found.document):
            self._found.setdefault((id, b"" if id else found.document), found)

    def _is_over(self) -> bool:
        return self._left == 0 or len(self._found) == self._what.limit
