// The inner loops of resizing, compiled for several instruction sets. A row is `n` floats, or `width` pixels of
// `channels` values each. No multiplication and addition are fused, so that all instruction sets give the same bits.
#ifndef TANDEM_DATA_IMAGE_RESIZE_ROWS_H_
#define TANDEM_DATA_IMAGE_RESIZE_ROWS_H_

#include <cstdint>

#include "data/image/resize_axis.h"

namespace tandem::image_internal {

// out[i] = a[i] + (b[i] - a[i]) * fraction.
void LerpRows(const float* a, const float* b, float fraction, int64_t n, float* out);
// ScaleRow: out[i] = weight * a[i]. AddScaledRow: out[i] += weight * a[i].
void ScaleRow(const uint8_t* a, float weight, int64_t n, float* out);
void ScaleRow(const float* a, float weight, int64_t n, float* out);
void AddScaledRow(const uint8_t* a, float weight, int64_t n, float* out);
void AddScaledRow(const float* a, float weight, int64_t n, float* out);
// Rounds to the nearest integer, halves to the even one, and clips to 0 and 255; NaN becomes 0.
void RoundRow(const float* a, int64_t n, uint8_t* out);

// Make a row of axis.lower.size() or axis.start.size() pixels from a row of `width` pixels.
void LerpColumns(const uint8_t* row, int64_t width, int64_t channels, const LerpAxis& axis, float* out);
void LerpColumns(const float* row, int64_t width, int64_t channels, const LerpAxis& axis, float* out);
void SumColumns(const uint8_t* row, int64_t width, int64_t channels, const SumAxis& axis, float* out);
void SumColumns(const float* row, int64_t width, int64_t channels, const SumAxis& axis, float* out);

}  // namespace tandem::image_internal

#endif  // TANDEM_DATA_IMAGE_RESIZE_ROWS_H_
