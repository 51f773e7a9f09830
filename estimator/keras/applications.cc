#include "estimator/keras/applications.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "frontends/keras/layers.h"
#include "frontends/keras/network.h"

namespace tandem::keras::applications {
namespace {

using layers::Activation;
using layers::BatchNormalization;
using layers::Conv2D;
using layers::Dense;

// Returns `x` after the pooling of that name, or `x` itself for "". An unknown name gives a tensor that carries the
// error.
KerasTensor Pooled(const KerasTensor& x, const std::string& pooling, SourceLocation loc) {
  if (pooling.empty()) return x;
  if (pooling == "avg") return layers::GlobalAveragePooling2D({}, loc)(x, loc);
  if (pooling == "max") return layers::GlobalMaxPooling2D({}, loc)(x, loc);
  return KerasTensor(absl::InvalidArgumentError(
      absl::StrCat(loc.file, ":", loc.line, ": `pooling` is \"", pooling, "\" and must be \"avg\", \"max\" or empty")));
}

KerasTensor ConvBatchNorm(const KerasTensor& x, int64_t filters, int64_t kernel, int64_t strides, PaddingName padding,
                          const std::string& name, SourceLocation loc) {
  KerasTensor y = Conv2D(filters, kernel, {.strides = strides, .padding = padding, .name = absl::StrCat(name, "_conv")},
                         loc)(x, loc);
  return BatchNormalization({.axis = 3, .epsilon = 1.001e-5, .name = absl::StrCat(name, "_bn")}, loc)(y, loc);
}

KerasTensor ReluLayer(const KerasTensor& x, const std::string& name, SourceLocation loc) {
  return Activation("relu", {.name = name}, loc)(x, loc);
}

// Three convolutions with a shortcut. If `projects`, as in the first block of a stack, a convolution is applied to the
// shortcut.
KerasTensor ResidualBlock(const KerasTensor& x, int64_t filters, int64_t strides, bool projects,
                          const std::string& name, SourceLocation loc) {
  KerasTensor shortcut =
      projects ? ConvBatchNorm(x, 4 * filters, 1, strides, "valid", absl::StrCat(name, "_0"), loc) : x;
  KerasTensor y = ConvBatchNorm(x, filters, 1, strides, "valid", absl::StrCat(name, "_1"), loc);
  y = ReluLayer(y, absl::StrCat(name, "_1_relu"), loc);
  y = ConvBatchNorm(y, filters, 3, 1, "same", absl::StrCat(name, "_2"), loc);
  y = ReluLayer(y, absl::StrCat(name, "_2_relu"), loc);
  y = ConvBatchNorm(y, 4 * filters, 1, 1, "valid", absl::StrCat(name, "_3"), loc);
  y = layers::Add({.name = absl::StrCat(name, "_add")}, loc)({shortcut, y}, loc);
  return ReluLayer(y, absl::StrCat(name, "_out"), loc);
}

// Applies the batch norm that follows each convolution of EfficientNet-Lite and, with `relu`, its ReLU6.
KerasTensor NormRelu6(const KerasTensor& x, const std::string& name, bool relu, SourceLocation loc) {
  const KerasTensor y = BatchNormalization({.name = absl::StrCat(name, "_bn")}, loc)(x, loc);
  return relu ? layers::ReLU({.max_value = 6, .name = absl::StrCat(name, "_relu")}, loc)(y, loc) : y;
}

KerasTensor ConvNormRelu6(const KerasTensor& x, int64_t filters, int64_t kernel, int64_t strides, bool relu,
                          const std::string& name, SourceLocation loc) {
  const KerasTensor y = Conv2D(
      filters, kernel, {.strides = strides, .padding = "same", .use_bias = false, .name = absl::StrCat(name, "_conv")},
      loc)(x, loc);
  return NormRelu6(y, name, relu, loc);
}

// EfficientNet's block: it expands the channels, convolves them depthwise and projects them to fewer. It has a shortcut
// if the shapes of input and output agree.
KerasTensor InvertedResidual(const KerasTensor& x, int64_t expansion, int64_t kernel, int64_t strides, int64_t filters,
                             const std::string& name, SourceLocation loc) {
  if (x.shape().empty()) return x;  // x is not a result but carries an error
  const int64_t channels = x.shape().back();
  KerasTensor y = x;
  if (expansion != 1) y = ConvNormRelu6(y, channels * expansion, 1, 1, true, absl::StrCat(name, "_expand"), loc);
  y = layers::DepthwiseConv2D(
      kernel, {.strides = strides, .padding = "same", .use_bias = false, .name = absl::StrCat(name, "_dw_conv")}, loc)(
      y, loc);
  y = NormRelu6(y, absl::StrCat(name, "_dw"), true, loc);
  y = ConvNormRelu6(y, filters, 1, 1, false, absl::StrCat(name, "_project"), loc);
  if (strides != 1 || channels != filters) return y;
  return layers::Add({.name = absl::StrCat(name, "_add")}, loc)({y, x}, loc);
}

// Returns the model with the weights that `options` names.
Model WithWeights(Model model, const ApplicationOptions& options, SourceLocation loc) {
  if (options.weights.empty() || !model.status().ok()) return model;
  const auto load = [&]() -> absl::Status {
    TD_ASSIGN_OR_RETURN(const LoadReport report, model.LoadWeights(options.weights, {.by_name = true}));
    if (report.missing.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(options.weights, " has not all weights of ", model.name(), ":\n  ",
                                                   absl::StrJoin(report.missing, "\n  ")));
  };
  const absl::Status loaded = load();
  if (loaded.ok()) return model;
  return Model(model.input(), KerasTensor(Annotate(loaded, absl::StrCat(loc.file, ":", loc.line, ": "))), model.name(),
               loc);
}

}  // namespace

Model VGG16(const ApplicationOptions& options, SourceLocation loc) {
  const KerasTensor input = Input({.shape = options.input_shape}, loc);
  KerasTensor x = input;
  // Number of convolutions and channels of each block.
  const std::pair<int, int64_t> blocks[] = {{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}};
  for (int block = 0; block < 5; ++block) {
    for (int i = 0; i < blocks[block].first; ++i) {
      x = Conv2D(blocks[block].second, 3,
                 {.padding = "same", .activation = "relu", .name = absl::StrCat("block", block + 1, "_conv", i + 1)},
                 loc)(x, loc);
    }
    x = layers::MaxPooling2D({.pool_size = 2, .strides = 2, .name = absl::StrCat("block", block + 1, "_pool")}, loc)(
        x, loc);
  }
  if (options.include_top) {
    x = layers::Flatten({.name = "flatten"}, loc)(x, loc);
    x = Dense(4096, {.activation = "relu", .name = "fc1"}, loc)(x, loc);
    x = Dense(4096, {.activation = "relu", .name = "fc2"}, loc)(x, loc);
    x = Dense(options.classes, {.activation = options.classifier_activation, .name = "predictions"}, loc)(x, loc);
  } else {
    x = Pooled(x, options.pooling, loc);
  }
  return WithWeights(Model(input, x, "vgg16", loc), options, loc);
}

Model ResNet50(const ApplicationOptions& options, SourceLocation loc) {
  const KerasTensor input = Input({.shape = options.input_shape}, loc);
  KerasTensor x = layers::ZeroPadding2D({.padding = 3, .name = "conv1_pad"}, loc)(input, loc);
  x = ConvBatchNorm(x, 64, 7, 2, "valid", "conv1", loc);
  x = ReluLayer(x, "conv1_relu", loc);
  x = layers::ZeroPadding2D({.padding = 1, .name = "pool1_pad"}, loc)(x, loc);
  x = layers::MaxPooling2D({.pool_size = 3, .strides = 2, .name = "pool1_pool"}, loc)(x, loc);
  // Number of blocks and filters of each stack.
  const std::pair<int, int64_t> stacks[] = {{3, 64}, {4, 128}, {6, 256}, {3, 512}};
  for (int stack = 0; stack < 4; ++stack) {
    for (int i = 0; i < stacks[stack].first; ++i) {
      const bool first = i == 0;
      x = ResidualBlock(x, stacks[stack].second, first && stack > 0 ? 2 : 1, first,
                        absl::StrCat("conv", stack + 2, "_block", i + 1), loc);
    }
  }
  if (options.include_top) {
    x = layers::GlobalAveragePooling2D({.name = "avg_pool"}, loc)(x, loc);
    x = Dense(options.classes, {.activation = options.classifier_activation, .name = "predictions"}, loc)(x, loc);
  } else {
    x = Pooled(x, options.pooling, loc);
  }
  return WithWeights(Model(input, x, "resnet50", loc), options, loc);
}

Model EfficientNetLite0(const ApplicationOptions& options, SourceLocation loc) {
  const KerasTensor input = Input({.shape = options.input_shape}, loc);
  KerasTensor x = ConvNormRelu6(input, 32, 3, 2, true, "stem", loc);
  struct Stage {
    int repeat;
    int64_t kernel, strides, expansion, filters;
  };
  constexpr Stage kStages[] = {{1, 3, 1, 1, 16},  {2, 3, 2, 6, 24},  {2, 5, 2, 6, 40}, {3, 3, 2, 6, 80},
                               {3, 5, 1, 6, 112}, {4, 5, 2, 6, 192}, {1, 3, 1, 6, 320}};
  int block = 0;
  for (const Stage& stage : kStages) {
    for (int i = 0; i < stage.repeat; ++i) {
      x = InvertedResidual(x, stage.expansion, stage.kernel, i == 0 ? stage.strides : 1, stage.filters,
                           absl::StrCat("block", block++), loc);
    }
  }
  x = ConvNormRelu6(x, 1280, 1, 1, true, "head", loc);
  if (options.include_top) {
    x = layers::GlobalAveragePooling2D({.name = "avg_pool"}, loc)(x, loc);
    x = layers::Dropout(0.2, {.name = "dropout"}, loc)(x, loc);
    x = Dense(options.classes, {.activation = options.classifier_activation, .name = "fc"}, loc)(x, loc);
  } else {
    x = Pooled(x, options.pooling, loc);
  }
  return WithWeights(Model(input, x, "efficientnet_lite0", loc), options, loc);
}

void PreprocessInput(absl::Span<float> pixels) {
  constexpr float kMeanBgr[] = {103.939f, 116.779f, 123.68f};
  for (size_t i = 0; i + 3 <= pixels.size(); i += 3) {
    std::swap(pixels[i], pixels[i + 2]);
    for (size_t c = 0; c < 3; ++c) pixels[i + c] -= kMeanBgr[c];
  }
}

absl::Status PreprocessInput(HostTensor* images) {
  if (images->dtype() != DType::kFloat32 || images->rank() < 1 || images->shape().back() != 3) {
    return absl::InvalidArgumentError(absl::StrCat("PreprocessInput needs float32 [..., 3], got ",
                                                   Name(images->dtype()), " ", ShapeString(images->shape())));
  }
  PreprocessInput(absl::MakeSpan(images->data<float>(), static_cast<size_t>(images->num_elements())));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::vector<DecodedPrediction>>> DecodePredictions(const HostTensor& predictions,
                                                                              const std::vector<std::string>& names,
                                                                              int top) {
  if (predictions.dtype() != DType::kFloat32 || predictions.rank() != 2) {
    return absl::InvalidArgumentError(absl::StrCat("DecodePredictions needs float32 [examples, classes], got ",
                                                   Name(predictions.dtype()), " ", ShapeString(predictions.shape())));
  }
  const int64_t classes = predictions.shape()[1];
  if (!names.empty() && static_cast<int64_t>(names.size()) != classes) {
    return absl::InvalidArgumentError(
        absl::StrCat("DecodePredictions: there are ", names.size(), " names and ", classes, " classes"));
  }
  std::vector<std::vector<DecodedPrediction>> decoded;
  std::vector<int64_t> order(classes);
  for (int64_t row = 0; row < predictions.shape()[0]; ++row) {
    const float* scores = predictions.data<float>() + row * classes;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
    std::vector<DecodedPrediction>& best = decoded.emplace_back();
    for (int64_t i = 0; i < std::min<int64_t>(top, classes); ++i) {
      best.push_back({order[i], names.empty() ? "" : names[order[i]], scores[order[i]]});
    }
  }
  return decoded;
}

}  // namespace tandem::keras::applications
