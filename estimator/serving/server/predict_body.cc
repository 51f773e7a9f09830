#include "estimator/serving/server/predict_body.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/nearest_name.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "estimator/serving/server/json_reader.h"
#include "estimator/serving/server/json_rows.h"

namespace tandem::serving {
namespace {

constexpr char kDefaultSignature[] = "serving_default";

// A member of an object that names something that is not there. `where` is the object.
absl::Status UnknownName(absl::string_view where, const std::string& name, absl::string_view kind,
                         const std::vector<std::string>& names) {
  return absl::InvalidArgumentError(absl::StrCat(where.empty() ? "the body" : where, ": \"", PrintableLine(name),
                                                 "\" is no ", kind, DidYouMean(name, names), "; there is ",
                                                 PrintableLine(absl::StrJoin(names, ", "))));
}

class BodyReader {
 public:
  BodyReader(absl::string_view text, const std::vector<TensorSignature>& inputs) : json_(text) {
    for (const TensorSignature& input : inputs) columns_.emplace_back(input);
  }

  absl::StatusOr<PredictBody> Read() {
    TD_RETURN_IF_ERROR(json_.ReadObject("", [&](const std::string& name) { return ReadMember(name); }));
    TD_RETURN_IF_ERROR(json_.ReadEnd());
    if (!form_.has_value()) {
      return absl::InvalidArgumentError(
          "the body has no \"instances\"; give a list of rows, or whole tensors as \"inputs\"");
    }
    PredictBody body{.form = *form_};
    TD_ASSIGN_OR_RETURN(body.rows, Rows());
    for (const JsonRows& column : columns_) body.inputs[column.signature().name] = column.Tensor();
    return body;
  }

 private:
  absl::Status ReadMember(const std::string& name) {
    if (name == "signature_name") return ReadSignatureName();
    if (name != "instances" && name != "inputs") {
      return UnknownName("", name, "part of a request", {"instances", "inputs", "signature_name"});
    }
    if (form_.has_value()) {
      return absl::InvalidArgumentError("the body has \"instances\" or \"inputs\" twice; give one of them");
    }
    form_ = name == "instances" ? BodyForm::kRows : BodyForm::kColumns;
    return *form_ == BodyForm::kRows ? ReadInstances() : ReadInputs();
  }

  absl::Status ReadSignatureName() {
    std::string value;
    if (json_.Peek() != '"' || !json_.ReadString(&value)) return json_.Unexpected("signature_name", "a string");
    if (value.empty() || value == kDefaultSignature) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("signature_name: the model has no signature \"",
                                                   PrintableLine(value), "\"; leave it out, or say \"",
                                                   kDefaultSignature, "\""));
  }

  absl::Status ReadInstances() {
    if (!json_.Take('[')) return json_.Unexpected("instances", "a list of rows");
    if (json_.Take(']')) return absl::OkStatus();
    int64_t rows = 0;
    do {
      const std::string where = absl::StrCat("instances[", rows, "]");
      TD_RETURN_IF_ERROR(ReadInstance(where, ++rows));
    } while (json_.Take(','));
    return json_.Take(']') ? absl::OkStatus() : json_.Unexpected("instances", "\",\" or \"]\"");
  }

  // Reads a row; `rows` is the number of rows with it.
  absl::Status ReadInstance(const std::string& where, int64_t rows) {
    if (columns_.size() == 1 && json_.Peek() != '{') return columns_[0].ReadRow(where, &json_);
    TD_RETURN_IF_ERROR(json_.ReadObject(where, [&](const std::string& name) -> absl::Status {
      TD_ASSIGN_OR_RETURN(JsonRows * column, Column(where, name));
      if (column->rows() == rows) return Twice(where, name);
      return column->ReadRow(absl::StrCat(where, ".", name), &json_);
    }));
    for (const JsonRows& column : columns_) {
      if (column.rows() != rows) return Missing(where, column.signature());
    }
    return absl::OkStatus();
  }

  absl::Status ReadInputs() {
    if (columns_.size() == 1 && json_.Peek() != '{') return columns_[0].ReadRows("inputs", &json_);
    std::vector<std::string> read;
    TD_RETURN_IF_ERROR(json_.ReadObject("inputs", [&](const std::string& name) -> absl::Status {
      TD_ASSIGN_OR_RETURN(JsonRows * column, Column("inputs", name));
      if (std::count(read.begin(), read.end(), name) > 0) return Twice("inputs", name);
      read.push_back(name);
      return column->ReadRows(absl::StrCat("inputs.", name), &json_);
    }));
    for (const JsonRows& column : columns_) {
      if (std::count(read.begin(), read.end(), column.signature().name) == 0) {
        return Missing("inputs", column.signature());
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<JsonRows*> Column(absl::string_view where, const std::string& name) {
    std::vector<std::string> names;
    for (JsonRows& column : columns_) {
      if (column.signature().name == name) return &column;
      names.push_back(column.signature().name);
    }
    return UnknownName(where, name, "input of the model", names);
  }

  static absl::Status Twice(absl::string_view where, const std::string& name) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": \"", PrintableLine(name), "\" is there twice"));
  }

  static absl::Status Missing(absl::string_view where, const TensorSignature& input) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": input \"", PrintableLine(input.name),
                                                   "\" is missing; the ", "model takes it as ", input.TypeString(),
                                                   ", b being any number of rows"));
  }

  absl::StatusOr<int64_t> Rows() const {
    const int64_t rows = columns_[0].rows();
    for (const JsonRows& column : columns_) {
      if (column.rows() == rows) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "inputs: \"", PrintableLine(column.signature().name), "\" has ", column.rows(), " rows, and \"",
          PrintableLine(columns_[0].signature().name), "\" has ", rows, "; every input has a row for each example"));
    }
    return rows;
  }

  JsonReader json_;
  std::vector<JsonRows> columns_;  // one for each input
  std::optional<BodyForm> form_;
};

}  // namespace

absl::StatusOr<PredictBody> ParsePredictBody(absl::string_view text, const std::vector<TensorSignature>& inputs) {
  return BodyReader(text, inputs).Read();
}

}  // namespace tandem::serving
