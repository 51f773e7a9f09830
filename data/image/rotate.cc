#include "data/image/rotate.h"

#include <cmath>
#include <cstdint>

#include "base/status_macros.h"
#include "data/image/image_argument.h"

namespace tandem {
namespace {

// The affine map from the coordinates of output pixels to those of input pixels, computed in float as in TensorFlow.
struct Turn {
  float cos, sin, x_offset, y_offset;
};

Turn MakeTurn(double radians, int64_t height, int64_t width) {
  const float c = std::cos(radians), s = std::sin(radians), h = height - 1, w = width - 1;
  return {c, s, (w - (c * w - s * h)) / 2.0f, (h - (s * w + c * h)) / 2.0f};
}

template <typename T>
struct Source {
  const T* pixels;
  int64_t height, width, channels;
  float fill;

  float Read(int64_t y, int64_t x, int64_t c) const {
    if (y < 0 || y >= height || x < 0 || x >= width) return fill;
    return pixels[(y * width + x) * channels + c];
  }
  float Bilinear(float y, float x, int64_t c) const {
    const float y0 = std::floor(y), x0 = std::floor(x), y1 = y0 + 1, x1 = x0 + 1;
    const int64_t top = y0, left = x0;
    const float upper = (x1 - x) * Read(top, left, c) + (x - x0) * Read(top, left + 1, c);
    const float lower = (x1 - x) * Read(top + 1, left, c) + (x - x0) * Read(top + 1, left + 1, c);
    return (y1 - y) * upper + (y - y0) * lower;
  }
};

template <typename T>
void RotateInto(const HostTensor& image, const Turn& turn, const RotateOptions& options, T* out) {
  const Source<T> in = {image.data<T>(), image.shape()[0], image.shape()[1], image.shape()[2], options.fill};
  for (int64_t y = 0; y < in.height; ++y) {
    for (int64_t x = 0; x < in.width; ++x) {
      const float from_x = turn.cos * x + -turn.sin * y + turn.x_offset;
      const float from_y = turn.sin * x + turn.cos * y + turn.y_offset;
      for (int64_t c = 0; c < in.channels; ++c, ++out) {
        *out = static_cast<T>(options.bilinear ? in.Bilinear(from_y, from_x, c)
                                               : in.Read(std::round(from_y), std::round(from_x), c));
      }
    }
  }
}

}  // namespace

absl::StatusOr<HostTensor> Rotate(const HostTensor& image, double radians, const RotateOptions& options,
                                  SourceLocation location) {
  const image_internal::Call call{"Rotate", location};
  TD_RETURN_IF_ERROR(CheckPixels(call, image));
  if (!std::isfinite(radians)) return call.Wrong("the angle is ", radians, "; it must be finite (in radians)");
  const bool bytes = image.dtype() == DType::kUInt8;
  if (bytes && !(options.fill >= 0 && options.fill <= 255)) {
    return call.Wrong("fill is ", options.fill, "; of a uint8 image it must be from 0 to 255");
  }
  TD_ASSIGN_OR_RETURN(HostTensor result, NewImage(call, image.dtype(), image.shape()));
  const Turn turn = MakeTurn(radians, image.shape()[0], image.shape()[1]);
  if (bytes) {
    RotateInto(image, turn, options, result.data<uint8_t>());
  } else {
    RotateInto(image, turn, options, result.data<float>());
  }
  return result;
}

}  // namespace tandem
