// Damaged pictures are an error or a picture, never a crash, and take no more memory than the limit.
#include <sys/resource.h>

#include <string>

#include "base/philox.h"
#include "data/image/decode_image.h"
#include "data/image/test_util.h"

namespace tandem {
namespace {

int64_t PeakKilobytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Decodes `file` with each of a sample of its bytes changed, each in several ways; counts the errors.
int ErrorsOfDamage(const std::string& file, uint32_t seed, const DecodeImageOptions& options, int* runs) {
  int errors = 0;
  // All of the headers, and a sample of the rest.
  for (size_t i = 0; i < file.size(); i += i < 700 ? 1 : 7) {
    const PhiloxCounter random = Philox4x32({static_cast<uint32_t>(i), 0, 0, 0}, {seed, 0});
    const char changed[] = {static_cast<char>(file[i] ^ (1 << random[0] % 8)), static_cast<char>(random[1]), '\0',
                            '\xff'};
    for (const char c : changed) {
      std::string damaged = file;
      damaged[i] = c;
      const auto image = DecodeImage(damaged, options);
      ++*runs;
      if (image.ok()) {
        EXPECT_EQ(image->rank(), 3);
        EXPECT_LE(image->byte_size(), options.max_bytes);
      } else {
        EXPECT_TRUE(absl::StartsWith(image.status().message(), "x.img: ")) << image.status();
        ++errors;
      }
    }
  }
  return errors;
}

TEST(Damage, ChangedBytes) {
  const Goldens goldens("decode.safetensors");
  ASSERT_TRUE(goldens.ok());
  [[maybe_unused]] const int64_t before = PeakKilobytes();
  int runs = 0, seed = 0;
  for (const std::string name : {"rgb420", "progressive", "rgb8", "interlaced_rgb16", "palette4_transparent"}) {
    const std::string file = goldens.Bytes(name + "/file");
    int of_this = 0;
    const int errors = ErrorsOfDamage(file, ++seed, {.name = "x.img"}, &of_this);
    // Most headers and checksums notice.
    EXPECT_GT(errors, of_this / 10) << name;
    ErrorsOfDamage(file, ++seed, {.name = "x.img", .channels = 3, .min_height = 9, .min_width = 9}, &of_this);
    runs += of_this;
  }
  EXPECT_GT(runs, 10000);
#ifndef TANDEM_SANITIZE_ADDRESS  // which keeps 256 MiB of freed memory
  EXPECT_LT(PeakKilobytes() - before, 300 << 10);
#endif
}

}  // namespace
}  // namespace tandem
