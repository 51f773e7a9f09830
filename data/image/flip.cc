#include "data/image/flip.h"

#include <cstdint>
#include <cstring>

#include "base/status_macros.h"
#include "data/image/image_argument.h"

namespace tandem {
namespace {

using image_internal::Call;

// The order in which input pixels are read: output pixel (y, x) is input pixel number first + y * row_step + x *
// column_step.
struct Walk {
  int64_t first, row_step, column_step;
};

absl::StatusOr<HostTensor> Rearranged(const Call& call, const HostTensor& image, Shape shape, Walk walk) {
  const int64_t height = shape[0], width = shape[1], pixel = shape[2] * SizeOf(image.dtype());
  TD_ASSIGN_OR_RETURN(HostTensor result, NewImage(call, image.dtype(), std::move(shape)));
  const uint8_t* const in = static_cast<const uint8_t*>(image.raw());
  uint8_t* out = static_cast<uint8_t*>(result.raw());
  for (int64_t y = 0; y < height; ++y) {
    int64_t from = walk.first + y * walk.row_step;
    if (walk.column_step == 1) {
      memcpy(out, in + from * pixel, width * pixel);
      out += width * pixel;
      continue;
    }
    for (int64_t x = 0; x < width; ++x, from += walk.column_step, out += pixel) {
      for (int64_t i = 0; i < pixel; ++i) out[i] = in[from * pixel + i];
    }
  }
  return result;
}

}  // namespace

absl::StatusOr<HostTensor> FlipLeftRight(const HostTensor& image, SourceLocation location) {
  const Call call{"FlipLeftRight", location};
  TD_RETURN_IF_ERROR(CheckImage(call, image));
  const int64_t width = image.shape()[1];
  return Rearranged(call, image, image.shape(), {width - 1, width, -1});
}

absl::StatusOr<HostTensor> FlipUpDown(const HostTensor& image, SourceLocation location) {
  const Call call{"FlipUpDown", location};
  TD_RETURN_IF_ERROR(CheckImage(call, image));
  const int64_t height = image.shape()[0], width = image.shape()[1];
  return Rearranged(call, image, image.shape(), {(height - 1) * width, -width, 1});
}

absl::StatusOr<HostTensor> Rotate90(const HostTensor& image, int turns, SourceLocation location) {
  const Call call{"Rotate90", location};
  TD_RETURN_IF_ERROR(CheckImage(call, image));
  const int64_t height = image.shape()[0], width = image.shape()[1], channels = image.shape()[2];
  switch ((turns % 4 + 4) % 4) {
    case 1:
      return Rearranged(call, image, {width, height, channels}, {width - 1, -1, width});
    case 2:
      return Rearranged(call, image, {height, width, channels}, {height * width - 1, -width, -1});
    case 3:
      return Rearranged(call, image, {width, height, channels}, {(height - 1) * width, 1, -width});
    default:
      return Rearranged(call, image, {height, width, channels}, {0, width, 1});
  }
}

}  // namespace tandem
