// Padding that is given by Keras' name.
#ifndef TANDEM_FRONTENDS_KERAS_PADDING_NAME_H_
#define TANDEM_FRONTENDS_KERAS_PADDING_NAME_H_

#include <string>
#include <utility>

#include "tandem/base/api.h"
#include "tandem/graph/padding.h"

namespace TANDEM_API tandem {
namespace keras {

// A Padding, or its name "valid" or "same", in upper or lower case. Another name is an error of the layer that uses it.
class PaddingName {
 public:
  PaddingName(Padding padding) : padding_(padding) {}  // NOLINT: implicit
  PaddingName(const char* name);                       // NOLINT: implicit

  Padding padding() const { return padding_; }
  // The name that the user wrote if it is unknown; empty otherwise.
  const std::string& unknown() const { return unknown_; }
  const char* name() const { return padding_ == Padding::kSame ? "same" : "valid"; }

 private:
  Padding padding_ = Padding::kValid;
  std::string unknown_;
};

}  // namespace keras
}  // namespace tandem

#endif  // TANDEM_FRONTENDS_KERAS_PADDING_NAME_H_
