// How little the session asks of the driver in a step, batches that are brought beforehand, and times of commands.
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "runtime/cuda/run/cuda_device_class.h"
#include "runtime/cuda/testing/linear_job.h"
#include "runtime/executable/command_info.h"

namespace tandem {
namespace {

TEST_F(CudaSessionTest, TwoDriverCallsAStep) {
  Job job = Start(1);
  ASSERT_TRUE(job.session->Run(Inputs(Full(1), 3), {kLoss}).ok());  // one by one
  ASSERT_TRUE(job.session->Run(Inputs(Full(1), 4), {kLoss}).ok());  // captured
  fake.ClearCalls();
  ASSERT_TRUE(job.session->Run(Inputs(Full(1), 5), {kLoss}).ok());
  std::vector<std::string> names;
  for (const FakeCall& call : fake.calls()) names.push_back(call.name);
  EXPECT_EQ(absl::StrJoin(names, " "), "cuGraphLaunch cuStreamQuery");
}

TEST_F(CudaSessionTest, FetchedRowsFollowTheStep) {
  Job job = Start(1);
  for (uint32_t i = 0; i < 2; ++i) ASSERT_TRUE(job.session->Run(Inputs(Full(1), i), {kLoss, kPrediction}).ok());
  fake.ClearCalls();
  ASSERT_TRUE(job.session->Run(Inputs(Full(1), 5), {kLoss, kPrediction, kPrediction}).ok());
  std::vector<std::string> names;
  for (const FakeCall& call : fake.calls()) names.push_back(call.name);
  EXPECT_EQ(absl::StrJoin(names, " "), "cuGraphLaunch cuMemcpyDtoHAsync_v2 cuStreamQuery");
}

// They come from the first part of the step, so their copies need not wait for the collectives.
TEST_F(CudaSessionTest, FetchedRowsTravelWhileTheStepGoesOn) {
  Job job = Start(2);
  for (uint32_t i = 0; i < 2; ++i) ASSERT_TRUE(job.session->Run(Inputs(Full(2), i), {kPrediction, kRow}).ok());
  fake.ClearCalls();
  ASSERT_TRUE(job.session->Run(Inputs(Full(2), 5), {kPrediction, kRow}).ok());
  int graphs = 0, copies = 0, early = 0;
  std::set<int> compute;
  for (const FakeCall& call : fake.calls()) {
    if (call.name == "cuGraphLaunch") ++graphs, compute.insert(call.stream);
    if (call.name != "cuMemcpyDtoHAsync_v2" || call.captured) continue;
    ++copies;
    early += graphs == 2 && compute.count(call.stream) == 0;  // behind each replica's first graph, on another stream
  }
  // A step that fetches nothing goes round the devices less often.
  const int switches = fake.CountCalls("cuCtxSetCurrent");
  fake.ClearCalls();
  ASSERT_TRUE(job.session->Run(Inputs(Full(2), 6), {kLoss}).ok());
  EXPECT_LT(fake.CountCalls("cuCtxSetCurrent"), switches);
  EXPECT_EQ(fake.CountCalls("cuMemcpyDtoHAsync_v2"), 0);
  EXPECT_EQ(compute.size(), 2u);
  EXPECT_GT(graphs, 2);
  EXPECT_EQ(copies, 4);
  EXPECT_EQ(early, 4);
}

TEST_F(CudaSessionTest, UpdatesAreOneLaunch) {
  Job job = Start(1);
  fake.ClearCalls();
  ASSERT_TRUE(job.session->Run(Inputs(Full(1), 3), {kLoss}).ok());  // one by one
  std::vector<std::string> launches;
  for (const FakeCall& call : fake.calls()) {
    if (call.name == "cuLaunchKernel" && absl::StartsWith(call.detail, "sgd")) launches.push_back(call.detail);
  }
  EXPECT_EQ(absl::StrJoin(launches, " "), "sgd_group");
}

// As in executables of builds that did not make it: the same values.
TEST_F(CudaSessionTest, WithoutTheEntryForGroupsEveryMemberIsALaunch) {
  Job with = Start(1), without = Start(1);
  auto session = Session::Create(CudaDeviceClass(), LinearModel(1, {75}, /*groups=*/false), without.variables,
                                 {.pool = std::make_shared<ThreadPool>(1)});
  ASSERT_TRUE(session.ok()) << session.status();
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(with.session->Run(Inputs(Full(1), i), {}).ok());
    fake.ClearCalls();
    ASSERT_TRUE((*session)->Run(Inputs(Full(1), i), {}).ok());
    if (i > 0) continue;
    int launches = 0;
    for (const FakeCall& call : fake.calls()) launches += call.name == "cuLaunchKernel" && call.detail == "sgd";
    EXPECT_EQ(launches, 2);
  }
  for (const char* name : {"w", "c"}) EXPECT_TRUE(with.variables->Read(name)->BitEqual(*without.variables->Read(name)));
}

TEST_F(CudaSessionTest, PrefetchedBatchesGiveTheSameBits) {
  std::vector<HostTensor> want;
  for (bool prefetch : {false, true}) {
    Job job = Start(2);
    std::vector<StepInputs> batches;
    for (uint32_t step = 0; step < 6; ++step)
      batches.push_back(Inputs(step == 3 ? std::vector<int64_t>{3, 1} : Full(2), step));
    std::vector<HostTensor> got;
    for (size_t step = 0; step < batches.size(); ++step) {
      std::thread bring([&] {
        if (prefetch && step + 1 < batches.size()) job.session->Prefetch(batches[step + 1]);
      });
      auto result = job.session->Run(batches[step], kAll);
      bring.join();
      ASSERT_TRUE(result.ok()) << result.status();
      for (HostTensor& t : result->outputs) got.push_back(t);
    }
    got.push_back(*job.variables->Read("w"));
    if (!prefetch) want = got;
    for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(got[i].BitEqual(want[i])) << i;
  }
}

TEST_F(CudaSessionTest, APrefetchedBatchIsNotCopiedAgain) {
  Job job = Start(1);
  for (uint32_t i = 0; i < 2; ++i) ASSERT_TRUE(job.session->Run(Inputs(Full(1), i), {}).ok());
  for (uint32_t i = 2; i < 6; ++i) {
    const StepInputs inputs = Inputs(Full(1), i);
    job.session->Prefetch(inputs);
    fake.ClearCalls();
    ASSERT_TRUE(job.session->Run(inputs, {kLoss}).ok());
    EXPECT_EQ(fake.CountCalls("cuMemcpyHtoDAsync_v2"), 0);
    if (i > 2) {
      EXPECT_EQ(fake.CountCalls(), 3);
    }
  }
  // Batches that nobody runs, and inputs that do not fit, do no harm.
  for (uint32_t i = 0; i < 5; ++i) job.session->Prefetch(Inputs(Full(1), i));
  job.session->Prefetch(StepInputs());
  EXPECT_TRUE(job.session->Run(Inputs(Full(1), 9), {kLoss}).ok());
}

TEST_F(CudaSessionTest, TimesAndTracesCommands) {
  Job job = Start(2, {.time_commands = true});
  for (uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(job.session->Run(Inputs(Full(2), i), {}).ok());
  std::map<std::string, CommandTime> times;
  for (const CommandTime& time : job.session->command_times()) times[time.name] = time;
  EXPECT_EQ(times["forward"].calls, 6);
  EXPECT_EQ(times["forward"].section, "map");
  EXPECT_EQ(times["update"].kind, "GroupedLaunch");
  CommandTrace trace;
  job.session->set_trace(&trace);
  ASSERT_TRUE(job.session->Run(Inputs(Full(2), 7), {}).ok());
  job.session->set_trace(nullptr);
  ASSERT_GE(trace.threads.size(), 2u);
  const auto commands = ListCommands(*LinearModel(2));
  for (int r = 0; r < 2; ++r) {
    EXPECT_EQ(trace.threads[r].size(), 13u);
    for (const CommandRecord& record : trace.threads[r]) {
      EXPECT_EQ(record.device, r);
      EXPECT_LE(record.begin, record.end);
      EXPECT_EQ(record.lane >= 0, commands[record.id].map);
      EXPECT_EQ(record.rows, commands[record.id].map ? kRows / 2 : 0);
    }
  }
}

}  // namespace
}  // namespace tandem
