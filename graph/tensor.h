// Tensor: a cheap handle to a value of a graph under construction.
#ifndef TANDEM_GRAPH_TENSOR_H_
#define TANDEM_GRAPH_TENSOR_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "tandem/base/api.h"
#include "tandem/base/dtype.h"
#include "tandem/base/source_location.h"

namespace TANDEM_API tandem {

class GraphBuilder;
class Tensor;
Tensor ArgumentOf(const char* op, const Tensor& result);  // declared in graph/logits.h

namespace internal {

// What a tensor belongs to: all tensors of a graph share one object; a tensor without a graph has the reason in its
// own.
struct TensorOrigin {
  GraphBuilder* graph = nullptr;  // null if the graph was destroyed, or if there never was one
  absl::Status error;             // the reason why the tensor is poisoned, if there never was a graph
};

}  // namespace internal

// A value of a graph. Copies are handles to the same value and stay valid as long as the GraphBuilder lives.
// An op that gets a bad input returns a poisoned tensor (`ok()` is false): ops on poisoned tensors do nothing, and the
// first error is kept in GraphBuilder::status(). If no operand belongs to a graph, the result itself keeps the error.
class Tensor {
 public:
  // A poisoned tensor of no graph.
  Tensor() = default;
  // A poisoned tensor of no graph, with the reason.
  static Tensor Poisoned(absl::Status error) {
    return Tensor(std::make_shared<internal::TensorOrigin>(internal::TensorOrigin{nullptr, std::move(error)}), nullptr);
  }

  // True unless the tensor is poisoned or its graph was destroyed.
  bool ok() const { return value_ != nullptr && graph() != nullptr; }
  // True for a default-constructed tensor, which stands for an optional argument that the caller leaves out.
  bool empty() const { return origin_ == nullptr; }
  // Null for an empty tensor, and after the graph was destroyed.
  GraphBuilder* graph() const { return origin_ != nullptr ? origin_->graph : nullptr; }
  // True if its graph was destroyed.
  bool expired() const { return value_ != nullptr && graph() == nullptr; }
  // OK, or the reason why the tensor is poisoned.
  absl::Status status() const;
  // kInvalid and {} when poisoned. A batched tensor has shape()[0] == kBatch.
  DType dtype() const;
  Shape shape() const;
  int rank() const { return static_cast<int>(shape().size()); }
  // The name scope and op that made the tensor, e.g. "conv2d_1/Relu".
  std::string name() const;
  // "file:line" of the user's code that made the tensor; empty when poisoned.
  std::string origin() const;

  bool operator==(const Tensor& other) const { return value_ == other.value_ && graph() == other.graph(); }

 private:
  friend class GraphBuilder;
  friend Tensor ArgumentOf(const char* op, const Tensor& result);
  friend std::string BatchStatistic(const Tensor& x);
  friend struct IndexRange IndexRangeOf(const Tensor& indices);
  Tensor(std::shared_ptr<const internal::TensorOrigin> origin, void* value)
      : origin_(std::move(origin)), value_(value) {}

  std::shared_ptr<const internal::TensorOrigin> origin_;
  void* value_ = nullptr;  // the value as mlir::Value::getAsOpaquePointer returns it
};

// Says what is wrong with a tensor that is not ok(), to be appended to its name: "is an empty Tensor: ...".
// GraphBuilder::WhyAbsent also knows the reason given to Absent.
std::string WhyAbsent(const Tensor& tensor);

// A Tensor argument that remembers the caller's source line, for operators (which cannot have default arguments).
struct TensorArg {
  TensorArg(const Tensor& t, SourceLocation l = SourceLocation::Current()) : tensor(t), loc(l) {}  // NOLINT: implicit
  Tensor tensor;
  SourceLocation loc;
};

}  // namespace tandem

#endif  // TANDEM_GRAPH_TENSOR_H_
