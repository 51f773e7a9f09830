#include "estimator/serving/server/predictions_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/json_string.h"
#include "nlohmann/json.hpp"

namespace tandem::serving {
namespace {

constexpr size_t kNumberBytes = 32;  // more than any number's text

template <typename T>
void AppendNumber(T value, std::string* text) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) {
      text->append(std::isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity");
      return;
    }
  }
  char buffer[kNumberBytes];
  char* const end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  text->append(buffer, end);
  if (std::is_floating_point_v<T> && std::all_of(buffer, end, [](char c) { return c != '.' && c != 'e'; })) {
    text->append(".0");
  }
}

void AppendNumber(bool value, std::string* text) { text->append(value ? "true" : "false"); }

// Appends values of sizes `shape` from *next on, and moves it.
template <typename T>
void AppendValues(absl::Span<const int64_t> shape, const T** next, std::string* text) {
  if (shape.empty()) return AppendNumber(*(*next)++, text);
  text->push_back('[');
  for (int64_t i = 0; i < shape[0]; ++i) {
    if (i > 0) text->push_back(',');
    AppendValues(shape.subspan(1), next, text);
  }
  text->push_back(']');
}

// Appends values of sizes `shape` from row `begin` on.
template <typename T>
void AppendRowsOf(const HostTensor& tensor, int64_t begin, absl::Span<const int64_t> shape, std::string* text) {
  const int64_t row = NumElements(absl::MakeConstSpan(tensor.shape()).subspan(1));
  const T* next = static_cast<const T*>(tensor.raw()) + begin * row;
  AppendValues(shape, &next, text);
}

void Append(const HostTensor& tensor, int64_t begin, absl::Span<const int64_t> shape, std::string* text) {
  switch (tensor.dtype()) {
    case DType::kFloat32:
      return AppendRowsOf<float>(tensor, begin, shape, text);
    case DType::kFloat64:
      return AppendRowsOf<double>(tensor, begin, shape, text);
    case DType::kInt32:
      return AppendRowsOf<int32_t>(tensor, begin, shape, text);
    case DType::kInt64:
      return AppendRowsOf<int64_t>(tensor, begin, shape, text);
    case DType::kUInt8:
      return AppendRowsOf<uint8_t>(tensor, begin, shape, text);
    case DType::kBool:
      return AppendRowsOf<bool>(tensor, begin, shape, text);
    default:
      text->append("null");  // no program has an output of another type
  }
}

void AppendRow(const HostTensor& tensor, int64_t row, std::string* text) {
  Append(tensor, row, absl::MakeConstSpan(tensor.shape()).subspan(1), text);
}

void AppendRows(const HostTensor& tensor, int64_t begin, int64_t rows, std::string* text) {
  Shape shape = tensor.shape();
  shape[0] = rows;
  Append(tensor, begin, shape, text);
}

// Appends an object with a member for each output, whose value `append` appends.
template <typename F>
void AppendObject(const NamedTensors& outputs, F append, std::string* text) {
  char separator = '{';
  for (const auto& [name, tensor] : outputs) {
    absl::StrAppend(text, absl::string_view(&separator, 1), JsonString(nlohmann::json(name)), ":");
    append(tensor);
    separator = ',';
  }
  text->push_back('}');
}

std::string Rows(const Prediction& prediction) {
  const NamedTensors& outputs = *prediction.outputs;
  std::string text = "{\"predictions\":[";
  for (int64_t row = prediction.begin; row < prediction.begin + prediction.rows; ++row) {
    if (row > prediction.begin) text.push_back(',');
    if (outputs.size() == 1) {
      AppendRow(outputs.begin()->second, row, &text);
    } else {
      AppendObject(
          outputs, [&](const HostTensor& tensor) { AppendRow(tensor, row, &text); }, &text);
    }
  }
  text.append("]}\n");
  return text;
}

std::string Columns(const Prediction& prediction) {
  const NamedTensors& outputs = *prediction.outputs;
  std::string text = "{\"outputs\":";
  const auto append = [&](const HostTensor& tensor) { AppendRows(tensor, prediction.begin, prediction.rows, &text); };
  if (outputs.size() == 1) {
    append(outputs.begin()->second);
  } else {
    AppendObject(outputs, append, &text);
  }
  text.append("}\n");
  return text;
}

}  // namespace

std::string PredictionsJson(const Prediction& prediction, BodyForm form) {
  return form == BodyForm::kRows ? Rows(prediction) : Columns(prediction);
}

}  // namespace tandem::serving
