// tandem-cluster: prints who this process is in the cluster that its environment describes, or all that is wrong with
// the description. Under a launcher it says what a training there would find.
#include <iostream>
#include <string>
#include <vector>

#include "base/program.h"
#include "base/status_macros.h"
#include "cluster/resolver.h"

namespace tandem {
namespace {

absl::Status PrintCluster(const std::vector<std::string>& arguments) {
  if (!arguments.empty()) return absl::InvalidArgumentError("usage: tandem-cluster, without arguments");
  TD_ASSIGN_OR_RETURN(const std::optional<Cluster> cluster, ResolveCluster(Environment::OfProcess()));
  if (!cluster) {
    std::cout << "no cluster: this process trains by itself\n";
    return absl::OkStatus();
  }
  std::cout << cluster->Text() << (cluster->is_chief() ? "; it saves and logs" : "") << "\n";
  for (const auto& [type, addresses] : cluster->addresses) {
    for (size_t i = 0; i < addresses.size(); ++i) std::cout << Name(type) << " " << i << ": " << addresses[i] << "\n";
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "prints who this process is in the cluster that its environment describes",
                            tandem::PrintCluster);
}
