// What the decoders of pictures have in common.
#ifndef TANDEM_DATA_IMAGE_DECODE_OPTIONS_H_
#define TANDEM_DATA_IMAGE_DECODE_OPTIONS_H_

#include <cstdint>
#include <string>

namespace tandem {

// The most memory that a picture may take while it is decoded, unless told otherwise: 89 million pixels of RGB.
inline constexpr int64_t kMaxImageBytes = int64_t{256} << 20;

struct DecodeImageOptions {
  // Where the bytes come from (a path, or a file and a record): begins every error.
  std::string name = "picture";
  // Channels of the result. 0: as many as the picture has (a JPEG of CMYK becomes RGB, a palette RGB or RGBA).
  // 1: grey, 3: RGB; of PNG also 2: grey and alpha, 4: RGBA, where alpha is 255 if the picture has none.
  int channels = 0;
  // Bits of a sample. 8: uint8; the samples of a 16-bit PNG lose their lower byte, as in TensorFlow.
  // 16: int32 from 0 to 65535, of PNG only; 8-bit samples are multiplied by 257.
  int bits = 8;
  // Of JPEG: the picture may be decoded to 1/2, 1/4 or 1/8 of its height and width (rounded up; the DCT's lower
  // coefficients alone, several times as fast), the smallest of these that is at least so high and so wide. 0: the full
  // size. PNG has nothing like it and is decoded in full.
  int64_t min_height = 0, min_width = 0;
  // Of JPEG: the fast integer DCT, which is TensorFlow's default and wrong by a few units in places. False: the
  // accurate one, which takes about as long with the vector instructions of today.
  bool fast_dct = false;
  // The most bytes that the result and the decoder's own buffers may take together. It is compared with what the
  // picture's header declares before memory is taken.
  int64_t max_bytes = kMaxImageBytes;
};

}  // namespace tandem

#endif  // TANDEM_DATA_IMAGE_DECODE_OPTIONS_H_
