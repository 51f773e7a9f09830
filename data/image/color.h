// Changes brightness, contrast, saturation and hue, with the values of TensorFlow's tf.image.adjust_*.
//
// Pictures are float32 or uint8 [height, width, channels]; others give InvalidArgument with the caller's line. uint8 is
// taken as v / 255 and converted back as TensorFlow does: v * 255.5 without its fraction, within 0 and 255. float32 is
// neither scaled nor clipped; it should be within 0 and 1.
#ifndef TANDEM_DATA_IMAGE_COLOR_H_
#define TANDEM_DATA_IMAGE_COLOR_H_

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "base/source_location.h"

namespace tandem {

// Returns v + delta for every value v.
absl::StatusOr<HostTensor> AdjustBrightness(const HostTensor& image, float delta,
                                            SourceLocation location = SourceLocation::Current());

// Returns (v - m) * factor + m for every value v, where m is the mean of its channel.
absl::StatusOr<HostTensor> AdjustContrast(const HostTensor& image, float factor,
                                          SourceLocation location = SourceLocation::Current());

// Multiplies the saturation of an RGB picture by `factor` >= 0, to at most 1: that of HSV (hue, saturation, value),
// (max - min) / max.
absl::StatusOr<HostTensor> AdjustSaturation(const HostTensor& image, float factor,
                                            SourceLocation location = SourceLocation::Current());

// Adds `delta`, from -1 to 1, to the hue of an RGB picture: that of HSV, a circle of length 1.
absl::StatusOr<HostTensor> AdjustHue(const HostTensor& image, float delta,
                                     SourceLocation location = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_COLOR_H_
