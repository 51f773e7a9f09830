// LayerImpl: what a Layer is a handle to. Internal to the Keras frontend.
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

// Type and shape of what a layer takes or gives.
struct TensorSpec {
  DType dtype = DType::kInvalid;
  Shape shape;  // with kBatch as the first dimension
};

// Where a layer is called in a graph.
struct GraphCall {
  GraphBuilder* graph = nullptr;
  std::string prefix;  // of the names of variables: "" or "tower/"
  bool training = false;
  SourceLocation loc;
  bool scratch = false;  // a graph that is made for its shapes only; variables of several models are in it
};

// One call of a layer, as its function sees it.
class CallContext {
 public:
  CallContext(const GraphCall& call, std::vector<Tensor> inputs, bool trainable, tandem::layers::WeightOwner* owner)
      : call_(call), inputs_(std::move(inputs)), trainable_(trainable), owner_(owner) {}

  GraphBuilder* graph() const { return call_.graph; }
  const std::vector<Tensor>& inputs() const { return inputs_; }
  const Tensor& x() const { return inputs_[0]; }
  bool training() const { return call_.training; }
  bool trainable() const { return trainable_; }  // of the layer
  SourceLocation loc() const { return call_.loc; }
  const GraphCall& call() const { return call_; }
  // The layer's weight with this name, made at the first call.
  Tensor Weight(tandem::layers::WeightRequest request) const;

 private:
  const GraphCall& call_;
  std::vector<Tensor> inputs_;
  bool trainable_;
  tandem::layers::WeightOwner* owner_;
};

struct LayerNaming {
  std::string class_name;  // "Conv2D"
  std::string name;        // the user's; empty: by the class
  bool trainable = true;
  Shape input_shape;  // of the first layer of a Sequential; without the batch
};

// The arguments of a call that Keras takes one by one, and not as a list: {"query", "value", "key"}. The first
// `required` are always there: where fewer inputs are given, the last one stands for the others.
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
  // Whether the user gave the name.
  bool has_own_name() const { return has_own_name_; }
  SourceLocation location() const { return location_; }
  const Shape& input_shape() const { return naming_.input_shape; }
  // `Dense "encoder" (model.cc:12)`.
  std::string ToString() const;

  virtual bool trainable() const { return naming_.trainable; }
  virtual void set_trainable(bool trainable);
  // In order of creation; of a model those of its layers.
  virtual std::vector<std::shared_ptr<WeightCell>> cells() const { return cells_; }
  // Keras' order: the trainable ones of all layers, then the others.
  std::vector<std::shared_ptr<WeightCell>> OrderedCells() const;
  // The order of get_weights: that, of one layer of a model behind the other.
  virtual std::vector<std::shared_ptr<WeightCell>> ListedCells() const { return OrderedCells(); }

  // Builds the layer at its first call. The node's tensors, or errors.
  KerasTensors Call(const KerasTensors& inputs, SourceLocation loc);
  // Builds the layer's ops.
  absl::StatusOr<std::vector<Tensor>> CallIn(const GraphCall& call, const std::vector<Tensor>& inputs);
  // In a model_fn.
  std::vector<Tensor> CallOnGraph(const std::vector<Tensor>& inputs, std::optional<bool> training, SourceLocation loc);

  // Keras' config, without "name", "trainable" and "dtype". InvalidArgument where there is no telling: a function
  // without a name.
  virtual absl::StatusOr<nlohmann::ordered_json> Config() const;
  // None is required: Keras takes one tensor or a list.
  virtual InputNames input_names() const { return {}; }
  // What the first call took and gave; empty before it.
  const std::vector<TensorSpec>& built_inputs() const { return built_inputs_; }

 protected:
  // The ops of one call. `context.inputs()` are as many as min_inputs() to max_inputs().
  virtual std::vector<Tensor> Compute(CallContext& context) = 0;
  virtual int min_inputs() const { return 1; }
  virtual int max_inputs() const { return 1; }
  // Whether layers that Compute calls are parts of this one, with names of their own.
  virtual bool has_parts() const { return false; }

 private:
  friend class OwnedCall;
  // The cell of a request, made or checked.
  absl::StatusOr<std::shared_ptr<WeightCell>> CellOf(const std::string& name,
                                                     const tandem::layers::WeightRequest& request);
  // `same_as[i]` <= i: the first input that is the same tensor as input i.
  absl::StatusOr<std::vector<TensorSpec>> Infer(const std::vector<TensorSpec>& inputs,
                                                const std::vector<size_t>& same_as, SourceLocation loc);
  absl::Status CheckInputs(size_t count, SourceLocation loc) const;
  absl::Status CheckBuilt(const std::vector<TensorSpec>& inputs, SourceLocation loc);

  LayerNaming naming_;
  const SourceLocation location_;
  bool has_own_name_ = false;
  bool named_ = false;  // by the user, a model or a graph: the name stays
  std::string first_value_suffix_;
  uint64_t seed_ = 0;
  std::vector<std::shared_ptr<WeightCell>> cells_;
  std::vector<TensorSpec> built_inputs_;
  SourceLocation built_at_;
  std::string built_from_;  // the input of the first call
  int calls_ = 0;           // on KerasTensors
};

// "MaxPooling2D" -> "max_pooling2d", as Keras names layers.
std::string SnakeCase(absl::string_view class_name);
// "dense", then "dense_1": the next name of this process; with `first` = 1 "input_1", "input_2".
std::string NextName(const std::string& base, int first = 0);

}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_LAYER_IMPL_H_
