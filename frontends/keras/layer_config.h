// A layer's options to Keras' config and back: one list of fields per layer serves both. Internal to the Keras
// frontend.
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

// [null, 28, 28, 1]: kBatch is null.
Json ShapeToJson(const Shape& shape);
// InvalidArgument unless it is a list of whole numbers, and null for kBatch.
absl::Status ShapeFromJson(const Json& json, Shape* shape);
// {"module": "keras.initializers", "class_name": ..., "config": ..., "registered_name": null}.
Json PartToJson(const PartConfig& part, absl::string_view module);
// Of the same, of the form without "module" and of a plain name.
absl::Status PartFromJson(const Json& json, PartConfig* part);

// Makes the config of options.
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
  // `value`, and `built` of a layer that has an input.
  void Fixed(const char* key, Json value, Json built) { json_[key] = std::move(input_shapes_.empty() ? value : built); }
  // What Keras writes and nothing depends on.
  void Unused(const char* key, Json value) { json_[key] = std::move(value); }
  // An axis, of a layer that has an input as a list of its number.
  void Axis(const char* key, int64_t axis);
  // One axis for all inputs as a number, several as a list.
  void Axes(const char* key, const std::vector<int64_t>& axes);

  // The shape of input `i`, or of the last one where there are fewer; null where it is not known.
  void InputShape(const char* key, size_t i);

  // Of a layer that has been called.
  void SetInputShapes(std::vector<Shape> shapes) { input_shapes_ = std::move(shapes); }
  absl::StatusOr<Json> Take();

 private:
  Json json_ = Json::object();
  std::vector<Shape> input_shapes_;
  absl::Status status_;
};

// Sets options by a config. A key that is missing leaves its option as it is, as older files want it.
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
  // Another value than this one is an error: Tandem's layer cannot do it.
  void Fixed(const char* key, const Json& value);
  void Fixed(const char* key, const Json& value, const Json& built);
  void Unused(const char* key, const Json& /*value*/) { Find(key); }
  void Axis(const char* key, int64_t& axis);
  void Axes(const char* key, std::vector<int64_t>& axes) { Field(key, axes); }
  void InputShape(const char* key, size_t /*i*/) { Find(key); }

  // The keys that no field has asked for.
  std::vector<std::string> Unknown() const;
  const absl::Status& status() const { return status_; }

 private:
  // Null where the key is missing.
  const Json* Find(const char* key);
  void Fail(const char* key, absl::string_view wanted);

  const Json& json_;
  std::vector<std::string> asked_;
  absl::Status status_;
};

}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_LAYER_CONFIG_H_
