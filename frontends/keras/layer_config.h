// Converts a layer's options to Keras' config (the JSON object in a model file) and back. One function Fields per layer
// lists its fields for both directions. Internal to the Keras frontend.
//
//   template <typename V>
//   void Fields(V& v, DenseOptions& o) {
//     v.Field("units", o.units);
//     v.Field("activation", o.activation);
//     v.Fixed("kernel_constraint", nullptr);
//   }
#ifndef TANDEM_FRONTENDS_KERAS_LAYER_CONFIG_H_
#define TANDEM_FRONTENDS_KERAS_LAYER_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/dtype.h"
#include "frontends/activations.h"
#include "frontends/initializers.h"
#include "frontends/keras/padding_name.h"
#include "frontends/layers.h"
#include "frontends/part_config.h"
#include "frontends/regularizers.h"
#include "nlohmann/json.hpp"

namespace tandem::keras {

using Json = nlohmann::ordered_json;

// Converts a shape to a list such as [null, 28, 28, 1], where kBatch becomes null.
Json ShapeToJson(const Shape& shape);
// Reads such a list. InvalidArgument unless it consists of whole numbers and nulls, which become kBatch.
absl::Status ShapeFromJson(const Json& json, Shape* shape);
// Returns the description of a part, such as an initialiser, as Keras 3 writes it:
//   {"module": "keras.initializers", "class_name": ..., "config": ..., "registered_name": null}.
Json PartToJson(const PartConfig& part, absl::string_view module);
// Reads what PartToJson writes, with or without "module"; a string is read as a name without arguments.
absl::Status PartFromJson(const Json& json, PartConfig* part);

// Makes Keras' config from a layer's options.
class ConfigWriter {
 public:
  void Field(const char* key, int64_t value) { json_[key] = value; }
  void Field(const char* key, double value) { json_[key] = value; }
  void Field(const char* key, bool value) { json_[key] = value; }
  void Field(const char* key, const std::string& value) { json_[key] = value; }
  void Field(const char* key, const std::optional<double>& value);
  void Field(const char* key, const layers::Size2D& value) { json_[key] = {value.height, value.width}; }
  void Field(const char* key, const Activation& value);
  void Field(const char* key, const initializers::InitializerFn& value);
  void Field(const char* key, const Regularizer& value);
  void Field(const char* key, const PaddingName& value);
  void Field(const char* key, const std::vector<int64_t>& value) { json_[key] = value; }
  void Field(const char* key, const std::vector<std::vector<int64_t>>& value) { json_[key] = value; }
  void Fixed(const char* key, Json value) { json_[key] = std::move(value); }
  // Writes `built` if the layer has been called on an input, otherwise `value`.
  void Fixed(const char* key, Json value, Json built) { json_[key] = std::move(input_shapes_.empty() ? value : built); }
  // Writes a key that Keras writes, but that has no effect in Tandem.
  void Unused(const char* key, Json value) { json_[key] = std::move(value); }
  // Writes an axis as Keras does: as a list of one number if the layer has been called, otherwise as a number.
  void Axis(const char* key, int64_t axis);
  // Writes axes as Keras does: a single axis for all inputs as a number, and several axes as a list.
  void Axes(const char* key, const std::vector<int64_t>& axes);

  // Writes the shape of input number `i`; if there are fewer inputs, that of the last one. Writes null if it is
  // unknown.
  void InputShape(const char* key, size_t i);

  // Call this before the fields are written if the layer has been called: sets the shapes of its inputs.
  void SetInputShapes(std::vector<Shape> shapes) { input_shapes_ = std::move(shapes); }
  absl::StatusOr<Json> Take();

 private:
  Json json_ = Json::object();
  std::vector<Shape> input_shapes_;
  absl::Status status_;
};

// Sets options from a config. A missing key leaves its option unchanged, because older files lack some keys.
class ConfigReader {
 public:
  explicit ConfigReader(const Json& json) : json_(json) {}

  void Field(const char* key, int64_t& value);
  void Field(const char* key, double& value);
  void Field(const char* key, bool& value);
  void Field(const char* key, std::string& value);
  void Field(const char* key, std::optional<double>& value);
  void Field(const char* key, layers::Size2D& value);
  void Field(const char* key, Activation& value);
  void Field(const char* key, initializers::InitializerFn& value);
  void Field(const char* key, Regularizer& value);
  void Field(const char* key, PaddingName& value);
  void Field(const char* key, std::vector<int64_t>& value);
  void Field(const char* key, std::vector<std::vector<int64_t>>& value);
  // Accepts only `value` for this key. Any other value is an error, because Tandem's layer does not support it.
  void Fixed(const char* key, const Json& value);
  void Fixed(const char* key, const Json& value, const Json& built);
  void Unused(const char* key, const Json& /*value*/) { Find(key); }
  void Axis(const char* key, int64_t& axis);
  void Axes(const char* key, std::vector<int64_t>& axes) { Field(key, axes); }
  void InputShape(const char* key, size_t /*i*/) { Find(key); }

  // Returns the keys of the config that no field has read.
  std::vector<std::string> Unknown() const;
  const absl::Status& status() const { return status_; }

 private:
  // Returns the value of the key, or null if the key is missing.
  const Json* Find(const char* key);
  void Fail(const char* key, absl::string_view wanted);

  const Json& json_;
  std::vector<std::string> asked_;
  absl::Status status_;
};

}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_LAYER_CONFIG_H_
