// Layers made of options and a function, and how to make them from files. Internal to the Keras frontend.
#ifndef TANDEM_FRONTENDS_KERAS_OPTION_LAYER_H_
#define TANDEM_FRONTENDS_KERAS_OPTION_LAYER_H_

#include <climits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/source_location.h"
#include "frontends/keras/layer_config.h"
#include "frontends/keras/layer_impl.h"
#include "graph/tensor.h"

namespace tandem::keras {

// A class of layers: its name in Keras, and the function that computes it. A function Fields(V&, Options&) lists the
// fields of its config.
template <typename Options>
struct LayerKind {
  const char* class_name;
  Tensor (*compute)(const Options& options, CallContext& context);
  int min_inputs = 1, max_inputs = 1;
  InputNames input_names = {};
};

inline constexpr int kAnyNumber = INT_MAX;

template <typename Options>
class OptionLayer : public LayerImpl {
 public:
  OptionLayer(const LayerKind<Options>& kind, Options options, LayerNaming naming, SourceLocation loc)
      : LayerImpl(std::move(naming), loc), kind_(kind), options_(std::move(options)) {}

  absl::StatusOr<nlohmann::ordered_json> Config() const override {
    ConfigWriter writer;
    std::vector<Shape> shapes;
    for (const TensorSpec& input : built_inputs()) shapes.push_back(input.shape);
    writer.SetInputShapes(std::move(shapes));
    Options options = options_;
    Fields(writer, options);
    return writer.Take();
  }

 protected:
  std::vector<Tensor> Compute(CallContext& context) override { return {kind_.compute(options_, context)}; }
  int min_inputs() const override { return kind_.min_inputs; }
  int max_inputs() const override { return kind_.max_inputs; }
  InputNames input_names() const override { return kind_.input_names; }

 private:
  const LayerKind<Options>& kind_;  // points to an object of static lifetime
  const Options options_;
};

// Makes a layer from its options. All options have `name`; some also have `trainable` or `input_shape`.
template <typename Options>
std::shared_ptr<LayerImpl> MakeLayer(const LayerKind<Options>& kind, const Options& options, SourceLocation loc) {
  LayerNaming naming{.class_name = kind.class_name, .name = options.name};
  if constexpr (requires { options.trainable; }) naming.trainable = options.trainable;
  if constexpr (requires { options.input_shape; }) naming.input_shape = options.input_shape;
  return std::make_shared<OptionLayer<Options>>(kind, options, std::move(naming), loc);
}

// A layer class that model files can contain.
struct LayerClass {
  std::string class_name;
  // Makes a layer from the "config" in a file; `naming` has the name and other common settings in that config. Appends
  // the keys that have no effect here to `ignored`.
  std::function<absl::StatusOr<std::shared_ptr<LayerImpl>>(const Json& config, LayerNaming naming, SourceLocation loc,
                                                           std::vector<std::string>* ignored)>
      make;
};

template <typename Options>
LayerClass ClassOf(const LayerKind<Options>& kind) {
  return {kind.class_name,
          [&kind](const Json& config, LayerNaming naming, SourceLocation loc,
                  std::vector<std::string>* ignored) -> absl::StatusOr<std::shared_ptr<LayerImpl>> {
            Options options{};
            ConfigReader reader(config);
            Fields(reader, options);
            if (!reader.status().ok()) return reader.status();
            *ignored = reader.Unknown();
            naming.class_name = kind.class_name;
            return std::make_shared<OptionLayer<Options>>(kind, std::move(options), std::move(naming), loc);
          }};
}

// These return the layer classes; each file that defines layers has a list of its own.
std::vector<LayerClass> DenseLayerClasses();
std::vector<LayerClass> WindowLayerClasses();
std::vector<LayerClass> NormLayerClasses();
std::vector<LayerClass> ShapeLayerClasses();
std::vector<LayerClass> MergeLayerClasses();
std::vector<LayerClass> ActivationLayerClasses();

bool IsLayerClass(const std::string& class_name);
// The names of all layer classes, sorted.
std::vector<std::string> LayerClassNames();
// Makes a layer from its class and config in a model file; the config contains its name. InvalidArgument for an unknown
// class, and for a config that the layer cannot have. Logs the keys that have no effect here.
absl::StatusOr<std::shared_ptr<LayerImpl>> LayerFromConfig(const std::string& class_name, const Json& config,
                                                           SourceLocation loc);

}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_OPTION_LAYER_H_
