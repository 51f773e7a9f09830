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

two='{"cluster": {"worker": ["a:1", "b:2"]}, "task": {"type": "worker", "index": 0}}'
output=$(TF_CONFIG=$two "$tool" 2>&1); code=$?
expect plain 0 "no TLS: what processes send to each other is not encrypted"
dir=$TEST_TMPDIR/tls
mkdir -p "$dir"
openssl req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256 -subj /CN=one -days 9 \
  -addext "subjectAltName = DNS:a, IP:10.0.0.1" -keyout "$dir/key" -out "$dir/crt" 2>/dev/null
output=$(TF_CONFIG=$two TANDEM_TLS_CERTIFICATE=$dir/crt TANDEM_TLS_KEY=$dir/key TANDEM_TLS_CA=$dir/crt "$tool" 2>&1)
code=$?
expect tls 0 "TLS: certificate $dir/crt for a, 10.0.0.1, valid until $(date -u -d '+9 days' +%Y-%m-%d); CA $dir/crt"
output=$(TF_CONFIG=$two TANDEM_TLS_CERTIFICATE=$dir/crt TANDEM_TLS_KEY=$dir/key "$tool" 2>&1); code=$?
expect missing 2 "TANDEM_TLS_CERTIFICATE, TANDEM_TLS_KEY are set, and TANDEM_TLS_CA is not"
output=$(TF_CONFIG=$two TANDEM_TLS_CERTIFICATE=$dir/crt TANDEM_TLS_KEY=$dir/no TANDEM_TLS_CA=$dir/crt "$tool" 2>&1)
code=$?
expect no_key 2 "TLS: $dir/no: cannot open: No such file or directory; TANDEM_TLS_KEY names"

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
