// ModeProgram: the program of one mode of a model, from the call of the model_fn to a session that runs it.
#ifndef TANDEM_ESTIMATOR_MODEL_MODE_PROGRAM_H_
#define TANDEM_ESTIMATOR_MODEL_MODE_PROGRAM_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/loop/label_check.h"
#include "estimator/loop/session_runner.h"
#include "estimator/model/estimator_spec.h"
#include "estimator/model/score_check.h"
#include "frontends/summary_marks.h"
#include "graph/module/graph_nodes.h"
#include "graph/replicas.h"
#include "passes/compile/compile.h"

namespace tandem {

class ModeProgram {
 public:
  // Calls the model_fn. `components` are the dataset's, `labels` is InputSpec.labels, and `replicas` are those that the
  // program will be compiled for. Errors of the model carry exit code 70.
  static absl::StatusOr<std::unique_ptr<ModeProgram>> Build(const ModelFn& model_fn, Mode mode, const Params& params,
                                                            const std::vector<ComponentSpec>& components,
                                                            const std::vector<std::string>& labels,
                                                            const ReplicaCount& replicas);

  // Names of tensors, each with the name of a hook that fetches it.
  using Fetches = std::map<std::string, std::string>;
  // Compiles the graph with its outputs and `fetches`. Does nothing if the program has all of them already.
  // InvalidArgument, with the hook and similar names, for a fetch that names no tensor.
  absl::Status Compile(const Fetches& fetches, const CompileOptions& options);

  // Loads the program so that it reads and writes `variables`. `names` replaces names of variables in the program by
  // others, such as those of moving averages. Does nothing if the program is already bound with the same `names`. Call
  // after Compile.
  absl::Status Bind(const std::map<std::string, std::string>& names, std::shared_ptr<VariableStore> variables,
                    Session::Options session);

  Mode mode() const { return mode_; }
  // Returns the first error that a value of params was requested as another kind than it has, by model_fn or by a hook
  // that it made.
  absl::Status params_status() const { return params_.status(); }
  const EstimatorSpec& spec() const { return *spec_; }
  const std::vector<VariableSpec>& variables() const { return graph_->variables(); }
  const std::vector<ComponentSpec>& components() const { return components_; }
  // Returns "file:line" of the layer that made a variable.
  std::string OriginOf(const std::string& variable) const { return graph_->Find(variable).origin(); }
  // Returns the uses of losses and metrics that certainly get logits where they need probabilities, or the reverse.
  const std::vector<ScoreProblem>& score_problems() const { return score_problems_; }
  // Returns the summaries that the model_fn defines for TensorBoard, and the learning rates.
  std::vector<ModelSummary> summaries() const;
  // Returns the ops that the model_fn built.
  std::vector<GraphNode> nodes() const { return GraphNodesOf(*graph_); }
  const GraphBuilder& graph() const { return *graph_; }
  // Returns names and descriptions of the graph's variables and ops (GraphPartsOf), without outputs that only hooks
  // fetch.
  std::vector<std::pair<std::string, std::string>> model_parts() const;
  // Returns the names of tensors that hooks fetch, besides the outputs of the spec.
  std::vector<std::string> fetched() const;
  // Call this and the following methods after Compile. Returns the allowed values of the input's integer components.
  std::vector<LabelRange> label_ranges() const;
  // Returns names and descriptions of what the executable was compiled from: options, then variables and ops
  // (GraphPartsOf).
  std::vector<std::pair<std::string, std::string>> parts() const;
  std::vector<std::pair<std::string, std::string>> option_parts() const;
  // Returns the values of step scalars that model_fn gave, such as a learning rate. The executable does not contain
  // them.
  std::map<std::string, double> scalar_defaults() const;
  // Returns the values of scalar_defaults() as a text, such as "learning_rate: 0.5". It must be the same in all
  // processes of a job.
  std::string NumbersText() const;
  SessionRunner& runner() { return *runner_; }  // may be called only after Bind
  const Executable& executable() const { return *executable_; }
  std::shared_ptr<const Executable> shared_executable() const { return executable_; }
  int64_t times_compiled() const { return times_compiled_; }

 private:
  ModeProgram(Mode mode, std::vector<ComponentSpec> components)
      : mode_(mode), components_(std::move(components)), graph_(std::make_unique<GraphBuilder>("main")) {}

  // Adds the fetches that are not outputs of the graph yet; returns whether there were any.
  absl::StatusOr<bool> AddOutputs(const Fetches& fetches);
  absl::Status UnknownFetch(const std::string& name, const std::string& hook) const;

  Mode mode_;
  std::vector<ComponentSpec> components_;
  std::unique_ptr<GraphBuilder> graph_;
  Params params_;  // the params passed to model_fn, whose hooks may still read values
  std::unique_ptr<EstimatorSpec> spec_;
  std::set<std::string> spec_outputs_;
  CompileOptions options_;  // the options that executable_ was compiled with
  std::shared_ptr<const Executable> executable_;
  std::unique_ptr<SessionRunner> runner_;
  std::map<std::string, std::string> bound_;  // the `names` that runner_ was bound with
  std::vector<ScoreProblem> score_problems_;
  int64_t times_compiled_ = 0;
};

// Returns the names of the components that are labels, by InputSpec.labels; in mode predict they may be missing.
// InvalidArgument for a name that no component has, and for one that is listed twice.
absl::StatusOr<std::vector<std::string>> FindLabels(const std::vector<ComponentSpec>& components,
                                                    const std::vector<std::string>& labels, Mode mode);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MODEL_MODE_PROGRAM_H_
