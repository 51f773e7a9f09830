"""TandemError: an error of the library."""

_CODES = ("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
          "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
          "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED")


class TandemError(Exception):
    """What went wrong, where, and what to do about it.

    Attributes:
      code: what kind of error it is, such as "INVALID_ARGUMENT".
      message: the text.
      exit_code: what a program should end with.
    """

    def __init__(self, code, message, exit_code=2):
        name = _CODES[code] if 0 <= code < len(_CODES) else "UNKNOWN"
        super().__init__("%s: %s" % (name, message))
        self.code = name
        self.message = message
        self.exit_code = exit_code


def invalid_argument(message):
    """Returns the error for an argument that cannot be passed to the library."""
    return TandemError(_CODES.index("INVALID_ARGUMENT"), message)
