// Helpers for the callbacks of callbacks.h. Internal to estimator/keras.
#ifndef TANDEM_ESTIMATOR_KERAS_CALLBACK_UTIL_H_
#define TANDEM_ESTIMATOR_KERAS_CALLBACK_UTIL_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/annotate.h"
#include "base/json_number.h"
#include "base/json_parse.h"
#include "base/json_string.h"
#include "base/source_location.h"
#include "estimator/keras/callback.h"
#include "estimator/keras/console.h"

namespace tandem::keras {

// Returns `status` with the line `loc`, in which the program made the callback, before an error's message.
inline absl::Status AtLine(const absl::Status& status, SourceLocation loc) {
  return Annotate(status, absl::StrCat("made at ", loc.file, ":", loc.line, ": "));
}

inline absl::Status CheckNotNegative(absl::string_view option, double value) {
  if (value >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(option, " must be at least 0, got ", value));
}

// Prints a line on the console.
inline void PrintMessage(absl::string_view text) { WriteToConsole(absl::StrCat(text, "\n")); }

// Reads numbers from the JSON text of a callback's state.
class StateReader {
 public:
  explicit StateReader(const CallbackState& state) : json_(ParseJson(state.text)) {}
  void Read(const char* name, int64_t* value) {
    if (json_.is_object() && json_.contains(name) && json_[name].is_number_integer()) {
      *value = json_[name].get<int64_t>();
    } else {
      ok_ = false;
    }
  }
  void Read(const char* name, double* value) {
    const std::optional<double> number =
        json_.is_object() && json_.contains(name) ? NumberFromJson(json_[name]) : std::nullopt;
    if (number.has_value()) *value = *number;
    if (!number.has_value()) ok_ = false;
  }
  const nlohmann::json& json() const { return json_; }
  // Returns DataLoss if a number that was read is missing from the state.
  absl::Status status() const { return ok_ ? absl::OkStatus() : absl::DataLossError("the state is damaged"); }

 private:
  nlohmann::json json_;
  bool ok_ = true;
};

}  // namespace tandem::keras

#endif  // TANDEM_ESTIMATOR_KERAS_CALLBACK_UTIL_H_
