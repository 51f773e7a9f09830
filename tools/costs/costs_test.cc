#include "tools/costs/costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/env.h"
#include "base/exit_code.h"
#include "estimator/trace/tracer.h"
#include "passes/analysis/command_cost.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

constexpr int kLanes = 4, kRowsPerLane = 24, kMicrobatchRows = 16, kIn = 64, kOut = 32;
enum Id { kMatMul, kGradient, kLaneSum, kReduce, kUpdate };

std::shared_ptr<const Executable> Linear() {
  ExecutableBuilder b(/*replicas=*/1, kLanes, kRowsPerLane, kMicrobatchRows);
  b.index().mode = "train";
  b.index().key = "key of linear";
  const int sgd = b.Kernel("sgd", 0, format::Domain::kElements);
  b.index().kernels[sgd].flops_per_row = 2;
  const int w = b.Variable("w", {kIn, kOut}), x = b.Input("x", {kBatch, kIn}), y = b.Microbatch("y", {kBatch, kOut});
  const int dw = b.Lane("dw", {kIn, kOut}, format::ReduceKind::kSum), sum = b.Step("sum", {kIn, kOut});
  b.Map();
  b.MatMul("dense/MatMul", x, w, y);
  b.MatMulWeightGrad("gradients/dense/MatMul", x, y, dw);
  b.Global();
  b.LaneReduce(format::ReduceKind::kSum, {dw}, {sum});
  b.Launch("SGD/Apply", sgd, {sum}, {w}, kIn * kOut);
  auto executable = Executable::Parse(BuildExecutable(b.Take(), {{format::SegmentKind::kElfObject, "k", "code"}}));
  EXPECT_TRUE(executable.ok()) << executable.status();
  return *executable;
}

// Two threads, two lanes each of a microbatch of 16 and one of 8 rows: 4 and 2 us for either product, 1 us for the sum;
// then 3 us for the reduction, whose second half the second thread takes, and 5 us for the update.
CommandTrace RunOnce(int64_t start) {
  CommandTrace trace;
  trace.threads.resize(2);
  for (int lane = 0; lane < kLanes; ++lane) {
    std::vector<CommandRecord>& thread = trace.threads[lane % 2];
    int64_t t = start + (lane / 2) * 13000;
    auto add = [&](int id, int rows, int64_t ns) {
      thread.push_back({id, 0, lane, rows, t, t + ns});
      t += ns;
    };
    add(kMatMul, 16, 4000);
    add(kGradient, 16, 4000);
    add(kMatMul, 8, 2000);
    add(kGradient, 8, 2000);
    add(kLaneSum, 0, 1000);
  }
  const int64_t t = start + 26000;
  trace.threads[0].push_back({kReduce, 0, -1, 0, t, t + 1500});
  trace.threads[1].push_back({kReduce, 0, -1, 0, t + 1500, t + 3000});
  trace.threads[0].push_back({kUpdate, 0, -1, 0, t + 3000, t + 8000});
  return trace;
}

constexpr double kRunSeconds = 40e-6;  // 34 us are commands'

Measurement TwoRuns(const Executable& executable) {
  MeasurementBuilder builder(executable);
  builder.AddRun(RunOnce(1000), kRunSeconds);
  builder.AddRun(RunOnce(101000), kRunSeconds);
  return builder.Finish();
}

TEST(Costs, MeasurementCountsCallsRowsAndTime) {
  const auto executable = Linear();
  const Measurement m = TwoRuns(*executable);
  EXPECT_EQ(m.threads, 2);
  EXPECT_EQ(m.runs, 2);
  EXPECT_EQ(m.run_seconds, kRunSeconds);
  EXPECT_EQ(m.commands[kMatMul].calls, 2 * 8);
  EXPECT_EQ(m.commands[kMatMul].rows, 2 * kLanes * kRowsPerLane);
  EXPECT_NEAR(m.commands[kMatMul].seconds, 2 * 24e-6, 1e-12);
  EXPECT_EQ(m.commands[kLaneSum].calls, 2 * 4);
  EXPECT_NEAR(m.commands[kMatMul].median_seconds, 4e-6, 1e-12);
  EXPECT_EQ(m.commands[kMatMul].median_rows, 16);
  EXPECT_EQ(m.commands[kReduce].calls, 2);  // one call, on two threads
  EXPECT_NEAR(m.commands[kReduce].seconds, 2 * 3e-6, 1e-12);
}

TEST(Costs, AGenericMachineIsSaidToBeOne) {
  const auto executable = Linear();
  const auto generic = BuiltInMachineModel("generic-avx512"), zen4 = BuiltInMachineModel("zen4");
  ASSERT_TRUE(generic.ok() && zen4.ok());
  const std::string text = CostsText(CostsJson(*executable, *generic, 2, nullptr));
  EXPECT_THAT(text, HasSubstr("There is no model of this CPU"));
  EXPECT_THAT(text, HasSubstr("tandem-calibrate --output=machine.txt"));
  EXPECT_FALSE(CostsJson(*executable, *zen4, 2, nullptr).contains("note"));
}

TEST(Costs, ExpectedTimesAddUp) {
  const auto executable = Linear();
  const MachineModel machine = *BuiltInMachineModel("zen4");
  const Json costs = CostsJson(*executable, machine, 2, nullptr);
  ASSERT_EQ(costs["commands"].size(), 5u);
  double share = 0;
  for (const Json& command : costs["commands"]) {
    share += command["share"].get<double>();
    EXPECT_GE(command["expected_us"], command["limit_us"]);
    EXPECT_FALSE(command.contains("measured_us"));
  }
  EXPECT_NEAR(share, 1, 2e-3);
  const Json& matmul = costs["commands"][kMatMul];
  EXPECT_EQ(matmul["calls"], 8);
  EXPECT_EQ(matmul["flops"], 2 * kMicrobatchRows * kIn * kOut);
  const Cost cost = ExpectedCost(machine, *executable, ListCommands(*executable)[kMatMul], kMicrobatchRows, 2);
  EXPECT_NEAR(matmul["expected_us"], 1e6 * cost.seconds, 1e-2);
  EXPECT_EQ(costs["commands"][kLaneSum]["calls"], 4);
  EXPECT_FALSE(costs.contains("measured_us"));
}

TEST(Costs, MeasuredTimesAddUpWithIdleThreads) {
  const auto executable = Linear();
  const Measurement m = TwoRuns(*executable);
  const Json costs = CostsJson(*executable, *BuiltInMachineModel("zen4"), 7, &m);
  EXPECT_EQ(costs["threads"], 2);  // those of the measurement
  EXPECT_EQ(costs["measured_us"], 40);
  double share = 0;
  for (const Json& command : costs["commands"]) share += command["share"].get<double>();
  EXPECT_NEAR(share, 34.0 / 40, 2e-3);
  EXPECT_NEAR(costs["idle_share"], 6.0 / 40, 1e-3);
  EXPECT_NEAR(costs["of_limit"], costs["limit_us"].get<double>() / 40, 1e-3);
  const Json& matmul = costs["commands"][kMatMul];
  EXPECT_NEAR(matmul["mean_us"], 3, 1e-9);  // of 4 and 2
  EXPECT_NEAR(matmul["measured_us"], 4, 1e-9);
  EXPECT_NEAR(matmul["gflops"], 1e-9 * 2 * kMicrobatchRows * kIn * kOut / 4e-6, 0.01);
  EXPECT_NEAR(matmul["share"], 12.0 / 40, 1e-3);
  EXPECT_NEAR(matmul["of_limit"], matmul["limit_us"].get<double>() / 4, 2e-3);
  // 8 calls of each product and 4 sums on two threads, then reduction and update.
  EXPECT_NEAR(costs["undisturbed_us"], (16 * 4 + 4 * 1) / 2.0 + 3 + 5, 1e-6);
  EXPECT_NEAR(costs["commands"][kUpdate]["share"], 5.0 / 40, 1e-3);

  const std::string text = CostsText(costs);
  EXPECT_THAT(text, HasSubstr("measured 40 us (median of 2 runs)"));
  EXPECT_LT(text.find("dense/MatMul"), text.find("SGD/Apply"));  // the most expensive first
}

TEST(Costs, AProfileGivesTheSameAsTheRunsItRecords) {
  const auto executable = Linear();
  const std::string file = ::testing::TempDir() + "/profile.json";
  Tracer tracer({.file = file, .first_step = 0, .last_step = 9});
  tracer.BeginLoop();
  const int64_t start = TraceNow();
  for (int run = 0; run < 2; ++run) {
    tracer.BeginStep();
    *tracer.command_trace() = RunOnce(start + run * 100000);
    tracer.AddCommands(*executable, /*global_step=*/7);
    ASSERT_TRUE(tracer.EndStep().ok());
  }
  ASSERT_TRUE(tracer.EndLoop().ok());
  const absl::StatusOr<Measurement> read = ReadProfile(file, *executable);
  ASSERT_TRUE(read.ok()) << read.status();
  const Measurement want = TwoRuns(*executable);
  EXPECT_EQ(read->threads, want.threads);
  EXPECT_EQ(read->runs, want.runs);
  EXPECT_NEAR(read->run_seconds, 34e-6, 1e-9);  // from the first command to the last
  ASSERT_EQ(read->commands.size(), want.commands.size());
  for (size_t i = 0; i < want.commands.size(); ++i) {
    EXPECT_EQ(read->commands[i].calls, want.commands[i].calls) << i;
    EXPECT_EQ(read->commands[i].rows, want.commands[i].rows) << i;
    EXPECT_NEAR(read->commands[i].seconds, want.commands[i].seconds, 1e-8) << i;
  }
}

TEST(Costs, OtherFilesAreErrors) {
  const auto executable = Linear();
  const std::string file = ::testing::TempDir() + "/other.json";
  EXPECT_EQ(ExitCodeFor(ReadProfile("/nowhere/x.json", *executable).status()), 66);
  for (const char* text : {"", "[]", "{\"traceEvents\":3}", "{\"traceEvents\":[]}"}) {
    ASSERT_TRUE(Env::Default()->WriteFile(file, {text}).ok());
    EXPECT_EQ(ExitCodeFor(ReadProfile(file, *executable).status()), 65) << text;
  }
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  for (const char* key : {"\"programs\"", "\"threads\":1,\"other\""}) {
    ASSERT_TRUE(Env::Default()->WriteFile(file, {"{\"traceEvents\":[],\"otherData\":{", key, ":", deep, "}}"}).ok());
    EXPECT_EQ(ExitCodeFor(ReadProfile(file, *executable).status()), 65) << key;
  }
  const char kOther[] = R"({"traceEvents":[],"otherData":{"threads":1,"programs":{"train":"another"}}})";
  ASSERT_TRUE(Env::Default()->WriteFile(file, {kOther}).ok());
  const absl::Status other = ReadProfile(file, *executable).status();
  EXPECT_EQ(ExitCodeFor(other), 2);
  EXPECT_THAT(std::string(other.message()), HasSubstr("\"train\":\"another\""));
  EXPECT_FALSE(ChooseMachineModel("/nowhere/model.txt", *executable).ok());
  EXPECT_EQ(ChooseMachineModel("zen4", *executable)->name, "zen4");
}

}  // namespace
}  // namespace tandem
