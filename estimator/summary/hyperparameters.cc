#include "estimator/summary/hyperparameters.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "estimator/summary/summary_value.h"
#include "estimator/summary/wire_fields.h"

namespace tandem {
namespace {

// Numbers of fields.
constexpr uint32_t kTag = 1, kTensor = 8, kMetadata = 9;                // of Summary.Value
constexpr uint32_t kPluginData = 1, kPluginName = 1, kContent = 2;      // of SummaryMetadata and PluginData
constexpr uint32_t kDType = 1, kTensorShape = 2, kDim = 2;              // of TensorProto and its shape
constexpr uint32_t kSessionStart = 3;                                   // of HParamsPluginData
constexpr uint32_t kHparams = 1, kStartTime = 5, kKey = 1, kValue = 2;  // of SessionStartInfo and its map
constexpr uint32_t kNumberValue = 2, kStringValue = 3, kBoolValue = 4;  // of google.protobuf.Value
constexpr uint64_t kFloatType = 1;

std::string Text(const Params::Value& value) {
  struct Visitor {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(int64_t v) const { return absl::StrCat(v); }
    std::string operator()(double v) const { return absl::StrFormat("%.12g", v); }
    std::string operator()(const std::string& v) const { return v; }
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
    wire::AppendBytes(kStringValue, std::get<std::string>(value), &message);
  }
  return message;
}

std::string SessionStart(const Params& params, double time) {
  std::string session, content, plugin, metadata, shape, tensor, out;
  for (const auto& [name, value] : params.values()) {
    std::string entry;
    wire::AppendBytes(kKey, name, &entry);
    wire::AppendBytes(kValue, ValueMessage(value), &entry);
    wire::AppendBytes(kHparams, entry, &session);
  }
  wire::AppendDouble(kStartTime, time, &session);
  wire::AppendBytes(kSessionStart, session, &content);
  wire::AppendBytes(kPluginName, "hparams", &plugin);
  wire::AppendBytes(kContent, content, &plugin);
  wire::AppendBytes(kPluginData, plugin, &metadata);
  // The plugin's own writer gives a tensor without elements.
  wire::AppendBytes(kDim, "", &shape);
  wire::AppendNumber(kDType, kFloatType, &tensor);
  wire::AppendBytes(kTensorShape, shape, &tensor);
  wire::AppendBytes(kTag, "_hparams_/session_start_info", &out);
  wire::AppendBytes(kTensor, tensor, &out);
  wire::AppendBytes(kMetadata, metadata, &out);
  return out;
}

}  // namespace

std::string HyperparameterTable(const Params& params) {
  std::string table = "| name | value |\n|---|---|\n";
  for (const auto& [name, value] : params.values()) {
    const auto cell = [](const std::string& text) {
      return absl::StrReplaceAll(text, {{"|", "\\|"}, {"\n", " "}, {"\r", " "}});
    };
    absl::StrAppend(&table, "| ", cell(name), " | ", cell(Text(value)), " |\n");
  }
  return table;
}

std::vector<std::string> HyperparameterValues(const Params& params, double time) {
  if (params.values().empty()) return {};
  return {TextValue("hyperparameters", HyperparameterTable(params)), SessionStart(params, time)};
}

}  // namespace tandem
