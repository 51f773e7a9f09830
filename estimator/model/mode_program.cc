#include "estimator/model/mode_program.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/annotate.h"
#include "base/exit_code.h"
#include "base/llvm_memory.h"
#include "base/logging.h"
#include "base/nearest_name.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "estimator/loop/step_scalar_settings.h"
#include "estimator/model/renamed_variables.h"
#include "estimator/summary/model_summaries.h"
#include "graph/index_range.h"
#include "graph/module/graph_parts.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

// Returns an error if a dimension other than the batch dimension is unknown, because all others are constants of the
// compiled program.
absl::Status CheckComponents(const std::vector<ComponentSpec>& components) {
  for (const ComponentSpec& component : components) {
    for (size_t i = 1; i < component.shape.size(); ++i) {
      if (component.shape[i] >= 0) continue;
      return absl::InvalidArgumentError(absl::StrCat("component \"", component.name, "\" has shape ",
                                                     ShapeString(component.shape), ", whose dimension ", i,
                                                     " is not fixed; make all examples equally large, in a Map or with "
                                                     "a size in PaddedBatchOptions.padded_shapes"));
    }
  }
  return absl::OkStatus();
}

// Returns the error message of an op that uses the labels if there are none.
std::string WhyNoLabels(Mode mode, const std::vector<ComponentSpec>& components) {
  if (mode == Mode::kPredict) {
    return "has no value: mode predict has no labels; return EstimatorSpec::Predict before the loss is built";
  }
  return absl::StrCat("has no value: the input has no component \"label\" or \"labels\", it has ",
                      SpecString(components),
                      "; rename the one that holds the labels, or give its name to the Estimator as InputSpec.labels");
}

// Returns the error message of an op that uses several labels as one tensor.
std::string SeveralLabels(const std::vector<std::string>& names) {
  return absl::StrCat("has no value: there are several labels, ", absl::StrJoin(names, ", "),
                      "; take `const Labels& labels` in model_fn and ask for one, labels[\"", names[0], "\"]");
}

// Returns names that `name` may have meant: a similar one, and ops of that name in any scope.
std::vector<std::string> NamesNear(const std::string& name, const std::vector<std::string>& names) {
  constexpr size_t kShown = 4;
  std::vector<std::string> near;
  if (std::string nearest = NearestName(name, names); !nearest.empty()) near.push_back(std::move(nearest));
  for (const std::string& candidate : names) {
    const bool known = !near.empty() && near[0] == candidate;
    if (!known && near.size() < kShown && absl::EndsWith(candidate, "/" + name)) near.push_back(candidate);
  }
  return near;
}

// Returns an error unless every scalar of the steps gets a value: from the runtime, or a default that hooks may change.
absl::Status CheckStepScalars(const GraphBuilder& graph, Mode mode) {
  const std::vector<std::string> of_runtime = RuntimeScalars();
  std::vector<std::string> known = of_runtime;
  std::string unknown;
  for (const auto& [name, value] : graph.scalar_defaults()) {
    if (std::count(of_runtime.begin(), of_runtime.end(), name) > 0) continue;
    if (graph.HasScalarDefault(name)) {
      known.push_back(name);
    } else if (unknown.empty()) {
      unknown = name;
    }
  }
  if (unknown.empty()) return absl::OkStatus();
  const std::string nearest = NearestName(unknown, known);
  return absl::InvalidArgumentError(
      absl::StrCat("model_fn, mode ", ModeName(mode), ": the step scalar \"", unknown, "\" at ",
                   graph.Find(unknown).origin(), " has no default value and is none of those that the runtime sets (",
                   absl::StrJoin(of_runtime, ", "), "), so it ", "would always be 0; ",
                   nearest.empty() ? "" : absl::StrCat("did you mean \"", nearest, "\"? Otherwise "),
                   "give it a default, which hooks may change (RunContext::SetStepScalar)"));
}

// Returns the line of the losses::ClassWeights that made the table of `rows` rows that a component of the input
// indexes; "" if another op made it. Ops of ClassWeights are in a scope "class_weights".
std::string PlaceOfClassWeights(const std::vector<GraphNode>& nodes, const std::string& component, int64_t rows) {
  std::vector<bool> indices(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const GraphNode& node = nodes[i];
    const bool passes_on = node.op == "cast" || node.op == "reshape";
    indices[i] = (node.op == "input" && node.name == component) || (passes_on && indices[node.operands[0].node]);
    if (node.op != "gather" || !indices[node.operands[1].node]) continue;
    const std::vector<std::string> scopes = absl::StrSplit(node.name, '/');
    const GraphNode::Operand& table = node.operands[0];
    const bool named = scopes.size() > 1 && absl::StartsWith(scopes[scopes.size() - 2], "class_weights");
    if (named && nodes[table.node].results[table.result].shape[0] == rows) return node.source;
  }
  return "";
}

// Adds the exit code for errors of a model to `status`, unless the system has run out of memory.
absl::Status FailedModel(const absl::Status& status) {
  return absl::IsResourceExhausted(status) ? status : WithExitCode(status, kExitCompileError);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FindLabels(const std::vector<ComponentSpec>& components,
                                                    const std::vector<std::string>& labels, Mode mode) {
  const auto is_there = [&](const std::string& name) {
    return std::any_of(components.begin(), components.end(), [&](const ComponentSpec& c) { return c.name == name; });
  };
  for (const std::string name : {"label", "labels"}) {
    if (labels.empty() && is_there(name)) return std::vector<std::string>{name};
  }
  std::vector<std::string> found;
  for (const std::string& name : labels) {
    if (std::find(found.begin(), found.end(), name) != found.end()) {
      return absl::InvalidArgumentError(absl::StrCat("InputSpec.labels: \"", name, "\" is there twice"));
    }
    if (is_there(name)) {
      found.push_back(name);
    } else if (mode != Mode::kPredict) {
      return absl::InvalidArgumentError(absl::StrCat("InputSpec.labels: the input has no component \"", name,
                                                     "\", it has ", SpecString(components), "; name one of these"));
    }
  }
  return found;
}

absl::StatusOr<std::unique_ptr<ModeProgram>> ModeProgram::Build(const ModelFn& model_fn, Mode mode,
                                                                const Params& params,
                                                                const std::vector<ComponentSpec>& components,
                                                                const std::vector<std::string>& labels,
                                                                const ReplicaCount& replicas) {
  TD_RETURN_IF_ERROR(Annotate(CheckComponents(components), absl::StrCat("input_fn, mode ", ModeName(mode), ": ")));
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> label_names, FindLabels(components, labels, mode));
  TD_RETURN_IF_ERROR(CheckLlvmMemory("building the model"));
  const LlvmMemoryScope scope("building the model");
  std::unique_ptr<ModeProgram> program(new ModeProgram(mode, components));
  GraphBuilder* graph = program->graph_.get();
  SetReplicas(*graph, replicas);
  graph->SetTraining(mode == Mode::kTrain);
  if (mode != Mode::kTrain) {
    graph->IgnoreUpdates(absl::StrCat("variables change in training only, and model_fn was called for mode ",
                                      ModeName(mode), "; build what updates them for Mode::kTrain"));
  }
  std::vector<ComponentSpec> feature_components, label_components;
  for (const ComponentSpec& component : components) {
    if (std::find(label_names.begin(), label_names.end(), component.name) == label_names.end()) {
      feature_components.push_back(component);
    } else if (mode != Mode::kPredict) {
      label_components.push_back(component);
    }
  }
  Tensor only;
  if (label_components.size() == 1) {
    only = graph->Input(label_components[0].name, label_components[0].dtype, label_components[0].shape);
  } else {
    only = graph->Absent(label_components.empty() ? WhyNoLabels(mode, components) : SeveralLabels(label_names));
  }
  const Labels given(graph, std::move(label_components), only);
  TD_LOG(INFO) << "Calling model_fn.";
  const Features features(graph, std::move(feature_components));
  program->params_ = params.WithoutErrors();
  const Params& asked = program->params_;
  ScoreUses scores;
  absl::StatusOr<EstimatorSpec> made = CallUserCode([&] { return model_fn(features, given, mode, asked); });
  if (!made.ok()) return FailedModel(Annotate(made.status(), absl::StrCat("model_fn, mode ", ModeName(mode), ": ")));
  TD_LOG(INFO) << "Done calling model_fn.";
  program->spec_ = std::make_unique<EstimatorSpec>(*std::move(made));
  if (graph->status().ok()) program->score_problems_ = CheckScoreUses(scores.uses(), GraphNodesOf(*graph));
  const EstimatorSpec& spec = *program->spec_;
  // The model_fn may have read values of the Estimator's own params, and not only of the copy that it was given.
  for (const Params* of : {&asked, &params}) {
    if (absl::Status status = of->status(); !status.ok()) return FailedModel(status);
  }
  if (absl::Status status = AddSpecOutputs(spec, mode, graph); !status.ok()) return FailedModel(status);
  for (const auto& output : graph->outputs()) program->spec_outputs_.insert(output.first);
  if (absl::Status status = CheckStepScalars(*graph, mode); !status.ok()) return FailedModel(status);
  std::set<std::string> metrics;
  for (const auto& metric : spec.metrics) metrics.insert(metric.first);
  if (absl::Status status = CheckSummaryTags(program->summaries(), metrics); !status.ok()) return FailedModel(status);
  if (mode == Mode::kTrain) {
    for (const std::string& layer : graph->UnusedRegularizationLosses(spec.loss)) {
      TD_LOG(WARNING) << "The regularizer of " << layer << " has no effect: no loss depends on it. Add "
                      << "losses::RegularizationLoss(graph) to the loss.";
    }
  }
  return program;
}

absl::Status ModeProgram::UnknownFetch(const std::string& name, const std::string& hook) const {
  std::vector<std::string> outputs;
  for (const auto& output : graph_->outputs()) outputs.push_back(output.first);
  const std::vector<std::string> near = NamesNear(name, graph_->names());
  return absl::InvalidArgumentError(absl::StrCat(
      hook, "::Begin fetches \"", name, "\", but no tensor has this name in mode ", ModeName(mode_), "; outputs are ",
      absl::StrJoin(outputs, ", "), ", and every op can be fetched by its name (tandem-dump shows all)",
      near.empty() ? "" : absl::StrCat("; did you mean \"", absl::StrJoin(near, "\" or \""), "\"?")));
}

absl::StatusOr<bool> ModeProgram::AddOutputs(const Fetches& fetches) {
  const LlvmMemoryScope scope("building the model");
  bool added = false;
  for (const auto& [name, hook] : fetches) {
    if (name == "global_step" || graph_->outputs().count(name) > 0) continue;
    const Tensor tensor = graph_->Find(name);
    if (!tensor.ok()) return UnknownFetch(name, hook);
    graph_->Output(name, tensor);
    added = true;
  }
  TD_RETURN_IF_ERROR(graph_->status());
  return added;
}

absl::Status ModeProgram::Compile(const Fetches& fetches, const CompileOptions& options) {
  TD_ASSIGN_OR_RETURN(const bool added, AddOutputs(fetches));
  if (executable_ != nullptr && !added) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(executable_, CompileGraph(*graph_, ModeName(mode_), options));
  options_ = options;
  ++times_compiled_;
  runner_ = nullptr;  // the runner still runs the old executable
  return absl::OkStatus();
}

absl::Status ModeProgram::Bind(const std::map<std::string, std::string>& names,
                               std::shared_ptr<VariableStore> variables, Session::Options session) {
  if (runner_ != nullptr && names == bound_) return absl::OkStatus();
  runner_ = nullptr;  // frees the old runner's memory before the new one is made
  std::shared_ptr<const Executable> executable = executable_;
  if (!names.empty()) {
    TD_ASSIGN_OR_RETURN(executable, RenameVariables(*executable_, names));
  }
  TD_ASSIGN_OR_RETURN(
      runner_, SessionRunner::Create(std::move(executable), std::move(variables), std::move(session), components_,
                                     {graph_->scalar_defaults().begin(), graph_->scalar_defaults().end()}));
  bound_ = names;
  TD_LOG(INFO) << "Graph was finalized.";
  return absl::OkStatus();
}

std::vector<ModelSummary> ModeProgram::summaries() const {
  std::vector<ModelSummary> summaries = ModelSummariesOf(*graph_);
  if (summaries.empty()) return summaries;
  const std::vector<GraphNode> nodes = GraphNodesOf(*graph_);
  struct Shown {
    std::string variable;
    std::pair<int, int> value;
  };
  std::map<std::string, Shown> shown;  // by the name of the op that marks the value for a summary
  for (const GraphNode& node : nodes) {
    if (node.operands.size() != 1) continue;
    const GraphNode::Operand& operand = node.operands[0];
    shown[node.name] = {nodes[operand.node].variable, {operand.node, operand.result}};
  }
  std::map<std::pair<int, int>, std::string> first;  // for each value, the first op that marks it
  for (ModelSummary& summary : summaries) {
    const auto of_value = shown.find(summary.op);
    if (of_value == shown.end()) continue;  // the summary shows a text, not a value
    summary.variable = of_value->second.variable;
    // If several summaries show one value, all of them read the output of the first one.
    summary.op = first.emplace(of_value->second.value, summary.op).first->second;
  }
  return summaries;
}

std::vector<std::pair<std::string, std::string>> ModeProgram::option_parts() const {
  std::vector<std::pair<std::string, std::string>> parts = OptionParts(options_);
  parts.emplace_back("the machine model", executable_->index().machine_model);
  return parts;
}

std::vector<std::string> ModeProgram::fetched() const {
  std::vector<std::string> names;
  for (const auto& output : graph_->outputs()) {
    if (!spec_outputs_.contains(output.first)) names.push_back(output.first);
  }
  return names;
}

std::vector<std::pair<std::string, std::string>> ModeProgram::model_parts() const {
  std::vector<std::pair<std::string, std::string>> parts = GraphPartsOf(*graph_);
  // The outputs that only hooks fetch come after those of the spec, and are left out.
  size_t end = parts.size();
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto& [name, words] = parts[i];
    if (absl::StartsWith(words, "output ") && spec_outputs_.contains(name.substr(sizeof("the op ") - 1))) end = i + 1;
  }
  parts.resize(end);
  return parts;
}

std::vector<std::pair<std::string, std::string>> ModeProgram::parts() const {
  std::vector<std::pair<std::string, std::string>> parts = option_parts();
  for (auto& part : GraphPartsOf(*graph_)) parts.push_back(std::move(part));
  return parts;
}

std::map<std::string, double> ModeProgram::scalar_defaults() const { return graph_->scalar_defaults(); }

std::string ModeProgram::NumbersText() const {
  std::string numbers;
  for (const auto& [name, value] : scalar_defaults()) {
    absl::StrAppendFormat(&numbers, "%s%s: %.17g", numbers.empty() ? "" : ", ", name, value);
  }
  return numbers;
}

std::vector<LabelRange> ModeProgram::label_ranges() const {
  std::vector<LabelRange> ranges;
  for (const auto& input : executable_->index().inputs) {
    for (const ComponentSpec& component : components_) {
      if (component.name != input.name) continue;
      // Calling Input again returns the input that the model_fn used.
      const IndexRange range = IndexRangeOf(graph_->Input(component.name, component.dtype, component.shape));
      if (range.size == 0) continue;
      ranges.push_back({component.name, range.size, range.table});
      if (range.table) ranges.back().class_weights = PlaceOfClassWeights(nodes(), component.name, range.size);
    }
  }
  return ranges;
}

}  // namespace tandem
