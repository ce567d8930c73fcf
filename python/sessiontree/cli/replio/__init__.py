"""`sessiontree replio`: one file an action, loaded when it is called."""

from __future__ import annotations

COMMANDS = {
    "list": "list the sessions of a project by name",
    "preview": "show who spoke how often in a session, which tools were called, and what it is linked with",
    "new": "begin a session",
    "delete": "delete sessions",
    "export": "write a session as Markdown",
    "context": "print the messages that a provider is sent",
    "check": "tell what is damaged in sessions, and which links lead nowhere",
}
