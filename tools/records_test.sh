#!/bin/bash
# records_test.sh TANDEM_RECORDS: writes records of IDX files, lists, checks, divides and damages them.
set -euo pipefail
records=$(realpath "$1")
cd "$TEST_TMPDIR"

fail() {
  echo "records_test: $*" >&2
  exit 1
}
expect() { # TEXT FILE
  grep -qF -- "$1" "$2" || fail "no '$1' in: $(cat "$2")"
}

# Three images of 2 x 2 and their labels.
printf '\x00\x00\x08\x03\x00\x00\x00\x03\x00\x00\x00\x02\x00\x00\x00\x02abcdefghijkl' > images
printf '\x00\x00\x08\x01\x00\x00\x00\x03\x07\x00\x02' > labels
for compression in none gzip zlib; do
  "$records" write --compression=$compression --images=images --labels=labels out > log
  expect "out: 3 records" log
  "$records" verify --compression=$compression out > log
  expect "3 records of" log
  "$records" list --compression=$compression --limit=2 out > log
  expect "image:string[1], label:int64[1], shape:int64[2]" log
  [ "$(grep -c record log)" = 2 ] || fail "list --limit=2: $(cat log)"
  "$records" split --compression=$compression --shards=2 out part > log
  "$records" verify --compression=$compression part-00000-of-00002 part-00001-of-00002 > log
  expect "part-00000-of-00002: 2 records" log
  expect "part-00001-of-00002: 1 records" log
done

"$records" write --images=images --labels=labels out > log
printf 'X' | dd of=out bs=1 seek=20 conv=notrunc status=none
code=0
"$records" verify out > log 2>&1 || code=$?
[ $code = 65 ] || fail "a damaged file ends in $code"
expect "out: at byte 0: the checksum of the record's" log
code=0
"$records" list absent > log 2>&1 || code=$?
[ $code = 66 ] || fail "an absent file ends in $code"
code=0
"$records" nonsense > log 2>&1 || code=$?
[ $code = 2 ] || fail "a wrong command ends in $code"
echo "records_test: all right"
