// Options that the decoders of pictures share.
#ifndef TANDEM_DATA_IMAGE_DECODE_OPTIONS_H_
#define TANDEM_DATA_IMAGE_DECODE_OPTIONS_H_

#include <cstdint>
#include <string>

#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// The default for the most memory that decoding a picture may take: 89 million pixels of RGB.
inline constexpr int64_t kMaxImageBytes = int64_t{256} << 20;

struct DecodeImageOptions {
  // Where the bytes come from (a path, or a file and a record); every error message begins with it.
  std::string name = "picture";
  // Channels of the result. 0: as many as the picture has (a CMYK JPEG becomes RGB, a palette RGB or RGBA). 1: grey; 3:
  // RGB. For PNG also 2: grey and alpha; 4: RGBA, where alpha is 255 if the picture has none.
  int channels = 0;
  // Bits of a sample. 8: uint8; the samples of a 16-bit PNG lose their lower byte, as in TensorFlow. 16: int32 from 0
  // to 65535, for PNG only; 8-bit samples are multiplied by 257.
  int bits = 8;
  // For JPEG: the picture may be decoded at 1/2, 1/4 or 1/8 of its height and width, rounded up (from the DCT's lower
  // coefficients alone, several times as fast): at the smallest of these that is at least this high and wide. 0: full
  // size. A PNG is always decoded at full size.
  int64_t min_height = 0, min_width = 0;
  // For JPEG: use the fast integer DCT, which is TensorFlow's default and wrong by a few units in places. False: the
  // accurate one, which takes about as long with today's vector instructions.
  bool fast_dct = false;
  // The most bytes that the result and the decoder's own buffers may take together. The need that follows from the
  // sizes in the picture's header is compared with this limit before memory is allocated.
  int64_t max_bytes = kMaxImageBytes;
};

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_DECODE_OPTIONS_H_
