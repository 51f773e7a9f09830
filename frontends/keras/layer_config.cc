#include "frontends/keras/layer_config.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/json_string.h"
#include "base/status_macros.h"
#include "frontends/parts_from_config.h"

namespace tandem::keras {
namespace {

Json ValueToJson(const PartConfig::Value& value) {
  if (const auto* b = std::get_if<bool>(&value)) return *b;
  if (const auto* i = std::get_if<int64_t>(&value)) return *i;
  if (const auto* d = std::get_if<double>(&value)) return *d;
  if (const auto* s = std::get_if<std::string>(&value)) return *s;
  if (const auto* l = std::get_if<std::vector<double>>(&value)) return *l;
  if (const auto* p = std::get_if<std::shared_ptr<const PartConfig>>(&value)) return PartToJson(**p, "");
  return nullptr;
}

absl::StatusOr<PartConfig::Value> ValueFromJson(const Json& json) {
  if (json.is_null()) return PartConfig::Value();
  if (json.is_boolean()) return PartConfig::Value(json.get<bool>());
  if (json.is_number_integer()) return PartConfig::Value(json.get<int64_t>());
  if (json.is_number()) return PartConfig::Value(json.get<double>());
  if (json.is_string()) return PartConfig::Value(json.get<std::string>());
  if (json.is_array() && std::all_of(json.begin(), json.end(), [](const Json& x) { return x.is_number(); })) {
    return PartConfig::Value(json.get<std::vector<double>>());
  }
  if (json.is_object() && json.contains("class_name")) {
    auto part = std::make_shared<PartConfig>();
    TD_RETURN_IF_ERROR(PartFromJson(json, part.get()));
    return PartConfig::Value(std::shared_ptr<const PartConfig>(std::move(part)));
  }
  return absl::InvalidArgumentError(absl::StrCat("cannot be ", JsonString(json)));
}

// Reads a size, or one size per dimension. Keras 2 may write a size for both dimensions as one number.
bool ReadSizes(const Json& json, std::vector<int64_t>* sizes) {
  if (json.is_number_integer()) {
    *sizes = {json.get<int64_t>()};
    return true;
  }
  if (!json.is_array()) return false;
  sizes->clear();
  for (const Json& size : json) {
    if (!size.is_number_integer()) return false;
    sizes->push_back(size.get<int64_t>());
  }
  return true;
}

}  // namespace

Json ShapeToJson(const Shape& shape) {
  Json json = Json::array();
  for (int64_t size : shape) {
    json.push_back(size == kBatch ? Json(nullptr) : Json(size));
  }
  return json;
}

absl::Status ShapeFromJson(const Json& json, Shape* shape) {
  shape->clear();
  bool good = json.is_array();
  if (good) {
    for (const Json& size : json) {
      good = good && (size.is_null() || (size.is_number_integer() && size.get<int64_t>() >= 0));
      if (good) shape->push_back(size.is_null() ? kBatch : size.get<int64_t>());
    }
  }
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("a shape cannot be ", JsonString(json)));
}

Json PartToJson(const PartConfig& part, absl::string_view module) {
  if (!part.named()) return nullptr;
  Json json, config = Json::object();
  for (const auto& [key, value] : part.values) config[key] = ValueToJson(value);
  if (!module.empty()) json["module"] = module;
  json["class_name"] = part.class_name;
  json["config"] = std::move(config);
  if (!module.empty()) json["registered_name"] = nullptr;
  return json;
}

absl::Status PartFromJson(const Json& json, PartConfig* part) {
  *part = {};
  if (json.is_null()) return absl::OkStatus();
  if (json.is_string()) {
    part->class_name = json.get<std::string>();
    return absl::OkStatus();
  }
  if (!json.is_object() || !json.contains("class_name") || !json["class_name"].is_string()) {
    return absl::InvalidArgumentError(absl::StrCat("has no \"class_name\": ", JsonString(json)));
  }
  part->class_name = json["class_name"].get<std::string>();
  if (!json.contains("config") || !json["config"].is_object()) return absl::OkStatus();
  for (const auto& [key, value] : json["config"].items()) {
    absl::StatusOr<PartConfig::Value> read = ValueFromJson(value);
    if (!read.ok()) return Annotate(read.status(), absl::StrCat(part->class_name, "'s \"", key, "\" "));
    part->values.emplace_back(key, *std::move(read));
  }
  return absl::OkStatus();
}

void ConfigWriter::Field(const char* key, const std::optional<double>& value) {
  json_[key] = value.has_value() ? Json(*value) : Json(nullptr);
}

void ConfigWriter::Field(const char* key, const Activation& value) {
  if (value.name().empty() && status_.ok()) {
    status_ = absl::InvalidArgumentError(absl::StrCat("its \"", key,
                                                      "\" is a function without a name, which a file "
                                                      "cannot have; give it by name, such as \"relu\""));
  }
  json_[key] = value.name();
}

void ConfigWriter::Field(const char* key, const initializers::InitializerFn& value) {
  if (!value.config().named() && status_.ok()) {
    status_ = absl::InvalidArgumentError(absl::StrCat("its \"", key,
                                                      "\" is a function without a name, which a file "
                                                      "cannot have; give it by name, such as \"he_normal\""));
  }
  json_[key] = PartToJson(value.config(), "keras.initializers");
}

void ConfigWriter::Field(const char* key, const Regularizer& value) {
  json_[key] = PartToJson(value.config(), "keras.regularizers");
}

void ConfigWriter::Field(const char* key, const PaddingName& value) { json_[key] = value.name(); }

void ConfigWriter::Axis(const char* key, int64_t axis) {
  if (input_shapes_.empty()) {
    json_[key] = axis;
  } else {
    json_[key] = std::vector<int64_t>{axis < 0 ? axis + static_cast<int64_t>(input_shapes_[0].size()) : axis};
  }
}

void ConfigWriter::InputShape(const char* key, size_t i) {
  json_[key] = input_shapes_.empty() ? Json() : ShapeToJson(input_shapes_[std::min(i, input_shapes_.size() - 1)]);
}

void ConfigWriter::Axes(const char* key, const std::vector<int64_t>& axes) {
  json_[key] = axes.size() == 1 ? Json(axes[0]) : Json(axes);
}

absl::StatusOr<Json> ConfigWriter::Take() {
  TD_RETURN_IF_ERROR(status_);
  return std::move(json_);
}

const Json* ConfigReader::Find(const char* key) {
  asked_.push_back(key);
  const auto it = json_.find(key);
  return it != json_.end() ? &*it : nullptr;
}

void ConfigReader::Fail(const char* key, absl::string_view wanted) {
  if (!status_.ok()) return;
  status_ =
      absl::InvalidArgumentError(absl::StrCat("\"", key, "\" is ", JsonString(json_.at(key)), " and must be ", wanted));
}

void ConfigReader::Field(const char* key, int64_t& value) {
  const Json* json = Find(key);
  if (json == nullptr) return;
  if (!json->is_number_integer()) return Fail(key, "a whole number");
  value = json->get<int64_t>();
}

void ConfigReader::Field(const char* key, double& value) {
  const Json* json = Find(key);
  if (json == nullptr) return;
  if (json->is_number()) {
    value = json->get<double>();
  } else if (json->is_object() && json->contains("value") && (*json)["value"].is_number()) {
    value = (*json)["value"].get<double>();  // Keras writes a NumPy scalar as an object with its value
  } else {
    Fail(key, "a number");
  }
}

void ConfigReader::Field(const char* key, bool& value) {
  const Json* json = Find(key);
  if (json == nullptr) return;
  if (!json->is_boolean()) return Fail(key, "true or false");
  value = json->get<bool>();
}

void ConfigReader::Field(const char* key, std::string& value) {
  const Json* json = Find(key);
  if (json == nullptr) return;
  if (!json->is_string()) return Fail(key, "a text");
  value = json->get<std::string>();
}

void ConfigReader::Field(const char* key, std::optional<double>& value) {
  const Json* json = Find(key);
  if (json == nullptr) return;
  value = std::nullopt;
  if (json->is_null()) return;
  double number = 0;
  Field(key, number);
  value = number;
}

void ConfigReader::Field(const char* key, layers::Size2D& value) {
  const Json* json = Find(key);
  if (json == nullptr) return;
  std::vector<int64_t> sizes;
  if (!ReadSizes(*json, &sizes) || sizes.empty() || sizes.size() > 2) return Fail(key, "one or two whole numbers");
  value = layers::Size2D(sizes.front(), sizes.back());
}

void ConfigReader::Field(const char* key, Activation& value) {
  const Json* json = Find(key);
  if (json == nullptr) return;
  std::string name = "linear";
  if (json->is_string()) {
    name = json->get<std::string>();
  } else if (!json->is_null()) {
    return Fail(key, "the name of an activation");
  }
  value = Activation(name);
  if (status_.ok()) status_ = Annotate(value.status(), absl::StrCat("\"", key, "\": "));
}

void ConfigReader::Field(const char* key, initializers::InitializerFn& value) {
  const Json* json = Find(key);
  if (json == nullptr) return;
  PartConfig part;
  if (!PartFromJson(*json, &part).ok()) return Fail(key, "an initializer");
  absl::StatusOr<initializers::InitializerFn> made = InitializerFromConfig(part);
  if (made.ok()) {
    value = *std::move(made);
  } else if (status_.ok()) {
    status_ = Annotate(made.status(), absl::StrCat("\"", key, "\": "));
  }
}

void ConfigReader::Field(const char* key, Regularizer& value) {
  const Json* json = Find(key);
  if (json == nullptr) return;
  PartConfig part;
  if (!PartFromJson(*json, &part).ok()) return Fail(key, "a regularizer or null");
  value = {};
  if (!part.named()) return;
  absl::StatusOr<Regularizer> made = RegularizerFromConfig(part);
  if (made.ok()) {
    value = *std::move(made);
  } else if (status_.ok()) {
    status_ = Annotate(made.status(), absl::StrCat("\"", key, "\": "));
  }
}

void ConfigReader::Field(const char* key, PaddingName& value) {
  const Json* json = Find(key);
  if (json == nullptr) return;
  if (!json->is_string()) return Fail(key, "\"valid\" or \"same\"");
  const std::string name = json->get<std::string>();
  value = PaddingName(name.c_str());
  if (!value.unknown().empty()) Fail(key, "\"valid\" or \"same\"");
}

void ConfigReader::Field(const char* key, std::vector<int64_t>& value) {
  const Json* json = Find(key);
  if (json != nullptr && !ReadSizes(*json, &value)) Fail(key, "a list of whole numbers");
}

void ConfigReader::Field(const char* key, std::vector<std::vector<int64_t>>& value) {
  const Json* json = Find(key);
  if (json == nullptr) return;
  if (!json->is_array()) return Fail(key, "a list of lists");
  value.clear();
  for (const Json& row : *json) {
    if (!ReadSizes(row, &value.emplace_back())) return Fail(key, "a list of lists of whole numbers");
  }
}

void ConfigReader::Fixed(const char* key, const Json& value) {
  const Json* json = Find(key);
  if (json == nullptr || *json == value || (json->is_null() && value.is_null())) return;
  // Sizes are compared as lists of two numbers, so that 1 and 1.0, or [1, 1] and 1, count as equal.
  std::vector<int64_t> a, b;
  if (ReadSizes(*json, &a) && ReadSizes(value, &b) && a.front() == b.front() && a.back() == b.back()) return;
  Fail(key, absl::StrCat(JsonString(value), "; the layer has nothing else"));
}

void ConfigReader::Fixed(const char* key, const Json& value, const Json& built) {
  const Json* json = Find(key);
  if (json == nullptr || *json != built) Fixed(key, value);
}

void ConfigReader::Axis(const char* key, int64_t& axis) {
  const Json* json = Find(key);
  if (json == nullptr) return;
  std::vector<int64_t> axes;
  if (!ReadSizes(*json, &axes) || axes.size() != 1) return Fail(key, "one axis");
  axis = axes[0];
}

std::vector<std::string> ConfigReader::Unknown() const {
  std::vector<std::string> unknown;
  for (const auto& [key, value] : json_.items()) {
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) unknown.push_back(key);
  }
  return unknown;
}

}  // namespace tandem::keras
