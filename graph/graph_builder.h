// GraphBuilder builds the dataflow graph in a model_fn. Free of MLIR types.
#ifndef TANDEM_GRAPH_GRAPH_BUILDER_H_
#define TANDEM_GRAPH_GRAPH_BUILDER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tandem/base/api.h"
#include "tandem/base/dtype.h"
#include "tandem/base/host_tensor.h"
#include "tandem/base/initializer.h"
#include "tandem/base/source_location.h"
#include "tandem/graph/tensor.h"

namespace tandem::internal {

class GraphModule;  // the MLIR side of a graph (graph/graph_module.h)

}  // namespace tandem::internal

namespace TANDEM_API tandem {

// Computes a first value that no Initializer describes, from the variable's full name, type and shape, and the run's
// seed. Called when a training begins, not when the graph is built; must depend on nothing that changes.
using FirstValueFn =
    std::function<absl::StatusOr<HostTensor>(absl::string_view name, DType dtype, const Shape& shape, uint64_t seed)>;

// A variable of the model or of its optimizer.
struct VariableSpec {
  std::string name;  // TensorFlow's name: "conv2d/kernel"
  DType dtype = DType::kFloat32;
  Shape shape;  // all sizes are known
  Initializer initializer;
  bool trainable = true;
  std::string slot_of;  // of a slot such as "conv2d/kernel/Adam": its variable, "conv2d/kernel"; else empty
  // If set, replaces `initializer`. It is not part of the compiled program.
  FirstValueFn first_value = nullptr;
  // The object that the variable belongs to, by which VariableOf finds it, such as a layer's weight that several calls
  // use.
  std::shared_ptr<const void> owner = nullptr;
};

// The value of an op's attribute.
using Attr =
    std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>, DType, HostTensor>;
// The attributes of an op, by name.
using Attrs = std::vector<std::pair<std::string, Attr>>;

// Builds one graph, for one mode. Not thread-safe. Errors are sticky: the first one (with op, shapes and the user's
// file and line) stays in status(), and everything built after it is poisoned.
class GraphBuilder {
 public:
  // An empty graph; the name is that of its MLIR function.
  explicit GraphBuilder(absl::string_view name = "main");
  ~GraphBuilder();
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  // A batched input fed by the input_fn. shape[0] must be kBatch. Repeated calls with a name return the same tensor.
  Tensor Input(absl::string_view name, DType dtype, const Shape& shape, SourceLocation loc = SourceLocation::Current());
  // A scalar that the runtime sets at every step: "global_step" (int64, number of finished steps), "seed" (int64; in
  // evaluation and prediction it differs between steps), "example_count" (float32, examples in the whole global batch),
  // "replica_example_count" (float32), "replica_index" (int32, the replica's number among all), and scalars that the
  // user adds ("learning_rate"). `default_value` is used when a run does not set the scalar; it is not part of the
  // compiled program. Without one, the scalar has the default of another call with this name, else 0, which an
  // Estimator refuses for names that the runtime does not set. Two calls with different defaults are an error.
  Tensor StepScalar(absl::string_view name, DType dtype, std::optional<double> default_value = std::nullopt,
                    SourceLocation loc = SourceLocation::Current());
  // Declares a variable and returns its value at the start of the step. The name gets the current name scope as prefix
  // (spec.name "kernel" in scope "conv2d" is "conv2d/kernel"), except for slots (spec.slot_of is set) and variables
  // with an owner, which have full names already. A name used twice is an error.
  Tensor Variable(VariableSpec spec, SourceLocation loc = SourceLocation::Current());
  // The tensor that Variable() returned for the spec with this owner; an empty tensor if there is none in this graph.
  Tensor VariableOf(const std::shared_ptr<const void>& owner) const;
  // Sets the variable to `value` at the end of the step. A variable can be assigned only once, except that for a
  // variable with an owner the last assignment counts: compute that from AssignedSoFar, so that earlier ones are not
  // lost. `variable` must be a tensor that Variable() returned. If each replica computes its own value from its rows (a
  // statistic, such as a batch norm's mean), the values are averaged over the replicas; such a value cannot be assigned
  // to a trainable variable or a slot: combine it with CrossReplicaSum or CrossReplicaMean before.
  void Assign(const Tensor& variable, const Tensor& value, SourceLocation loc = SourceLocation::Current());
  // The value of `variable` at the end of the step as known so far: the assigned value, or else the variable itself.
  Tensor AssignedSoFar(const Tensor& variable) const;
  // Makes steps in which `value` is infinite or NaN change no variable; `value` has floating-point numbers and no
  // batch. Sums over the batch are always checked, and optimizers check the loss and the gradients. Use this for
  // updates by hand that compute other values from these sums or from variables.
  void CheckFinite(const Tensor& value, SourceLocation loc = SourceLocation::Current());
  // From now on, assignments are checked for errors but change nothing, as in evaluation. The first one logs a warning
  // that ends with `because`.
  void IgnoreUpdates(absl::string_view because);
  // True if the graph is for mode train; the default for layers without a `training` argument. False until it is set.
  void SetTraining(bool training) { training_ = training; }
  bool training() const { return training_; }
  // A constant; meant for small values.
  Tensor Constant(const HostTensor& value, SourceLocation loc = SourceLocation::Current());
  Tensor Constant(float value, SourceLocation loc = SourceLocation::Current());

  // Names `value` so that a run can fetch it. Batched values are returned concatenated over microbatches and replicas;
  // of a floating-point value that differs between replicas, the mean is returned. A name used twice is an error.
  void Output(absl::string_view name, const Tensor& value, SourceLocation loc = SourceLocation::Current());

  // Returns a poisoned tensor that stands for a value which the model does not have. An op with this operand fails with
  // `reason`. A graph can have only one such reason.
  Tensor Absent(absl::string_view reason);
  // Says why a tensor is poisoned: the reason of Absent, or that it is an empty Tensor.
  std::string WhyAbsent(const Tensor& tensor) const;

  // Appends the op `td.<op>` with inferred result types. `loc` and the name scope become the op's location.
  Tensor Emit(absl::string_view op, absl::Span<const Tensor> operands, const Attrs& attrs, SourceLocation loc);
  std::vector<Tensor> EmitMulti(absl::string_view op, absl::Span<const Tensor> operands, const Attrs& attrs,
                                SourceLocation loc);
  // d loss / d x for every x; an empty tensor if the loss does not depend on x. `loss` must be a scalar; if it differs
  // between replicas, its mean is differentiated. The gradient of a variable is the sum over all replicas.
  std::vector<Tensor> Gradients(const Tensor& loss, absl::Span<const Tensor> xs,
                                SourceLocation loc = SourceLocation::Current());

  // Says why no gradient of `loss` reaches any of `xs`, with the places that cut the path; for messages.
  std::string WhyNoGradient(const Tensor& loss, absl::Span<const Tensor> xs) const;

  // True if replicas hold different values of `x`: it has no batch, and is computed from the rows of one replica.
  bool VariesByReplica(const Tensor& x) const;

  // Adds a term that is added to the model's loss once, independent of the batch: a floating-point scalar.
  // losses::RegularizationLoss adds all of them up.
  void AddRegularizationLoss(const Tensor& loss, SourceLocation loc = SourceLocation::Current());
  // The terms so far.
  const std::vector<Tensor>& regularization_losses() const { return regularization_losses_; }
  // Returns the regularization terms that neither `loss` nor a loss passed to Gradients depends on, each with its
  // place: "\"dense\" at model.cc:12".
  std::vector<std::string> UnusedRegularizationLosses(const Tensor& loss) const;

  // Returns "conv2d", then "conv2d_1", ...: unique in the current scope, as TensorFlow names layers.
  std::string UniqueName(absl::string_view base);
  // Enter and leave a name scope; NameScope does both.
  void PushScope(absl::string_view name);
  void PopScope();

  // The tensor of an op or output by name, for hooks that fetch by name; poisoned if there is none (no error).
  Tensor Find(absl::string_view name) const;
  // The names that Find knows, sorted.
  std::vector<std::string> names() const;
  // The outputs, with the places where Output named them.
  const std::map<std::string, SourceLocation>& outputs() const;

  // All variables, slots included, in order of creation.
  const std::vector<VariableSpec>& variables() const;
  // The tensors that Variable() returned for trainable variables, in order of creation.
  std::vector<Tensor> trainable_variables() const;
  // The step scalars that have a default, with it.
  const std::map<std::string, double>& scalar_defaults() const;
  // True if StepScalar was called for `name` with a default.
  bool HasScalarDefault(absl::string_view name) const;

  // The first error; OK otherwise.
  const absl::Status& status() const;
  // Records an error unless there is one already.
  void Fail(absl::Status status);
  // Records, like Fail, an InvalidArgument error that names op, message and the user's file and line. Returns a
  // poisoned tensor.
  Tensor FailAt(absl::string_view op, absl::string_view message, SourceLocation loc);

  // A poisoned tensor of this graph, to return after an error.
  Tensor Poisoned() const { return Of(nullptr); }

  // The graph as MLIR text.
  std::string ToString(bool with_locations = false) const;

  // For passes: the MLIR side.
  internal::GraphModule& module() { return *module_; }
  const internal::GraphModule& module() const { return *module_; }

 private:
  // Returns `value`, or its mean over the replicas if they hold different values; poisoned after an error in `op`.
  Tensor Common(absl::string_view op, const Tensor& value, SourceLocation loc);
  // Names the op that made `value` differ between replicas, for messages.
  std::string ReplicaOrigin(const Tensor& value) const;

  Tensor Of(void* value) const { return Tensor(origin_, value); }

  std::shared_ptr<internal::TensorOrigin> origin_;  // shared with all tensors of this graph
  std::unique_ptr<internal::GraphModule> module_;
  std::string updates_ignored_;  // the argument `because` of IgnoreUpdates; empty if updates count
  bool warned_of_updates_ = false;
  bool training_ = false;
  std::vector<Tensor> regularization_losses_;
};

// Enters a name scope during its lifetime.
class NameScope {
 public:
  NameScope(GraphBuilder* graph, absl::string_view name) : graph_(graph) {
    if (graph_) graph_->PushScope(name);
  }
  ~NameScope() {
    if (graph_) graph_->PopScope();
  }
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;

 private:
  GraphBuilder* graph_;
};

}  // namespace tandem

#endif  // TANDEM_GRAPH_GRAPH_BUILDER_H_
