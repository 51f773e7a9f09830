// How trainings with parameter servers end, as real processes.
#include <gtest/gtest.h>

#include <string>

#include "estimator/parameter_server/test_jobs.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary

TEST(ServedEnds, NobodyWaitsForAChiefWhoseInputHasEnded) {
  const Job job(2, 2, ModelDir());
  const Work work = [](int task, Estimator& e) { return e.Train(LineInput(64, 8, task == 0 ? 1 : 20)); };
  const auto change = [](RunConfig* config) {
    config->auto_shard = AutoShard::kOff;
    config->max_staleness = 3;
  };
  Processes tasks(
      4, [&](int task) { return RunTask(job, LineModel, task, work, change); }, /*most_seconds=*/40);
  EXPECT_EQ(tasks.WaitAll(), 0);
  EXPECT_EQ(BaseName(Latest(job.model_dir)), "model.ckpt-168");
}

}  // namespace
}  // namespace tandem
