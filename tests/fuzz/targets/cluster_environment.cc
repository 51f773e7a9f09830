// The variables by which launchers describe a cluster: lines NAME=VALUE.
#include "absl/strings/str_split.h"
#include "cluster/address.h"
#include "cluster/launchers.h"
#include "cluster/resolver.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {

std::vector<std::string> Seeds() {
  return {R"(TF_CONFIG={"cluster": {"chief": ["c:1"], "worker": ["w:1", "[::1]:2"], "ps": ["10.0.0.1:3"]}, )"
          R"("task": {"type": "worker", "index": 1}})",
          "RANK=3\nWORLD_SIZE=4\nLOCAL_RANK=1\nLOCAL_WORLD_SIZE=2\nMASTER_ADDR=10.0.0.1\nMASTER_PORT=29500",
          "RANK=1\nWORLD_SIZE=2\nMASTER_ADDR=a\nMASTER_PORT=1\nTORCHELASTIC_USE_AGENT_STORE=True\n"
          "TORCHELASTIC_RUN_ID=none",
          "OMPI_COMM_WORLD_RANK=1\nOMPI_COMM_WORLD_SIZE=2\nOMPI_COMM_WORLD_LOCAL_RANK=1\n"
          "OMPI_COMM_WORLD_LOCAL_SIZE=2\nMASTER_ADDR=localhost",
          "SLURM_PROCID=1\nSLURM_NTASKS=4\nSLURM_STEP_NUM_TASKS=2\nSLURM_LOCALID=0\nSLURM_STEP_ID=0\n"
          "SLURM_JOB_ID=7\nSLURM_STEP_NODELIST=node[03-04,7],x1",
          "JOB_COMPLETION_INDEX=2\nTANDEM_NUM_PROCESSES=3\nTANDEM_COORDINATOR=job-0.svc:2222",
          "PMI_RANK=0\nPMI_SIZE=2\nMPI_LOCALRANKID=0\nMPI_LOCALNRANKS=2",
          "node[0001-0004,7],x[1-2]y"};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tandem::fuzz::Require;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  std::map<std::string, std::string> variables;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    std::pair<std::string, std::string> variable = absl::StrSplit(line, absl::MaxSplits('=', 1));
    variables[variable.first] = variable.second;
  }
  const auto cluster = tandem::ResolveCluster(tandem::Environment(variables));
  if (cluster.ok() && cluster->has_value()) {
    tandem::fuzz::NoteAccepted();
    (*cluster)->Text();
  }
  if (tandem::WhyNoAddress(text).empty()) {
    const tandem::HostPort parts = tandem::SplitAddress(text);
    Require(!parts.host.empty() && !parts.port.empty(), "an address has a host and a port");
  }
  (void)tandem::FirstHost(text);
  return 0;
}
