// Other brightness, contrast, saturation and hue, with the values of TensorFlow's tf.image.adjust_*.
//
// Pictures are float32 or uint8 [height, width, channels]. uint8 is taken as v / 255 and comes back as TensorFlow
// converts it: v * 255.5 without its fraction, within 0 and 255. float32 is neither scaled nor clipped; it should be
// within 0 and 1. InvalidArgument with the caller's line for others.
#ifndef TANDEM_DATA_IMAGE_COLOR_H_
#define TANDEM_DATA_IMAGE_COLOR_H_

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "base/source_location.h"

namespace tandem {

// v + delta.
absl::StatusOr<HostTensor> AdjustBrightness(const HostTensor& image, float delta,
                                            SourceLocation location = SourceLocation::Current());

// (v - m) * factor + m, where m is the mean of the value's channel.
absl::StatusOr<HostTensor> AdjustContrast(const HostTensor& image, float factor,
                                          SourceLocation location = SourceLocation::Current());

// Of RGB: the saturation of HSV (hue, saturation, value; (max - min) / max) times `factor` >= 0, at most 1.
absl::StatusOr<HostTensor> AdjustSaturation(const HostTensor& image, float factor,
                                            SourceLocation location = SourceLocation::Current());

// Of RGB: the hue of HSV, a circle of length 1, plus `delta` from -1 to 1.
absl::StatusOr<HostTensor> AdjustHue(const HostTensor& image, float delta,
                                     SourceLocation location = SourceLocation::Current());

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_COLOR_H_
