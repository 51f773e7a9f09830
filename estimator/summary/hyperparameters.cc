#include "estimator/summary/hyperparameters.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "data/files/wire_fields.h"
#include "estimator/summary/summary_value.h"

namespace tandem {
namespace {

// Field numbers of the messages.
constexpr uint32_t kSessionTag = 1, kSessionTensor = 8, kSessionMetadata = 9;  // field numbers of Summary.Value
constexpr uint32_t kSessionPluginData = 1, kSessionPluginName = 1,
                   kSessionContent = 2;  // field numbers of SummaryMetadata and PluginData
// The field numbers of TensorProto and its shape.
constexpr uint32_t kSessionTensorDType = 1, kSessionTensorShape = 2, kSessionDim = 2;
constexpr uint32_t kSessionStart = 3;  // field numbers of HParamsPluginData
// The field numbers of SessionStartInfo and its map.
constexpr uint32_t kHparams = 1, kStartTime = 5, kEntryKey = 1, kEntryValue = 2;
constexpr uint32_t kNumberValue = 2, kStringValue = 3, kBoolValue = 4;  // field numbers of google.protobuf.Value
constexpr uint64_t kFloatType = 1;

std::string Text(const Params::Value& value) {
  struct Visitor {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(int64_t v) const { return absl::StrCat(v); }
    std::string operator()(double v) const { return absl::StrFormat("%.12g", v); }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(const std::vector<int64_t>& v) const { return absl::StrJoin(v, ", "); }
    std::string operator()(const std::vector<double>& v) const {
      return absl::StrJoin(v, ", ", [](std::string* out, double d) { absl::StrAppendFormat(out, "%.12g", d); });
    }
    std::string operator()(const std::vector<std::string>& v) const { return absl::StrJoin(v, ", "); }
  };
  return std::visit(Visitor(), value);
}

std::string ValueMessage(const Params::Value& value) {
  std::string message;
  if (const bool* flag = std::get_if<bool>(&value)) {
    wire::AppendNumber(kBoolValue, *flag ? 1 : 0, &message);
  } else if (const int64_t* integer = std::get_if<int64_t>(&value)) {
    wire::AppendDouble(kNumberValue, static_cast<double>(*integer), &message);
  } else if (const double* number = std::get_if<double>(&value)) {
    wire::AppendDouble(kNumberValue, *number, &message);
  } else {
    wire::AppendBytes(kStringValue, Text(value), &message);  // a list is written as text, since TensorBoard has none
  }
  return message;
}

std::string SessionStart(const Params& params, double time) {
  std::string session, content, plugin, metadata, shape, tensor, out;
  for (const auto& [name, value] : params.shown_values()) {
    std::string entry;
    wire::AppendBytes(kEntryKey, name, &entry);
    wire::AppendBytes(kEntryValue, ValueMessage(value), &entry);
    wire::AppendBytes(kHparams, entry, &session);
  }
  wire::AppendDouble(kStartTime, time, &session);
  wire::AppendBytes(kSessionStart, session, &content);
  wire::AppendBytes(kSessionPluginName, "hparams", &plugin);
  wire::AppendBytes(kSessionContent, content, &plugin);
  wire::AppendBytes(kSessionPluginData, plugin, &metadata);
  // Adds a tensor without elements, as the plugin's own writer does.
  wire::AppendBytes(kSessionDim, "", &shape);
  wire::AppendNumber(kSessionTensorDType, kFloatType, &tensor);
  wire::AppendBytes(kSessionTensorShape, shape, &tensor);
  wire::AppendBytes(kSessionTag, "_hparams_/session_start_info", &out);
  wire::AppendBytes(kSessionTensor, tensor, &out);
  wire::AppendBytes(kSessionMetadata, metadata, &out);
  return out;
}

}  // namespace

std::string HyperparameterTable(const Params& params) {
  std::string table = "| name | value |\n|---|---|\n";
  for (const auto& [name, value] : params.shown_values()) {
    const auto cell = [](const std::string& text) {
      return absl::StrReplaceAll(text, {{"|", "\\|"}, {"\n", " "}, {"\r", " "}});
    };
    absl::StrAppend(&table, "| ", cell(name), " | ", cell(Text(value)), " |\n");
  }
  return table;
}

std::vector<std::string> HyperparameterValues(const Params& params, double time) {
  if (params.shown_values().empty()) return {};
  return {TextValue("hyperparameters", HyperparameterTable(params)), SessionStart(params, time)};
}

}  // namespace tandem
