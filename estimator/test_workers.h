// Runs several workers of a cluster on this machine, for the Estimator's tests.
#ifndef TANDEM_ESTIMATOR_TEST_WORKERS_H_
#define TANDEM_ESTIMATOR_TEST_WORKERS_H_

#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "cluster/testing_address.h"
#include "estimator/test_models.h"
#include "gtest/gtest.h"
#include "runtime/collectives/testing/processes.h"

namespace tandem::test {

// Calls `work` in `count` processes, each with the RunConfig of a worker that has two devices and saves nothing.
// Returns true if it returns true in all of them. Call it while this process has one thread.
inline bool AsWorkers(int count, const std::function<bool(int rank, RunConfig)>& work) {
  const std::string dir = ModelDir();
  const std::string coordinator = FreeAddress();
  Processes processes(count, [&](int rank) {
    RunConfig config = Config(dir);
    config.train_distribute = MultiWorkerMirroredStrategy({"cpu:0", "cpu:1"});
    config.save_checkpoints_steps = 0;
    config.save_summary_steps = 0;
    config.cluster = Cluster{.source = "a test",
                             .task = {rank == 0 ? TaskType::kChief : TaskType::kWorker, rank == 0 ? 0 : rank - 1},
                             .rank = rank,
                             .world_size = count,
                             .coordinator = coordinator};
    const bool right = work(rank, config);
    if (!right) std::cerr << "rank " << rank << " is wrong\n";
    return right ? 0 : 1;
  });
  return processes.WaitAll() == 0;
}

// Returns what `work` returns in each of `count` processes of one device each, by rank. Otherwise like AsWorkers.
inline std::vector<std::string> ResultsOfWorkers(int count,
                                                 const std::function<std::string(int rank, RunConfig)>& work) {
  const std::string dir = ModelDir("results");
  const auto file = [&](int rank) { return absl::StrCat(dir, "/", rank, ".txt"); };
  EXPECT_TRUE(AsWorkers(count, [&](int rank, RunConfig config) {
    config.train_distribute->devices.resize(1);
    std::ofstream(file(rank)) << work(rank, std::move(config));
    return true;
  }));
  std::vector<std::string> results;
  for (int rank = 0; rank < count; ++rank) {
    results.push_back(Env::Default()->ReadFile(file(rank)).value_or("nothing"));
  }
  return results;
}

}  // namespace tandem::test

#endif  // TANDEM_ESTIMATOR_TEST_WORKERS_H_
