// The session on the fake driver: values, the calls it makes, and what goes wrong.
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/exit_code.h"
#include "gtest/gtest.h"
#include "runtime/cuda/testing/fake_builtin_kernels.h"
#include "runtime/cuda/testing/fake_driver.h"
#include "runtime/cuda/testing/fake_nccl.h"
#include "runtime/cuda/testing/gpu_program.h"
#include "runtime/session.h"
#include "runtime/step_info.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

constexpr int kIn = 3, kRows = 8;  // rows of all replicas

enum Output { kLoss, kPrediction, kRow, kMax, kTable, kNumOutputs };

// A linear model y = x w + c with squared error, its update, the number of each row, the largest x, and sums of x by an
// index.
std::shared_ptr<const Executable> Model(int replicas, const std::vector<int>& sms = {75, 90}) {
  ExecutableBuilder b(replicas, replicas, kRows / replicas, kRows / replicas);
  const int forward = b.Kernel("forward", 0, fb::Domain::Rows),
            row_number = b.Kernel("row_number", 0, fb::Domain::Rows);
  const int gradient = b.Kernel("gradient", 0, fb::Domain::Rows), largest = b.Kernel("largest", 0, fb::Domain::Rows);
  const int sgd = b.Kernel("sgd", 0, fb::Domain::Elements);
  const int w = b.Variable("w", {kIn}), c = b.Variable("c", {});
  const int x = b.Input("x", {kBatch, kIn}), t = b.Input("t", {kBatch}), k = b.Input("k", {kBatch}, DType::kInt32);
  const int rate = b.Scalar("learning_rate"), count = b.Scalar("example_count");
  const int y = b.Batch("y", {kBatch}), row = b.Batch("row", {kBatch}), kept = b.Batch("kept", {kBatch, kIn});
  const int keys = b.Batch("keys", {kBatch}, DType::kInt32), d = b.Shard("d", {kBatch});
  const int dw = b.Step("dw", {kIn}), dc = b.Step("dc", {}), loss = b.Step("loss", {});
  const int lane_max = b.Lane("lane_max", {1}, fb::ReduceKind::Max), max = b.Step("max", {1});
  const int table = b.Step("table", {4, kIn});

  b.Map();
  b.Launch("forward", forward, {x, w, c, t}, {y, d});
  b.Launch("row_number", row_number, {}, {row});
  b.Launch("gradient", gradient, {x, d}, {dw, dc, loss});
  b.Launch("largest", largest, {x}, {lane_max});
  b.Copy(x, kept);
  b.Copy(k, keys);
  b.Global();
  b.LaneReduce(fb::ReduceKind::Max, {lane_max}, {max});
  b.AllReduce(fb::ReduceKind::Sum, {dw, dc});
  b.AllReduce(fb::ReduceKind::Sum, {loss});
  b.AllReduce(fb::ReduceKind::Max, {max});
  b.ScatterAdd(kept, keys, table);
  b.CheckFinite({dw, dc, loss});
  b.Grouped("update", sgd, 4, {w, dw, rate, count, c, dc, rate, count}, {kIn, 1});
  for (int o : {loss, y, row, max, table}) b.Output(absl::StrCat("output_", o), o);
  return FinishGpuProgram(b, sms);
}

void RegisterKernels(FakeDriver& fake) {
  RegisterBuiltinKernels(fake);
  RegisterGpuKernel(fake, "forward", 6, [](const GpuKernelCall& call) {
    auto [x, w, c, t, y, d] =
        std::tie(call.args[0], call.args[1], call.args[2], call.args[3], call.args[4], call.args[5]);
    for (int64_t i = call.begin; i < call.end; ++i) {
      y[i] = *c;
      for (int k = 0; k < kIn; ++k) y[i] += x[i * kIn + k] * w[k];
      d[i] = y[i] - t[i];
    }
  });
  RegisterGpuKernel(fake, "row_number", 1, [](const GpuKernelCall& call) {
    for (int64_t i = call.begin; i < call.end; ++i) call.args[0][i] = static_cast<float>(call.row_offset + i);
  });
  RegisterGpuKernel(fake, "gradient", 5, [](const GpuKernelCall& call) {
    auto [x, d, dw, dc, loss] = std::tie(call.args[0], call.args[1], call.args[2], call.args[3], call.args[4]);
    std::fill_n(dw, kIn, 0.0f);
    *dc = *loss = 0;
    for (int64_t i = call.begin; i < call.end; ++i) {
      for (int k = 0; k < kIn; ++k) dw[k] += d[i] * x[i * kIn + k];
      *dc += d[i];
      *loss += d[i] * d[i];
    }
  });
  RegisterGpuKernel(fake, "largest", 2, [](const GpuKernelCall& call) {
    *call.args[1] = call.args[0][0];
    for (int64_t i = 0; i < call.end * kIn; ++i) *call.args[1] = std::max(*call.args[1], call.args[0][i]);
  });
  RegisterGpuKernel(fake, "sgd", 4, [](const GpuKernelCall& call) {
    for (int64_t i = call.begin; i < call.end; ++i) {
      call.args[0][i] -= *call.args[2] * call.args[1][i] / *call.args[3];
    }
  });
}

HostTensor Random(Shape shape, uint32_t seed) {
  HostTensor t(DType::kFloat32, std::move(shape));
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < t.num_elements(); ++i) t.data<float>()[i] = normal(rng);
  return t;
}

HostTensor Rows(const HostTensor& t, int64_t begin, int64_t n) {
  Shape shape = t.shape();
  shape[0] = n;
  HostTensor part(t.dtype(), shape);
  const int64_t row = t.byte_size() / t.shape()[0];
  std::memcpy(part.raw(), static_cast<const char*>(t.raw()) + begin * row, n * row);
  return part;
}

// Rows of each replica, from where they are when the batch is full.
StepInputs Inputs(const std::vector<int64_t>& rows, uint32_t seed) {
  const HostTensor x = Random({kRows, kIn}, seed), t = Random({kRows}, seed + 1);
  HostTensor k(DType::kInt32, {kRows});
  for (int i = 0; i < kRows; ++i) k.data<int32_t>()[i] = (i * 7 + static_cast<int>(seed)) % 5 - 1;
  StepInputs inputs;
  const int64_t each = kRows / static_cast<int64_t>(rows.size());
  for (size_t r = 0; r < rows.size(); ++r) {
    inputs.inputs.push_back({Rows(x, r * each, rows[r]), Rows(t, r * each, rows[r]), Rows(k, r * each, rows[r])});
  }
  inputs.scalars["learning_rate"] = 0.1;
  return inputs;
}

std::vector<int64_t> Full(int replicas) { return std::vector<int64_t>(replicas, kRows / replicas); }
const std::vector<int> kAll = {kLoss, kPrediction, kRow, kMax, kTable};

struct Job {
  std::shared_ptr<VariableStore> variables;
  std::unique_ptr<Session> session;
};

class CudaSessionTest : public ::testing::Test {
 protected:
  explicit CudaSessionTest(FakeDriver::Options options = {.gpus = 4}) : fake(options) { RegisterKernels(fake); }
  ~CudaSessionTest() override {
    EXPECT_EQ(absl::StrJoin(fake.TakeViolations(), "; "), "");
    EXPECT_EQ(absl::StrJoin(nccl.TakeViolations(), "; "), "");
    EXPECT_EQ(nccl.live_communicators(), 0);
  }

  Job Start(int replicas, Session::Options options = {}) {
    Job job;
    job.variables = std::make_shared<VariableStore>(replicas);
    options.pool = std::make_shared<ThreadPool>(2);
    auto session = Session::Create(Model(replicas), job.variables, options);
    EXPECT_TRUE(session.ok()) << session.status();
    if (session.ok()) job.session = *std::move(session);
    EXPECT_TRUE(job.variables->Assign("w", Random({kIn}, 1)).ok());
    EXPECT_TRUE(job.variables->Assign("c", Random({}, 2)).ok());
    return job;
  }

  absl::Status CreateError(int replicas, std::shared_ptr<VariableStore> store = nullptr,
                           const std::vector<int>& sms = {75, 90}) {
    if (store == nullptr) store = std::make_shared<VariableStore>(replicas);
    return Session::Create(Model(replicas, sms), store, {.pool = std::make_shared<ThreadPool>(1)}).status();
  }

  void ExpectError(const absl::Status& status, int exit_code, const std::string& part) {
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(ExitCodeFor(status), exit_code) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), part)) << status;
  }

  FakeDriver fake;
  FakeNccl nccl;
};

std::vector<double> Doubles(const HostTensor& t) {
  std::vector<double> v;
  for (int64_t i = 0; i < t.num_elements(); ++i) v.push_back(t.data<float>()[i]);
  return v;
}

// Against double, for full, short and empty batches, eager and captured.
TEST_F(CudaSessionTest, ComputesSteps) {
  const std::vector<std::vector<int64_t>> cases = {{8},    {8},    {8},    {5},    {0},          {8},         {4, 4},
                                                   {4, 4}, {4, 4}, {3, 2}, {4, 0}, {2, 2, 2, 2}, {0, 1, 0, 2}};
  Job job;
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::vector<int64_t>& rows = cases[i];
    if (i == 0 || rows.size() != cases[i - 1].size()) {
      job = Job();
      job = Start(static_cast<int>(rows.size()));
    }
    const StepInputs inputs = Inputs(rows, static_cast<uint32_t>(10 * i));
    const std::vector<double> w = Doubles(*job.variables->Read("w"));
    const double c = job.variables->Read("c")->data<float>()[0];
    auto result = job.session->Run(inputs, kAll);
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_TRUE(result->finite);

    std::vector<double> y, row, dw(kIn), table(4 * kIn);
    double loss = 0, dc = 0, max = -INFINITY;
    for (size_t r = 0; r < rows.size(); ++r) {
      const float *x = inputs.inputs[r][0].data<float>(), *t = inputs.inputs[r][1].data<float>();
      for (int64_t n = 0; n < rows[r]; ++n) {
        row.push_back(static_cast<double>(row.size()));
        y.push_back(c);
        for (int k = 0; k < kIn; ++k) y.back() += w[k] * x[n * kIn + k];
        const double d = y.back() - t[n];
        loss += d * d;
        dc += d;
        const int32_t key = inputs.inputs[r][2].data<int32_t>()[n];
        for (int k = 0; k < kIn; ++k) {
          dw[k] += d * x[n * kIn + k];
          max = std::max<double>(max, x[n * kIn + k]);
          if (r == 0 && key >= 0 && key < 4) table[key * kIn + k] += x[n * kIn + k];
        }
      }
    }
    auto near = [&](const HostTensor& got, const std::vector<double>& want, const std::string& what) {
      ASSERT_EQ(got.num_elements(), static_cast<int64_t>(want.size())) << what;
      for (size_t j = 0; j < want.size(); ++j) {
        if (std::isinf(want[j])) {
          EXPECT_EQ(got.data<float>()[j], want[j]) << what;
        } else {
          EXPECT_NEAR(got.data<float>()[j], want[j], 1e-5 * (1 + std::fabs(want[j]))) << what << " case " << i;
        }
      }
    };
    EXPECT_EQ(result->examples, static_cast<int64_t>(y.size()));
    near(result->outputs[kLoss], {loss}, "loss");
    near(result->outputs[kPrediction], y, "prediction");
    near(result->outputs[kRow], row, "row");
    near(result->outputs[kMax], {max}, "max");
    near(result->outputs[kTable], table, "table");
    const double n = static_cast<double>(y.size());
    if (n == 0) {  // 0 / 0: what an update without examples does is the program's matter
      ASSERT_TRUE(job.variables->Assign("w", Random({kIn}, 1)).ok());
      ASSERT_TRUE(job.variables->Assign("c", Random({}, 2)).ok());
      continue;
    }
    std::vector<double> updated;
    for (int k = 0; k < kIn; ++k) updated.push_back(w[k] - 0.1 * dw[k] / n);
    near(*job.variables->Read("w"), updated, "w");
    near(*job.variables->Read("c"), {c - 0.1 * dc / n}, "c");
  }
}

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

TEST_F(CudaSessionTest, SameBitsEverySecondTime) {
  std::vector<HostTensor> want;
  for (int run = 0; run < 2; ++run) {
    Job job = Start(2);
    std::vector<HostTensor> got;
    for (uint32_t step = 0; step < 4; ++step) {
      auto result = job.session->Run(Inputs(Full(2), step), kAll);
      ASSERT_TRUE(result.ok()) << result.status();
      for (HostTensor& t : result->outputs) got.push_back(t);
    }
    got.push_back(*job.variables->Read("w"));
    if (run == 0) want = got;
    for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(got[i].BitEqual(want[i])) << i;
  }
}

TEST_F(CudaSessionTest, ANonFiniteStepChangesNothingAndIsFound) {
  for (int replicas : {1, 2}) {
    Job job = Start(replicas);
    StepInputs inputs = Inputs(Full(replicas), 5);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(job.session->Run(inputs, {}).ok());
    const HostTensor before = *job.variables->Read("w");
    auto fine = job.session->FindNonFinite(inputs);
    ASSERT_TRUE(fine.ok()) << fine.status();
    EXPECT_EQ(*fine, "");
    inputs.inputs.back()[1].data<float>()[1] = std::nanf("");
    auto result = job.session->Run(inputs, kAll);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_FALSE(result->finite);
    EXPECT_TRUE(result->outputs[kLoss].empty());
    auto found = job.session->FindNonFinite(inputs);
    ASSERT_TRUE(found.ok()) << found.status();
    const int last = replicas - 1;
    EXPECT_EQ(*found, absl::StrCat("forward [model.cc:7], replica ", last, " (gpu:", last, "), lane ", last));
    EXPECT_TRUE(job.variables->Read("w")->BitEqual(before));
    // The next step is as if nothing had been.
    auto next = job.session->Run(Inputs(Full(replicas), 6), kAll);
    ASSERT_TRUE(next.ok());
    EXPECT_TRUE(next->finite);
  }
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

TEST_F(CudaSessionTest, VariablesStayOnTheDeviceBetweenSessions) {
  Job job = Start(1);
  ASSERT_TRUE(job.session->Run(Inputs(Full(1), 1), {}).ok());
  EXPECT_EQ(job.variables->place(), "gpu:0");
  const HostTensor w = *job.variables->Read("w");
  auto second = Session::Create(Model(1), job.variables, {.pool = std::make_shared<ThreadPool>(1)});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(job.variables->Read("w")->BitEqual(w));
  job.session.reset();
  ASSERT_TRUE((*second)->Run(Inputs(Full(1), 2), {}).ok());
  EXPECT_FALSE(job.variables->Read("w")->BitEqual(w));
  EXPECT_GT(fake.AllocatedBytes(0), 0u);
  second->reset();
  job.variables.reset();
  EXPECT_EQ(fake.AllocatedBytes(0), 0u);
}

TEST_F(CudaSessionTest, TimesAndTracesSteps) {
  Job job = Start(2, {.time_steps = true});
  for (uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(job.session->Run(Inputs(Full(2), i), {}).ok());
  std::map<std::string, StepTime> times;
  for (const StepTime& time : job.session->step_times()) times[time.name] = time;
  EXPECT_EQ(times["forward"].calls, 6);
  EXPECT_EQ(times["forward"].section, "map");
  EXPECT_EQ(times["update"].kind, "GroupedLaunch");
  StepTrace trace;
  job.session->set_trace(&trace);
  ASSERT_TRUE(job.session->Run(Inputs(Full(2), 7), {}).ok());
  job.session->set_trace(nullptr);
  ASSERT_GE(trace.threads.size(), 2u);
  const auto steps = ListSteps(*Model(2));
  for (int r = 0; r < 2; ++r) {
    EXPECT_EQ(trace.threads[r].size(), 13u);
    for (const StepRecord& record : trace.threads[r]) {
      EXPECT_EQ(record.device, r);
      EXPECT_LE(record.begin, record.end);
      EXPECT_EQ(record.lane >= 0, steps[record.id].map);
      EXPECT_EQ(record.rows, steps[record.id].map ? kRows / 2 : 0);
    }
  }
}

TEST_F(CudaSessionTest, SaysWhatDoesNotFitTheDevices) {
  ExpectError(CreateError(8), kExitUsage, "device \"gpu:4\": gpu:4: there is no such device; there are gpu:0 to gpu:3");
  auto store = std::make_shared<VariableStore>(1);
  ASSERT_TRUE(store->Create({"other", DType::kFloat32, {1}}).ok());
  store->Buffer("other", 0);
  ExpectError(CreateError(1, store), kExitUsage, "in use by a program for cpu devices");
  store = std::make_shared<VariableStore>(1);
  auto session = Session::Create(Model(1), store, {.pool = std::make_shared<ThreadPool>(1)});
  ASSERT_TRUE(session.ok());
  ExpectError((*session)->Run(Inputs(Full(1), 1), {}).status(), kExitUsage, "variable w has no value");
  ExpectError((*session)->Run(Inputs(Full(2), 1), {}).status(), kExitUsage, "variable w has no value");
}

TEST_F(CudaSessionTest, AFailedCallEndsTheSessionWithoutLeaks) {
  // Every function that creating and running a session calls fails once, the first and the third time.
  const char* names[] = {"cuDevicePrimaryCtxRetain",   "cuMemAlloc_v2",      "cuMemHostAlloc", "cuModuleLoadDataEx",
                         "cuModuleGetFunction",        "cuStreamCreate",     "cuEventCreate",  "cuMemcpyHtoDAsync_v2",
                         "cuMemcpyDtoHAsync_v2",       "cuMemsetD32Async",   "cuLaunchKernel", "cuStreamQuery",
                         "cuStreamBeginCapture_v2",    "cuStreamEndCapture", "cuGraphLaunch",  "cuCtxSetCurrent",
                         "cuGraphInstantiateWithFlags"};
  int failed = 0;
  for (const char* name : names) {
    for (int n : {1, 3}) {
      fake.FailCall(name, kCudaLaunchFailed, n);
      auto store = std::make_shared<VariableStore>(1);
      absl::Status status;
      auto session = Session::Create(Model(1), store, {.pool = std::make_shared<ThreadPool>(1)});
      status.Update(session.status());
      if (session.ok()) {
        status.Update(store->Assign("w", Random({kIn}, 1)));
        status.Update(store->Assign("c", Random({}, 2)));
        for (uint32_t i = 0; i < 3 && status.ok(); ++i) {
          status.Update((*session)->Run(Inputs(Full(1), i), {kLoss}).status());
        }
        if (!status.ok() && absl::StrContains(status.message(), "half updated")) {
          EXPECT_EQ((*session)->Run(Inputs(Full(1), 1), {}).status(), status);  // for good
        }
      }
      if (!status.ok()) ++failed;
      if (n == 1 && !status.ok()) {
        EXPECT_TRUE(absl::StrContains(status.message(), "gpu:0")) << name << ": " << status;
      }
      session = absl::CancelledError();
      store.reset();
      EXPECT_EQ(fake.AllocatedBytes(0), 0u) << name;
      fake.FailCall(name, kCudaSuccess, 1);  // uses up what has not happened
    }
  }
  EXPECT_GE(failed, 25);
}

TEST_F(CudaSessionTest, ALostGpuIsTemporaryAndKeepsTheVariablesAway) {
  Job job = Start(1);
  ASSERT_TRUE(job.session->Run(Inputs(Full(1), 1), {}).ok());
  fake.FailWork("gradient", kCudaEccUncorrectable);
  absl::Status lost = job.session->Run(Inputs(Full(1), 2), {}).status();
  ExpectError(lost, kExitTemporary, "gpu:0 (Fake GPU): the GPU was lost: cuStreamQuery: CUDA_ERROR_ECC_UNCORRECTABLE");
  EXPECT_TRUE(absl::StrContains(lost.message(), "go on from the last checkpoint")) << lost;
  ExpectError(job.variables->Read("w").status(), kExitTemporary, "gpu:0: the GPU was lost");
}

TEST_F(CudaSessionTest, AHungGpuIsGivenUpAfterTheDeadline) {
  for (int replicas : {1, 2}) {
    Job job = Start(replicas, {.deadline_seconds = 0.05});
    ASSERT_TRUE(job.session->Run(Inputs(Full(replicas), 1), {}).ok());
    fake.Hang(replicas - 1);
    absl::Status status = job.session->Run(Inputs(Full(replicas), 2), {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
    ExpectError(status, kExitTemporary, replicas == 1 ? "gpu:0 (Fake GPU) did not finish a step within 0.05" : "1");
    if (replicas == 1) break;  // the other GPU is a fresh one
  }
}

class SmallGpuTest : public CudaSessionTest {
 protected:
  SmallGpuTest() : CudaSessionTest({.memory_bytes = 2048}) {}
};

TEST_F(SmallGpuTest, SaysWhatTheMemoryWasFor) {
  auto store = std::make_shared<VariableStore>(1);
  absl::Status status = CreateError(1, store);
  ExpectError(status, kExitUsage, "gpu:0 (Fake GPU): out of memory");
  for (const char* part : {"shard arena 64", "inputs 1024", "of 2048 bytes are free", "Take a smaller batch"}) {
    EXPECT_TRUE(absl::StrContains(status.message(), part)) << status;
  }
}

class OldGpuTest : public CudaSessionTest {
 protected:
  OldGpuTest() : CudaSessionTest({.compute_capability = 80}) {}
};

TEST_F(OldGpuTest, SaysWhatTheExecutableWasCompiledFor) {
  EXPECT_TRUE(CreateError(1).ok());
  ExpectError(CreateError(1, nullptr, {90, 100}), kExitUsage,
              "compiled for sm_90, sm_100; gpu:0 (Fake GPU) is sm_80: compile it for --target=cuda:sm_80 or older");
}

class AncientGpuTest : public CudaSessionTest {
 protected:
  AncientGpuTest() : CudaSessionTest({.compute_capability = 61}) {}
};

TEST_F(AncientGpuTest, SaysThatTheGpuIsTooOld) {
  ExpectError(CreateError(1), kExitUsage,
              "gpu:0 (Fake GPU): its compute capability is 6.1, and 7.5 or newer is needed");
}

class OldDriverTest : public CudaSessionTest {
 protected:
  OldDriverTest() : CudaSessionTest({.version = 12010, .ptx_version = 70}) {}
};

TEST_F(OldDriverTest, SaysThatTheDriverIsTooOld) {
  ExpectError(CreateError(1), kExitUsage, "the NVIDIA driver (for CUDA 12.1) is too old for the executable's PTX");
}

}  // namespace
}  // namespace tandem
