#include "benchmarks/bench_program.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/timing.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/format/index.h"

namespace tandem::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;

// Returns random values for one input: a tensor of `rows` rows for each of `replicas` replicas. For any number of
// replicas, the global batch has the same examples.
std::vector<HostTensor> RandomInput(const InputSpec& spec, int replicas, int64_t rows) {
  std::mt19937 random(1);
  std::vector<HostTensor> tensors;
  for (int r = 0; r < replicas; ++r) tensors.push_back(RandomRows(spec, rows, random));
  return tensors;
}

}  // namespace

BatchAhead::BatchAhead(std::shared_ptr<Session> session, StepInputs batch)
    : session_(std::move(session)), batch_(std::move(batch)), thread_([this] { Bring(); }) {}

BatchAhead::~BatchAhead() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void BatchAhead::BringNext() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    wanted_ = true;
  }
  changed_.notify_one();
}

void BatchAhead::Bring() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return wanted_ || stop_; });
    if (stop_) return;
    wanted_ = false;
    lock.unlock();
    session_->Prefetch(batch_);
    lock.lock();
  }
}

absl::StatusOr<double> BenchProgram::Step() {
  static const std::vector<int> kFetches = {0};
  if (ahead != nullptr) ahead->BringNext();
  TD_ASSIGN_OR_RETURN(StepResult result, session->Run(*inputs, kFetches));
  issue_seconds += result.issue_seconds;
  inputs->scalars["global_step"] = inputs->scalars["global_step"].integer() + 1;
  if (!result.finite) return absl::DataLossError("the loss or a gradient is not finite");
  return *result.outputs[0].data<float>();
}

absl::StatusOr<BenchProgram> PrepareProgram(const BenchModel& model, const CompileOptions& options, bool time_commands,
                                            double deadline_seconds) {
  const int replicas = static_cast<int>(options.devices.size());
  BenchProgram program;
  Clock::time_point start = Clock::now();
  GraphBuilder graph("benchmark");
  FlopCounter flops(model.training);
  model.build(graph, flops);
  program.build_seconds = SecondsSince(start);
  program.flops_per_step = flops.flops() * static_cast<double>(options.batch_per_replica * replicas);

  start = Clock::now();
  TD_ASSIGN_OR_RETURN(program.executable, CompileGraph(graph, model.training ? "train" : "eval", options));
  program.compile_seconds = SecondsSince(start);
  const format::Index& index = program.executable->index();

  start = Clock::now();
  program.variables = std::make_shared<VariableStore>(replicas);
  TD_ASSIGN_OR_RETURN(program.session, CreateSession(program.executable, program.variables,
                                                     {.pool = std::make_shared<ThreadPool>(options.threads),
                                                      .time_commands = time_commands,
                                                      .deadline_seconds = deadline_seconds}));
  for (const auto& v : index.variables) {
    TD_RETURN_IF_ERROR(program.variables->Initialize(v.name, v.initializer, 1));
    if (v.slot_of.empty()) program.parameters += NumElements(v.shape);
  }
  for (const VariableSpec& v : graph.variables()) {
    if (v.first_value == nullptr || !program.variables->Contains(v.name)) continue;
    TD_ASSIGN_OR_RETURN(const HostTensor value, v.first_value(v.name, v.dtype, v.shape, /*seed=*/1));
    TD_RETURN_IF_ERROR(program.variables->Assign(v.name, value));
  }
  program.create_seconds = SecondsSince(start);

  program.inputs = std::make_shared<StepInputs>();
  program.inputs->inputs.resize(replicas);
  for (const auto& input : index.inputs) {
    auto spec = std::find_if(model.inputs.begin(), model.inputs.end(),
                             [&](const InputSpec& s) { return s.name == input.name; });
    if (spec == model.inputs.end()) {
      return absl::InternalError(absl::StrCat("the model does not say what its input \"", input.name, "\" holds"));
    }
    std::vector<HostTensor> tensors = RandomInput(*spec, replicas, options.batch_per_replica);
    for (int r = 0; r < replicas; ++r) program.inputs->inputs[r].push_back(std::move(tensors[r]));
  }
  if (program.session->CanPrefetch()) program.ahead = std::make_shared<BatchAhead>(program.session, *program.inputs);
  for (const auto& [name, value] : graph.scalar_defaults()) program.inputs->scalars[name] = value;
  return program;
}

}  // namespace tandem::benchmarks
