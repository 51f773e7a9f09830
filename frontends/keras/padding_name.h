// Padding by Keras' name.
#ifndef TANDEM_FRONTENDS_KERAS_PADDING_NAME_H_
#define TANDEM_FRONTENDS_KERAS_PADDING_NAME_H_

#include <string>
#include <utility>

#include "graph/padding.h"

namespace tandem::keras {

// "valid", "same", in any case, or a Padding. Another name is an error of the layer that gets it.
class PaddingName {
 public:
  PaddingName(Padding padding) : padding_(padding) {}  // NOLINT: implicit
  PaddingName(const char* name);                       // NOLINT: implicit

  Padding padding() const { return padding_; }
  // The given name if it is unknown; empty otherwise.
  const std::string& unknown() const { return unknown_; }
  const char* name() const { return padding_ == Padding::kSame ? "same" : "valid"; }

 private:
  Padding padding_ = Padding::kValid;
  std::string unknown_;
};

}  // namespace tandem::keras

#endif  // TANDEM_FRONTENDS_KERAS_PADDING_NAME_H_
