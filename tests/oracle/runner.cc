#include "tests/oracle/runner.h"

#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "graph/reference/reference.h"
#include "runtime/device_classes/device_classes.h"
#include "tests/oracle/draw.h"

namespace tandem::oracle {
namespace {

constexpr int kSteps = 3;
// Draws that come this near to a choice between two branches are drawn again.
constexpr double kMargin = 3e-5;
constexpr int kDraws = 200;
// One program of so many is also compiled in parts, for one to three parameter servers.
constexpr uint64_t kProgramsOfParts = 4;

// "" when all elements are within their bounds.
std::string Difference(const std::string& name, const ref::Numbers& got, const ref::Numbers& before,
                       const Bounded& want) {
  if (got.values.size() != want.values.size()) {
    return absl::StrCat(name, " has ", got.values.size(), " elements, expected ", want.values.size());
  }
  std::string text;
  int wrong = 0;
  for (size_t i = 0; i < got.values.size(); ++i) {
    if (std::abs(got.values[i] - want.values[i]) <= want.bounds[i]) continue;
    if (++wrong > 3) continue;
    absl::StrAppend(&text, text.empty() ? "" : ",", " [", i, "] ", before.values[i], " became ", got.values[i],
                    ", expected ", want.values[i], " +- ", want.bounds[i]);
  }
  return wrong == 0 ? "" : absl::StrCat(name, " (", wrong, " of ", got.values.size(), " elements):", text);
}

}  // namespace

bool Runner::on_cpus() const { return absl::StartsWith(target_, "cpu:"); }

absl::Status Runner::Prepare(const Case& c) {
  if (program_id_ != c.ProgramId()) {
    program_id_.clear();
    const compiled::Options options{.devices = c.place->devices,
                                    .batch = c.place->batch,
                                    .lanes = on_cpus() ? c.place->lanes : 0,
                                    .microbatch_rows = on_cpus() ? c.place->microbatch_rows : 0,
                                    .precision = c.precision,
                                    .target = target_,
                                    .device_kind = on_cpus() ? "cpu" : "gpu",
                                    .kernel_cache_dir = kernel_cache_dir_};
    auto build = [&](GraphBuilder& g) {
      Tensor loss = c.model->loss(g);
      c.optimizer->minimize(loss, c.clip->options);
      g.Output("loss", loss);
    };
    TD_ASSIGN_OR_RETURN(program_, compiled::Prepare(build, options));
    ++programs_;
    workers_.clear();
    for (int count = 2; on_cpus() && count <= c.place->devices; count *= 2) {
      if (c.place->devices % count != 0) continue;
      TD_ASSIGN_OR_RETURN(compiled::Workers workers, compiled::Workers::Make(program_.executable, count));
      workers_.push_back(std::move(workers));
    }
    central_session_ = nullptr;
    central_ = nullptr;
    if (on_cpus() && c.place->devices > 1) {
      central_ = std::make_shared<VariableStore>(c.place->devices, /*one_copy=*/true);
      TD_ASSIGN_OR_RETURN(central_session_,
                          CreateSession(program_.executable, central_, {std::make_shared<ThreadPool>(2)}));
    }
    parts_.reset();
    if (const uint64_t key = Fingerprint64(c.ProgramId()); on_cpus() && key % kProgramsOfParts == 0) {
      const int servers = 1 + static_cast<int>(key / kProgramsOfParts % 3);
      TD_ASSIGN_OR_RETURN(parts_, compiled::Parts::Make(build, options, servers));
    }
    forward_.reset();
    randoms_ = c.model->randoms;
    if (!randoms_.empty()) {
      forward_ = std::make_unique<GraphBuilder>("test");
      c.model->loss(*forward_);
      for (const std::string& op : randoms_) forward_->Output(op + " as output", forward_->Find(op));
      TD_RETURN_IF_ERROR(forward_->status());
    }
    program_id_ = c.ProgramId();
  }
  std::map<std::string, double> slot_starts;
  for (const VariableSpec& v : program_.graph->variables()) slot_starts[v.name] = v.initializer.a;
  for (const VariableInfo& info : program_.variables->List()) {
    const ref::Numbers start = {info.shape, std::vector<double>(NumElements(info.shape), slot_starts[info.name])};
    const ref::Numbers first = info.slot_of.empty() ? FirstValue(c.model->name, info.name, info.shape) : start;
    HostTensor value = ToTensor(DType::kFloat32, first);
    TD_RETURN_IF_ERROR(program_.variables->Assign(info.name, value));
  }
  return absl::OkStatus();
}

absl::StatusOr<ref::NumbersMap> Runner::Uniforms(const TensorMap& inputs, int step) {
  if (forward_ == nullptr) return ref::NumbersMap();
  TensorMap scalars;
  for (const auto& [name, value] : compiled::Deal(program_, inputs, {0}, step).scalars) {
    scalars[name] = HostTensor::Scalar<double>(value);
  }
  TD_ASSIGN_OR_RETURN(TensorMap results, Evaluate(*forward_, inputs, program_.Values(), scalars));
  ref::NumbersMap uniforms;
  for (const std::string& op : randoms_) uniforms[op] = ToNumbers(results.at(op + " as output"));
  return uniforms;
}

absl::StatusOr<std::vector<std::string>> Runner::Run(const Case& c) {
  TD_RETURN_IF_ERROR(Prepare(c));
  for (int step = 0; step < kSteps; ++step) {
    TD_ASSIGN_OR_RETURN(std::vector<std::string> differences, Step(c, step));
    if (!differences.empty()) return differences;
  }
  return std::vector<std::string>();
}

absl::StatusOr<std::vector<std::string>> Runner::Step(const Case& c, int step) {
  StepData data;
  data.step = step;
  data.rows_per_replica = step == 1 ? c.place->rows : std::vector<int64_t>(c.place->devices, c.place->batch);
  const TensorMap before = program_.Values();
  data.variables = ToNumbers(before);
  for (const VariableSpec& v : program_.graph->variables()) {
    if (!v.trainable || !v.slot_of.empty()) continue;
    if (c.optimizer->group && c.optimizer->group(v.name).frozen) continue;
    if (data.trained.empty() || !c.optimizer->first_variable_only) data.trained.push_back(v.name);
  }
  const int64_t rows = std::accumulate(data.rows_per_replica.begin(), data.rows_per_replica.end(), int64_t{0});
  TensorMap inputs;
  Expected expected;
  for (int draw = 0; draw < kDraws; ++draw) {
    inputs = DrawInputs(*program_.executable, *c.model, rows,
                        absl::StrCat(c.model->name, " ", c.place->name, " ", step, " ", draw));
    data.inputs = ToNumbers(inputs);
    TD_ASSIGN_OR_RETURN(data.uniforms, Uniforms(inputs, step));
    expected = ExpectedStep(*c.model, *c.optimizer, c.clip->options, data);
    if (expected.margin >= kMargin) break;
  }
  if (expected.margin < kMargin) return absl::InternalError("no inputs were found that are far from every choice");

  const StepInputs dealt = compiled::Deal(program_, inputs, data.rows_per_replica, step);
  TD_ASSIGN_OR_RETURN(StepResult result, program_.Run(dealt));
  const std::string where = absl::StrCat("step ", step, ": ");
  if (!result.finite) return std::vector<std::string>{where + "a value is not finite"};
  std::vector<std::string> differences;
  const double loss = *result.outputs.at(0).data<float>();
  if (!(std::abs(loss - expected.loss) <= expected.loss_bound)) {
    differences.push_back(
        absl::StrCat(where, "loss is ", loss, ", expected ", expected.loss, " +- ", expected.loss_bound));
  }
  const TensorMap after = program_.Values();
  for (const auto& [name, want] : expected.assigned) {
    if (!after.contains(name)) {
      differences.push_back(absl::StrCat(where, "there is no ", name));
      continue;
    }
    const std::string difference = Difference(name, ToNumbers(after.at(name)), data.variables.at(name), want);
    if (!difference.empty()) differences.push_back(where + difference);
  }
  for (const auto& [name, value] : after) {
    if (!expected.assigned.contains(name) && !value.BitEqual(before.at(name))) {
      differences.push_back(absl::StrCat(where, name, " has changed"));
    }
    for (int d = 1; on_cpus() && d < c.place->devices; ++d) {
      const void* first = program_.variables->Buffer(name, 0);
      if (std::memcmp(first, program_.variables->Buffer(name, d), value.byte_size()) != 0) {
        differences.push_back(absl::StrCat(where, name, " is not the same on devices 0 and ", d));
      }
    }
  }
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> of_workers, DifferencesOfWorkers(dealt, before, result, after));
  for (const std::string& difference : of_workers) differences.push_back(where + difference);
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> of_central, DifferencesOfCentral(dealt, before, result, after));
  for (const std::string& difference : of_central) differences.push_back(where + difference);
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> of_parts, DifferencesOfParts(dealt, before, result, after));
  for (const std::string& difference : of_parts) differences.push_back(where + difference);
  return differences;
}

absl::StatusOr<std::vector<std::string>> Runner::DifferencesOfWorkers(const StepInputs& inputs, const TensorMap& before,
                                                                      const StepResult& result,
                                                                      const TensorMap& after) {
  std::vector<std::string> differences;
  for (compiled::Workers& workers : workers_) {
    TD_RETURN_IF_ERROR(workers.Assign(before));
    TD_ASSIGN_OR_RETURN(const std::vector<StepResult> results, workers.Run(inputs));
    for (size_t w = 0; w < results.size(); ++w) {
      if (results[w].finite == result.finite && results[w].examples == result.examples &&
          results[w].outputs[0].BitEqual(result.outputs[0])) {
        continue;
      }
      differences.push_back(absl::StrCat("worker ", w, " of ", results.size(), " has another loss than one process"));
    }
    const std::vector<std::string> variables = workers.Differences(after);
    differences.insert(differences.end(), variables.begin(), variables.end());
  }
  return differences;
}

absl::StatusOr<std::vector<std::string>> Runner::DifferencesOfCentral(const StepInputs& inputs, const TensorMap& before,
                                                                      const StepResult& result,
                                                                      const TensorMap& after) {
  std::vector<std::string> differences;
  if (central_session_ == nullptr) return differences;
  for (const auto& [name, value] : before) TD_RETURN_IF_ERROR(central_->Assign(name, value));
  TD_ASSIGN_OR_RETURN(const StepResult central, central_session_->Run(inputs, {0}));
  if (central.finite != result.finite || !central.outputs[0].BitEqual(result.outputs[0])) {
    differences.push_back("the loss is another one with one copy of the variables");
  }
  for (const auto& [name, value] : after) {
    if (!central_->Read(name)->BitEqual(value)) {
      differences.push_back(absl::StrCat(name, " has other bits where all devices have one copy"));
    }
  }
  return differences;
}

absl::StatusOr<std::vector<std::string>> Runner::DifferencesOfParts(const StepInputs& inputs, const TensorMap& before,
                                                                    const StepResult& result, const TensorMap& after) {
  std::vector<std::string> differences;
  if (!parts_.has_value()) return differences;
  TD_RETURN_IF_ERROR(parts_->Assign(before));
  TD_ASSIGN_OR_RETURN(const StepResult in_parts, parts_->Run(inputs));
  if (in_parts.finite != result.finite || !in_parts.outputs[0].BitEqual(result.outputs[0])) {
    differences.push_back("a worker with parameter servers has another loss than one program");
  }
  const std::vector<std::string> variables = parts_->Differences(after);
  differences.insert(differences.end(), variables.begin(), variables.end());
  return differences;
}

}  // namespace tandem::oracle
