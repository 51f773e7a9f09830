// Resizes pictures, with the values of TensorFlow's tf.image.resize.
#ifndef TANDEM_DATA_IMAGE_RESIZE_H_
#define TANDEM_DATA_IMAGE_RESIZE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"
#include "tandem/base/source_location.h"

namespace TANDEM_API tandem {

// All methods use half-pixel centres: the centre of output pixel i lies at (i + 0.5) * in / out in the input, whose
// pixel j covers [j, j + 1).
enum class ResizeMethod {
  // Linear interpolation between the two nearest centres in each direction.
  kBilinear,
  // The input pixel that contains the centre.
  kNearest,
  // The mean over the area that the output pixel covers, including parts of pixels.
  kArea,
};

struct ResizeOptions {
  ResizeMethod method = ResizeMethod::kBilinear;
  // For kBilinear: where the picture becomes smaller, widens the linear filter (a triangle) accordingly, so that every
  // input pixel counts. Without it, pixels between the centres are left out. Ignored by the other methods.
  bool antialias = false;
  // If true, the result is uint8: values rounded to the nearest integer, halves to the even one, and clipped to 0 and
  // 255.
  bool round_to_uint8 = false;
};

// Returns `image`, uint8 or float32 [in_height, in_width, channels], as float32 (or uint8) [height, width, channels].
//
// Equal to TensorFlow 2.15's tf.image.resize(image, [height, width], method, antialias=...), bit for bit on the golden
// files, except for kArea, which is equal to a few units of the last place. The source is TensorFlow's kernels
// resize_bilinear_op, resize_nearest_neighbor_op, resize_area_op and scale_and_translate_op. The bits do not depend on
// the machine's vector instructions.
//
// InvalidArgument, with the caller's line, for other types and ranks, and for sizes below 1 or above 65535.
absl::StatusOr<HostTensor> Resize(const HostTensor& image, int64_t height, int64_t width,
                                  const ResizeOptions& options = {},
                                  SourceLocation location = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_RESIZE_H_
