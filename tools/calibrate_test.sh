#!/bin/bash
# tandem-calibrate refuses what it could not do in the end before it measures.
set -uo pipefail

calibrate=$1
failures=0

# expect CODE TEXT ARGUMENTS...: exit code, and what stderr has to say. A measurement would take an hour.
expect() {
  local code=$1 text=$2 err got
  shift 2
  err=$(timeout 60 "$calibrate" --seconds=3500 "$@" 2>&1 >/dev/null)
  got=$?
  if [[ $got != "$code" || $err != *"$text"* ]]; then
    echo "FAIL: $*: exit code $got instead of $code, or without \"$text\": $err"
    failures=$((failures + 1))
  fi
}

expect 2 "--threads = 1025 is more than 1024" --threads=1025
expect 2 "--threads = -1 is negative" --threads=-1
expect 2 "--output /nowhere/model.txt: there is no folder /nowhere" --output=/nowhere/model.txt
expect 2 "this is a folder" --output=/tmp
[[ $failures == 0 ]]
