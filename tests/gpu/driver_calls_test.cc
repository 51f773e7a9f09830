// Steps of S0's models on one fake GPU: how little the host has to do, and the same values as on a CPU.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/env.h"
#include "benchmarks/models/model.h"
#include "gtest/gtest.h"
#include "passes/compile/compile.h"
#include "runtime/commands/command.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/session/session.h"
#include "tests/gpu/fake_gpu.h"

namespace tandem {
namespace {

constexpr int kRows = 4;

struct Job {
  std::unique_ptr<GraphBuilder> graph;
  std::shared_ptr<const Executable> executable;
  std::shared_ptr<VariableStore> variables;
  std::unique_ptr<Session> session;
};

absl::StatusOr<Job> Start(const std::string& name, const std::string& device, const std::string& dir) {
  absl::StatusOr<benchmarks::BenchModel> model = benchmarks::MakeModel(name, {});
  if (!model.ok()) return model.status();
  Job job;
  job.graph = std::make_unique<GraphBuilder>("test");
  benchmarks::FlopCounter counter;
  model->build(*job.graph, counter);
  CompileOptions options;
  options.devices = {device};
  options.batch_per_replica = kRows;
  options.precision = Precision::kStrictFloat32;
  options.cache_dir = dir + "/compiled";
  if (device == "gpu:0") options.target = "cuda:sm_90";
  absl::StatusOr<std::shared_ptr<const Executable>> executable = CompileGraph(*job.graph, "train", options);
  if (!executable.ok()) return executable.status();
  job.executable = *executable;
  job.variables = std::make_shared<VariableStore>(1);
  auto session = CreateSession(job.executable, job.variables, {.pool = std::make_shared<ThreadPool>(1)});
  if (!session.ok()) return session.status();
  job.session = *std::move(session);
  for (const auto& v : job.executable->index().variables) {
    absl::Status status = job.variables->Initialize(v.name, v.initializer, 7);
    if (!status.ok()) return status;
  }
  return job;
}

StepInputs Inputs(const Job& job, const benchmarks::BenchModel& model, int step) {
  std::mt19937 random(step);
  StepInputs inputs;
  inputs.inputs.emplace_back();
  for (const auto& input : job.executable->index().inputs) {
    const auto spec = std::find_if(model.inputs.begin(), model.inputs.end(),
                                   [&](const benchmarks::InputSpec& s) { return s.name == input.name; });
    Shape shape = input.shape;
    shape[0] = kRows;
    HostTensor t(input.dtype, shape);
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      const double unit = std::uniform_real_distribution<double>(0, 1)(random);
      if (t.dtype() == DType::kFloat32) t.data<float>()[i] = static_cast<float>(unit);
      if (t.dtype() == DType::kInt32) t.data<int32_t>()[i] = static_cast<int32_t>(unit * spec->limit);
      if (t.dtype() == DType::kInt64) t.data<int64_t>()[i] = static_cast<int64_t>(unit * spec->limit);
    }
    inputs.inputs[0].push_back(std::move(t));
  }
  for (const auto& [name, value] : job.graph->scalar_defaults()) inputs.scalars[name] = value;
  inputs.scalars["global_step"] = step;
  inputs.scalars["seed"] = 7;
  return inputs;
}

// What the compiler says that a full batch launches.
int64_t CountedLaunches(const Executable& executable) {
  const format::Index& index = executable.index();
  const format::Program& program = index.programs[0];
  int64_t launches = 0;
  for (const auto& command : CommandsInOrder(program)) launches += command->GpuLaunches({index, program});
  return launches;
}

// What the driver and the libraries saw; not the copies between host and device, which no command is.
int64_t SeenLaunches(const FakeDriver& driver) {
  int64_t launches = 0;
  for (const FakeCall& call : driver.calls()) {
    launches += call.name == "cuLaunchKernel" || call.name == "cuMemcpyDtoDAsync_v2" ||
                call.name == "cudnnBackendExecute" || call.name == "cublasLtMatmul";
  }
  return launches;
}

TEST(DriverCallsTest, AStepIsOneGraphAndOneQuery) {
  for (const std::string name : {"s0", "linear"}) {
    SCOPED_TRACE(name);
    const std::string dir = absl::StrCat(testing::TempDir(), "/", name);
    if (Env::Default()->Exists(dir)) {
      ASSERT_TRUE(Env::Default()->DeleteRecursively(dir).ok());
    }
    const benchmarks::BenchModel model = *benchmarks::MakeModel(name, {});
    FakeGpuMachine machine(1);
    machine.AddModelDir(dir);
    {
      absl::StatusOr<Job> cpu = Start(name, "cpu:0", dir), gpu = Start(name, "gpu:0", dir);
      ASSERT_TRUE(cpu.ok()) << cpu.status();
      ASSERT_TRUE(gpu.ok()) << gpu.status();
      int loss = 0;
      const auto& outputs = gpu->executable->index().outputs;
      while (outputs[loss].name != "loss") ++loss;
      for (int step = 0; step < 4; ++step) {
        auto want = cpu->session->Run(Inputs(*cpu, model, step), {loss});
        ASSERT_TRUE(want.ok()) << want.status();
        machine.driver().ClearCalls();
        auto got = gpu->session->Run(Inputs(*gpu, model, step), {loss});
        ASSERT_TRUE(got.ok()) << got.status();
        ASSERT_TRUE(got->finite);
        const float a = got->outputs[loss].data<float>()[0], b = want->outputs[loss].data<float>()[0];
        EXPECT_NEAR(a, b, 1e-5 * std::fabs(b)) << "step " << step;
        if (step < 2) {  // issued one by one, then captured
          int updates = 0;
          for (const FakeCall& call : machine.driver().calls()) updates += absl::EndsWith(call.detail, "_group");
          EXPECT_EQ(updates, 1) << "of all variables";
          EXPECT_EQ(SeenLaunches(machine.driver()), CountedLaunches(*gpu->executable));
          continue;
        }
        std::vector<std::string> calls;
        for (const FakeCall& call : machine.driver().calls()) calls.push_back(call.name);
        EXPECT_EQ(absl::StrJoin(calls, " "), "cuGraphLaunch cuStreamQuery");
      }
      for (const VariableInfo& info : cpu->variables->List()) {
        if (info.dtype != DType::kFloat32) continue;
        const HostTensor want = *cpu->variables->Read(info.name), got = *gpu->variables->Read(info.name);
        double largest = 0, difference = 0;
        for (int64_t i = 0; i < want.num_elements(); ++i) {
          largest = std::max<double>(largest, std::fabs(want.data<float>()[i]));
          difference = std::max<double>(difference, std::fabs(want.data<float>()[i] - got.data<float>()[i]));
        }
        EXPECT_LE(difference, 1e-3 * largest + 1e-7) << info.name;
      }
    }
    EXPECT_EQ(absl::StrJoin(machine.TakeViolations(), "\n"), "");
    EXPECT_EQ(machine.driver().AllocatedBytes(0), 0u);
  }
}

}  // namespace
}  // namespace tandem
