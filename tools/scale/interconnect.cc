#include "tools/scale/interconnect.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tandem {
namespace {

// Nominal rates of the standards, one direction; latencies are typical of a message between two processes.
constexpr std::pair<absl::string_view, Link> kLinks[] = {
    {"memory", {10e9, 1e-6}},   {"pcie4", {25e9, 5e-6}},     {"nvlink4", {450e9, 3e-6}},
    {"10gbe", {1.25e9, 30e-6}}, {"100gbe", {12.5e9, 10e-6}}, {"400ib", {50e9, 5e-6}},
};

double OneLevel(Algorithm algorithm, double bytes, int n, const Link& link) {
  if (n <= 1) return 0;
  if (algorithm == Algorithm::kRing) return 2.0 * (n - 1) * (bytes / n / link.bandwidth + link.latency);
  return 2 * bytes / link.bandwidth + 2 * std::ceil(std::log2(n)) * link.latency;
}

}  // namespace

absl::StatusOr<Link> ParseLink(absl::string_view text) {
  std::string names;
  for (const auto& [name, link] : kLinks) {
    if (name == text) return link;
    absl::StrAppend(&names, name, ", ");
  }
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  double gigabytes = 0, microseconds = 0;
  if (parts.size() == 2 && absl::SimpleAtod(parts[0], &gigabytes) && absl::SimpleAtod(parts[1], &microseconds) &&
      gigabytes > 0 && microseconds >= 0) {
    return Link{1e9 * gigabytes, 1e-6 * microseconds};
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is no link; use ", names, "or GB/s and microseconds of latency: 12.5,10"));
}

absl::StatusOr<Algorithm> ParseAlgorithm(absl::string_view name) {
  if (name == "ring") return Algorithm::kRing;
  if (name == "tree") return Algorithm::kTree;
  return absl::InvalidArgumentError(absl::StrCat("\"", name, "\" is no all-reduce; use ring or tree"));
}

double AllReduceSeconds(Algorithm algorithm, double bytes, int devices, const Topology& topology) {
  const int local = std::min(devices, topology.devices_per_host);
  const int hosts = (devices + local - 1) / local;
  if (hosts <= 1) return OneLevel(algorithm, bytes, local, topology.local);
  // Reduce-scatter and all-gather are the two halves of a ring.
  const double inside = OneLevel(Algorithm::kRing, bytes, local, topology.local);
  const Link share = {topology.network.bandwidth / local, topology.network.latency};
  return inside + OneLevel(algorithm, bytes / local, hosts, share);
}

}  // namespace tandem
