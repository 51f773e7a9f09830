// Checks arguments of picture functions.
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

// The name and the source line of a user's call of a picture function, with which its errors begin.
struct Call {
  absl::string_view function;
  SourceLocation location;

  // Returns InvalidArgument: "FUNCTION at FILE:LINE: TEXT".
  template <typename... Text>
  absl::Status Wrong(const Text&... text) const {
    return absl::InvalidArgumentError(absl::StrCat(function, " at ", location.file, ":", location.line, ": ", text...));
  }
};

// InvalidArgument unless `image` is [height, width, channels] of numbers, with sizes from 1 to kMaxSize.
absl::Status CheckImage(const Call& call, const HostTensor& image);
// Checks as CheckImage; also InvalidArgument unless the type is uint8 or float32.
absl::Status CheckPixels(const Call& call, const HostTensor& image);
// Checks as CheckPixels; also InvalidArgument unless there are three channels.
absl::Status CheckRgb(const Call& call, const HostTensor& image);

// InvalidArgument for a requested `shape` [height, width, channels] with sizes outside 1 to kMaxSize, or with more than
// 2^33 elements.
absl::Status CheckResult(const Call& call, const Shape& shape);

// Returns an uninitialised tensor; ResourceExhausted when there is no memory.
absl::StatusOr<HostTensor> NewImage(const Call& call, DType dtype, Shape shape);

}  // namespace tandem::image_internal

#endif  // TANDEM_DATA_IMAGE_IMAGE_ARGUMENT_H_
