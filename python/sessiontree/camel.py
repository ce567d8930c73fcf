"""The package in the spelling of the format's own page: `SessionManager.listAll`, `entry.parentId`.

All that `sessiontree` exports is here, by one rule: `camel_case`. The classes are the very same ones, so `isinstance`,
equality and pickling know no difference: importing this module gives each a second name for what it has, and changes
nothing else. `SessionManager` alone has a class of its own here, derived from the other, because its methods are called
in another way, as functions are:

- Keyword arguments have either spelling.
- Where there are keyword-only options, a dict of them may come last instead: `newSession({"parentSession": path})`.

What `to_dict` gives has the same keys as ever. For type checkers there is a stub, which `tests/camel_stub.py` makes.
"""

from __future__ import annotations

import functools
import inspect
import re
from operator import attrgetter
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

import sessiontree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def camel_case(name: str) -> str:
    """The rule: `first_kept_entry_id` is `firstKeptEntryId`; underscores at either end stay."""
    return re.sub(r"(?<=[^_])_([^_])", lambda found: found[1].upper(), name)


def _function(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with its arguments in either spelling, and its options as a dict too."""
    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    names = {camel_case(name): name for name in signature.parameters}
    has_options = any(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters)

    def by_name(values: Mapping[str, Any]) -> dict[str, Any]:
        return {names.get(name, name): value for name, value in values.items()}

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401
        if has_options and arguments and isinstance(arguments[-1], dict):
            options = by_name(cast("dict[str, Any]", arguments[-1]))
            return function(*arguments[:-1], **options, **by_name(keywords))
        return function(*arguments, **by_name(keywords))

    call.__name__ = camel_case(function.__name__)
    spelled = [parameter.replace(name=camel_case(parameter.name)) for parameter in parameters]
    vars(call)["__signature__"] = signature.replace(parameters=spelled)  # for `help`
    return call


def _member(member: object) -> object:
    if isinstance(member, FunctionType):
        return _function(member)
    if isinstance(member, classmethod):
        return classmethod(_function(cast("classmethod[Any, ..., Any]", member).__func__))
    return member


def _spell(cls: type, members: Mapping[str, object]) -> None:
    """Give a class the public ones of these members in their second spelling, where it has nothing of that name."""
    for name, member in members.items():
        spelled = camel_case(name)
        if not name.startswith("_") and spelled not in vars(cls):
            setattr(cls, spelled, _member(member))


class SessionManager(sessiontree.SessionManager):
    """Finds and lists sessions; and has one open: `sessiontree.SessionManager`, whose spelling it knows as well.

    Rule: Elyra session format, "SessionManager API".
    """

    __slots__ = ()


def _exported(member: Any) -> Any:  # noqa: ANN401
    if member is sessiontree.SessionManager:
        for base in member.__mro__:
            _spell(SessionManager, vars(base))
        return SessionManager
    if inspect.isclass(member):
        _spell(member, dict(vars(member)))
        if issubclass(member, sessiontree.SessionError):  # what only its instances have is what it takes by keyword
            facts = (name for name in inspect.getfullargspec(member).kwonlyargs if camel_case(name) != name)
            _spell(member, {name: property(attrgetter(name)) for name in facts})
        return member
    return _function(member)


_exports = {camel_case(name): _exported(getattr(sessiontree, name)) for name in sessiontree.__all__}
globals().update(_exports, __all__=sorted([*_exports, "camel_case"]))
