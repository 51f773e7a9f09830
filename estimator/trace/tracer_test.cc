#include "estimator/trace/tracer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/env.h"
#include "base/logging.h"
#include "estimator/trace/trace_steps.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

std::shared_ptr<const Executable> Product() {
  ExecutableBuilder b(/*replicas=*/1, /*lanes=*/2, /*rows_per_lane=*/10, /*microbatch_rows=*/10);
  const int sgd = b.Kernel("sgd", 0, format::Domain::kElements);
  b.index().kernels[sgd].flops_per_row = 2;
  b.index().mode = "train";
  b.index().key = "k1";
  MachineModel machine = *BuiltInMachineModel("zen4");
  machine.library_call_overhead = 10e-6;  // more than the product below
  b.index().machine_model = MachineModelText(machine);
  const int w = b.Variable("w", {100, 50}), x = b.Input("x", {kBatch, 100}), y = b.Microbatch("y", {kBatch, 50});
  const int sum = b.Step("sum", {100, 50});
  b.Map();
  b.MatMul("dense/\"MatMul\"", x, w, y);
  b.Global();
  b.Launch("update", sgd, {sum}, {w}, 100 * 50);
  auto executable = Executable::Parse(BuildExecutable(b.Take(), {{format::SegmentKind::kElfObject, "k", "code"}}));
  EXPECT_TRUE(executable.ok()) << executable.status();
  return *executable;
}

constexpr int kMatMul = 0, kUpdate = 2;  // ids; between them the sum over the microbatches of a lane

Tracer MakeTracer(const std::string& file, int64_t first, int64_t last) {
  return Tracer({.file = file, .first_step = first, .last_step = last});
}

// One loop of `steps` steps; every one has a matmul of 1 us on each of two threads and an update that they share.
void RunLoop(Tracer& tracer, const Executable& executable, int steps) {
  tracer.BeginLoop();
  for (int i = 0; i < steps; ++i) {
    tracer.BeginStep();
    const int64_t t = TraceNow();
    tracer.AddPhase("input wait", t, t + 100);
    if (CommandTrace* trace = tracer.command_trace()) {
      trace->threads.resize(2);
      trace->threads[0] = {{kMatMul, 0, 0, 10, t + 100, t + 1100}, {kUpdate, 0, -1, 0, t + 1200, t + 1700}};
      trace->threads[1] = {{kMatMul, 0, 1, 5, t + 100, t + 1100}, {kUpdate, 0, -1, 0, t + 1300, t + 2200}};
      tracer.AddCommands(executable, 1000 + i);
    }
    EXPECT_TRUE(tracer.EndStep().ok());
  }
  EXPECT_TRUE(tracer.EndLoop().ok());
}

std::vector<Json> Events(const Json& trace, const std::string& name) {
  std::vector<Json> events;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] == "X" && e["name"] == name) events.push_back(e);
  }
  return events;
}

TEST(TracerTest, WritesAWindowOfStepsWithOneTrackPerThread) {
  LogCapture log;
  const std::string file = ::testing::TempDir() + "/trace.json";
  Tracer tracer = MakeTracer(file, 2, 3);
  RunLoop(tracer, *Product(), 6);
  EXPECT_THAT(log.Text(), HasSubstr("Wrote a trace of 2 steps"));
  const auto text = Env::Default()->ReadFile(file);
  ASSERT_TRUE(text.ok()) << text.status();
  const Json trace = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  ASSERT_FALSE(trace.is_discarded()) << *text;
  EXPECT_EQ(trace["otherData"]["steps"], 2);
  EXPECT_EQ(trace["otherData"]["programs"]["train"], "k1");
  std::map<int, std::string> tracks;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] == "M" && e["name"] == "thread_name") tracks[e["tid"]] = e["args"]["name"];
  }
  EXPECT_EQ(tracks, (std::map<int, std::string>{{0, "session"}, {1, "thread 0"}, {2, "thread 1"}}));

  const std::vector<Json> products = Events(trace, "dense/\"MatMul\"");
  ASSERT_EQ(products.size(), 4u);  // two threads, two steps
  std::set<int> steps, runs;
  for (const Json& e : products) {
    runs.insert(e["args"]["run"].get<int>());
    steps.insert(e["args"]["step"].get<int>());
    EXPECT_NEAR(e["dur"], 1.0, 1e-9);
    const double rows = e["args"]["rows"];
    EXPECT_EQ(e["tid"], rows == 10 ? 1 : 2);
    // 2 * rows * 100 * 50 operations in a microsecond.
    EXPECT_NEAR(e["args"]["GFLOP/s"], 1e-3 * 2 * rows * 100 * 50, 0.01 * rows);
    EXPECT_NEAR(e["args"]["GB/s"], 1e-3 * 4 * (rows * 150 + 100 * 50), 0.01 * rows);
    EXPECT_GT(e["args"]["of_limit"], 0);
    EXPECT_EQ(e["args"]["bound"], "overhead");  // of calls
  }
  EXPECT_EQ(steps, (std::set<int>{1002, 1003}));
  EXPECT_EQ(runs, (std::set<int>{0, 1}));
  EXPECT_EQ(Events(trace, "input wait").size(), 2u);
  EXPECT_EQ(Events(trace, "input wait")[0]["tid"], 0);

  // Both threads share the update, which took from 1.2 to 2.2 us.
  const std::vector<Json> updates = Events(trace, "update");
  ASSERT_EQ(updates.size(), 4u);
  for (const Json& e : updates) EXPECT_NEAR(e["args"]["GFLOP/s"], 1e-3 * 2 * 100 * 50, 1e-3);
}

TEST(TracerTest, WhatTravelsBesideCommandsHasATrackOfItsOwn) {
  LogCapture log;
  Tracer tracer = MakeTracer(::testing::TempDir() + "/communication.json", 0, 0);
  tracer.BeginLoop();
  tracer.BeginStep();
  CommandTrace* trace = tracer.command_trace();
  ASSERT_NE(trace, nullptr);
  const int64_t t = TraceNow();
  trace->threads.resize(1);
  trace->threads[0] = {{kMatMul, 0, 0, 10, t, t + 1000}};
  trace->communication = {{kUpdate, 0, -1, 0, t + 100, t + 2100}};
  tracer.AddCommands(*Product(), 1);
  EXPECT_TRUE(trace->communication.empty());
  ASSERT_TRUE(tracer.EndStep().ok());
  ASSERT_TRUE(tracer.EndLoop().ok());
  const Json json = Json::parse(tracer.Json(), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  std::map<std::string, int> tracks;
  for (const Json& e : json["traceEvents"]) {
    if (e["ph"] == "M" && e["name"] == "thread_name") tracks[e["args"]["name"]] = e["tid"];
  }
  ASSERT_EQ(tracks.count("communication"), 1u);
  EXPECT_EQ(tracks.size(), 3u);
  const std::vector<Json> events = Events(json, "update");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]["tid"], tracks["communication"]);
  EXPECT_NEAR(events[0]["dur"], 2.0, 1e-9);
}

TEST(TracerTest, LoopsInsideAStepAreTracedWithIt) {
  LogCapture log;
  Tracer tracer = MakeTracer(::testing::TempDir() + "/nested.json", 1, 1);
  const auto executable = Product();
  tracer.BeginLoop();
  for (int i = 0; i < 3; ++i) {
    tracer.BeginStep();
    EXPECT_EQ(tracer.recording(), i == 1);
    RunLoop(tracer, *executable, 4);
    EXPECT_EQ(tracer.recording(), i == 1);
    EXPECT_TRUE(tracer.EndStep().ok());
  }
  EXPECT_TRUE(tracer.EndLoop().ok());
  const Json trace = Json::parse(tracer.Json(), nullptr, false);
  ASSERT_FALSE(trace.is_discarded());
  // As many steps of the inner loop as the window has: one.
  EXPECT_EQ(Events(trace, "input wait").size(), 1u);
  EXPECT_EQ(tracer.steps_traced(), 1);
}

TEST(TracerTest, SaysWhenTheJobEndsBeforeTheWindow) {
  LogCapture log;
  Tracer tracer = MakeTracer(::testing::TempDir() + "/none.json", 100, 110);
  RunLoop(tracer, *Product(), 3);
  EXPECT_THAT(log.Text(LogSeverity::kWarning), HasSubstr("3 steps have run, and the trace begins at step 100"));
  EXPECT_FALSE(Env::Default()->Exists(::testing::TempDir() + "/none.json"));
}

TEST(TracerTest, AFileThatCannotBeWrittenIsAnError) {
  Tracer tracer = MakeTracer("/nowhere/trace.json", 0, 0);
  tracer.BeginLoop();
  tracer.BeginStep();
  tracer.AddPhase("step", TraceNow(), TraceNow());
  EXPECT_FALSE(tracer.EndStep().ok());
}

TEST(TraceStepsTest, ParsesRanges) {
  EXPECT_EQ(*ParseTraceSteps("100-110"), std::make_pair(int64_t{100}, int64_t{110}));
  EXPECT_EQ(*ParseTraceSteps("7"), std::make_pair(int64_t{7}, int64_t{7}));
  for (const char* bad : {"", "5-", "-5", "9-3", "1-2-3", "a-b"}) {
    EXPECT_THAT(std::string(ParseTraceSteps(bad).status().message()), HasSubstr("FIRST-LAST")) << bad;
  }
}

}  // namespace
}  // namespace tandem
