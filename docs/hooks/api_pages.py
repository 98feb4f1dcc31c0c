"""Pages of the API, in MyST's Markdown, of what Griffe reads in sources; nothing is imported."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import griffe

ROOT = Path(__file__).parents[2]
_FENCE = "`" * 8  # of what stands directly in a module; one less for each level inside


@cache
def package() -> griffe.Module:
    """The package as Griffe reads it, from a copy in which the games lie inside, as installed."""
    scratch = ROOT / "build" / "api"
    shutil.rmtree(scratch, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "spiel_dl", scratch / "spiel_dl", ignore=ignored)
    shutil.copytree(ROOT / "games", scratch / "spiel_dl" / "games", ignore=ignored)
    loaded = griffe.load(
        "spiel_dl",
        search_paths=[scratch],
        try_relative_path=False,
        allow_inspection=False,
        docstring_parser="google",
        docstring_options={"warnings": False},
    )
    assert isinstance(loaded, griffe.Module)
    return loaded


def rooms() -> dict[str, griffe.Module]:
    """What has a page of its own: the modules and packages directly below spiel_dl, sorted."""
    return {room.name: room for room in _inside(package()) if not room.name.startswith("_")}


def room_page(room: griffe.Module) -> str:
    """A page with all modules of a room."""
    sections = [module_section(module) for module in _modules(room)]
    start = _docstring(room) if room.is_init_module else ""
    return "\n\n".join(part for part in [f"# {room.path}", start, *sections] if part) + "\n"


def summary(room: griffe.Module) -> str:
    """The first sentence of a room's docstring."""
    text = room.docstring.value if room.docstring else ""
    return " ".join(text.split("\n\n")[0].split())


def _modules(room: griffe.Module) -> Iterator[griffe.Module]:
    """A room's modules, and those of the packages inside it, sorted."""
    if not room.is_init_module:
        yield room
    for module in _inside(room):
        yield from _modules(module)


def _inside(scope: griffe.Module) -> list[griffe.Module]:
    """The modules directly in a package, sorted; not those that are imported there."""
    found = [member for member in scope.members.values() if isinstance(member, griffe.Module)]
    return sorted(found, key=lambda module: module.name)


def module_section(module: griffe.Module) -> str:
    """A module's section of a page: its docstring, and all public names that have one."""
    parts = [f"## `{module.path}`", f"```{{py:module}} {module.path}\n```", _docstring(module)]
    parts += [_entry(member, _FENCE) for member in public(module)]
    return "\n\n".join(part for part in parts if part)


def public(scope: griffe.Module | griffe.Class) -> Iterator[griffe.Object]:
    """What is shown of a module or class, in the order of the source."""
    shown = [
        member
        for name, member in scope.members.items()
        if isinstance(member, griffe.Class | griffe.Function | griffe.Attribute)
        and name != "__init__"  # A class is shown with its arguments.
        and (not name.startswith("_") or name.startswith("__"))
        and member.docstring is not None
    ]
    yield from sorted(shown, key=lambda member: member.lineno or 0)


def _entry(member: griffe.Object, fence: str) -> str:
    """A class, function, property or constant, as a directive of Sphinx's domain of Python."""
    inside = [_docstring(member)]
    option = ""
    if isinstance(member, griffe.Class):
        arguments = _arguments(member) if member.parameters else ""
        kind, signature = "class", f"{member.name}{arguments}"
        inside += [_docstring(member.members["__init__"])] if "__init__" in member.members else []
        inside += [_entry(each, fence[:-1]) for each in public(member)]
    elif isinstance(member, griffe.Function):
        kind = "method" if isinstance(member.parent, griffe.Class) else "function"
        returned = f" -> {_type(member.returns)}" if member.returns else ""
        signature = f"{member.name}{_arguments(member)}{returned}"
        options = {"staticmethod", "classmethod", "abstractmethod"} & member.labels
        option = "".join(f":{each}:\n" for each in sorted(options))
    else:
        assert isinstance(member, griffe.Attribute)
        kind = "property" if "property" in member.labels else "attribute"
        kind = kind if isinstance(member.parent, griffe.Class) else "data"
        signature = member.name
        option = f":type: {_type(member.annotation)}\n" if member.annotation else ""
    text = "\n\n".join(part for part in inside if part)
    return f"{fence}{{py:{kind}}} {signature}\n{option}\n{text}\n{fence}"


def _arguments(member: griffe.Class | griffe.Function) -> str:
    """The arguments of a call, with types and defaults, in parentheses."""
    words: list[str] = []
    kinds = griffe.ParameterKind
    parameters = [p for p in member.parameters if p.name not in ("self", "cls")]
    for position, parameter in enumerate(parameters):
        before = parameters[position - 1].kind if position else None
        if parameter.kind is kinds.keyword_only and before not in (
            kinds.keyword_only,
            kinds.var_positional,
        ):
            words.append("*")
        star = {kinds.var_positional: "*", kinds.var_keyword: "**"}.get(parameter.kind, "")
        word = star + parameter.name
        if parameter.annotation is not None:
            word += f": {_type(parameter.annotation)}"
        if parameter.default is not None and not star:
            word += f" = {parameter.default}" if parameter.annotation else f"={parameter.default}"
        words.append(word)
        after = parameters[position + 1].kind if position + 1 < len(parameters) else None
        if parameter.kind is kinds.positional_only and after is not kinds.positional_only:
            words.append("/")
    return f"({', '.join(words)})"


def _type(annotation: str | griffe.Expr) -> str:
    """An annotation with whole names of our own classes, which Sphinx links, and cuts."""
    if isinstance(annotation, str):
        return annotation
    return "".join(
        _whole_name(part) if isinstance(part, griffe.ExprName) else str(part)
        for part in annotation.iterate(flat=True)
    )


def _whole_name(name: griffe.ExprName) -> str:
    path = name.canonical_path
    if not path.startswith("spiel_dl.") or not isinstance(name.parent, griffe.Object):
        return name.name
    try:
        found = name.parent.modules_collection[path]
        found = found.final_target if isinstance(found, griffe.Alias) else found
    except (KeyError, griffe.AliasResolutionError):
        return name.name  # what is made while a module is loaded, such as variables of types
    is_shown = found.is_class and found.docstring is not None and not found.name.startswith("_")
    return found.path if is_shown else name.name


def _docstring(member: griffe.Object | griffe.Alias) -> str:
    """A docstring, with its sections as lists."""
    if member.docstring is None:
        return ""
    return "\n\n".join(_section(section) for section in member.docstring.parsed)


def _section(section: griffe.DocstringSection) -> str:
    kind = section.kind.value
    if kind == "text":
        return str(section.value)
    if kind == "admonition":
        return f"**{section.title}**\n\n{section.value.description}"
    if kind == "examples":
        return "\n\n".join(f"```python\n{text}\n```" for _, text in section.value)
    title = {"parameters": "Arguments"}.get(kind, kind.capitalize())
    items = "\n".join(_item(kind, each) for each in section.value)
    return f"**{title}**\n\n{items}"


def _item(kind: str, element: griffe.DocstringElement) -> str:
    name = str(element.annotation) if kind == "raises" else getattr(element, "name", "")
    text = textwrap.indent(element.description, "  ").strip()
    return f"- `{name}`: {text}" if name else f"- {text}"
