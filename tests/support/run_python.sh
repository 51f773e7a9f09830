#!/bin/sh
# run_python.sh TEST.py: runs an end-to-end test with the system's Python.
exec /usr/bin/python3 -B "$@"
