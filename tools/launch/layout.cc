#include "tools/launch/layout.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/json_string.h"
#include "nlohmann/json.hpp"

namespace tandem {
namespace {

constexpr char kHost[] = "127.0.0.1";

// Environment variables by which other launchers tell a process its task. If such a launcher started this one, they
// describe this launcher and not its tasks.
constexpr absl::string_view kOfOtherLaunchers[] = {
    "TF_CONFIG",
    // These variables are set by torchrun.
    "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "GROUP_RANK",
    "GROUP_WORLD_SIZE", "ROLE_RANK", "ROLE_NAME", "ROLE_WORLD_SIZE", "TORCHELASTIC_USE_AGENT_STORE",
    // These variables are set by MPI.
    "MPI_LOCALRANKID", "MPI_LOCALNRANKS",
    // These variables are set by JAX.
    "JAX_PROCESS_ID", "JAX_NUM_PROCESSES", "JAX_COORDINATOR_ADDRESS",
    // Slurm sets these for a job step. Variables of the whole job are not removed, because programs use them for more
    // than ranks.
    "SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_ID", "SLURM_STEPID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NODELIST",
    // These variables are set in Kubernetes.
    "JOB_COMPLETION_INDEX", "TANDEM_NUM_PROCESSES", "TANDEM_COORDINATOR",
    // This variable is set by another tandem-launch.
    "TANDEM_FULL_WORLD_SIZE"};
// Prefixes of the variables of Open MPI, and of MPICH and Intel MPI. A task that uses MPI would take these variables
// for its own.
constexpr absl::string_view kPrefixesOfOtherLaunchers[] = {"OMPI_COMM_WORLD_", "PMI_", "PMIX_"};

bool IsOfOtherLauncher(absl::string_view name) {
  for (absl::string_view other : kOfOtherLaunchers) {
    if (name == other) return true;
  }
  for (absl::string_view prefix : kPrefixesOfOtherLaunchers) {
    if (absl::StartsWith(name, prefix)) return true;
  }
  return false;
}

std::string TfConfig(absl::Span<const Task> tasks, absl::Span<const int> ports, const Task& task) {
  nlohmann::json config;
  for (size_t i = 0; i < tasks.size(); ++i) {
    config["cluster"][std::string(Name(tasks[i].type))].push_back(absl::StrCat(kHost, ":", ports[i]));
  }
  config["task"]["type"] = std::string(Name(task.type));
  config["task"]["index"] = task.index;
  return JsonString(config);
}

}  // namespace

std::string Label(const Task& task) { return absl::StrCat(Name(task.type), " ", task.index); }

int64_t FewerWorkers(int64_t workers, int64_t full) {
  for (--workers; workers > 0 && full % workers != 0; --workers) {
  }
  return workers;
}

int64_t MoreWorkers(int64_t workers, int64_t full) {
  for (++workers; workers <= full && full % workers != 0; ++workers) {
  }
  return workers <= full ? workers : 0;
}

std::vector<Task> TasksOf(const Layout& layout) {
  std::vector<Task> tasks;
  const int64_t chiefs = layout.parameter_servers > 0 ? 1 : 0;
  if (chiefs > 0) tasks.push_back({TaskType::kChief, 0});
  for (int64_t i = 0; i < layout.workers - chiefs; ++i) tasks.push_back({TaskType::kWorker, i});
  for (int64_t i = 0; i < layout.parameter_servers; ++i) tasks.push_back({TaskType::kParameterServer, i});
  if (layout.evaluator) tasks.push_back({TaskType::kEvaluator, 0});
  return tasks;
}

int64_t NumPorts(const Layout& layout) {
  if (layout.variables == Variables::kTorchrun) return 1;
  return layout.workers + layout.parameter_servers + (layout.evaluator ? 1 : 0);
}

std::map<std::string, std::string> TaskEnvironment(const std::map<std::string, std::string>& inherited,
                                                   const Layout& layout, absl::Span<const int> ports, int64_t index,
                                                   int64_t restarts) {
  std::map<std::string, std::string> environment;
  for (const auto& [name, value] : inherited) {
    if (!IsOfOtherLauncher(name)) environment.emplace(name, value);
  }
  environment["TANDEM_RESTART_COUNT"] = absl::StrCat(restarts);
  if (layout.full_workers > layout.workers) {
    environment["TANDEM_FULL_WORLD_SIZE"] = absl::StrCat(layout.full_workers);
  }
  if (layout.variables == Variables::kTfConfig) {
    const std::vector<Task> tasks = TasksOf(layout);
    environment["TF_CONFIG"] = TfConfig(tasks, ports, tasks[index]);
    return environment;
  }
  environment["RANK"] = environment["LOCAL_RANK"] = absl::StrCat(index);
  environment["WORLD_SIZE"] = environment["LOCAL_WORLD_SIZE"] = absl::StrCat(layout.workers);
  environment["MASTER_ADDR"] = kHost;
  environment["MASTER_PORT"] = absl::StrCat(ports[0]);
  return environment;
}

}  // namespace tandem
