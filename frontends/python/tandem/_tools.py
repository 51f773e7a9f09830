"""The command-line tools."""
import ctypes
import os
import sys

from tandem._library import check, lib


def run_tool(name, arguments=()):
    """Runs a tool, such as "dump", in this process and returns its exit code. It prints to the process's output.

    Raises:
      TandemError: there is no such tool, or the library has none.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    texts = (ctypes.c_char_p * max(len(arguments), 1))(*[os.fsencode(argument) for argument in arguments])
    exit_code = ctypes.c_int32()
    check(lib.tandem_run_tool(name.encode(), len(arguments), texts, ctypes.byref(exit_code)))
    return exit_code.value
