// Formulas for the time of an all-reduce on given links.
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

// Devices of one host communicate over `local`, hosts over `network`, which the devices of a host share.
struct Topology {
  Link local, network;
  int devices_per_host = 1;
};

// Parses "memory" (in-process, through main memory), "pcie4", "nvlink4", "10gbe", "100gbe", "400ib", or "GB/s,us[,us]":
// bandwidth, latency and time of a message. InvalidArgument lists the forms.
absl::StatusOr<Link> ParseLink(absl::string_view text);

enum class Algorithm { kDirect, kHalving, kRing, kTree };
absl::StatusOr<Algorithm> ParseAlgorithm(absl::string_view name);  // "direct", "halving", "ring", "tree"
absl::string_view Name(Algorithm algorithm);

// The cost of an all-reduce: bytes through a link, one after another; number of latencies; messages beyond the first of
// a hop.
struct Cost {
  double bytes = 0, latencies = 0, messages = 0;
  double On(const Link& link) const {
    return bytes / link.bandwidth + latencies * link.latency + messages * link.message;
  }
};

// The ways to sum `bytes` bytes of n > 1 processes that have a link each:
// One hop: every process sends everything to all others.
// Two hops: part p of n goes to process p, which sends its sum to all; in segments of kExchangeSegmentBytes, whose
// messages are counted as if parts had the size of a segment (runtime/collectives/direct_exchange.h).
// Doubling: in round i each process exchanges everything with the process at distance 2^i. Halving: exchanges half of
// the part that it still needs, then the way back (Thakur, Rabenseifner, Gropp, "Optimization of collective
// communication operations in MPICH", IJHPCA 2005). In both, if n is no power of two, each surplus process first gives
// everything to a neighbour, and gets the result from it in the end.
// Ring: 2 (n - 1) messages of bytes / n (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", JPDC 2009).
// Tree: two trees, each for one half, up and down, pipelined: the bandwidth of the ring's limit and 2 log2(n) latencies
// (Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing
// 2009).
enum class Way { kOneHop, kTwoHops, kDoubling, kHalving, kRing, kTree };
inline constexpr Way kWays[] = {Way::kOneHop, Way::kTwoHops, Way::kDoubling, Way::kHalving, Way::kRing, Way::kTree};
absl::string_view Name(Way way);  // "one hop"
Cost CostOf(Way way, double bytes, int n);

// Returns the way that an algorithm uses: direct takes one hop or two as Tandem does over TCP
// (runtime/collectives/exchange_sizes.h); halving uses doubling where that is faster on `link`.
Way WayOf(Algorithm algorithm, double bytes, int n, const Link& link);

// Returns the seconds until all of `devices` have the sum of `bytes` bytes. On one host: by a tree, or for all other
// algorithms by a ring. One device on each of several hosts: by the algorithm. Several on each: reduce-scatter in the
// host, all-reduce over the network, whose bandwidth the devices share, all-gather in the host.
double AllReduceSeconds(Algorithm algorithm, double bytes, int devices, const Topology& topology);
// The parts of that time: within a host, and between `hosts` > 1 hosts.
double SecondsInHost(Algorithm algorithm, double bytes, int devices, const Topology& topology);
double SecondsBetween(Algorithm algorithm, double bytes, int hosts, const Link& network);
// Returns the number of hosts for `devices` devices, which fill one host after another.
int HostsOf(int devices, const Topology& topology);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_INTERCONNECT_H_
