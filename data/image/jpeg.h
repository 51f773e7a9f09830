// JPEG pictures (ISO/IEC 10918-1, baseline and progressive) to and from tensors, by libjpeg-turbo.
#ifndef TANDEM_DATA_IMAGE_JPEG_H_
#define TANDEM_DATA_IMAGE_JPEG_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/host_tensor.h"
#include "data/image/decode_options.h"

namespace tandem {

// True if `bytes` begin as a JPEG picture does: ff d8 ff.
bool IsJpeg(absl::string_view bytes);

// Returns the picture as uint8 [height, width, channels]. Uses "fancy" (triangle) chroma upsampling: the values are
// those of tf.io.decode_jpeg(dct_method='INTEGER_ACCURATE'), or with options.fast_dct those of tf.io.decode_jpeg(). As
// there, the EXIF orientation is not applied.
//
// DataLoss with options.name and the offset for a picture that is damaged, cut short, or has more than 500 scans;
// ResourceExhausted for one that needs more than options.max_bytes (a progressive one also needs 2 bytes for every
// coefficient); Unimplemented for what libjpeg-turbo cannot decode (12 bits, lossless, CMYK to grey); InvalidArgument
// for options that JPEG does not have.
absl::StatusOr<HostTensor> DecodeJpeg(absl::string_view bytes, const DecodeImageOptions& options = {});

struct EncodeJpegOptions {
  int quality = 95;  // from 1 to 100, on libjpeg's scale
  // If true, chroma is stored at half the height and width (4:2:0). Only for RGB.
  bool chroma_downsampling = true;
  bool progressive = false;
};

// `image`: uint8 [height, width, 1 or 3]; InvalidArgument for others. Equal pictures and options give equal bytes.
absl::StatusOr<std::string> EncodeJpeg(const HostTensor& image, const EncodeJpegOptions& options = {});

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_JPEG_H_
