"""The storage engine for coding-agent sessions.

A name is fetched from its module when it is first asked for, so that importing the package costs next to nothing.
"""

TYPE_CHECKING = False  # as in `typing`, whose import would cost more than all else here
if TYPE_CHECKING:
    from . import (
        camel as camel,
        context as context,
        elyra as elyra,
        errors as errors,
        events as events,
        info as info,
        messages as messages,
        record as record,
        replio as replio,
        usage as usage,
    )
    from ._contexts import contexts
    from ._scan import Scan, scan
    from ._tables import Table
    from .context import Model, SessionContext
    from .elyra import SessionHeader, SessionManager, pi_agent_dir
    from .elyra.entries import (
        BranchSummaryEntry,
        CompactionEntry,
        ContextEditEntry,
        CustomEntry,
        CustomMessageEntry,
        Entry,
        LabelEntry,
        MessageEntry,
        ModelChangeEntry,
        SessionInfoEntry,
        ThinkingLevelChangeEntry,
        TreeNode,
        UnknownEntry,
        UsageEntry,
    )
    from .errors import (
        AmbiguousSessionError,
        ConflictError,
        Damage,
        EntryNotFoundError,
        FormatError,
        InvalidNameError,
        NameTakenError,
        ReadOnlyError,
        SessionError,
        SessionNotFoundError,
    )
    from .info import SessionInfo
    from .usage import Usage
else:
    from importlib import import_module as _import_module

    _names = {
        "._contexts": ("contexts",),
        "._scan": ("Scan", "scan"),
        "._tables": ("Table",),
        ".context": ("Model", "SessionContext"),
        ".elyra": ("SessionHeader", "SessionManager", "pi_agent_dir"),
        ".elyra.entries": (
            "BranchSummaryEntry",
            "CompactionEntry",
            "ContextEditEntry",
            "CustomEntry",
            "CustomMessageEntry",
            "Entry",
            "LabelEntry",
            "MessageEntry",
            "ModelChangeEntry",
            "SessionInfoEntry",
            "ThinkingLevelChangeEntry",
            "TreeNode",
            "UnknownEntry",
            "UsageEntry",
        ),
        ".errors": (
            "AmbiguousSessionError",
            "ConflictError",
            "Damage",
            "EntryNotFoundError",
            "FormatError",
            "InvalidNameError",
            "NameTakenError",
            "ReadOnlyError",
            "SessionError",
            "SessionNotFoundError",
        ),
        ".info": ("SessionInfo",),
        ".usage": ("Usage",),
    }
    _homes = {name: module for module, group in _names.items() for name in group}
    _modules = {"camel", "context", "elyra", "errors", "events", "info", "messages", "record", "replio", "usage"}

    def __getattr__(name: str) -> object:
        if name in _modules:
            return _import_module(f".{name}", __name__)
        if name not in _homes:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
        value = globals()[name] = getattr(_import_module(_homes[name], __name__), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_homes, *_modules})


__all__ = [
    "AmbiguousSessionError",
    "BranchSummaryEntry",
    "CompactionEntry",
    "ConflictError",
    "ContextEditEntry",
    "CustomEntry",
    "CustomMessageEntry",
    "Damage",
    "Entry",
    "EntryNotFoundError",
    "FormatError",
    "InvalidNameError",
    "LabelEntry",
    "MessageEntry",
    "Model",
    "ModelChangeEntry",
    "NameTakenError",
    "ReadOnlyError",
    "Scan",
    "SessionContext",
    "SessionError",
    "SessionHeader",
    "SessionInfo",
    "SessionInfoEntry",
    "SessionManager",
    "SessionNotFoundError",
    "Table",
    "ThinkingLevelChangeEntry",
    "TreeNode",
    "UnknownEntry",
    "Usage",
    "UsageEntry",
    "contexts",
    "pi_agent_dir",
    "scan",
]
