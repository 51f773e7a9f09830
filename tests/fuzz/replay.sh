#!/bin/sh
# replay.sh PROGRAM --runs=N DIRECTORY: a fuzz target on its corpus, if it has one, and on changes of it.
program=$1 runs=$2 corpus=$3
[ -d "$corpus" ] || corpus=
exec "$program" "$runs" --artifact="${TEST_UNDECLARED_OUTPUTS_DIR:-/tmp}/finding" $corpus
