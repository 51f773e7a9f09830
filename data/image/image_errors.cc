#include "data/image/image_errors.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/status_macros.h"

namespace tandem::image_internal {

absl::Status Broken(const DecodeImageOptions& options, absl::string_view format, int64_t offset, size_t size,
                    absl::string_view what) {
  return absl::DataLossError(absl::StrCat(PrintableLine(options.name), ": broken ", format, " picture at byte ", offset,
                                          " of ", size, ": ", PrintableLine(what),
                                          "; write the picture again or take it out of the data"));
}

absl::Status CheckOptions(const DecodeImageOptions& options, absl::string_view format) {
  const bool png = format == "PNG";
  const auto wrong = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(PrintableLine(options.name), ": decoding ", format, ": ", what));
  };
  const int c = options.channels;
  if (c != 0 && c != 1 && c != 3 && !(png && (c == 2 || c == 4))) {
    return wrong(absl::StrCat("channels is ", c, "; it must be 0 (as in the file), 1 (grey) or 3 (RGB)",
                              png ? ", 2 (grey and alpha) or 4 (RGBA)" : ""));
  }
  if (options.bits != 8 && !(png && options.bits == 16)) {
    return wrong(absl::StrCat("bits is ", options.bits, "; it must be 8", png ? " or 16" : ""));
  }
  if (options.min_height < 0 || options.min_width < 0) {
    return wrong(absl::StrCat("min_height and min_width are ", options.min_height, " and ", options.min_width,
                              "; they must be >= 0"));
  }
  if (options.max_bytes <= 0) return wrong(absl::StrCat("max_bytes is ", options.max_bytes, "; it must be > 0"));
  return absl::OkStatus();
}

absl::Status CheckSize(const DecodeImageOptions& options, absl::string_view format, int64_t height, int64_t width,
                       int64_t bytes_per_pixel, int64_t other_bytes) {
  // The need is computed in floating point, which cannot overflow, and is exact below 2^53.
  const double bytes = static_cast<double>(height) * width * bytes_per_pixel + other_bytes;
  if (bytes <= static_cast<double>(options.max_bytes)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      PrintableLine(options.name), ": the ", format, " picture's header declares ", height, " x ", width,
      " pixels, which need ", static_cast<int64_t>(std::min(bytes, 9e18)), " bytes; the limit is max_bytes = ",
      options.max_bytes, "; set DecodeImageOptions.max_bytes higher if the picture is to be trusted"));
}

absl::Status CheckEncodable(const char* function, const HostTensor& image, absl::Span<const int> channels) {
  if (image.empty()) {
    TD_RETURN_IF_ERROR(image.status());
    return absl::InvalidArgumentError(absl::StrCat(function, ": the image is an empty tensor"));
  }
  const Shape& shape = image.shape();
  const bool fits = shape.size() == 3 && std::count(channels.begin(), channels.end(), shape[2]) > 0;
  if (fits && shape[0] >= 1 && shape[0] <= 65500 && shape[1] >= 1 && shape[1] <= 65500) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(function, ": the image's shape is ", ShapeString(shape),
                   "; it must be [height, width, channels] with height and width from 1 to 65500 and channels one of ",
                   absl::StrJoin(channels, ", ")));
}

}  // namespace tandem::image_internal
