#include "runtime/cpu/onednn/strided_pointwise.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/align.h"

namespace tandem {
namespace {

// The pixels of x that a strided 1x1 convolution reads: those at which the windows of y begin.
struct Pixels {
  explicit Pixels(const format::Conv2D& c)
      : images(c.x_shape[0]),
        height(c.x_shape[1]),
        width(c.x_shape[2]),
        rows(c.y_shape[1]),
        columns(c.y_shape[2]),
        row_stride(c.strides[0]),
        column_stride(c.strides[1]),
        bytes(c.x_shape[3] * (c.x_dtype == DType::kBFloat16 ? 2 : 4)) {}

  int64_t dense_bytes() const { return images * rows * columns * bytes; }

  // Copies these pixels of x to `dense`, an array of [images, rows, columns] pixels.
  void Gather(const char* x, char* dense) const {
    for (int64_t i = 0; i < images; ++i) {
      for (int64_t r = 0; r < rows; ++r) {
        const char* from = x + (i * height + r * row_stride) * width * bytes;
        for (int64_t c = 0; c < columns; ++c, dense += bytes)
          std::memcpy(dense, from + c * column_stride * bytes, bytes);
      }
    }
  }

  // Copies `dense`, an array of [images, rows, columns] pixels, to these pixels of x, and sets all others to zero.
  void Scatter(const char* dense, char* x) const {
    for (int64_t i = 0; i < images; ++i) {
      for (int64_t h = 0; h < height; ++h, x += width * bytes) {
        if (h % row_stride != 0 || h / row_stride >= rows) {
          std::memset(x, 0, width * bytes);
          continue;
        }
        for (int64_t c = 0; c < columns; ++c, dense += bytes) {
          char* to = x + c * column_stride * bytes;
          std::memcpy(to, dense, bytes);
          const int64_t next = c + 1 < columns ? (c + 1) * column_stride : width;
          std::memset(to + bytes, 0, (next - c * column_stride - 1) * bytes);
        }
      }
    }
  }

  const int64_t images, height, width, rows, columns, row_stride, column_stride;
  const int64_t bytes;  // bytes of a pixel
};

class StridedPointwiseGrad final : public OneDnnPrimitive {
 public:
  StridedPointwiseGrad(const format::Conv2D& c, std::unique_ptr<OneDnnPrimitive> dense)
      : input_grad_(c.direction == format::Direction::kInputGrad),
        pixels_(c),
        dense_(std::move(dense)),
        implementation_(StridedPointwiseName(dense_->implementation())) {}

  const std::string& implementation() const override { return implementation_; }
  uint64_t scratch_bytes() const override { return dense_bytes() + dense_->scratch_bytes(); }

  absl::Status RunParts(int thread, absl::Span<void* const> in, void* out, void* scratch, int64_t,
                        int64_t) const override {
    char* copy = static_cast<char*>(scratch);
    void* rest = copy + dense_bytes();
    if (!input_grad_) {
      pixels_.Gather(static_cast<const char*>(in[0]), copy);
      return dense_->Run(thread, {copy, in[1]}, out, rest);
    }
    absl::Status status = dense_->Run(thread, in, copy, rest);
    if (status.ok()) pixels_.Scatter(copy, static_cast<char*>(out));
    return status;
  }

 private:
  uint64_t dense_bytes() const { return AlignUp(static_cast<uint64_t>(pixels_.dense_bytes()), 64); }

  const bool input_grad_;
  const Pixels pixels_;
  const std::unique_ptr<OneDnnPrimitive> dense_;
  const std::string implementation_;
};

}  // namespace

std::unique_ptr<OneDnnPrimitive> MakeStridedPointwiseGrad(const format::Conv2D& c,
                                                          std::unique_ptr<OneDnnPrimitive> dense) {
  return std::make_unique<StridedPointwiseGrad>(c, std::move(dense));
}

std::string StridedPointwiseName(const std::string& dense) { return absl::StrCat("strided_pixels+", dense); }

}  // namespace tandem
