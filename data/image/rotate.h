// Turns pictures by any angle.
#ifndef TANDEM_DATA_IMAGE_ROTATE_H_
#define TANDEM_DATA_IMAGE_ROTATE_H_

#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"
#include "tandem/base/source_location.h"

namespace TANDEM_API tandem {

struct RotateOptions {
  // If true, interpolates between the four nearest pixels (linearly in both directions). If false, takes the nearest
  // pixel.
  bool bilinear = true;
  // The value of pixels outside the picture.
  float fill = 0;
};

// Returns `image`, uint8 or float32 [height, width, channels], turned counter-clockwise by `radians` around its centre,
// with the same size and type. Parts that leave the frame are lost; empty corners are options.fill. Output pixel (x, y)
// is the input at
//   x' = cos x - sin y + ((w - 1) - (cos (w - 1) - sin (h - 1))) / 2
//   y' = sin x + cos y + ((h - 1) - (sin (w - 1) + cos (h - 1))) / 2,
// where pixel centres are at whole numbers: the definition of tfa.image.rotate, computed as by TensorFlow's
// ImageProjectiveTransformV3 with fill_mode CONSTANT. Pixels next to the frame are mixed with options.fill. A uint8
// result is the value without its fraction, as there.
//
// InvalidArgument, with the caller's line, for other types and ranks, an angle that is not finite, and for uint8 a fill
// outside 0 to 255.
absl::StatusOr<HostTensor> Rotate(const HostTensor& image, double radians, const RotateOptions& options = {},
                                  SourceLocation location = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_ROTATE_H_
