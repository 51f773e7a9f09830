// Keras' table of a model's layers.
#ifndef TANDEM_FRONTENDS_KERAS_SUMMARY_H_
#define TANDEM_FRONTENDS_KERAS_SUMMARY_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"

namespace tandem::keras {

class NetworkImpl;

struct SummaryOptions {
  bool expand_nested = false;   // also show the layers of nested models
  bool show_trainable = false;  // add a column
  int line_length = 0;          // 0: 65 for a chain of layers, else 98
  // Takes the text line by line; null: standard output.
  std::function<void(const std::string& line)> print_fn = nullptr;
};

// Returns the text that `summary()` of Keras 2.15 prints, byte for byte, with line ends.
absl::StatusOr<std::string> SummaryText(const NetworkImpl& model, const SummaryOptions& options);

}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_SUMMARY_H_
