// ModeProgram: one mode of a model, from the call of the model_fn to a session that runs it.
#ifndef TANDEM_ESTIMATOR_MODE_PROGRAM_H_
#define TANDEM_ESTIMATOR_MODE_PROGRAM_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/estimator_spec.h"
#include "estimator/label_check.h"
#include "estimator/score_check.h"
#include "estimator/session_runner.h"
#include "frontends/summary_marks.h"
#include "graph/graph_nodes.h"
#include "graph/replicas.h"
#include "passes/compile.h"

namespace tandem {

class ModeProgram {
 public:
  // Calls the model_fn. `components`: the dataset's; `labels` is InputSpec.labels. `replicas`: those that the program
  // will be compiled for. Errors of the model carry exit code 70.
  static absl::StatusOr<std::unique_ptr<ModeProgram>> Build(const ModelFn& model_fn, Mode mode, const Params& params,
                                                            const std::vector<ComponentSpec>& components,
                                                            const std::vector<std::string>& labels,
                                                            const ReplicaCount& replicas);

  // Tensors by name, each with the hook that wants it.
  using Fetches = std::map<std::string, std::string>;
  // Compiles the graph with its outputs and `fetches`. Does nothing when the program has all of them already.
  // InvalidArgument, with the hook and the names that are near, for a fetch that names no tensor.
  absl::Status Compile(const Fetches& fetches, const CompileOptions& options);

  // Loads the program, to read and write `variables`: those of its own names, or of others that `names` gives by its
  // own, such as moving averages. Does nothing when that is so already. After Compile.
  absl::Status Bind(const std::map<std::string, std::string>& names, std::shared_ptr<VariableStore> variables,
                    Session::Options session);

  Mode mode() const { return mode_; }
  // What model_fn, or a hook that it made, has asked of its params as another kind than it is.
  absl::Status params_status() const { return params_.status(); }
  const EstimatorSpec& spec() const { return *spec_; }
  const std::vector<VariableSpec>& variables() const { return graph_->variables(); }
  const std::vector<ComponentSpec>& components() const { return components_; }
  // "file:line" of the layer that made a variable.
  std::string OriginOf(const std::string& variable) const { return graph_->Find(variable).origin(); }
  // Losses and metrics whose scores are surely not what they take them for.
  const std::vector<ScoreProblem>& score_problems() const { return score_problems_; }
  // What the model_fn wants to see in TensorBoard, and the learning rates.
  std::vector<ModelSummary> summaries() const;
  // The ops that the model_fn built.
  std::vector<GraphNode> nodes() const { return GraphNodesOf(*graph_); }
  const GraphBuilder& graph() const { return *graph_; }
  // The graph in words (GraphPartsOf), without what hooks fetch.
  std::vector<std::pair<std::string, std::string>> model_parts() const;
  // What hooks fetch, besides the outputs of the spec.
  std::vector<std::string> fetched() const;
  // After Compile:
  // What the integer components of the input may hold.
  std::vector<LabelRange> label_ranges() const;
  // What the executable is made of, in words: options, then variables and ops (GraphPartsOf).
  std::vector<std::pair<std::string, std::string>> parts() const;
  std::vector<std::pair<std::string, std::string>> option_parts() const;
  // The values of step scalars that model_fn gave, such as a learning rate: the executable does not have them.
  std::map<std::string, double> scalar_defaults() const;
  SessionRunner& runner() { return *runner_; }  // after Bind
  const Executable& executable() const { return *executable_; }
  std::shared_ptr<const Executable> shared_executable() const { return executable_; }
  int64_t times_compiled() const { return times_compiled_; }

 private:
  ModeProgram(Mode mode, std::vector<ComponentSpec> components)
      : mode_(mode), components_(std::move(components)), graph_(std::make_unique<GraphBuilder>("main")) {}

  // Those that the graph has not yet as outputs; whether there are some.
  absl::StatusOr<bool> AddOutputs(const Fetches& fetches);
  absl::Status UnknownFetch(const std::string& name, const std::string& hook) const;

  Mode mode_;
  std::vector<ComponentSpec> components_;
  std::unique_ptr<GraphBuilder> graph_;
  Params params_;  // the model_fn's: its hooks may go on asking them
  std::unique_ptr<EstimatorSpec> spec_;
  std::set<std::string> spec_outputs_;
  CompileOptions options_;  // of the executable
  std::shared_ptr<const Executable> executable_;
  std::unique_ptr<SessionRunner> runner_;
  std::map<std::string, std::string> bound_;  // of the runner
  std::vector<ScoreProblem> score_problems_;
  int64_t times_compiled_ = 0;
};

// Those of `components` that are labels, by InputSpec.labels; in mode predict they may be missing. InvalidArgument for
// a name that no component has, and for one that is there twice.
absl::StatusOr<std::vector<std::string>> FindLabels(const std::vector<ComponentSpec>& components,
                                                    const std::vector<std::string>& labels, Mode mode);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_MODE_PROGRAM_H_
