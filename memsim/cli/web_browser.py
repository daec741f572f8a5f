"""Open a page in the user's web browser, and never wait for that browser."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import webbrowser
from collections.abc import Mapping
from pathlib import Path

PATIENCE = 2.0
"""Seconds in which a browser that cannot start says so."""

_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")
_REMOTE = ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY")


def open_page(path: Path, environ: Mapping[str, str] | None = None) -> str:
    """Open a page in a browser; return why it was not opened, or an empty text.

    Args:
        path: of the page.
        environ: instead of the process's own variables. `BROWSER` names a browser, also over ssh.
    """
    reason = why_not(os.environ if environ is None else environ, sys.platform)
    if reason:
        return reason
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return "no browser was found"
    started = _started(browser, path.resolve().as_uri())
    return "" if started else "the browser did not start"


def why_not(environ: Mapping[str, str], platform: str) -> str:
    """Say why no browser can be opened here; an empty text if one can."""
    if environ.get("CI", "").lower() not in {"", "0", "false"}:
        return "this is a CI job"
    if environ.get("BROWSER"):
        return ""
    if any(environ.get(name) for name in _REMOTE):
        return "this is an ssh session"
    if platform in {"win32", "darwin", "cygwin"} or any(environ.get(name) for name in _SCREENS):
        return ""
    return "there is no screen"


def _started(browser: webbrowser.BaseBrowser, address: str) -> bool:
    """Start a browser; one that still runs after a moment was started."""
    ended: list[bool] = []
    worker = threading.Thread(target=lambda: ended.append(_open(browser, address)), daemon=True)
    worker.start()
    worker.join(PATIENCE)
    return all(ended)


def _open(browser: webbrowser.BaseBrowser, address: str) -> bool:
    if not isinstance(browser, webbrowser.GenericBrowser):
        return browser.open(address)
    # The module would give the browser this terminal, and end it together with this process.
    command = [browser.name, *(arg.replace("%s", address) for arg in browser.args)]
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(  # noqa: S603 - the browser that the user named
            command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
        )
    except OSError:
        return False
    return process.wait() == 0
