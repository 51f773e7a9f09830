#include "data/image/crop.h"

#include <algorithm>
#include <cstring>

#include "base/status_macros.h"
#include "data/image/image_argument.h"

namespace tandem {
namespace {

using image_internal::Call;
using image_internal::kMaxSize;

// Copies height x width pixels between pictures of the same element type and number of channels.
void CopyRectangle(const HostTensor& from, int64_t from_top, int64_t from_left, int64_t height, int64_t width,
                   HostTensor* to, int64_t to_top, int64_t to_left) {
  const int64_t pixel = from.shape()[2] * SizeOf(from.dtype());
  const int64_t from_row = from.shape()[1] * pixel, to_row = to->shape()[1] * pixel;
  const uint8_t* in = static_cast<const uint8_t*>(from.raw()) + from_top * from_row + from_left * pixel;
  uint8_t* out = static_cast<uint8_t*>(to->raw()) + to_top * to_row + to_left * pixel;
  for (int64_t y = 0; y < height; ++y, in += from_row, out += to_row) memcpy(out, in, width * pixel);
}

absl::StatusOr<HostTensor> CropChecked(const Call& call, const HostTensor& image, int64_t top, int64_t left,
                                       int64_t height, int64_t width) {
  const Shape& shape = image.shape();
  // The comparisons have the form `top > size - height`, which cannot overflow, while `top + height` could.
  if (height < 1 || width < 1 || top < 0 || left < 0 || height > shape[0] || width > shape[1] ||
      top > shape[0] - height || left > shape[1] - width) {
    return call.Wrong("the rectangle of ", height, " x ", width, " pixels at (", top, ", ", left,
                      ") is not within the image, which is ", ShapeString(shape));
  }
  TD_ASSIGN_OR_RETURN(HostTensor result, NewImage(call, image.dtype(), {height, width, shape[2]}));
  CopyRectangle(image, top, left, height, width, &result, 0, 0);
  return result;
}

absl::StatusOr<HostTensor> PadChecked(const Call& call, const HostTensor& image, int64_t top, int64_t left,
                                      int64_t height, int64_t width) {
  const Shape& shape = image.shape();
  if (height > kMaxSize || width > kMaxSize || top < 0 || left < 0 || top > height - shape[0] ||
      left > width - shape[1]) {
    return call.Wrong("the image, ", ShapeString(shape), ", does not fit at (", top, ", ", left, ") into ", height,
                      " x ", width, " pixels (at most ", kMaxSize, " each)");
  }
  TD_ASSIGN_OR_RETURN(HostTensor result, NewImage(call, image.dtype(), {height, width, shape[2]}));
  memset(result.raw(), 0, result.byte_size());
  CopyRectangle(image, 0, 0, shape[0], shape[1], &result, top, left);
  return result;
}

}  // namespace

absl::StatusOr<HostTensor> Crop(const HostTensor& image, int64_t top, int64_t left, int64_t height, int64_t width,
                                SourceLocation location) {
  const Call call{"Crop", location};
  TD_RETURN_IF_ERROR(CheckImage(call, image));
  return CropChecked(call, image, top, left, height, width);
}

absl::StatusOr<HostTensor> CentralCrop(const HostTensor& image, double fraction, SourceLocation location) {
  const Call call{"CentralCrop", location};
  TD_RETURN_IF_ERROR(CheckImage(call, image));
  if (!(fraction > 0 && fraction <= 1)) return call.Wrong("fraction is ", fraction, "; it must be in (0, 1]");
  const double height = image.shape()[0], width = image.shape()[1];
  const int64_t top = (height - height * fraction) / 2, left = (width - width * fraction) / 2;
  return CropChecked(call, image, top, left, image.shape()[0] - 2 * top, image.shape()[1] - 2 * left);
}

absl::StatusOr<HostTensor> Pad(const HostTensor& image, int64_t top, int64_t left, int64_t height, int64_t width,
                               SourceLocation location) {
  const Call call{"Pad", location};
  TD_RETURN_IF_ERROR(CheckImage(call, image));
  return PadChecked(call, image, top, left, height, width);
}

absl::StatusOr<HostTensor> CropOrPad(const HostTensor& image, int64_t height, int64_t width, SourceLocation location) {
  const Call call{"CropOrPad", location};
  TD_RETURN_IF_ERROR(CheckImage(call, image));
  if (height < 1 || width < 1 || height > kMaxSize || width > kMaxSize) {
    return call.Wrong("the size asked for is ", height, " x ", width, "; height and width must be from 1 to ",
                      kMaxSize);
  }
  const int64_t in_height = image.shape()[0], in_width = image.shape()[1];
  TD_ASSIGN_OR_RETURN(const HostTensor middle, CropChecked(call, image, std::max<int64_t>((in_height - height) / 2, 0),
                                                           std::max<int64_t>((in_width - width) / 2, 0),
                                                           std::min(height, in_height), std::min(width, in_width)));
  return PadChecked(call, middle, std::max<int64_t>((height - in_height) / 2, 0),
                    std::max<int64_t>((width - in_width) / 2, 0), height, width);
}

}  // namespace tandem
