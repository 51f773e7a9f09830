// tandem-run FILE.tdx|MODEL_DIR|EXPORT_DIR: runs a compiled or exported model on inputs, and compares a compiled one
// with the reference interpreter.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/env.h"
#include "base/flag_table.h"
#include "base/moving_average_name.h"
#include "base/output_file.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/step_scalars.h"
#include "base/tool_program.h"
#include "estimator/checkpoint/checkpoint_reader.h"
#include "estimator/checkpoint/safetensors.h"
#include "estimator/serving/model.h"
#include "estimator/trace/trace_steps.h"
#include "estimator/trace/tracer.h"
#include "runtime/format/index.h"
#include "runtime/run/run.h"
#include "tools/dump/find_executable.h"
#include "tools/run/random_inputs.h"
#include "tools/run/reference_check.h"
#include "tools/run/tensor_files.h"
#include "tools/tool_functions.h"

namespace tandem {
namespace {

struct RunFlags : FlagTable {
  Flag<std::string> mode{this, "mode", "",
                         "train, eval or predict: which executable of a model directory (default: train)"};
  Flag<std::string> inputs{
      this, "inputs", "",
      "A .safetensors, .npz or (of one input) .npy file with inputs by name, the whole batch of each. Inputs that it "
      "lacks are random: floating point uniform in [0, 1), integers 0 to 9, or any index where they are indices. An "
      "exported model needs all of them."};
  Flag<std::string> variables{
      this, "variables", "",
      "Values of variables: a checkpoint, a model directory (its newest checkpoint) or a safetensors file. "
      "Without it, all come from their initialisers."};
  Flag<int64_t> steps{this, "steps", 1, "Steps to run; what is updated is the next step's."};
  Flag<int64_t> rows{this, "rows", 0, "Rows of random inputs, over all replicas; 0: as many as the program takes."};
  Flag<int64_t> seed{this, "seed", 0, "Of random inputs, initialisers and the program's random numbers."};
  Flag<int> threads{this, "threads", 0, "Threads of all replicas together; 0: the machine's number of cores."};
  Flag<std::vector<std::string>> scalars{
      this,
      "scalars",
      {},
      "Step scalars: name=value,... Without: global_step as in the checkpoint or 0, then counted up; others 0.1."};
  Flag<std::string> trace{
      this, "trace", "",
      "Write a Chrome trace to this file: what every thread did when, how fast, and what limits it. For "
      "chrome://tracing and ui.perfetto.dev."};
  Flag<std::string> trace_steps{this, "trace_steps", "0-999999999",
                                "FIRST-LAST of the steps in the trace, counted from 0."};
  Flag<std::string> outputs{this, "outputs", "",
                            "A .safetensors or .npz file to write the outputs of the last step to."};
  Flag<bool> check{
      this, "check", false,
      "Compare outputs and updated variables of every step with the reference interpreter on the stored graph; exit "
      "code 1 when they differ."};
  Flag<double> tolerance{this, "tolerance", 1e-4,
                         "Of --check: the largest error, relative to the tensor's largest magnitude."};
  Flag<double> absolute_tolerance{
      this, "absolute_tolerance", 1e-6,
      "Of --check: errors up to this one are none, however small the tensor: where terms cancel, rounding remains."};
};

// Restores the values of variables from --variables. Optimizer slots may be missing, because a file of weights has
// none. As in the Estimator, evaluations and predictions use moving averages if there are any.
absl::Status RestoreVariables(const std::string& path, LoadedExecutable* model, StepScalars* scalars) {
  TD_ASSIGN_OR_RETURN(auto reader, CheckpointReader::Open(Env::Default(), path));
  const format::Index& index = model->executable().index();
  std::vector<std::string> missing;
  int averages = 0;
  for (const auto& v : index.variables) {
    const std::string average = MovingAverageName(v.name);
    const bool averaged = index.mode != "train" && reader->Contains(average);
    const std::string& name = averaged ? average : v.name;
    if (!reader->Contains(name)) {
      if (v.slot_of.empty()) missing.push_back(v.name);
      continue;
    }
    TD_ASSIGN_OR_RETURN(const HostTensor value, reader->Read(name));
    TD_RETURN_IF_ERROR(model->variables().Assign(v.name, value));
    averages += averaged;
  }
  if (!missing.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(reader->path(), " lacks variables of the program: ", absl::StrJoin(missing, ", ")));
  }
  if (averages > 0) absl::PrintF("Using the moving averages of %d variables.\n", averages);
  if (reader->global_step()) (*scalars)["global_step"] = *reader->global_step();
  return absl::OkStatus();
}

absl::Status SetScalars(const RunFlags& flags, const format::Index& index, StepScalars* scalars) {
  std::vector<std::string> names;
  for (const auto& s : index.scalars) {
    if (IsSetBySession(s.name)) continue;
    names.push_back(s.name);
    scalars->emplace(s.name, 0.1);
  }
  for (const std::string& flag : *flags.scalars) {
    const std::vector<std::string> parts = absl::StrSplit(flag, absl::MaxSplits('=', 1));
    int64_t integer = 0;
    double value = 0;
    if (parts.size() != 2 || !absl::SimpleAtod(parts[1], &value)) {
      return absl::InvalidArgumentError(absl::StrCat("--scalars: \"", flag, "\" is not name=number"));
    }
    if (parts[0] != "global_step" && parts[0] != "seed" &&
        std::find(names.begin(), names.end(), parts[0]) == names.end()) {
      return absl::InvalidArgumentError(absl::StrCat("--scalars: the program has no scalar \"", parts[0],
                                                     "\"; it has: ", absl::StrJoin(names, ", ")));
    }
    const bool integral = absl::SimpleAtoi(parts[1], &integer);
    if (!integral && (parts[0] == "global_step" || parts[0] == "seed")) {
      return absl::InvalidArgumentError(absl::StrCat("--scalars: ", flag, " is not an integer of 64 bits"));
    }
    (*scalars)[parts[0]] = integral ? ScalarValue(integer) : ScalarValue(value);
  }
  for (const std::string& name : names) {
    const ScalarValue& value = scalars->at(name);
    absl::PrintF("scalar %s = %s\n", PrintableLine(name),
                 value.integral() ? absl::StrCat(value.integer()) : absl::StrCat(static_cast<double>(value)));
  }
  return absl::OkStatus();
}

absl::Status WriteOutputs(const RunFlags& flags, const std::map<std::string, HostTensor>& outputs) {
  const std::string file = *flags.outputs;
  return file.empty() ? absl::OkStatus() : OutputError("--outputs", WriteTensorFile(file, outputs));
}

std::string ElementText(const HostTensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::kFloat32:
      return absl::StrFormat("%.7g", t.data<float>()[i]);
    case DType::kFloat64:
      return absl::StrFormat("%.7g", t.data<double>()[i]);
    case DType::kInt32:
      return absl::StrCat(t.data<int32_t>()[i]);
    case DType::kInt64:
      return absl::StrCat(t.data<int64_t>()[i]);
    default:
      return absl::StrCat(t.data<uint8_t>()[i]);
  }
}

void PrintOutputs(const std::map<std::string, HostTensor>& outputs) {
  constexpr int64_t kShown = 8;
  for (const auto& [name, t] : outputs) {
    std::string values;
    for (int64_t i = 0; i < std::min(kShown, t.num_elements()); ++i) absl::StrAppend(&values, " ", ElementText(t, i));
    absl::PrintF("output %s %s %s:%s%s\n", PrintableLine(name), std::string(Name(t.dtype())), ShapeString(t.shape()),
                 values, t.num_elements() > kShown ? " ..." : "");
  }
}

// Reads or generates the inputs, and runs the steps.
class Runner {
 public:
  Runner(const RunFlags& flags, std::unique_ptr<LoadedExecutable> model) : flags_(flags), model_(std::move(model)) {}

  absl::Status Prepare() {
    scalars_ = {{"global_step", 0}, {"seed", *flags_.seed}};
    if (std::string path = *flags_.variables; !path.empty()) {
      TD_RETURN_IF_ERROR(RestoreVariables(path, model_.get(), &scalars_));
    } else if (!index().variables.empty()) {
      absl::PrintF("variables have their first values, of seed %d; --variables=MODEL_DIR takes trained ones\n",
                   *flags_.seed);
    }
    TD_RETURN_IF_ERROR(SetScalars(flags_, index(), &scalars_));
    if (std::string path = *flags_.inputs; !path.empty()) {
      TD_ASSIGN_OR_RETURN(given_, ReadTensorFile(path, index().inputs.size() == 1 ? index().inputs[0].name : ""));
    }
    if (const std::string file = *flags_.trace; !file.empty()) {
      TD_ASSIGN_OR_RETURN(const auto steps, ParseTraceSteps(*flags_.trace_steps));
      tracer_ =
          std::make_unique<Tracer>(Tracer::Options{.file = file, .first_step = steps.first, .last_step = steps.second});
      tracer_->BeginLoop();
    }
    rows_ = *flags_.rows;
    if (rows_ < 0) return absl::InvalidArgumentError("--rows must not be negative");
    for (const auto& [name, value] : given_) {
      if (value.rank() == 0) return absl::InvalidArgumentError(absl::StrCat("input \"", name, "\" has no rows"));
      if (rows_ == 0) rows_ = value.shape()[0];
    }
    if (rows_ == 0) rows_ = model_->max_rows();
    if (rows_ > model_->max_rows()) {
      return absl::InvalidArgumentError(
          absl::StrCat(rows_, " rows are too many: the program takes ", model_->max_rows()));
    }
    if (!*flags_.check) return absl::OkStatus();
    TD_ASSIGN_OR_RETURN(check_, ReferenceCheck::Create(model_->executable()));
    const std::vector<int64_t> rows = model_->RowsOfReplicas(rows_);
    return check_->CanStandFor(
        static_cast<int>(std::count_if(rows.begin(), rows.end(), [](int64_t r) { return r > 0; })));
  }

  absl::Status Step(int64_t step) {
    TensorMap inputs = given_;
    for (const auto& input : index().inputs) {
      if (inputs.count(input.name) > 0) continue;
      inputs[input.name] = RandomInput(input, rows_, static_cast<uint64_t>(*flags_.seed), step);
    }
    TensorMap before;
    if (check_) {
      TD_ASSIGN_OR_RETURN(before, Variables());
    }
    TD_ASSIGN_OR_RETURN(RunResult result, TracedRun(inputs));
    if (!result.finite) {
      return absl::InternalError(absl::StrCat("step ", step, ": a NaN or infinity was found; no variable has changed"));
    }
    if (check_) {
      TD_RETURN_IF_ERROR(check_->Evaluate(rows_, inputs, before, scalars_));
      TD_RETURN_IF_ERROR(Compare(result.outputs));
    }
    outputs_ = std::move(result.outputs);
    scalars_["global_step"] = scalars_["global_step"].integer() + 1;
    return absl::OkStatus();
  }

  absl::Status Finish() {
    PrintOutputs(outputs_);
    if (tracer_) TD_RETURN_IF_ERROR(tracer_->EndLoop());
    TD_RETURN_IF_ERROR(WriteOutputs(flags_, outputs_));
    if (!check_) return absl::OkStatus();
    const double tolerance = *flags_.tolerance, absolute = *flags_.absolute_tolerance;
    std::vector<std::string> wrong;
    for (const auto& [name, e] : errors_) {
      absl::PrintF("check %s: largest error %.3g, magnitude %.6g%s\n", PrintableLine(name), e.error, e.magnitude,
                   e.Within(tolerance, absolute) ? "" : "  DIFFERS");
      if (!e.Within(tolerance, absolute)) wrong.push_back(name);
    }
    if (wrong.empty()) {
      absl::PrintF("check passed: %d tensors within %g of the reference\n", errors_.size(), tolerance);
      return absl::OkStatus();
    }
    return absl::InternalError(absl::StrCat("differs from the reference: ", absl::StrJoin(wrong, ", ")));
  }

 private:
  const format::Index& index() const { return model_->executable().index(); }

  absl::StatusOr<TensorMap> Variables() const {
    TensorMap values;
    for (const auto& v : index().variables) {
      TD_ASSIGN_OR_RETURN(values[v.name], model_->variables().Read(v.name));
    }
    return values;
  }

  absl::StatusOr<RunResult> TracedRun(const TensorMap& inputs) {
    if (tracer_ == nullptr) return Run(*model_, inputs, scalars_);
    tracer_->BeginStep();
    model_->session().set_trace(tracer_->command_trace());
    absl::StatusOr<RunResult> result = absl::UnknownError("");
    {
      TracePhase phase(tracer_.get(), "step");
      result = Run(*model_, inputs, scalars_);
    }
    model_->session().set_trace(nullptr);
    tracer_->AddCommands(model_->executable(), scalars_["global_step"].integer());
    TD_RETURN_IF_ERROR(tracer_->EndStep());
    return result;
  }

  // Keeps, for each output or variable, the largest error of all steps, relative to its magnitude.
  void Note(const std::string& what, const TensorError& e) {
    auto [it, first] = errors_.emplace(what, e);
    if (!first && e.error * it->second.magnitude >= it->second.error * e.magnitude) it->second = e;
  }

  absl::Status Compare(const TensorMap& outputs) {
    for (const auto& [name, value] : outputs) {
      TD_ASSIGN_OR_RETURN(const TensorError e, check_->CompareOutput(name, value));
      Note(absl::StrCat("output ", name), e);
    }
    for (const std::string& name : check_->updated_variables()) {
      TD_ASSIGN_OR_RETURN(const HostTensor value, model_->variables().Read(name));
      TD_ASSIGN_OR_RETURN(const TensorError e, check_->CompareVariable(name, value));
      Note(absl::StrCat("variable ", name), e);
    }
    return absl::OkStatus();
  }

  const RunFlags& flags_;
  std::unique_ptr<LoadedExecutable> model_;
  std::unique_ptr<ReferenceCheck> check_;  // null without --check
  std::unique_ptr<Tracer> tracer_;         // null without --trace
  StepScalars scalars_;
  TensorMap given_, outputs_;
  int64_t rows_ = 0;
  std::map<std::string, TensorError> errors_;  // errors by name: "output loss", "variable dense/kernel"
};

absl::Status RunExport(const RunFlags& flags, const std::string& path) {
  if (*flags.check || *flags.steps != 1 || *flags.rows != 0 || !flags.variables->empty() || !flags.scalars->empty() ||
      !flags.trace->empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("an exported model takes --inputs, --outputs and --threads only; for the other flags run its "
                     "program: ",
                     path, "/predict.tdx --variables=", path, "/variables.safetensors"));
  }
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, LoadModel(path, {.threads = *flags.threads}));
  absl::PrintF("%s: exported at global step %d\n", PrintableLine(model->path()), model->global_step());
  NamedTensors inputs;
  if (const std::string file = *flags.inputs; !file.empty()) {
    TD_ASSIGN_OR_RETURN(inputs, ReadTensorFile(file, model->inputs().size() == 1 ? model->inputs()[0].name : ""));
  }
  TD_ASSIGN_OR_RETURN(const NamedTensors outputs, model->Predict(inputs));
  PrintOutputs(outputs);
  return WriteOutputs(flags, outputs);
}

absl::Status RunModel(const RunFlags& flags, const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) {
    return absl::InvalidArgumentError("usage: tandem-run FILE.tdx|MODEL_DIR|EXPORT_DIR [flags]; --help explains them");
  }
  // The output files are checked before anything runs.
  for (const auto& [flag, file] : {std::pair("--outputs", *flags.outputs), std::pair("--trace", *flags.trace)}) {
    if (!file.empty()) TD_RETURN_IF_ERROR(CheckOutputFile(Env::Default(), flag, file));
  }
  const std::string outputs = *flags.outputs;
  if (!outputs.empty() && !absl::EndsWith(outputs, ".npz") && !absl::EndsWith(outputs, ".safetensors")) {
    return absl::InvalidArgumentError(
        absl::StrCat("--outputs: ", outputs, " is neither a .safetensors nor a .npz file"));
  }
  if (HasExport(arguments[0])) return RunExport(flags, arguments[0]);
  TD_ASSIGN_OR_RETURN(const std::string path, FindExecutable(arguments[0], *flags.mode));
  TD_ASSIGN_OR_RETURN(auto model,
                      LoadExecutable(path, {.threads = *flags.threads, .seed = static_cast<uint64_t>(*flags.seed)}));
  absl::PrintF("%s: %s, %d replicas, at most %d rows\n", PrintableLine(path), model->executable().index().mode,
               model->executable().num_replicas(), model->max_rows());
  Runner runner(flags, std::move(model));
  TD_RETURN_IF_ERROR(runner.Prepare());
  if (*flags.steps < 1) return absl::InvalidArgumentError("--steps must be at least 1");
  for (int64_t step = 0; step < *flags.steps; ++step) TD_RETURN_IF_ERROR(runner.Step(step));
  return runner.Finish();
}

}  // namespace

int TandemRun(int argc, char** argv) {
  return RunToolProgram<RunFlags>(
      argc, argv, "runs a compiled or exported model (FILE.tdx|MODEL_DIR|EXPORT_DIR) on inputs.", RunModel);
}

}  // namespace tandem
