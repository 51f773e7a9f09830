#include "runtime/session/concurrent_sessions.h"

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/cpu/onednn/onednn_layout.h"
#include "runtime/cpu/run/cpu_device_class.h"
#include "runtime/testing/executable_builder.h"
#include "runtime/testing/library_calls.h"
#include "runtime/testing/random_floats.h"

namespace tandem {
namespace {

constexpr int kIn = 40, kHidden = 33, kOut = 5, kLanes = 4, kRowsPerLane = 8, kRows = kLanes * kRowsPerLane;

// Two layers whose weights are packed once, for predictions.
std::shared_ptr<const Executable> TwoLayers(int microbatch_rows = kRowsPerLane) {
  ExecutableBuilder b(1, kLanes, kRowsPerLane, microbatch_rows);
  b.index().mode = "predict";
  const int w = b.Variable("w", {kIn, kHidden}), v = b.Variable("v", {kHidden, kOut}), x = b.Input("x", {kBatch, kIn});
  const auto packed = [&](const char* name, int64_t depth, int64_t columns) {
    const format::LibraryCall product = CallOf(MatMulOf(microbatch_rows, depth, columns));
    const int step = b.Step(name, {static_cast<int64_t>(*PackedWeightsBytes(product) / 4)});
    b.index().programs[0].buffers[step].common = true;
    return step;
  };
  const int packed_w = packed("packed_w", kIn, kHidden), packed_v = packed("packed_v", kHidden, kOut);
  const int h = b.Microbatch("h", {kBatch, kHidden}), y = b.Batch("y", {kBatch, kOut});
  b.Global();
  b.PackMatMul("pack_w", w, packed_w, {kIn, kHidden}, microbatch_rows);
  b.PackMatMul("pack_v", v, packed_v, {kHidden, kOut}, microbatch_rows);
  for (format::Command& command : b.index().programs[0].sections[0].commands) command.invariant = true;
  b.Map();
  b.MatMul("first", x, packed_w, h, {}, -1, /*packed=*/true);
  b.MatMul("second", h, packed_v, y, {}, -1, /*packed=*/true);
  b.Output("y", y);
  auto e = Executable::Parse(BuildExecutable(b.Take(), {}));
  EXPECT_TRUE(e.ok()) << e.status();
  return *e;
}

std::shared_ptr<VariableStore> Weights(const Executable& executable) {
  auto variables = std::make_shared<VariableStore>(1);
  EXPECT_TRUE(CreateSessionVariables(executable, *variables).ok());
  for (const auto& v : executable.index().variables) {
    const auto value = HostTensor::FromVector<float>(v.shape, RandomFloats(NumElements(v.shape), v.shape[0]));
    EXPECT_TRUE(variables->Assign(v.name, value).ok());
  }
  return variables;
}

std::unique_ptr<ConcurrentSessions> Sessions(const std::shared_ptr<const Executable>& executable, int threads,
                                             int steps = 0) {
  auto sessions = ConcurrentSessions::Create(CpuDeviceClass(), executable, Weights(*executable),
                                             {.threads = threads, .steps = steps});
  EXPECT_TRUE(sessions.ok()) << sessions.status();
  return *std::move(sessions);
}

// Rows [begin, begin + count) of a batch of examples without end.
HostTensor Examples(int64_t begin, int64_t count) {
  static const std::vector<float>& numbers = *new std::vector<float>(RandomFloats(4 * kRows * kIn, 1));
  HostTensor x(DType::kFloat32, {count, kIn});
  std::memcpy(x.raw(), numbers.data() + begin * kIn, x.byte_size());
  return x;
}

HostTensor Predict(ConcurrentSessions& sessions, const HostTensor& x) {
  StepInputs inputs;
  inputs.inputs = {{x}};
  auto result = sessions.Run(inputs, {0});
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? result->outputs[0] : HostTensor();
}

// True if `y` has the bits of rows from `begin` on of `all`.
bool HasRows(const HostTensor& y, const HostTensor& all, int64_t begin) {
  return std::memcmp(y.raw(), all.data<float>() + begin * kOut, y.byte_size()) == 0;
}

TEST(ConcurrentSessionsTest, ARowHasTheSameBitsInEveryStep) {
  for (int microbatch_rows : {8, 4, 2, 1}) {
    const auto executable = TwoLayers(microbatch_rows);
    const auto alone = Sessions(executable, 1);
    const HostTensor all = Predict(*alone, Examples(0, kRows));
    for (int threads : {1, 2, 3}) {
      const auto sessions = Sessions(executable, threads);
      for (int64_t rows = 1; rows <= kRows; ++rows) {
        const int64_t begin = kRows - rows;
        EXPECT_TRUE(HasRows(Predict(*sessions, Examples(begin, rows)), all, begin))
            << rows << " rows in microbatches of " << microbatch_rows << " on " << threads << " threads";
      }
    }
  }
}

TEST(ConcurrentSessionsTest, StepsOfManyCallers) {
  const auto executable = TwoLayers();
  const HostTensor all = Predict(*Sessions(executable, 1), Examples(0, kRows));
  for (int threads : {1, 2, 4}) {
    for (int steps : {0, 1, 3, 8}) {
      const auto sessions = Sessions(executable, threads, steps);
      std::vector<std::thread> callers;
      for (int caller = 0; caller < 6; ++caller) {
        callers.emplace_back([&, caller] {
          for (int i = 0; i < 50; ++i) {
            const int64_t begin = (7 * caller + i) % kRows, rows = 1 + (3 * i + caller) % (kRows - begin);
            ASSERT_TRUE(HasRows(Predict(*sessions, Examples(begin, rows)), all, begin));
          }
        });
      }
      for (std::thread& caller : callers) caller.join();
    }
  }
}

// Errors leave nothing taken.
TEST(ConcurrentSessionsTest, AnErrorIsItsCallersAlone) {
  const auto executable = TwoLayers();
  const auto sessions = Sessions(executable, 2, 2);
  const HostTensor all = Predict(*sessions, Examples(0, kRows));
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 50; ++i) {
        if ((caller + i) % 2 == 0) {
          ASSERT_TRUE(HasRows(Predict(*sessions, Examples(i % 8, 3)), all, i % 8));
          continue;
        }
        StepInputs wrong;
        wrong.inputs = {{HostTensor::Zeros(DType::kFloat32, {1, kIn + 1})}};
        ASSERT_EQ(sessions->Run(wrong, {0}).status().code(), absl::StatusCode::kInvalidArgument);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

// Several of them in a process, of which some end while others run.
TEST(ConcurrentSessionsTest, SomeEndWhileOthersRun) {
  const auto executable = TwoLayers();
  const HostTensor all = Predict(*Sessions(executable, 1), Examples(0, kRows));
  std::vector<std::thread> owners;
  for (int owner = 0; owner < 4; ++owner) {
    owners.emplace_back([&, owner] {
      for (int i = 0; i < 10; ++i) {
        const auto own = Sessions(executable, 1 + owner % 3);
        for (int64_t rows : {1, 9, kRows}) ASSERT_TRUE(HasRows(Predict(*own, Examples(0, rows)), all, 0));
      }
    });
  }
  for (std::thread& owner : owners) owner.join();
}

// The packed weights exist once.
TEST(ConcurrentSessionsTest, SiblingsReadThePackedWeightsOfTheFirst) {
  const auto executable = TwoLayers();
  Session::Options options;
  options.pool = std::make_shared<ThreadPool>(1);
  const auto variables = Weights(*executable);
  auto first = Session::Create(CpuDeviceClass(), executable, variables, options);
  ASSERT_TRUE(first.ok()) << first.status();
  StepInputs inputs;
  inputs.inputs = {{Examples(0, kRows)}};
  const HostTensor all = (*first)->Run(inputs, {0})->outputs[0];
  auto sibling = (*first)->MakeSibling(options.pool);
  ASSERT_TRUE(sibling.ok()) << sibling.status();
  // A session that computed the packed weights by itself would see this.
  const std::vector<float> zeros(kIn * kHidden);
  ASSERT_TRUE(variables->Assign("w", HostTensor::FromVector<float>({kIn, kHidden}, zeros)).ok());
  EXPECT_TRUE((*sibling)->Run(inputs, {0})->outputs[0].BitEqual(all));
  EXPECT_EQ((*sibling)->FindNonFinite(inputs).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace tandem
