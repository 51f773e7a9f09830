// Formulas for the time of an all-reduce on given links.
#ifndef TANDEM_TOOLS_SCALE_INTERCONNECT_H_
#define TANDEM_TOOLS_SCALE_INTERCONNECT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

struct Link {
  double bandwidth = 0;  // bytes per second in each direction
  double latency = 0;    // seconds from the start of a message to its first byte at the other end
  double message = 0;    // seconds for each further message that is sent without waiting for the one before
};

// Which link connects which devices: those of one host use `local`, and hosts use `network`, which the devices of a
// host share.
struct Topology {
  Link local, network;
  int devices_per_host = 1;
};

// Parses "memory" (in-process, through main memory), "pcie4", "nvlink4", "10gbe", "100gbe", "400ib", or "GB/s,us[,us]":
// bandwidth, latency and time of a message. InvalidArgument lists the forms.
absl::StatusOr<Link> ParseLink(absl::string_view text);

enum class Algorithm { kDirect, kHalving, kRing, kTree };
// Parses the name of an algorithm: "direct", "halving", "ring" or "tree".
absl::StatusOr<Algorithm> ParseAlgorithm(absl::string_view name);
absl::string_view Name(Algorithm algorithm);

// The cost of an all-reduce for one process: the bytes through its link, one after another; how often the latency
// counts; and how many messages a process sends beyond the first in each hop, in which messages do not wait for each
// other.
struct Cost {
  double bytes = 0, latencies = 0, messages = 0;
  double On(const Link& link) const {
    return bytes / link.bandwidth + latencies * link.latency + messages * link.message;
  }
};

// The ways to sum `bytes` bytes of n > 1 processes that have a link each:
// One hop: every process sends everything to all others.
// Two hops: every process sends part p of n to process p, which sends the sum of the parts to all others. It does so
// for each segment of kExchangeSegmentBytes (runtime/collectives/direct_exchange.h).
// Doubling: in round i each process exchanges everything with the process at distance 2^i. Halving: in each round it
// exchanges half of the part that it still sums, and at last collects the sums in reverse order (Thakur, Rabenseifner,
// Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 2005). In both, if n is no power of
// two, each surplus process first sends everything to a neighbour, and receives the result from it in the end.
// Ring: 2 (n - 1) messages of bytes / n (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", JPDC 2009).
// Tree: two trees, each for one half, up and down, pipelined: the bandwidth of the ring's limit and 2 log2(n) latencies
// (Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing
// 2009).
enum class Way { kOneHop, kTwoHops, kDoubling, kHalving, kRing, kTree };
inline constexpr Way kWays[] = {Way::kOneHop, Way::kTwoHops, Way::kDoubling, Way::kHalving, Way::kRing, Way::kTree};
absl::string_view Name(Way way);  // returns the name for users, such as "one hop"
Cost CostOf(Way way, double bytes, int n);

// Returns the way that an algorithm takes. Direct takes one hop or two hops, as Tandem does over TCP
// (runtime/collectives/exchange_sizes.h); halving takes doubling where that is faster on `link`.
Way WayOf(Algorithm algorithm, double bytes, int n, const Link& link);

// Returns the seconds until all of `devices` devices have the sum of `bytes` bytes. On one host, a tree or, for all
// other algorithms, a ring is used. With one device on each of several hosts, the algorithm itself is used. With
// several devices on each host, there is a reduce-scatter within the host, an all-reduce over the network, whose
// bandwidth the devices share, and an all-gather within the host.
double AllReduceSeconds(Algorithm algorithm, double bytes, int devices, const Topology& topology);
// These return the two parts of AllReduceSeconds: the time within a host, and the time between `hosts` > 1 hosts.
double SecondsInHost(Algorithm algorithm, double bytes, int devices, const Topology& topology);
double SecondsBetween(Algorithm algorithm, double bytes, int hosts, const Link& network);
// Returns the number of hosts for `devices` devices, which fill one host after another.
int HostsOf(int devices, const Topology& topology);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_INTERCONNECT_H_
