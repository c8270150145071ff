"""awaiting.py: what is awaited has the arguments, documentation and types of what blocks."""
import functools
from typing import TYPE_CHECKING, Any, Callable, Coroutine, TypeVar

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")

T = TypeVar("T")


def awaited(method: "Callable[Concatenate[Any, P], T]") -> "Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]":
    """Returns the method of Client for an aio.Client: what it returns is that of _run(), and is awaited there."""
    @functools.wraps(method)
    async def call(self: Any, /, *args: "P.args", **options: "P.kwargs") -> T:
        told: T = await method(self, *args, **options)  # type: ignore[misc]
        return told

    return call


def awaited_of_fake(method: "Callable[Concatenate[Any, P], T]") -> "Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]":
    """Returns the method of Fake for an AsyncFake, which has one."""
    @functools.wraps(method)
    async def call(self: Any, /, *args: "P.args", **options: "P.kwargs") -> T:
        return method(self.fake, *args, **options)

    return call
