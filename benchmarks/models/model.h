// The models that the benchmarks train or evaluate, as a graph or as parts of a model_fn: loss, update, inputs, and the
// number of operations in a step. benchmarks/peers/models.py has the same networks for the frameworks to compare with;
// a test compares the numbers of parameters.
#ifndef TANDEM_BENCHMARKS_MODELS_MODEL_H_
#define TANDEM_BENCHMARKS_MODELS_MODEL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/dtype.h"
#include "base/host_tensor.h"
#include "frontends/optimizer.h"
#include "graph/graph_builder.h"
#include "graph/tensor.h"

namespace tandem::benchmarks {

struct ModelOptions {
  // If true, the model is trained. If false, only the loss is computed, as in an evaluation: with moving averages, and
  // without dropout.
  bool training = true;
  // For vgg16: if true, every layer is trained, otherwise only the last block and the classifier.
  bool all_layers = false;
  // Height and width of the images of vgg16 and resnet50, a multiple of 32; 0 means 224. Small images are for tests.
  int64_t image_size = 0;
  // Number of tokens in an example of the Transformer; 0 means 128.
  int64_t tokens = 0;
};

// The content of one batched input: uniform numbers in [0, 1), or integers in [0, limit).
struct InputSpec {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape row_shape;  // shape of one example, without the batch
  int64_t limit = 0;
};

// Returns `rows` rows of random values for an input.
HostTensor RandomRows(const InputSpec& spec, int64_t rows, std::mt19937& random);

// Counts the floating-point operations of a step: 2 per multiply-add of convolutions and matrix products in the direct
// algorithm. Counts the forward pass and, in training, the gradient of the weights of trained layers, and the gradient
// of the input if anything before the layer is trained. Pooling, normalisation, activations, loss and update do not
// count.
class FlopCounter {
 public:
  explicit FlopCounter(bool training = true) : training_(training) {}

  // Adds a layer's multiply-adds for one example; call it for layers in the order of the network.
  void Layer(double multiply_adds, bool trained = true) {
    trained = trained && training_;
    flops_ += 2 * multiply_adds * (1 + trained + trained_before_);
    trained_before_ = trained_before_ || trained;
  }
  double flops() const { return flops_; }

 private:
  const bool training_;
  bool trained_before_ = false;
  double flops_ = 0;
};

using InputTensors = std::map<std::string, Tensor>;

struct BenchModel {
  std::string name;
  int64_t default_batch = 32;
  std::vector<InputSpec> inputs;  // the last input is the labels
  bool training = true;
  std::optional<Optimizer> optimizer;
  // Builds the network and returns its loss. Adds the operations of the layers to the counter.
  std::function<Tensor(const InputTensors& inputs, FlopCounter&)> loss;
  // Builds the whole graph: the inputs, the loss as output "loss", and in training the update.
  std::function<void(GraphBuilder&, FlopCounter&)> build;
};

// Sets the member `build`, made from the other members, and returns the model.
BenchModel WithBuild(BenchModel model);

// Returns the model called `name` (see ModelNames()). InvalidArgument for an unknown name, with the known ones, and for
// an invalid image_size or number of tokens.
absl::StatusOr<BenchModel> MakeModel(absl::string_view name, const ModelOptions& options);
std::vector<std::string> ModelNames();

// One function for each model; MakeModel calls them.
BenchModel ZalandoModel(const ModelOptions& options);      // "s0": the convnet of scenario S0, Adam
BenchModel MultiGpuModel(const ModelOptions& options);     // "s2": a wide convnet with batch norm and dropout, RMSprop
BenchModel MnistModel(const ModelOptions& options);        // "s4": a small convnet, SGD
BenchModel LinearModel(const ModelOptions& options);       // "linear": Dense 1, mean squared error, SGD
BenchModel MlpModel(const ModelOptions& options);          // "mlp": dense layers 784-1024-1024-1024-10, momentum
BenchModel TransformerModel(const ModelOptions& options);  // "transformer": a 2-layer encoder of 128 tokens, Adam
BenchModel Vgg16Model(const ModelOptions& options);        // "vgg16": without its top, then Flatten, Dense 4; momentum
BenchModel Resnet50Model(const ModelOptions& options);     // "resnet50": version 1, 1000 classes, momentum

}  // namespace tandem::benchmarks

#endif  // TANDEM_BENCHMARKS_MODELS_MODEL_H_
