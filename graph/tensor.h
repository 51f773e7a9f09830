// Tensor: a cheap handle to a value of a graph under construction.
#ifndef TANDEM_GRAPH_TENSOR_H_
#define TANDEM_GRAPH_TENSOR_H_

#include <string>

#include "base/dtype.h"
#include "base/source_location.h"

namespace tandem {

class GraphBuilder;
class Tensor;
Tensor SoftmaxLogits(const Tensor& probabilities);  // graph/softmax_logits.h

// A value of a graph. Copies are handles to the same value and stay valid as long as the GraphBuilder lives.
// An op that got a bad input returns a poisoned tensor (`ok()` is false): ops on poisoned tensors do nothing, and the
// first error is kept in GraphBuilder::status().
class Tensor {
 public:
  // Poisoned, of no graph.
  Tensor() = default;

  bool ok() const { return value_ != nullptr; }
  GraphBuilder* graph() const { return graph_; }
  // kInvalid and {} when poisoned. A batched tensor has shape()[0] == kBatch.
  DType dtype() const;
  Shape shape() const;
  int rank() const { return static_cast<int>(shape().size()); }
  // Name scope and op, e.g. "conv2d_1/Relu".
  std::string name() const;
  // "file:line" of the code that made it; empty when poisoned.
  std::string origin() const;

  bool operator==(const Tensor& other) const { return value_ == other.value_ && graph_ == other.graph_; }

 private:
  friend class GraphBuilder;
  friend Tensor SoftmaxLogits(const Tensor& probabilities);
  friend struct IndexRange IndexRangeOf(const Tensor& indices);
  Tensor(GraphBuilder* graph, void* value) : graph_(graph), value_(value) {}

  GraphBuilder* graph_ = nullptr;
  void* value_ = nullptr;  // mlir::Value::getAsOpaquePointer
};

// A Tensor argument that remembers where the call stands, for operators (which cannot have default arguments).
struct TensorArg {
  TensorArg(const Tensor& t, SourceLocation l = SourceLocation::Current()) : tensor(t), loc(l) {}  // NOLINT: implicit
  Tensor tensor;
  SourceLocation loc;
};

}  // namespace tandem

#endif  // TANDEM_GRAPH_TENSOR_H_
