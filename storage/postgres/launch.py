"""Run as a program of its own: turn into PostgreSQL, tied to the life of the process that asked.

A separate program, since nothing may safely run between fork and exec of a process with threads.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def launch(parent: int, uid: int, gid: int, command: list[str]) -> None:
    """Drop root, ask for SIGINT (a fast shutdown) when `parent` ends, become the command.

    Source: prctl(2): the wish is lost by a change of user, so it comes after that.
    """
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)
    if os.getppid() == parent:  # else it ended before the wish was made
        os.execv(command[0], command)  # noqa: S606 -- a list of our own making, no shell


if __name__ == "__main__":
    launch(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), command=sys.argv[4:])
