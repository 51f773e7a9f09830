// Pictures of another size, with the values of TensorFlow's tf.image.resize.
#ifndef TANDEM_DATA_IMAGE_RESIZE_H_
#define TANDEM_DATA_IMAGE_RESIZE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "base/source_location.h"

namespace tandem {

// All with half-pixel centres: the centre of output pixel i lies at (i + 0.5) * in / out in the input, whose pixel j
// covers [j, j + 1).
enum class ResizeMethod {
  // Linear interpolation between the two nearest centres in each direction.
  kBilinear,
  // The input pixel in which the centre lies.
  kNearest,
  // The mean over the area that the output pixel covers, in parts of pixels.
  kArea,
};

struct ResizeOptions {
  ResizeMethod method = ResizeMethod::kBilinear;
  // Of kBilinear: where the picture becomes smaller, the linear filter (a triangle) is as much wider, so that every
  // input pixel counts. Without it, pixels between the centres are left out. The others have no such choice.
  bool antialias = false;
  // The result as uint8: rounded to the nearest integer, halves to the even one, and kept within 0 and 255.
  bool round_to_uint8 = false;
};

// `image`, uint8 or float32 [in_height, in_width, channels], as float32 (or uint8) [height, width, channels].
//
// Equal to TensorFlow 2.15's tf.image.resize(image, [height, width], method, antialias=...), bit for bit on the
// golden files, but for kArea: there to a few units of the last place; the source is its kernels resize_bilinear_op,
// resize_nearest_neighbor_op, resize_area_op and scale_and_translate_op. The bits do not depend on the machine's vector
// instructions.
//
// InvalidArgument with the caller's line for other types and ranks, and for sizes below 1 or above 65535.
absl::StatusOr<HostTensor> Resize(const HostTensor& image, int64_t height, int64_t width,
                                  const ResizeOptions& options = {},
                                  SourceLocation location = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_RESIZE_H_
