// Resizes pictures row by row.
#ifndef TANDEM_DATA_IMAGE_ROW_RESIZER_H_
#define TANDEM_DATA_IMAGE_ROW_RESIZER_H_

#include <cstdint>
#include <memory>

#include "data/component_buffer.h"
#include "data/image/resize.h"

namespace tandem::image_internal {

// The rows of a picture, or the last `count` of them: row y is at first + y % count * stride.
template <typename T>
struct RingOfRows {
  const T* first;
  int64_t count;
  int64_t stride;  // distance between rows, in elements

  const T* Row(int64_t y) const { return first + y % count * stride; }
};

// Makes output rows with one resize method, from the first to the last.
template <typename T>
class ResizeRule {
 public:
  virtual ~ResizeRule() = default;
  // Output row y is made from at most span() consecutive input rows; LastRow(y) is the last of them and never decreases
  // with y.
  virtual int64_t span() const = 0;
  virtual int64_t LastRow(int64_t y) const = 0;
  // Computes output row y into `out`, which has room for width * channels values.
  virtual void MakeRow(int64_t y, const RingOfRows<T>& rows, float* out) = 0;
};

// Computes each row of `result` as soon as the input rows that it needs are available. T is the input's element type,
// uint8_t or float.
template <typename T>
class RowResizer {
 public:
  // `result`: [height, width, channels] of float32, or of uint8 for rounded values.
  RowResizer(const ResizeOptions& options, int64_t in_height, int64_t in_width, const ComponentBuffer& result);

  // The number of latest input rows that must be available in memory.
  int64_t span() const { return rule_->span(); }
  // Computes all output rows that are possible with the input's rows below `count`, which must be available in `rows`.
  void Advance(const RingOfRows<T>& rows, int64_t count);

 private:
  const std::unique_ptr<ResizeRule<T>> rule_;
  const ComponentBuffer result_;
  const int64_t height_, row_elements_;
  std::unique_ptr<float[]> to_round_;  // a row of floats to be rounded; null if the result is float32
  int64_t next_ = 0;                   // the next row of the result to compute
};

}  // namespace tandem::image_internal

#endif  // TANDEM_DATA_IMAGE_ROW_RESIZER_H_
