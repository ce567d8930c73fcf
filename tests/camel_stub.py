"""Makes the stub of `sessiontree.camel` from the package's own sources: `python tests/camel_stub.py` writes it."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

import sessiontree
from sessiontree import camel
from sessiontree.camel import camel_case

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parent.parent / "python/sessiontree"
STUB = PACKAGE / "camel.pyi"
LINE_LENGTH = 120

HEAD = '''\
"""The package in the spelling of the format's own page. Written by `tests/camel_stub.py`."""

# At run time every class but `SessionManager` is the very one that it is derived from here. So that one may be final,
# and a list of one is a list of the other.
# mypy: disable-error-code="misc, override"
# pyright: reportGeneralTypeIssues=false, reportIncompatibleVariableOverride=false
# pyright: reportIncompatibleMethodOverride=false
# A dict is also an iterable of strings, but no function means that.
# pyright: reportOverlappingOverload=false

import builtins
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Self, TypedDict, final, overload

import sessiontree

from ._types import OnProgress, StrPath
from .elyra.find import Deleted
from .messages import AgentMessage, SystemMessage
'''


def stub() -> str:
    """The whole stub, as `ruff format` has it."""
    names = "".join(f'    "{name}",\n' for name in camel.__all__)
    rule = f"def camel_case(name: str) -> str:\n{docstring(inspect.getdoc(camel_case))}"
    parts = [HEAD, f"__all__ = [\n{names}]\n", rule]
    for name in sessiontree.__all__:
        exported = getattr(sessiontree, name)
        parts += of_class(exported) if isinstance(exported, type) else of_function(definition(exported))
    return re.sub(r"(: \.\.\.\n)\n(?=@overload|def )", r"\1", "\n".join(parts))


def definition(thing: Any) -> Any:  # noqa: ANN401
    """What defines a class or a function: in the stub of its module, if there is one."""
    path = PACKAGE.parent / thing.__module__.replace(".", "/")
    source = next(file for suffix in (".pyi", ".py") if (file := path.with_suffix(suffix)).exists())
    nodes = ast.parse(source.read_text(encoding="utf-8")).body
    return next(node for node in nodes if getattr(node, "name", None) == thing.__name__)


def of_class(cls: type) -> list[str]:
    """The options of its methods, and the class, with what differs."""
    own = [one for one in cls.__mro__ if one.__module__.startswith("sessiontree.")]
    bases = [f"sessiontree.{cls.__name__}", *(one.__name__ for one in own[1:] if one.__name__ in sessiontree.__all__)]
    sources = [cls, *(one for one in own if one.__name__ not in sessiontree.__all__)]
    options: list[str] = []
    body = ""
    for member in (member for source in sources for member in members(definition(source))):
        if differs(member, called=cls is sessiontree.SessionManager):
            parts = of_function(member, LINE_LENGTH - 4)
            options += [part for part in parts if part.startswith("class ")]
            body += "".join(part for part in parts if not part.startswith("class "))
    final = "@final\n" if any(ast.unparse(one) == "final" for one in definition(cls).decorator_list) else ""
    doc = inspect.getdoc(getattr(camel, cls.__name__))
    text = f"{final}class {cls.__name__}({', '.join(bases)}):\n{docstring(doc)}"
    if body:
        text += "\n" + indent(body, "    ")
    if hasattr(cls, "list"):  # that hides the type
        text = re.sub(r"(?<![.\w])list\[", "builtins.list[", text)
    return [*options, text]


def members(node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """The public methods and properties of a class; what its instances hold is a property."""
    overloaded: set[str] = set()
    for one in node.body:
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            name = one.target.id
            told = re.search(rf"^    {name}: (.+(?:\n {{8}}.+)*)", ast.get_docstring(node) or "", re.MULTILINE)
            yield as_property(name, one.annotation, " ".join(told[1].split()) if told else "")
        elif isinstance(one, ast.FunctionDef) and one.name == "__init__":  # what an error holds
            yield from (as_property(fact.arg, fact.annotation, "") for fact in one.args.kwonlyargs)
        elif isinstance(one, ast.FunctionDef):
            if any(ast.unparse(decorator) == "overload" for decorator in one.decorator_list):
                overloaded.add(one.name)
            elif one.name in overloaded:
                continue
            yield one


def as_property(name: str, annotation: ast.expr | None, doc: str) -> ast.FunctionDef:
    assert annotation is not None
    source = f"@property\ndef {name}(self) -> {ast.unparse(annotation)}:\n    {doc!r}"
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.FunctionDef)
    return node


def differs(member: ast.FunctionDef, *, called: bool) -> bool:
    """Whether its name does, or the class of what it gives, or, where that counts, how it is called."""
    if re.match(r"_(?!_)", member.name):
        return False
    given = {node.id for node in ast.walk(member.returns or member) if isinstance(node, ast.Name)}
    is_spelled = not member.name.startswith("__")  # the language's own names stay
    if (is_spelled and camel_case(member.name) != member.name) or not given.isdisjoint(sessiontree.__all__):
        return True
    arguments = member.args
    return called and (bool(arguments.kwonlyargs) or any(camel_case(one.arg) != one.arg for one in arguments.args))


def of_function(node: ast.FunctionDef, width: int = LINE_LENGTH) -> list[str]:
    """The function; with options, their class before it, and a declaration for each place where they may be a dict."""
    bound = [one.arg for one in node.args.args if one.annotation is None]
    positional = [argument(one) for one in node.args.args if one.annotation is not None]
    required = len(positional) - len(node.args.defaults)
    options = [argument(one) for one in node.args.kwonlyargs]
    parameters = [*bound, *positional[:required], *map(with_default, positional[required:], node.args.defaults)]
    doc = ast.get_docstring(node)
    if not options:
        return [declaration(node, parameters, doc, width)]
    name = camel_case(node.name)
    kind = f"_{name[0].upper()}{name[1:]}Options"
    node.decorator_list.insert(0, ast.Name("overload"))
    parameters += ["*", *map(with_default, options, node.args.kw_defaults)]
    places = [[*bound, *positional[:place], f"options: {kind}", "/"] for place in range(required, len(positional) + 1)]
    return [
        f"class {kind}(TypedDict, total=False):\n" + "".join(f"    {option}\n" for option in options),
        declaration(node, parameters, doc, width),
        "".join(declaration(node, parameters, None, width) for parameters in places),
    ]


def argument(node: ast.arg) -> str:
    assert node.annotation is not None
    return f"{camel_case(node.arg)}: {ast.unparse(node.annotation)}"


def with_default(argument: str, default: ast.expr | None) -> str:
    return argument if default is None else f"{argument} = {ast.unparse(default)}"


def declaration(node: ast.FunctionDef, parameters: list[str], doc: str | None, width: int) -> str:
    assert node.returns is not None
    decorators = "".join(f"@{ast.unparse(one)}\n" for one in node.decorator_list)
    start, end = f"def {camel_case(node.name)}(", f") -> {ast.unparse(node.returns)}:"
    body = f"\n{docstring(doc)}" if doc else " ...\n"
    line = start + ", ".join(parameters) + end
    if len(line) + len(body.split("\n")[0]) > width:
        line = start + "\n" + "".join(f"    {one},\n" for one in parameters) + end
    return decorators + line + body


def docstring(doc: str | None) -> str:
    """Its first sentence, or what stands there before a semicolon: one line."""
    assert doc is not None
    return f'    """{re.split(r"[.;](?: |$)", doc, flags=re.MULTILINE)[0]}."""\n'


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
