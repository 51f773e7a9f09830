#include "estimator/job/served_task.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "cluster/address.h"
#include "passes/base/build_id.h"

namespace tandem {

const std::vector<std::string>& ServedTask::servers() const {
  return cluster().addresses.at(TaskType::kParameterServer);
}

int ServedTask::processes_here() const {
  const auto own = cluster().addresses.find(cluster().task.type);
  if (own == cluster().addresses.end() || cluster().task.index >= static_cast<int64_t>(own->second.size())) return 1;
  const std::string here = SplitAddress(own->second[cluster().task.index]).host;
  int tasks = 0;
  for (TaskType type : {TaskType::kChief, TaskType::kWorker, TaskType::kParameterServer}) {
    const auto addresses = cluster().addresses.find(type);
    if (addresses == cluster().addresses.end()) continue;
    tasks += static_cast<int>(std::count_if(addresses->second.begin(), addresses->second.end(),
                                            [&](const std::string& a) { return SplitAddress(a).host == here; }));
  }
  return std::max(tasks, 1);
}

StepPart ServedTask::PartOfStep() const {
  return {.servers = static_cast<int>(servers().size()),
          .server = is_server() ? static_cast<int>(cluster().task.index) : -1};
}

std::string ServedTask::WhoIs() const {
  Env* const env = context().config.file_env();
  return absl::StrCat(Name(cluster().task.type), " ", cluster().task.index, " at ", env->HostName(), ", pid ",
                      env->ProcessId());
}

std::map<std::string, std::string> ServedTask::FactsOf(const ModeProgram& program, const BatchDealer& dealer) const {
  const RunConfig& config = context().config;
  std::map<std::string, std::string> facts = {{"build", BuildId()},
                                              {"seed", absl::StrCat(config.seed.value_or(0))},
                                              {"batch size", absl::StrCat(dealer.batch_size())},
                                              {"auto_shard", std::string(Name(config.auto_shard))},
                                              {"set of numbers of model_fn", program.NumbersText()}};
  if (config.auto_shard == AutoShard::kBatch) facts["input"] = dealer.data_fingerprint();
  return facts;
}

}  // namespace tandem
