// What functions of pictures check of their arguments, and how they say it.
#ifndef TANDEM_DATA_IMAGE_IMAGE_ARGUMENT_H_
#define TANDEM_DATA_IMAGE_IMAGE_ARGUMENT_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/host_tensor.h"
#include "base/source_location.h"

namespace tandem::image_internal {

// The largest height and width of a picture.
inline constexpr int64_t kMaxSize = 65535;

// A call of a function by the user: begins its errors.
struct Call {
  absl::string_view function;
  SourceLocation location;

  // InvalidArgument: "FUNCTION at FILE:LINE: TEXT".
  template <typename... Text>
  absl::Status Wrong(const Text&... text) const {
    return absl::InvalidArgumentError(absl::StrCat(function, " at ", location.file, ":", location.line, ": ", text...));
  }
};

// InvalidArgument unless `image` is [height, width, channels] of numbers, with sizes from 1 to kMaxSize.
absl::Status CheckImage(const Call& call, const HostTensor& image);
// The same, and unless it is of uint8 or float32.
absl::Status CheckPixels(const Call& call, const HostTensor& image);
// The same, and unless it has three channels.
absl::Status CheckRgb(const Call& call, const HostTensor& image);

// InvalidArgument for a `shape` [height, width, channels] that was asked for with sizes outside 1 to kMaxSize, or more
// than 2^33 elements.
absl::Status CheckResult(const Call& call, const Shape& shape);

// An uninitialised tensor; ResourceExhausted when there is no memory.
absl::StatusOr<HostTensor> NewImage(const Call& call, DType dtype, Shape shape);

}  // namespace tandem::image_internal

#endif  // TANDEM_DATA_IMAGE_IMAGE_ARGUMENT_H_
