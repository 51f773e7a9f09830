// LayerImpl: the object behind the handle Layer. Internal to the Keras frontend.
#ifndef TANDEM_FRONTENDS_KERAS_LAYER_IMPL_H_
#define TANDEM_FRONTENDS_KERAS_LAYER_IMPL_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/source_location.h"
#include "frontends/keras/keras_tensor.h"
#include "frontends/keras/weight_cell.h"
#include "frontends/weight_owner.h"
#include "graph/graph_builder.h"
#include "graph/tensor.h"
#include "nlohmann/json_fwd.hpp"

namespace tandem::keras {

// Type and shape of a layer's input or output.
struct TensorSpec {
  DType dtype = DType::kInvalid;
  Shape shape;  // the batch dimension comes first, as kBatch
};

// The graph in which a layer is called, and the settings of that call.
struct GraphCall {
  GraphBuilder* graph = nullptr;
  std::string prefix;  // prefix of the names of variables: "" or "tower/"
  bool training = false;
  SourceLocation loc;
  // True for a graph that is built only to infer shapes. It may have variables of several models.
  bool scratch = false;
};

// The graph, inputs and settings of one call of a layer, for the function that computes the layer.
class CallContext {
 public:
  CallContext(const GraphCall& call, std::vector<Tensor> inputs, bool trainable, tandem::layers::WeightOwner* owner)
      : call_(call), inputs_(std::move(inputs)), trainable_(trainable), owner_(owner) {}

  GraphBuilder* graph() const { return call_.graph; }
  const std::vector<Tensor>& inputs() const { return inputs_; }
  const Tensor& x() const { return inputs_[0]; }
  bool training() const { return call_.training; }
  bool trainable() const { return trainable_; }  // true if the layer is trainable
  SourceLocation loc() const { return call_.loc; }
  const GraphCall& call() const { return call_; }
  // Returns the layer's weight with this name. The first call creates it.
  Tensor Weight(tandem::layers::WeightRequest request) const;

 private:
  const GraphCall& call_;
  std::vector<Tensor> inputs_;
  bool trainable_;
  tandem::layers::WeightOwner* owner_;
};

struct LayerNaming {
  std::string class_name;  // Keras' name of the class, "Conv2D"
  std::string name;        // set by the user; if empty, derived from the class
  bool trainable = true;
  Shape input_shape;  // input shape without the batch, for the first layer of a Sequential
};

// The names of a call's inputs if Keras passes them as separate arguments and not as a list: {"query", "value", "key"}.
// Files always contain the first `required` of them: if the call has fewer inputs, the last input is written again.
struct InputNames {
  std::array<const char*, 3> names = {};
  size_t required = 0;
};

class LayerImpl : public std::enable_shared_from_this<LayerImpl> {
 public:
  LayerImpl(LayerNaming naming, SourceLocation loc);
  virtual ~LayerImpl();
  LayerImpl(const LayerImpl&) = delete;
  LayerImpl& operator=(const LayerImpl&) = delete;

  const std::string& class_name() const { return naming_.class_name; }
  const std::string& name() const { return naming_.name; }
  // True if the user has set the name.
  bool has_own_name() const { return has_own_name_; }
  SourceLocation location() const { return location_; }
  const Shape& input_shape() const { return naming_.input_shape; }
  // Describes the layer for messages: `Dense "encoder" (model.cc:12)`.
  std::string ToString() const;

  virtual bool trainable() const { return naming_.trainable; }
  virtual void set_trainable(bool trainable);
  // The cells (weights) in order of creation; for a model, those of all its layers.
  virtual std::vector<std::shared_ptr<WeightCell>> cells() const { return cells_; }
  // The cells in Keras' order: the trainable ones of all layers, then the others.
  std::vector<std::shared_ptr<WeightCell>> OrderedCells() const;
  // The cells in the order of Keras' get_weights: for a model, the OrderedCells of one layer after another.
  virtual std::vector<std::shared_ptr<WeightCell>> ListedCells() const { return OrderedCells(); }

  // Calls the layer on symbolic tensors of a model; the first call creates the weights. Returns the call's output
  // tensors, or tensors with an error.
  KerasTensors Call(const KerasTensors& inputs, SourceLocation loc);
  // Adds the layer's ops to a graph.
  absl::StatusOr<std::vector<Tensor>> CallIn(const GraphCall& call, const std::vector<Tensor>& inputs);
  // Calls the layer in the graph of a model_fn.
  std::vector<Tensor> CallOnGraph(const std::vector<Tensor>& inputs, std::optional<bool> training, SourceLocation loc);

  // Returns Keras' config, without "name", "trainable" and "dtype". InvalidArgument if a config cannot describe the
  // layer, such as one with a function without a name.
  virtual absl::StatusOr<nlohmann::ordered_json> Config() const;
  // The default, without names, is for layers to which Keras passes one tensor or a list.
  virtual InputNames input_names() const { return {}; }
  // Types and shapes of the first call's inputs; empty before it.
  const std::vector<TensorSpec>& built_inputs() const { return built_inputs_; }

 protected:
  // Adds the ops of one call to the graph and returns the results. `context.inputs()` has min_inputs() to max_inputs()
  // tensors.
  virtual std::vector<Tensor> Compute(CallContext& context) = 0;
  virtual int min_inputs() const { return 1; }
  virtual int max_inputs() const { return 1; }
  // True if the layers that Compute calls are parts of this layer, so that their weights get names such as
  // "query/kernel".
  virtual bool has_parts() const { return false; }

 private:
  friend class OwnedCall;
  // Returns the cell for a requested weight. The first request creates the cell; later ones are checked against it.
  absl::StatusOr<std::shared_ptr<WeightCell>> CellOf(const std::string& name,
                                                     const tandem::layers::WeightRequest& request);
  // Infers types and shapes of the outputs. same_as[i] <= i is the index of the first input that is the same tensor as
  // input i.
  absl::StatusOr<std::vector<TensorSpec>> Infer(const std::vector<TensorSpec>& inputs,
                                                const std::vector<size_t>& same_as, SourceLocation loc);
  absl::Status CheckInputs(size_t count, SourceLocation loc) const;
  absl::Status CheckBuilt(const std::vector<TensorSpec>& inputs, SourceLocation loc);

  LayerNaming naming_;
  const SourceLocation location_;
  bool has_own_name_ = false;
  bool named_ = false;  // true once the user, a model or a graph has set the name, which is then final
  std::string first_value_suffix_;
  uint64_t seed_ = 0;
  std::vector<std::shared_ptr<WeightCell>> cells_;
  std::vector<TensorSpec> built_inputs_;
  SourceLocation built_at_;
  std::string built_from_;  // description of the first call's input
  int calls_ = 0;           // number of calls on KerasTensors
};

// Converts a class name to a layer name as Keras does: "MaxPooling2D" -> "max_pooling2d".
std::string SnakeCase(absl::string_view class_name);
// Returns the next unused default name in this process: "dense", then "dense_1"; with `first` = 1 "input_1", then
// "input_2".
std::string NextName(const std::string& base, int first = 0);

}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_LAYER_IMPL_H_
