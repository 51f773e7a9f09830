#include "cluster/launchers.h"

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/printable.h"
#include "cluster/address.h"

namespace tandem {
namespace {

// The variable with the address of rank 0, for launchers that set no variable for it.
constexpr absl::string_view kCoordinator = "TANDEM_COORDINATOR";

// Names of the variables in which a launcher sets ranks and numbers of processes. Those within a host may be missing.
struct Names {
  absl::string_view rank, size, local_rank, local_size;
};

Cluster ReadRanks(absl::string_view launcher, const Names& names, const Environment& environment,
                  std::vector<std::string>* errors) {
  Cluster cluster;
  cluster.source = absl::StrCat(launcher, " (", names.rank, ", ", names.size, ")");
  cluster.world_size = environment.Number(names.size, 1, kMaxProcesses, errors);
  cluster.rank = environment.Number(names.rank, 0, kMaxProcesses - 1, errors);
  if (errors->empty() && cluster.rank >= cluster.world_size) {
    errors->push_back(absl::StrCat(names.rank, " is ", cluster.rank, " and ", names.size, " is ", cluster.world_size,
                                   "; ranks count from 0 on"));
  }
  if (environment.Has(names.local_rank)) {
    cluster.local_rank = environment.Number(names.local_rank, 0, kMaxProcesses - 1, errors);
  }
  if (environment.Has(names.local_size)) {
    cluster.local_world_size = environment.Number(names.local_size, 1, kMaxProcesses, errors);
    if (errors->empty() && cluster.local_world_size > cluster.world_size) {
      errors->push_back(absl::StrCat(names.local_size, " is ", cluster.local_world_size, ", more than ", names.size,
                                     ", which is ", cluster.world_size));
    }
    if (errors->empty() && cluster.local_rank >= cluster.local_world_size) {
      errors->push_back(absl::StrCat(names.local_rank, " is ", cluster.local_rank, " and ", names.local_size, " is ",
                                     cluster.local_world_size, "; ranks count from 0 on"));
    }
  }
  cluster.task = cluster.rank == 0 ? Task{TaskType::kChief, 0} : Task{TaskType::kWorker, cluster.rank - 1};
  return cluster;
}

// Reads the address in variable `name`, which is needed only if there are several processes.
void ReadCoordinator(absl::string_view name, bool required, const Environment& environment, Cluster* cluster,
                     std::vector<std::string>* errors) {
  cluster->coordinator = environment.Get(name);
  if (cluster->coordinator.empty()) {
    if (required && cluster->world_size > 1) errors->push_back(absl::StrCat(name, " is not set"));
  } else if (const std::string why = WhyNoAddress(cluster->coordinator); !why.empty()) {
    errors->push_back(absl::StrCat(name, " is \"", PrintableLine(cluster->coordinator), "\": ", why));
  }
}

// If no variable names a port for rank 0, the port is computed from values that all processes of a job share and other
// jobs rarely have. It is below the ports that systems assign by themselves.
constexpr int64_t kFirstPort = 10000, kPorts = 20000;

// Returns the port for a step of a Slurm job.
int64_t SlurmPort(int64_t job, int64_t step) { return kFirstPort + (job % kPorts * 31 + step % kPorts) % kPorts; }

// Returns the port for a job that torchrun's agent calls `run`; never the agent's own port. Does not use the number of
// restarts, which each node counts by itself.
int64_t TorchrunPort(int64_t agents_port, absl::string_view run) {
  const auto of_job = static_cast<int64_t>(Fingerprint64(absl::StrCat(agents_port, " ", run)) % kPorts);
  const int64_t port = kFirstPort + of_job;
  return port != agents_port ? port : kFirstPort + (of_job + 1) % kPorts;
}

std::optional<Cluster> ReadTorchrun(const Environment& environment, std::vector<std::string>* errors) {
  // RANK is a common name, so without WORLD_SIZE it counts only if MASTER_ADDR is set too.
  if (!environment.Has("WORLD_SIZE") && !(environment.Has("RANK") && environment.Has("MASTER_ADDR"))) {
    return std::nullopt;
  }
  Cluster cluster =
      ReadRanks("torchrun", {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}, environment, errors);
  if (cluster.world_size == 1 && !environment.Has("MASTER_ADDR")) return cluster;
  // If this variable is True, torchrun's agent listens at MASTER_PORT for PyTorch's processes, so another port is
  // needed.
  const bool has_agent = cluster.world_size > 1 && environment.Get("TORCHELASTIC_USE_AGENT_STORE") == "True";
  if (has_agent && environment.Has(kCoordinator)) {
    ReadCoordinator(kCoordinator, /*required=*/true, environment, &cluster, errors);
    return cluster;
  }
  const std::string host = environment.Get("MASTER_ADDR");
  if (host.empty()) errors->push_back("MASTER_ADDR is not set");
  int64_t port = environment.Number("MASTER_PORT", 1, 65535, errors);
  if (has_agent) port = TorchrunPort(port, environment.Get("TORCHELASTIC_RUN_ID"));
  const bool is_ipv6 = host.find(':') != std::string::npos && host.front() != '[';
  cluster.coordinator = absl::StrCat(is_ipv6 ? "[" : "", host, is_ipv6 ? "]:" : ":", port);
  if (const std::string why = WhyNoAddress(cluster.coordinator); !host.empty() && !why.empty()) {
    errors->push_back(absl::StrCat("MASTER_ADDR is \"", PrintableLine(host), "\": ", why));
  }
  return cluster;
}

std::optional<Cluster> ReadOpenMpi(const Environment& environment, std::vector<std::string>* errors) {
  if (!environment.Has("OMPI_COMM_WORLD_SIZE") && !environment.Has("OMPI_COMM_WORLD_RANK")) return std::nullopt;
  Cluster cluster = ReadRanks(
      "Open MPI",
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
      environment, errors);
  // Each version of Open MPI sets one of these.
  for (absl::string_view name : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}) {
    if (cluster.job.empty() && environment.Has(name)) cluster.job = absl::StrCat("openmpi-", environment.Get(name));
  }
  ReadCoordinator(kCoordinator, /*required=*/false, environment, &cluster, errors);
  return cluster;
}

std::optional<Cluster> ReadPmi(const Environment& environment, std::vector<std::string>* errors) {
  if (!environment.Has("PMI_SIZE") && !environment.Has("PMI_RANK")) return std::nullopt;
  Cluster cluster =
      ReadRanks("PMI", {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"}, environment, errors);
  ReadCoordinator(kCoordinator, /*required=*/false, environment, &cluster, errors);
  return cluster;
}

std::optional<Cluster> ReadJax(const Environment& environment, std::vector<std::string>* errors) {
  if (!environment.Has("JAX_NUM_PROCESSES") && !environment.Has("JAX_PROCESS_ID")) return std::nullopt;
  Cluster cluster = ReadRanks("JAX", {"JAX_PROCESS_ID", "JAX_NUM_PROCESSES", "", ""}, environment, errors);
  ReadCoordinator("JAX_COORDINATOR_ADDRESS", /*required=*/true, environment, &cluster, errors);
  return cluster;
}

std::optional<Cluster> ReadSlurm(const Environment& environment, std::vector<std::string>* errors) {
  // A script that sbatch runs is a single process, however many tasks the job has.
  if (!environment.Has("SLURM_STEP_ID") || !environment.Has("SLURM_PROCID")) return std::nullopt;
  const absl::string_view size = environment.Has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
  Cluster cluster = ReadRanks("Slurm", {"SLURM_PROCID", size, "SLURM_LOCALID", ""}, environment, errors);
  ReadCoordinator(kCoordinator, /*required=*/false, environment, &cluster, errors);
  if (cluster.world_size == 1 || !cluster.coordinator.empty()) return cluster;
  const absl::string_view nodes = environment.Has("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
  const std::string host = FirstHost(environment.Get(nodes));
  if (host.empty()) {
    errors->push_back(
        absl::StrCat(nodes, " is \"", PrintableLine(environment.Get(nodes)), "\", which is no list of ", "hosts"));
  }
  constexpr int64_t kMaxId = int64_t{1} << 40;
  const int64_t job = environment.Number("SLURM_JOB_ID", 0, kMaxId, errors);
  const int64_t step = environment.Number("SLURM_STEP_ID", 0, kMaxId, errors);
  cluster.coordinator = absl::StrCat(host, ":", SlurmPort(job, step));
  return cluster;
}

// No variable of Kubernetes has the number of processes: the job's description has to set one.
std::optional<Cluster> ReadKubernetes(const Environment& environment, std::vector<std::string>* errors) {
  if (!environment.Has("TANDEM_NUM_PROCESSES")) return std::nullopt;
  Cluster cluster =
      ReadRanks("Kubernetes", {"JOB_COMPLETION_INDEX", "TANDEM_NUM_PROCESSES", "", ""}, environment, errors);
  ReadCoordinator(kCoordinator, /*required=*/true, environment, &cluster, errors);
  return cluster;
}

}  // namespace

absl::Span<const Launcher> Launchers() {
  static constexpr Launcher kLaunchers[] = {
      {"torchrun", false, ReadTorchrun}, {"Open MPI", false, ReadOpenMpi}, {"PMI", false, ReadPmi},
      {"JAX", false, ReadJax},           {"Slurm", true, ReadSlurm},       {"Kubernetes", true, ReadKubernetes},
  };
  return kLaunchers;
}

std::string FirstHost(absl::string_view node_list) {
  std::string host;
  for (size_t i = 0; i < node_list.size() && node_list[i] != ','; ++i) {
    if (node_list[i] != '[') {
      host += node_list[i];
      continue;
    }
    // Of the ranges in brackets, only the first number counts.
    const size_t end = node_list.find(']', i), stop = node_list.find_first_of("-,]", i);
    if (end == absl::string_view::npos || stop == i + 1) return "";
    absl::StrAppend(&host, node_list.substr(i + 1, stop - i - 1));
    i = end;
  }
  return WhyNoAddress(absl::StrCat(host, ":1")).empty() ? host : "";
}

}  // namespace tandem
