// Makes the table of a model's layers that Keras' summary() prints.
#ifndef TANDEM_FRONTENDS_KERAS_SUMMARY_H_
#define TANDEM_FRONTENDS_KERAS_SUMMARY_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "tandem/base/api.h"

namespace tandem::keras {

class NetworkImpl;

}  // namespace tandem::keras

namespace TANDEM_API tandem {
namespace keras {

struct SummaryOptions {
  bool expand_nested = false;   // if true, also shows the layers of nested models
  bool show_trainable = false;  // if true, adds a column that says what is trainable
  int line_length = 0;          // characters per line; 0 means 65 for a chain of layers, otherwise 98
  // Called with each line of the text; null prints to standard output.
  std::function<void(const std::string& line)> print_fn = nullptr;
};

// Returns the text that `summary()` of Keras 2.15 prints, byte for byte, with line ends.
absl::StatusOr<std::string> SummaryText(const NetworkImpl& model, const SummaryOptions& options);

}  // namespace keras
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_KERAS_SUMMARY_H_
