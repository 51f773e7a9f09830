#include "tests/compiled/workers.h"

#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/collectives/testing/thread_group.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/format/index.h"

namespace tandem::compiled {

absl::StatusOr<Workers> Workers::Make(const std::shared_ptr<const Executable>& executable, int count) {
  Workers result;
  result.executable_ = executable;
  for (std::unique_ptr<ProcessGroup>& group : MakeThreadGroups(count)) {
    Worker worker;
    worker.group = std::move(group);
    worker.variables = std::make_shared<VariableStore>(executable->num_replicas() / count);
    Session::Options options{std::make_shared<ThreadPool>(1)};
    options.group = worker.group.get();
    TD_ASSIGN_OR_RETURN(worker.session, CreateSession(executable, worker.variables, options));
    result.workers_.push_back(std::move(worker));
  }
  return result;
}

absl::Status Workers::Assign(const TensorMap& values) {
  for (Worker& worker : workers_) {
    for (const auto& [name, value] : values) TD_RETURN_IF_ERROR(worker.variables->Assign(name, value));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<StepResult>> Workers::Run(const StepInputs& inputs) {
  std::vector<int> fetches(executable_->index().outputs.size());
  std::iota(fetches.begin(), fetches.end(), 0);
  std::vector<absl::StatusOr<StepResult>> results(workers_.size());
  std::vector<std::thread> threads;
  const size_t local = inputs.inputs.size() / workers_.size();
  for (size_t w = 0; w < workers_.size(); ++w) {
    StepInputs mine;
    mine.inputs.assign(inputs.inputs.begin() + w * local, inputs.inputs.begin() + (w + 1) * local);
    mine.scalars = inputs.scalars;
    for (const std::vector<HostTensor>& replica : inputs.inputs) {
      mine.replica_rows.push_back(replica.empty() ? 0 : replica[0].shape()[0]);
    }
    threads.emplace_back([this, w, mine = std::move(mine), &fetches, &results] {
      results[w] = workers_[w].session->Run(mine, fetches);
      if (!results[w].ok()) workers_[w].group->Abort(results[w].status());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<StepResult> done;
  for (absl::StatusOr<StepResult>& result : results) {
    TD_RETURN_IF_ERROR(result.status());
    done.push_back(*std::move(result));
  }
  return done;
}

std::vector<std::string> Workers::Differences(const TensorMap& values) const {
  std::vector<std::string> lines;
  for (size_t w = 0; w < workers_.size(); ++w) {
    for (const auto& [name, value] : values) {
      for (int d = 0; d < workers_[w].variables->num_devices(); ++d) {
        if (std::memcmp(workers_[w].variables->Buffer(name, d), value.raw(), value.byte_size()) == 0) continue;
        lines.push_back(absl::StrCat(name, " on device ", d, " of worker ", w, " of ", workers_.size(),
                                     " has other bits than on one process"));
      }
    }
  }
  return lines;
}

}  // namespace tandem::compiled
