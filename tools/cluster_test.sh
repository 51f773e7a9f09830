#!/bin/sh
# tandem-cluster in real processes: without a cluster, in one, in one that cannot be, and under mpirun where it is there.
tool=$1
failed=0
expect() {  # WHAT CODE TEXT: the last output has TEXT, and the exit code was CODE
  if [ "$code" != "$2" ] || ! printf '%s\n' "$output" | grep -qF -- "$3"; then
    echo "$1: exit code $code, expected $2 and \"$3\" in:"
    echo "$output"
    failed=1
  fi
}
unset TF_CONFIG RANK WORLD_SIZE
output=$("$tool" 2>&1); code=$?
expect alone 0 "no cluster: this process trains by itself"

output=$(TF_CONFIG='{"cluster": {"worker": ["a:1", "b:2"]}, "task": {"type": "worker", "index": 0}}' "$tool" 2>&1); code=$?
expect worker 0 "worker 0, rank 0 of 2, rank 0 at a:1, by TF_CONFIG; it saves and logs"
expect worker 0 "worker 1: b:2"

output=$(TF_CONFIG='{"cluster": {"worker": ["a", "b:2"]}, "task": {"type": "worker", "index": 2}}' "$tool" 2>&1); code=$?
expect wrong 2 'TF_CONFIG: cluster.worker[0] is "a": it has no port'
expect wrong 2 "TF_CONFIG: task.index is 2, and cluster.worker has 2 addresses"

output=$("$tool" more 2>&1); code=$?
expect usage 2 "without arguments"

if command -v mpirun >/dev/null; then
  output=$(mpirun -n 2 --allow-run-as-root --oversubscribe "$tool" 2>&1); code=$?
  expect mpirun 0 "chief 0, rank 0 of 2"
  expect mpirun 0 "worker 0, rank 1 of 2"
else
  echo "mpirun is not there: left out"
fi
exit $failed
