// PNG pictures (ISO/IEC 15948) to and from tensors, by libpng.
#ifndef TANDEM_DATA_IMAGE_PNG_H_
#define TANDEM_DATA_IMAGE_PNG_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/host_tensor.h"
#include "data/image/decode_options.h"

namespace tandem {

// True if `bytes` begin with PNG's signature of 8 bytes.
bool IsPng(absl::string_view bytes);

// Returns the picture as [height, width, channels], uint8 or, with options.bits = 16, int32 from 0 to 65535. The values
// are those of tf.io.decode_png, except for RGB to grey: TensorFlow exchanges the weights of green and blue; here they
// are 0.299, 0.587 and 0.114 (ITU-R BT.601). Gamma and colour profiles are not applied. If the picture has a
// transparent colour (a tRNS chunk), alpha is made from it if channels is 2 or 4, or if channels is 0 and there is a
// palette.
//
// DataLoss, with options.name and the offset, for a picture that is damaged (checksums are compared), cut short, or
// declares more pixels than its bytes can hold; ResourceExhausted for one that needs more than options.max_bytes;
// InvalidArgument for options that PNG does not have.
absl::StatusOr<HostTensor> DecodePng(absl::string_view bytes, const DecodeImageOptions& options = {});

struct EncodePngOptions {
  int compression = 6;  // 0 (none) to 9 (smallest), zlib's levels
};

// `image`: [height, width, 1 to 4] (grey, grey and alpha, RGB, RGBA), uint8, or int32 from 0 to 65535 for a picture of
// 16 bits; InvalidArgument for others.
absl::StatusOr<std::string> EncodePng(const HostTensor& image, const EncodePngOptions& options = {});

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_PNG_H_
