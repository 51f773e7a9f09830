#include "tools/scale/interconnect.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/collectives/exchange_sizes.h"

namespace tandem {
namespace {

// Bandwidths are the nominal rates of the standards in one direction. Latencies and times of messages are typical of
// two processes.
constexpr std::pair<absl::string_view, Link> kLinks[] = {
    {"memory", {10e9, 1e-6, 0}},      {"pcie4", {25e9, 5e-6, 0}},        {"nvlink4", {450e9, 3e-6, 0}},
    {"10gbe", {1.25e9, 30e-6, 2e-6}}, {"100gbe", {12.5e9, 10e-6, 2e-6}}, {"400ib", {50e9, 5e-6, 0.5e-6}},
};
constexpr std::pair<absl::string_view, Algorithm> kAlgorithms[] = {{"direct", Algorithm::kDirect},
                                                                   {"halving", Algorithm::kHalving},
                                                                   {"ring", Algorithm::kRing},
                                                                   {"tree", Algorithm::kTree}};

}  // namespace

absl::StatusOr<Link> ParseLink(absl::string_view text) {
  std::string names;
  for (const auto& [name, link] : kLinks) {
    if (name == text) return link;
    absl::StrAppend(&names, name, ", ");
  }
  double gigabytes = 0, microseconds[2] = {0, 0};
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  bool numbers = parts.size() >= 2 && parts.size() <= 3 && absl::SimpleAtod(parts[0], &gigabytes);
  for (size_t i = 1; numbers && i < parts.size(); ++i) {
    double& us = microseconds[i - 1];
    numbers = absl::SimpleAtod(parts[i], &us) && std::isfinite(us) && us >= 0;
  }
  if (numbers && std::isfinite(gigabytes) && gigabytes > 0) {
    return Link{1e9 * gigabytes, 1e-6 * microseconds[0], 1e-6 * microseconds[1]};
  }
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is no link; use ", names,
                                                 "or GB/s and microseconds of latency, and of a message where it "
                                                 "counts: 12.5,10 or 12.5,10,2"));
}

absl::StatusOr<Algorithm> ParseAlgorithm(absl::string_view name) {
  for (const auto& [known, algorithm] : kAlgorithms) {
    if (known == name) return algorithm;
  }
  return absl::InvalidArgumentError(absl::StrCat("\"", name, "\" is no all-reduce; use direct, halving, ring or tree"));
}

absl::string_view Name(Algorithm algorithm) { return kAlgorithms[static_cast<int>(algorithm)].first; }

absl::string_view Name(Way way) {
  constexpr absl::string_view kNames[] = {"one hop", "two hops", "doubling", "halving", "ring", "tree"};
  return kNames[static_cast<int>(way)];
}

Cost CostOf(Way way, double bytes, int n) {
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(n)));
  const double rounds = std::log2(power);
  Cost cost;
  switch (way) {
    case Way::kOneHop:
      return {(n - 1) * bytes, 1, n - 2.0};
    case Way::kTwoHops: {
      const double segments = std::max(1.0, bytes / kExchangeSegmentBytes);
      return {2.0 * (n - 1) / n * bytes, 2, 2 * (segments * (n - 1) - 1)};
    }
    case Way::kDoubling:
      cost = {rounds * bytes, rounds, 0};
      break;
    case Way::kHalving:
      cost = {2 * (1 - 1.0 / power) * bytes, 2 * rounds, 0};
      break;
    case Way::kRing:
      return {2.0 * (n - 1) / n * bytes, 2.0 * (n - 1), 0};
    case Way::kTree:
      return {2 * bytes, 2 * std::ceil(std::log2(n)), 0};
  }
  if (power < n) {
    cost.bytes += 2 * bytes;
    cost.latencies += 2;
  }
  return cost;
}

Way WayOf(Algorithm algorithm, double bytes, int n, const Link& link) {
  switch (algorithm) {
    case Algorithm::kDirect:
      return TakesOneHop(static_cast<int64_t>(bytes), n) ? Way::kOneHop : Way::kTwoHops;
    case Algorithm::kHalving:
      return CostOf(Way::kDoubling, bytes, n).On(link) <= CostOf(Way::kHalving, bytes, n).On(link) ? Way::kDoubling
                                                                                                   : Way::kHalving;
    case Algorithm::kRing:
      return Way::kRing;
    case Algorithm::kTree:
      break;
  }
  return Way::kTree;
}

int HostsOf(int devices, const Topology& topology) { return (devices - 1) / topology.devices_per_host + 1; }

double SecondsInHost(Algorithm algorithm, double bytes, int devices, const Topology& topology) {
  const int local = std::min(devices, topology.devices_per_host);
  if (local <= 1) return 0;
  // With several hosts, a host computes its part by the two halves of a ring: the reduce-scatter before, and the
  // all-gather after the all-reduce between the hosts. Together they take as long as a ring.
  const bool tree = algorithm == Algorithm::kTree && HostsOf(devices, topology) == 1;
  return CostOf(tree ? Way::kTree : Way::kRing, bytes, local).On(topology.local);
}

double SecondsBetween(Algorithm algorithm, double bytes, int hosts, const Link& network) {
  return CostOf(WayOf(algorithm, bytes, hosts, network), bytes, hosts).On(network);
}

double AllReduceSeconds(Algorithm algorithm, double bytes, int devices, const Topology& topology) {
  const int hosts = HostsOf(devices, topology);
  const double inside = SecondsInHost(algorithm, bytes, devices, topology);
  // Each device of a host sends its part over its share of the link, which takes as long as all bytes over the whole
  // link.
  return hosts == 1 ? inside : inside + SecondsBetween(algorithm, bytes, hosts, topology.network);
}

}  // namespace tandem
