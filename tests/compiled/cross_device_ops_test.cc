// Cross-device ops, built in and of users, in compiled programs: against the reference, and against the reduction tree.
#include "base/cross_device_ops.h"

#include <atomic>
#include <stdexcept>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/compiled/harness.h"
#include "tests/compiled/workers.h"

namespace tandem::compiled {
namespace {

using ::testing::HasSubstr;

std::atomic<int> batches, broadcasts;

// In the order of the tree over four replicas at most, with an element a task.
class Tree final : public CrossDeviceOps {
 public:
  absl::Status AllReduce(const PerReplica& tensor, ParallelFor parallel_for) override {
    parallel_for(tensor.elements, [&](int64_t i) {
      if (tensor.dtype == DType::kFloat32) Add<float>(tensor, i);
      if (tensor.dtype == DType::kInt64) Add<int64_t>(tensor, i);
    });
    return tensor.dtype == DType::kFloat32 || tensor.dtype == DType::kInt64
               ? absl::OkStatus()
               : absl::UnimplementedError(absl::StrCat("no sums of ", Name(tensor.dtype)));
  }
  absl::Status BatchAllReduce(absl::Span<const PerReplica> tensors, ParallelFor parallel_for) override {
    ++batches;
    return CrossDeviceOps::BatchAllReduce(tensors, parallel_for);
  }
  absl::Status Broadcast(int root, absl::Span<const PerReplica> tensors, ParallelFor parallel_for) override {
    ++broadcasts;
    return CrossDeviceOps::Broadcast(root, tensors, parallel_for);
  }

 private:
  template <typename T>
  static void Add(const PerReplica& tensor, int64_t i) {
    const size_t n = tensor.values.size();
    const auto at = [&](size_t r) -> T& { return static_cast<T*>(tensor.values[r])[i]; };
    T sum = at(0) + at(1);
    if (n == 3) sum += at(2);
    if (n == 4) sum += at(2) + at(3);
    for (size_t r = 0; r < n; ++r) at(r) = sum;
  }
};

// Forgets the last replica.
class Forgetful final : public CrossDeviceOps {
  absl::Status AllReduce(const PerReplica& tensor, ParallelFor) override {
    static_cast<float*>(tensor.values[0])[tensor.elements - 1] += 1;
    return absl::OkStatus();
  }
};

class Failing final : public CrossDeviceOps {
  absl::Status AllReduce(const PerReplica&, ParallelFor) override {
    return absl::UnavailableError("the link between the sockets is down");
  }
};

class Throwing final : public CrossDeviceOps {
  absl::Status AllReduce(const PerReplica& tensor, ParallelFor parallel_for) override {
    parallel_for(100, [](int64_t i) {
      if (i == 50) throw std::out_of_range("task 50");
    });
    return absl::OkStatus();
  }
};

template <typename T>
bool Register(const char* name) {
  return RegisterCrossDeviceOps(name, [] { return std::make_unique<T>(); }).ok();
}
const bool registered = Register<Tree>("Tree") && Register<Forgetful>("Forgetful") && Register<Failing>("Failing") &&
                        Register<Throwing>("Throwing");

// Statistics of a replica, which are averaged, sums that all need before they go on, and a count of integers.
Tensor Loss(GraphBuilder& g, bool sync) {
  // A bias in front of batch norm has no gradient but roundings, which some optimizers blow up.
  Tensor x = layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 12}), {.units = 20, .use_bias = false});
  x = Relu(layers::BatchNormalization(x, {.training = true, .sync = sync}));
  x = layers::Dense(x, {.units = 4});
  g.Output("largest", ReduceMax(x));
  Tensor labels = g.Input("label", DType::kInt32, {kBatch});
  g.Output("labels", ReduceSum(Cast(labels, DType::kInt64)));
  Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, x);
  g.Output("loss", loss);
  return loss;
}

std::vector<std::pair<std::string, Optimizer>> Optimizers() {
  using namespace optimizers;  // NOLINT
  return {{"Sgd", GradientDescent({.learning_rate = 0.1})},
          {"Nesterov", Momentum({.learning_rate = 0.1, .use_nesterov = true, .clip = {.global_norm = 0.2}})},
          {"Adam", Adam({.learning_rate = 0.01, .epsilon = 1e-3})},
          {"RmsProp", RMSprop({.learning_rate = 0.01, .momentum = 0.5, .clip = {.value = 0.02}})}};
}

TEST(CrossDeviceOps, AgreeWithTheReference) {
  for (const char* ops : {"ReductionToOneDevice", "HierarchicalCopyAllReduce", "Tree"}) {
    for (const auto& [name, optimizer] : Optimizers()) {
      for (const std::vector<int64_t>& rows : std::vector<std::vector<int64_t>>{{8, 8}, {8, 3}, {8, 8, 8, 8}}) {
        SCOPED_TRACE(absl::StrCat(ops, " ", name, " ", rows.size(), " devices"));
        const auto build = [&optimizer = optimizer](GraphBuilder& g) { optimizer.Minimize(Loss(g, true)); };
        CompareWithReference(
            build,
            {.devices = static_cast<int>(rows.size()), .batch = 8, .rows = rows, .steps = 3, .cross_device_ops = ops});
      }
    }
  }
}

// The same order of additions, hence the same bits, with devices that have few rows or none.
TEST(CrossDeviceOps, TheTreeOfAUserHasTheBitsOfTheTree) {
  for (const auto& [name, optimizer] : Optimizers()) {
    for (const bool sync : {false, true}) {
      for (const int devices : {2, 3, 4}) {
        for (const int64_t rows : {devices * 8, devices * 8 - 5, 8, 3}) {
          SCOPED_TRACE(absl::StrCat(name, sync, " ", devices, " devices, ", rows, " rows"));
          const auto build = [&optimizer = optimizer, sync](GraphBuilder& g) { optimizer.Minimize(Loss(g, sync)); };
          Options options{.devices = devices, .batch = 8, .steps = 3};
          const Trained tree = Train(build, options, rows);
          options.cross_device_ops = "Tree";
          ExpectSameBits(tree, Train(build, options, rows));
        }
      }
    }
  }
  EXPECT_GT(batches, 0);
}

// Between workers sums are those of the tree; two devices of each get them by a broadcast.
TEST(CrossDeviceOps, OfSeveralWorkers) {
  const auto build = [](GraphBuilder& g) {
    optimizers::Adam({.learning_rate = 0.01, .epsilon = 1e-3}).Minimize(Loss(g, false));
  };
  constexpr int kDevices = 4;
  for (const int64_t rows : {32, 21, 5}) {
    Options options{.devices = kDevices, .batch = 8};
    auto one = Prepare(build, options);
    ASSERT_TRUE(one.ok()) << one.status();
    options.cross_device_ops = "Tree";
    auto mine = Prepare(build, options);
    ASSERT_TRUE(mine.ok()) << mine.status();
    auto workers = Workers::Make(mine->executable, 2);
    ASSERT_TRUE(workers.ok()) << workers.status();
    ASSERT_TRUE(workers->Assign(one->Values()).ok());
    broadcasts = 0;
    std::vector<int64_t> dealt;
    for (int64_t left = rows, d = 0; d < kDevices; ++d) {
      dealt.push_back(std::min<int64_t>(left, 8));
      left -= dealt.back();
    }
    for (int64_t step = 0; step < 3; ++step) {
      const TensorMap batch = RandomInputs(*one->executable, rows, options, static_cast<int>(step));
      StepInputs inputs = Deal(*one, batch, dealt, step);
      ASSERT_TRUE(one->Run(inputs).ok());
      inputs.replica_rows = dealt;
      auto results = workers->Run(inputs);
      ASSERT_TRUE(results.ok()) << results.status();
      EXPECT_THAT(workers->Differences(one->Values()), ::testing::IsEmpty()) << rows << " rows, step " << step;
    }
    EXPECT_GT(broadcasts, 0);
  }
}

// The error of a step that must have one; it changes no variable.
absl::Status RunOnce(const std::string& ops) {
  Options options{.devices = 2, .batch = 8, .cross_device_ops = ops};
  auto program =
      Prepare([](GraphBuilder& g) { optimizers::SGD({.learning_rate = 0.1}).Minimize(Loss(g, false)); }, options);
  if (!program.ok()) return program.status();
  const TensorMap before = program->Values();
  const absl::Status status =
      program->Run(Deal(*program, RandomInputs(*program->executable, 16, options, 0), {8, 8}, 0)).status();
  const TensorMap after = program->Values();
  EXPECT_FALSE(status.ok());
  for (const auto& [name, value] : before) {
    EXPECT_EQ(MaxDifference(ToFloat64(value), ToFloat64(after.at(name))), 0) << name;
  }
  return status;
}

TEST(CrossDeviceOps, MistakesEndTheStep) {
  absl::Status status = RunOnce("Forgetful");
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("cross-device ops \"Forgetful\": AllReduce left replica 1 other bits of Sum (1 element of int64) "
                "than replica 0, from element 0 on; it has to leave the same on all"));
  status = RunOnce("Failing");
  EXPECT_EQ(ExitCodeFor(status), kExitTemporary);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("cross-device ops \"Failing\": AllReduce: the link between the sockets is down"));
  status = RunOnce("Throwing");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("cross-device ops \"Throwing\": AllReduce: threw std::out_of_range: \"task 50\""));
  status = RunOnce("Unknown");
  EXPECT_EQ(ExitCodeFor(status), kExitUsage);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no cross-device ops are registered under \"Unknown\"; "
                                                       "registered: Failing, Forgetful, HierarchicalCopyAllReduce, "));
}

}  // namespace
}  // namespace tandem::compiled
