// How long an all-reduce takes on given links, by formulas.
#ifndef TANDEM_TOOLS_SCALE_INTERCONNECT_H_
#define TANDEM_TOOLS_SCALE_INTERCONNECT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

struct Link {
  double bandwidth = 0;  // bytes per second, each way
  double latency = 0;    // seconds from the start of a message to its first byte at the other end
  double message = 0;    // seconds for each further message that a process sends in one hop
};

// Devices of one host talk over `local`, hosts over `network`, which the devices of a host share.
struct Topology {
  Link local, network;
  int devices_per_host = 1;
};

// "memory" (in-process, through main memory), "pcie4", "nvlink4", "10gbe", "100gbe", "400ib", or "GB/s,us[,us]":
// bandwidth, latency and time of a message. InvalidArgument lists the forms.
absl::StatusOr<Link> ParseLink(absl::string_view text);

enum class Algorithm { kDirect, kHalving, kRing, kTree };
absl::StatusOr<Algorithm> ParseAlgorithm(absl::string_view name);  // "direct", "halving", "ring", "tree"
absl::string_view Name(Algorithm algorithm);

// What an all-reduce costs: bytes through a link, one after another; latencies; messages beyond the first of a hop.
struct Cost {
  double bytes = 0, latencies = 0, messages = 0;
  double On(const Link& link) const {
    return bytes / link.bandwidth + latencies * link.latency + messages * link.message;
  }
};

// The ways to sum `bytes` bytes of n > 1 processes that have a link each:
// One hop: everybody sends everything to everybody.
// Two hops: part p of n goes to process p, which sends its sum to all; in segments of kExchangeSegmentBytes, whose
// messages are counted as if there were parts of a segment (runtime/collectives/direct_exchange.h).
// Doubling: in round i with the process at the distance 2^i, everything. Halving: half of what one still cares for, and
// the way back (Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", IJHPCA
// 2005). Where n is no power of two, in both: those that are too many give everything to a neighbour first, and get the
// result from it in the end.
// Ring: 2 (n - 1) messages of bytes / n (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", JPDC 2009).
// Tree: two trees, each for one half, up and down, pipelined: the bandwidth of the ring's limit and 2 log2(n) latencies
// (Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing
// 2009).
enum class Way { kOneHop, kTwoHops, kDoubling, kHalving, kRing, kTree };
inline constexpr Way kWays[] = {Way::kOneHop, Way::kTwoHops, Way::kDoubling, Way::kHalving, Way::kRing, Way::kTree};
absl::string_view Name(Way way);  // "one hop"
Cost CostOf(Way way, double bytes, int n);

// An algorithm's: direct takes one hop or two as Tandem does over TCP (runtime/collectives/exchange_sizes.h), halving
// doubles where that is shorter on `link`.
Way WayOf(Algorithm algorithm, double bytes, int n, const Link& link);

// Seconds until all of `devices` have the sum of `bytes` bytes. On one host: by a tree, or by a ring with all other
// algorithms. One device on each of several hosts: by the algorithm. Several on each: reduce-scatter in the host,
// all-reduce over the network, whose bandwidth the devices share, all-gather in the host.
double AllReduceSeconds(Algorithm algorithm, double bytes, int devices, const Topology& topology);
// The parts of it: within a host, and between `hosts` > 1 hosts.
double SecondsInHost(Algorithm algorithm, double bytes, int devices, const Topology& topology);
double SecondsBetween(Algorithm algorithm, double bytes, int hosts, const Link& network);
// Of `devices`, which fill one host after another.
int HostsOf(int devices, const Topology& topology);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_INTERCONNECT_H_
