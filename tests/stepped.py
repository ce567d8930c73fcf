"""Work in a child process that stops wherever it enters or leaves the system, so that it can be disturbed right there.

What a file goes through changes only by system calls: who has looked at each moment before and after a call has looked
at all of them, but for the middle of a long write. Linux alone; elsewhere `start` raises `OSError`.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import traceback
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

_TRACEME, _SYSCALL, _DETACH, _SETOPTIONS, _SYSCALL_INFO = 0, 24, 17, 0x4200, 0x420E
_OPTIONS = 0x00100000 | 1  # the child dies with us; its calls are told from signals
_SYSCALL_STOP = signal.SIGTRAP | 0x80
_INFO_SIZE = 88
_ENTRY = 1

FAILED = 70
"""The exit code of a child whose work raised; what it raised is on stderr."""


class Stepped:
    """A child process at work, standing at the start or the end of a system call.

    Attributes:
        pid: Its process id.
        code: Its exit code, negative for a signal; None while it lives.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.code: int | None = None

    def step(self) -> bool:
        """Run on to the next start or end of a call; false when there was none before the end of the process."""
        delivered = 0
        while True:
            _ptrace(_SYSCALL, self.pid, 0, delivered)
            _, status = os.waitpid(self.pid, 0)
            if not os.WIFSTOPPED(status):
                self.code = os.waitstatus_to_exitcode(status)
                return False
            if os.WSTOPSIG(status) == _SYSCALL_STOP:
                return True
            delivered = os.WSTOPSIG(status)

    def call(self) -> int | None:
        """The number of the call it is about to make; None where it has made one."""
        info = ctypes.create_string_buffer(_INFO_SIZE)
        _ptrace(_SYSCALL_INFO, self.pid, _INFO_SIZE, ctypes.addressof(info))
        return int.from_bytes(info.raw[24:32], sys.byteorder) if info.raw[0] == _ENTRY else None

    def kill(self) -> None:
        """Kill it where it stands, if it lives."""
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            while self.code is None:
                _, status = os.waitpid(self.pid, 0)
                if not os.WIFSTOPPED(status):
                    self.code = os.waitstatus_to_exitcode(status)

    def release(self) -> None:
        """Let it run on by itself, if it lives."""
        if self.code is None:
            _ptrace(_DETACH, self.pid, 0, 0)

    def finish(self) -> int:
        """Wait for the end of one that was released, and give its exit code."""
        if self.code is None:
            self.code = wait(self.pid)
        return self.code


def start(work: Callable[[], None]) -> Stepped:
    """Fork a child that does this and exits with 0, or `FAILED`; it stands still before the first call.

    Raises:
        OSError: Processes cannot be stopped here.
    """
    if sys.platform != "linux":
        raise OSError("no way to stop at calls is known here")
    pid = fork(lambda: _stopped(work))
    _, status = os.waitpid(pid, 0)
    if not os.WIFSTOPPED(status):
        raise OSError("processes may not be stopped here")
    _ptrace(_SETOPTIONS, pid, 0, _OPTIONS)
    return Stepped(pid)


def fork(work: Callable[[], None]) -> int:
    """Fork a child that does this and exits with 0, or `FAILED`; give its process id."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        _work_and_exit(work)
    return pid


def wait(pid: int) -> int:
    """Wait for the end of a child, and give its exit code, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _stopped(work: Callable[[], None]) -> None:
    _ptrace(_TRACEME, 0, 0, 0)
    os.kill(os.getpid(), signal.SIGSTOP)
    work()


def _work_and_exit(work: Callable[[], None]) -> NoReturn:
    code = FAILED
    try:
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _ptrace(request: int, pid: int, address: int, data: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(request, pid, address, data) < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
