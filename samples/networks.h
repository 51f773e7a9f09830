// The networks of well-known multi-device tutorials, as functions from an input to the output.
#ifndef TANDEM_SAMPLES_NETWORKS_H_
#define TANDEM_SAMPLES_NETWORKS_H_

#include <cstdint>
#include <optional>

#include "tandem/base/source_location.h"
#include "tandem/graph/tensor.h"

namespace tandem::networks {

struct NetworkOptions {
  int64_t classes = 10;
  bool training = false;
  // If set, replaces every dropout rate of the network.
  std::optional<double> dropout;
  double l2 = 0;  // factor of the L2 penalty on every kernel; see losses::RegularizationLoss
  // If true, networks that end with a softmax return logits instead of probabilities.
  bool logits = false;
};

// The network of "Fashion-MNIST with Estimators": Conv2D 32, MaxPool, Conv2D 64, MaxPool, Conv2D 64, Dense 64 (all 3x3
// valid, relu), Dense 10 softmax. image [b, 28, 28, 1] -> probabilities [b, classes]; 93,322 parameters.
Tensor ZalandoConvnet(const Tensor& image, const NetworkOptions& options = {},
                      SourceLocation loc = SourceLocation::Current());

// The network of "Multi-worker training with Estimator": Conv2D 32 3x3 relu, MaxPool, Dense 64 relu, Dense 10. image
// [b, 28, 28, 1] -> logits [b, classes]; 347,146 parameters.
Tensor MnistConvnet(const Tensor& image, const NetworkOptions& options = {},
                    SourceLocation loc = SourceLocation::Current());

// The network of "MNIST on several GPUs with Keras": Conv2D 32, Conv2D 256 (3x3 relu), BatchNormalization, Conv2D 128
// 3x3 relu, MaxPool, Dropout 0.25, Dense 128 relu, Dropout 0.5, Dense 10 softmax. image [b, 28, 28, 1] -> probabilities
// [b, classes]; 2,353,738 trainable parameters and 512 moving averages.
Tensor MultiGpuConvnet(const Tensor& image, const NetworkOptions& options = {},
                       SourceLocation loc = SourceLocation::Current());

// A network for pictures whose classes differ only in small patches: Conv2D 16 5x5, MaxPool 4, Conv2D 32 3x3, MaxPool
// 2, Conv2D 64 3x3 (all with padding "same" and relu), the mean over all positions, Dense. image [b, height, width, 3],
// both at least 8 -> logits [b, classes].
Tensor SmallPictureConvnet(const Tensor& image, const NetworkOptions& options = {},
                           SourceLocation loc = SourceLocation::Current());

// VGG16 without its top (Simonyan and Zisserman 2014, configuration D), then Dense. Layers have Keras' names
// ("block1_conv1"), the classifier's is "predictions". Unless `train_all`, all but the three convolutions of the last
// block and the classifier are frozen. image [b, height, width, 3], both multiples of 32 -> logits [b, classes].
Tensor Vgg16(const Tensor& image, bool train_all, const NetworkOptions& options = {},
             SourceLocation loc = SourceLocation::Current());

// A linear model, Dense with one unit: x [b, features] -> [b, 1].
Tensor Linear(const Tensor& x, const NetworkOptions& options = {}, SourceLocation loc = SourceLocation::Current());

}  // namespace tandem::networks

#endif  // TANDEM_SAMPLES_NETWORKS_H_
