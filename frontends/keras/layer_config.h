// Converts a layer's options to Keras' config and back: one list of fields per layer serves for both. Internal to the
// Keras frontend.
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

// Converts to [null, 28, 28, 1]: kBatch becomes null.
Json ShapeToJson(const Shape& shape);
// InvalidArgument unless it is a list of whole numbers and nulls (kBatch).
absl::Status ShapeFromJson(const Json& json, Shape* shape);
// Makes {"module": "keras.initializers", "class_name": ..., "config": ..., "registered_name": null}.
Json PartToJson(const PartConfig& part, absl::string_view module);
// Reads the same, with or without "module", or a plain name.
absl::Status PartFromJson(const Json& json, PartConfig* part);

// Makes the config from a layer's options.
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
  // Writes `built` if the layer has been called on an input, else `value`.
  void Fixed(const char* key, Json value, Json built) { json_[key] = std::move(input_shapes_.empty() ? value : built); }
  // Writes a value that Keras writes but that has no effect.
  void Unused(const char* key, Json value) { json_[key] = std::move(value); }
  // Writes an axis: as a list of one number if the layer has been called, else as a number.
  void Axis(const char* key, int64_t axis);
  // Writes axes: a single axis for all inputs as a number, several as a list.
  void Axes(const char* key, const std::vector<int64_t>& axes);

  // Writes the shape of input `i`, or of the last input if there are fewer; null if it is unknown.
  void InputShape(const char* key, size_t i);

  // Sets the shapes of the inputs if the layer has been called.
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
  // Any other value is an error: Tandem's layer does not support it.
  void Fixed(const char* key, const Json& value);
  void Fixed(const char* key, const Json& value, const Json& built);
  void Unused(const char* key, const Json& /*value*/) { Find(key); }
  void Axis(const char* key, int64_t& axis);
  void Axes(const char* key, std::vector<int64_t>& axes) { Field(key, axes); }
  void InputShape(const char* key, size_t /*i*/) { Find(key); }

  // Returns the keys that no field has asked for.
  std::vector<std::string> Unknown() const;
  const absl::Status& status() const { return status_; }

 private:
  // Returns null if the key is missing.
  const Json* Find(const char* key);
  void Fail(const char* key, absl::string_view wanted);

  const Json& json_;
  std::vector<std::string> asked_;
  absl::Status status_;
};

}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_LAYER_CONFIG_H_
