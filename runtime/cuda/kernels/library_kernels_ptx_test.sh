#!/bin/bash
# PRINTER TEST: the printed kernels pass through ptxas where it is installed, without spills, and through TEST.
set -euo pipefail
"$1" > "$TEST_TMPDIR/kernels.ptx"
ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null || true)
if [ -n "$ptxas" ]; then
  for sm in 75 90; do
    "$ptxas" -v -arch=sm_$sm "$TEST_TMPDIR/kernels.ptx" -o "$TEST_TMPDIR/kernels.cubin" 2> "$TEST_TMPDIR/log" || {
      echo "ptxas rejects the library kernels for sm_$sm:" >&2
      cat "$TEST_TMPDIR/log" >&2
      exit 1
    }
    if grep "spill" "$TEST_TMPDIR/log" | grep -v "0 bytes spill stores, 0 bytes spill loads"; then
      echo "a library kernel spills on sm_$sm" >&2
      exit 1
    fi
  done
fi
exec /usr/bin/python3 "$2" "$TEST_TMPDIR/kernels.ptx"
