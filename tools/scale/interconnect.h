// How long an all-reduce takes on given links.
#ifndef TANDEM_TOOLS_SCALE_INTERCONNECT_H_
#define TANDEM_TOOLS_SCALE_INTERCONNECT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

struct Link {
  double bandwidth = 0;  // bytes per second, each way
  double latency = 0;    // seconds from the start of a message to its first byte at the other end
};

// Devices of one host talk over `local`, hosts over `network`, which the devices of a host share.
struct Topology {
  Link local, network;
  int devices_per_host = 1;
};

// "memory" (in-process, through main memory), "pcie4", "nvlink4", "10gbe", "100gbe", "400ib", or "GB/s,us".
// InvalidArgument lists the forms.
absl::StatusOr<Link> ParseLink(absl::string_view text);

enum class Algorithm { kRing, kTree };
absl::StatusOr<Algorithm> ParseAlgorithm(absl::string_view name);  // "ring", "tree"

// Seconds until all of `devices` have the sum of `bytes` bytes. One level: devices on one host, or one per host.
// Ring: 2 (n - 1) messages of bytes / n (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", JPDC 2009). Tree: two trees, each for one half, up and down, pipelined: the bandwidth of the ring's
// limit and 2 log2(n) latencies (Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction
// and scan", Parallel Computing 2009). Several devices on each of several hosts: reduce-scatter in the host, all-reduce
// of each device's part over the network, whose bandwidth they share, all-gather in the host.
double AllReduceSeconds(Algorithm algorithm, double bytes, int devices, const Topology& topology);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_INTERCONNECT_H_
