#include "cluster/resolver.h"

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/exit_code.h"
#include "base/printable.h"
#include "cluster/launchers.h"
#include "cluster/tf_config.h"

namespace tandem {
namespace {

bool IsAlone(const Cluster& cluster) {
  return cluster.rank == 0 && cluster.world_size == 1 && cluster.full_world_size <= 1 &&
         !cluster.addresses.contains(TaskType::kParameterServer) && !cluster.addresses.contains(TaskType::kEvaluator);
}

constexpr char kFullWorldSize[] = "TANDEM_FULL_WORLD_SIZE";  // set by tandem-launch

void ReadFullWorldSize(const Environment& environment, Cluster* cluster, std::vector<std::string>* errors) {
  if (!environment.Has(kFullWorldSize) || cluster->rank < 0) return;
  const std::string text = environment.Get(kFullWorldSize);
  if (absl::SimpleAtoi(text, &cluster->full_world_size) && cluster->full_world_size >= cluster->world_size &&
      cluster->full_world_size <= kMaxProcesses && cluster->full_world_size % cluster->world_size == 0) {
    return;
  }
  errors->push_back(absl::StrCat(kFullWorldSize, " is \"", PrintableLine(text), "\": it is no multiple of the ",
                                 cluster->world_size, " processes that ", cluster->source, " says, up to ",
                                 kMaxProcesses));
}

std::string Claim(const Cluster& cluster) {
  return absl::StrCat(cluster.source, " says rank ", cluster.rank, " of ", cluster.world_size);
}

// True if rank or world size differ. Parameter servers and evaluators have no rank to compare with a launcher's.
bool Disagree(const Cluster& a, const Cluster& b) {
  if (a.rank < 0 || b.rank < 0) return false;
  return a.rank != b.rank || a.world_size != b.world_size;
}

// srun --mpi may also set PMI's variables, which have no address for rank 0. This replaces their description by that of
// Slurm's own variables.
void AskTheResourceManager(const Environment& environment, Cluster* cluster) {
  if (cluster->world_size == 1 || !cluster->coordinator.empty() || !cluster->job.empty()) return;
  for (const Launcher& launcher : Launchers()) {
    if (!launcher.is_resource_manager) continue;
    std::vector<std::string> wrong;
    std::optional<Cluster> other = launcher.read(environment, &wrong);
    if (!other || !wrong.empty() || Disagree(*cluster, *other)) continue;
    *cluster = *std::move(other);
    return;
  }
}

}  // namespace

absl::StatusOr<std::optional<Cluster>> ResolveCluster(const Environment& environment) {
  std::vector<std::string> errors;
  std::vector<Cluster> found;
  if (environment.Has("TF_CONFIG")) {
    std::optional<Cluster> cluster = ParseTfConfig(environment.Get("TF_CONFIG"), &errors);
    if (cluster) found.push_back(*std::move(cluster));
  }
  for (const Launcher& launcher : Launchers()) {
    if (launcher.is_resource_manager && !(found.empty() && errors.empty())) continue;
    std::vector<std::string> wrong;
    std::optional<Cluster> cluster = launcher.read(environment, &wrong);
    for (const std::string& what : wrong) errors.push_back(absl::StrCat(launcher.name, ": ", what));
    if (cluster && wrong.empty()) found.push_back(*std::move(cluster));
  }
  for (size_t i = 1; i < found.size(); ++i) {
    if (!Disagree(found[0], found[i])) continue;
    errors.push_back(absl::StrCat(Claim(found[0]), ", and ", Claim(found[i]), "; unset the variables of one of them"));
  }
  if (!found.empty()) AskTheResourceManager(environment, &found[0]);
  if (!found.empty()) ReadFullWorldSize(environment, &found[0], &errors);
  if (!errors.empty()) {
    return WithExitCode(absl::InvalidArgumentError(absl::StrCat(
                            "the environment describes no cluster that could be:\n  ", absl::StrJoin(errors, "\n  "))),
                        kExitUsage);
  }
  if (found.empty() || IsAlone(found[0])) return std::optional<Cluster>();
  return std::optional<Cluster>(std::move(found[0]));
}

}  // namespace tandem
