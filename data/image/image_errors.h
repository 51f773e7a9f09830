// Errors that decoders and encoders of pictures share.
#ifndef TANDEM_DATA_IMAGE_IMAGE_ERRORS_H_
#define TANDEM_DATA_IMAGE_IMAGE_ERRORS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/host_tensor.h"
#include "data/image/decode_options.h"

namespace tandem::image_internal {

// Returns DataLoss: "NAME: broken FORMAT picture at byte OFFSET of SIZE: WHAT; ...".
absl::Status Broken(const DecodeImageOptions& options, absl::string_view format, int64_t offset, size_t size,
                    absl::string_view what);

// InvalidArgument for options that `format` does not support.
absl::Status CheckOptions(const DecodeImageOptions& options, absl::string_view format);

// Returns ResourceExhausted when a picture of height x width needs more than options.max_bytes. The need is height *
// width * bytes_per_pixel, plus `other_bytes` for the decoder's own buffers. Height and width are those of the result,
// at most 2^31 - 1 each.
absl::Status CheckSize(const DecodeImageOptions& options, absl::string_view format, int64_t height, int64_t width,
                       int64_t bytes_per_pixel, int64_t other_bytes);

// InvalidArgument, beginning with `function`, unless `image` is [height, width, c] with height and width from 1 to
// 65500 and c one of `channels`.
absl::Status CheckEncodable(const char* function, const HostTensor& image, absl::Span<const int> channels);

}  // namespace tandem::image_internal

#endif  // TANDEM_DATA_IMAGE_IMAGE_ERRORS_H_
