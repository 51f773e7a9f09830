// GraphBuilder: what a model_fn builds its dataflow graph with. Free of MLIR types.
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
#include "base/dtype.h"
#include "base/host_tensor.h"
#include "base/initializer.h"
#include "base/source_location.h"
#include "graph/tensor.h"

namespace tandem {

// A first value that no Initializer describes: of the variable's full name, its type and shape, and the run's seed.
// Called when a training begins, not when the graph is built; it must depend on nothing that changes.
using FirstValueFn =
    std::function<absl::StatusOr<HostTensor>(absl::string_view name, DType dtype, const Shape& shape, uint64_t seed)>;

// A variable of the model or of its optimizer.
struct VariableSpec {
  std::string name;  // as TensorFlow names it: "conv2d/kernel"
  DType dtype = DType::kFloat32;
  Shape shape;  // static
  Initializer initializer;
  bool trainable = true;
  std::string slot_of;  // for "conv2d/kernel/Adam": "conv2d/kernel"; empty otherwise
  // In place of `initializer` where it is set. It is no part of the compiled program.
  FirstValueFn first_value = nullptr;
  // What VariableOf finds the variable by, such as a layer's weight that is used several times.
  std::shared_ptr<const void> owner = nullptr;
};

// The value of an op's attribute.
using Attr =
    std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>, DType, HostTensor>;
using Attrs = std::vector<std::pair<std::string, Attr>>;

namespace internal {
class GraphModule;  // graph/graph_module.h: the MLIR side
}

// Builds one graph, for one mode. Not thread-safe. Errors are sticky: the first one (with op, shapes and the user's
// file and line) stays in status(), and everything built after it is poisoned.
class GraphBuilder {
 public:
  explicit GraphBuilder(absl::string_view name = "main");
  ~GraphBuilder();
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  // A batched input fed by the input_fn. shape[0] must be kBatch. Repeated calls with a name return the same tensor.
  Tensor Input(absl::string_view name, DType dtype, const Shape& shape, SourceLocation loc = SourceLocation::Current());
  // A scalar that the runtime sets at every step: "global_step" (int64, steps finished before this one), "seed"
  // (int64; in evaluation and prediction another one for every round of batches), "example_count" (float32, examples of
  // the whole global batch), "replica_example_count" (float32), "replica_index" (int32, its number among all),
  // and what the user adds ("learning_rate").
  // `default_value` is used when a run does not set the scalar; it is not part of the compiled program. Without one the
  // scalar has that of another call with this name, else 0, which an Estimator refuses for names that the runtime does
  // not set; two calls with different ones are an error.
  Tensor StepScalar(absl::string_view name, DType dtype, std::optional<double> default_value = std::nullopt,
                    SourceLocation loc = SourceLocation::Current());
  // Declares a variable and returns its value at the start of the step. The name gets the current name scope as prefix
  // (spec.name "kernel" in scope "conv2d" is "conv2d/kernel"), but a slot (spec.slot_of set) and what has an owner have
  // their full names already; a name used twice is an error.
  Tensor Variable(VariableSpec spec, SourceLocation loc = SourceLocation::Current());
  // What Variable() returned for the spec with this owner; an empty tensor when there is none in this graph.
  Tensor VariableOf(const std::shared_ptr<const void>& owner) const;
  // The variable becomes `value` at the end of the step. At most one assignment to a variable, but for one with an
  // owner, whose last assignment counts: make it of AssignedSoFar, so that the others are not lost.
  // `variable` must be a tensor that Variable() returned. A value that each replica computes from its own rows (a
  // statistic, such as a batch norm's mean) is averaged over the replicas; it cannot be assigned to a trainable
  // variable or a slot: combine it with CrossReplicaSum or CrossReplicaMean before.
  void Assign(const Tensor& variable, const Tensor& value, SourceLocation loc = SourceLocation::Current());
  // What `variable` becomes at the end of the step as far as it is known: what was assigned, or else the variable.
  Tensor AssignedSoFar(const Tensor& variable) const;
  // No variable changes in a step in which `value` is infinite or NaN: floating-point numbers without a batch. Sums
  // over the batch are checked in any case, optimizers check the loss and the gradients; updates by hand can have what
  // they compute from these sums, or from variables, checked.
  void CheckFinite(const Tensor& value, SourceLocation loc = SourceLocation::Current());
  // From now on assignments are checked and left out; the first one logs a warning that ends with `because`. For modes
  // in which variables do not change.
  void IgnoreUpdates(absl::string_view because);
  // Whether this is a graph of mode train: what layers do that are not told. False until it is set.
  void SetTraining(bool training) { training_ = training; }
  bool training() const { return training_; }
  // A constant; meant for small values.
  Tensor Constant(const HostTensor& value, SourceLocation loc = SourceLocation::Current());
  Tensor Constant(float value, SourceLocation loc = SourceLocation::Current());

  // Names `value` so that a run can fetch it; batched values come back concatenated over microbatches and replicas, and
  // of a floating-point value that differs between replicas the mean. A name used twice is an error.
  void Output(absl::string_view name, const Tensor& value, SourceLocation loc = SourceLocation::Current());

  // A poisoned tensor for what the model has not got: an op that takes it fails with `reason`. One reason for a graph.
  Tensor Absent(absl::string_view reason);
  // Why a poisoned tensor is one: the reason of Absent, or that it is an empty Tensor.
  std::string WhyAbsent(const Tensor& tensor) const;

  // Appends the op `td.<op>` with inferred result types. `loc` and the name scope become the op's location.
  Tensor Emit(absl::string_view op, absl::Span<const Tensor> operands, const Attrs& attrs, SourceLocation loc);
  std::vector<Tensor> EmitMulti(absl::string_view op, absl::Span<const Tensor> operands, const Attrs& attrs,
                                SourceLocation loc);
  // d loss / d x for every x; an empty tensor where the loss does not depend on x. `loss` must be a scalar; of one
  // that differs between replicas the mean is differentiated. The gradient of a variable is the sum over all replicas.
  std::vector<Tensor> Gradients(const Tensor& loss, absl::Span<const Tensor> xs,
                                SourceLocation loc = SourceLocation::Current());

  // For messages: why no gradient of `loss` reaches any of `xs`, with the places that cut the path.
  std::string WhyNoGradient(const Tensor& loss, absl::Span<const Tensor> xs) const;

  // Whether replicas hold different values of `x`: it has no batch, and comes from the rows of one replica.
  bool VariesByReplica(const Tensor& x) const;

  // Terms that a model adds to its loss once, independent of the batch; losses::RegularizationLoss adds them up. A
  // floating-point scalar.
  void AddRegularizationLoss(const Tensor& loss, SourceLocation loc = SourceLocation::Current());
  const std::vector<Tensor>& regularization_losses() const { return regularization_losses_; }
  // Those that no loss depends on, neither `loss` nor one that was differentiated: "\"dense\" at model.cc:12".
  std::vector<std::string> UnusedRegularizationLosses(const Tensor& loss) const;

  // "conv2d", then "conv2d_1", ...: unique in the current scope, as TensorFlow names layers.
  std::string UniqueName(absl::string_view base);
  void PushScope(absl::string_view name);
  void PopScope();

  // The tensor of an op or output by name, for hooks that fetch by name; poisoned when there is none (no error).
  Tensor Find(absl::string_view name) const;
  // The names that Find knows, sorted.
  std::vector<std::string> names() const;
  // The outputs, with the places where Output named them.
  const std::map<std::string, SourceLocation>& outputs() const;

  const std::vector<VariableSpec>& variables() const;
  // The tensors that Variable() returned for trainable variables, in order of creation.
  std::vector<Tensor> trainable_variables() const;
  const std::map<std::string, double>& scalar_defaults() const;
  // Whether StepScalar was called for `name` with a default.
  bool HasScalarDefault(absl::string_view name) const;

  // The first error; OK otherwise.
  const absl::Status& status() const;
  // Records an error unless there is one already.
  void Fail(absl::Status status);
  // An InvalidArgument error that names op, message and the user's file and line, recorded as by Fail. Returns a
  // poisoned tensor.
  Tensor FailAt(absl::string_view op, absl::string_view message, SourceLocation loc);

  // What follows an error.
  Tensor Poisoned() const { return Of(nullptr); }

  // The graph as MLIR text.
  std::string ToString(bool with_locations = false) const;

  internal::GraphModule& module() { return *module_; }
  const internal::GraphModule& module() const { return *module_; }

 private:
  // `value`, or its mean over the replicas where they hold different ones; poisoned after an error in `op`.
  Tensor Common(absl::string_view op, const Tensor& value, SourceLocation loc);
  // For messages: the op that made `value` differ between replicas.
  std::string ReplicaOrigin(const Tensor& value) const;

  Tensor Of(void* value) const { return Tensor(origin_, value); }

  std::shared_ptr<internal::TensorOrigin> origin_;  // shared with all tensors of this graph
  std::unique_ptr<internal::GraphModule> module_;
  std::string updates_ignored_;  // why; empty when they are not
  bool warned_of_updates_ = false;
  bool training_ = false;
  std::vector<Tensor> regularization_losses_;
};

// Enters a name scope for its life time.
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
