// estimator/horovod/horovod.h with arguments that it cannot use, in a process that trains by itself.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/host_tensor.h"
#include "cluster/cluster.h"
#include "estimator/horovod/horovod.h"
#include "estimator/test_models.h"
#include "frontends/optimizers.h"
#include "gtest/gtest.h"
#include "tests/errors/api_edge.h"

namespace tandem::edge {
namespace {

namespace hvd = horovod;

std::vector<Row> Ops() {
  Table t;
  for (const auto& [what, bad, says] :
       {std::tuple{"nothing", &World::none, "never set"}, std::tuple{"a tensor that is gone", &World::gone, "gone"}}) {
    t.Add(
        "Allreduce", what, [bad](World& w) { return hvd::Allreduce(w.*bad); }, says, "cross_replica");
    t.Add(
        "Broadcast", what, [bad](World& w) { return hvd::Broadcast(w.*bad, 0); }, says, "cross_replica");
    t.Add(
        "Allgather", what, [bad](World& w) { return hvd::Allgather(w.*bad); }, says, "cross_replica");
  }
  t.Add(
      "Allreduce", "rows", [](World& w) { return hvd::Allreduce(w.x); }, "", "cross_replica");
  t.Add(
      "Broadcast", "rows", [](World& w) { return hvd::Broadcast(w.x, 0); }, "rows of the batch");
  t.Add(
      "Broadcast", "integers",
      [](World& w) {
        return hvd::Broadcast(ReduceSum(w.ints, std::vector<int64_t>{0, 1}), 0);
      },
      "Cast");
  t.Add(
      "Broadcast", "no such root", [](World& w) { return hvd::Broadcast(w.w, -1); }, "root_rank is -1");
  t.Add(
      "Broadcast", "a root behind all", [](World& w) { return hvd::Broadcast(w.w, 1 << 30); }, "root_rank is");
  t.Add(
      "Allgather", "rows", [](World& w) { return hvd::Allgather(w.image); }, "rows of the batch");
  return t.rows();
}

TEST(HorovodEdgeTest, Ops) { Check(Ops()); }

TEST(HorovodEdgeTest, Processes) {
  hvd::Shutdown();  // what other tests have begun
  auto init = [](Cluster cluster) { return [cluster] { return hvd::Init(cluster); }; };
  Check({
      {"world_size", "no processes", init({.source = "test", .rank = 0, .world_size = 0})},
      {"rank", "no such rank", init({.source = "test", .rank = -7, .world_size = 2, .coordinator = "localhost:1"})},
      {"rank", "a rank behind all",
       init({.source = "test",
             .rank = 9,
             .world_size = 2,
             .addresses = {{TaskType::kWorker, {"localhost:1", "localhost:2"}}}})},
  });
  EXPECT_FALSE(hvd::IsInitialized()) << "what could not be is no state";
  EXPECT_EQ(hvd::Rank(), -1);
  EXPECT_EQ(hvd::Size(), -1);
  EXPECT_EQ(hvd::LocalRank(), -1);
  EXPECT_EQ(hvd::LocalSize(), -1);
  hvd::Shutdown();
  ASSERT_TRUE(hvd::Init().ok());
  EXPECT_EQ(hvd::Size(), 1);
  hvd::Shutdown();
}

TEST(HorovodEdgeTest, Trainings) {
  Estimator estimator(test::LineModel, hvd::Config(test::Config(test::ModelDir())));
  Check({
      {"root_rank is 7", "another root",
       [&] {
         return estimator.Train(test::LineInput(),
                                {.steps = 1, .hooks = {std::make_shared<hvd::BroadcastGlobalVariablesHook>(7)}});
       }},
  });
}

}  // namespace
}  // namespace tandem::edge
