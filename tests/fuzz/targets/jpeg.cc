// A JPEG picture, in full, scaled, and resized while it is decoded.
#include "data/image/jpeg.h"

#include "data/image/decode_resize.h"

#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {

std::vector<std::string> Seeds() {
  HostTensor image(DType::kUInt8, {9, 11, 3});
  for (int64_t i = 0; i < image.num_elements(); ++i) image.data<uint8_t>()[i] = i * 29;
  std::vector<std::string> seeds;
  for (const bool progressive : {false, true}) {
    for (const int quality : {10, 95}) {
      if (auto file = EncodeJpeg(image, {.quality = quality, .progressive = progressive}); file.ok()) {
        seeds.push_back(*file);
      }
    }
  }
  return seeds;
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Small, so that what a changed header declares is soon decoded.
  constexpr int64_t kMaxBytes = 1 << 20;
  const auto image = tandem::DecodeJpeg(bytes, {.max_bytes = kMaxBytes});
  if (image.ok()) tandem::fuzz::NoteAccepted();
  (void)tandem::DecodeJpeg(bytes, {.channels = 3, .min_height = 4, .min_width = 4, .max_bytes = kMaxBytes}).ok();
  if (!tandem::IsJpeg(bytes)) return 0;  // libjpeg passes over some bytes that are wrong there
  // As bilinear, or by all rows that an output row covers.
  const tandem::ResizeOptions resize{.antialias = size % 2 == 0};
  const auto resized = tandem::DecodeAndResize(bytes, 5, 7, {.max_bytes = kMaxBytes}, resize);
  tandem::fuzz::Require(resized.ok() == image.ok(), "what can be decoded can be resized meanwhile");
  if (!image.ok()) return 0;
  const auto later = tandem::Resize(*image, 5, 7, resize);
  tandem::fuzz::Require(later.ok() && later->BitEqual(*resized), "resized meanwhile or afterwards is the same");
  return 0;
}
