"""python -m tandem TOOL ARGUMENTS...: runs one of Tandem's tools, such as dump."""
import sys

from tandem._errors import TandemError
from tandem._tools import run_tool


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else 2
    try:
        return run_tool(arguments[0], arguments[1:])
    except TandemError as error:
        print("python -m tandem: %s" % error.message, file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
