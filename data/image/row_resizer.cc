#include "data/image/row_resizer.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "data/image/lerp_two_rows.h"
#include "data/image/resize_axis.h"
#include "data/image/resize_rows.h"

namespace tandem::image_internal {
namespace {

struct Sizes {
  int64_t in_height, in_width, out_height, out_width, channels;

  int64_t out_row() const { return out_width * channels; }
};

// Caches the last `count` input rows, each resized to the output's width. `make`(y, to) computes a missing row.
class RowCache {
 public:
  RowCache(int64_t count, int64_t row_elements)
      : row_elements_(row_elements), held_(count, -1), rows_(count * row_elements) {}
  template <typename Make>
  const float* Row(int64_t y, Make make) {
    const size_t slot = y % held_.size();
    float* const row = rows_.data() + slot * row_elements_;
    if (held_[slot] != y) make(y, row);
    held_[slot] = y;
    return row;
  }

 private:
  const int64_t row_elements_;
  std::vector<int64_t> held_;
  std::vector<float> rows_;
};

template <typename T>
class Bilinear : public ResizeRule<T> {
 public:
  explicit Bilinear(const Sizes& sizes)
      : sizes_(sizes),
        rows_(MakeLerpAxis(sizes.in_height, sizes.out_height)),
        columns_(MakeLerpAxis(sizes.in_width, sizes.out_width)),
        cache_(2, sizes.out_row()) {}
  int64_t span() const override { return 2; }
  int64_t LastRow(int64_t y) const override { return rows_.upper[y]; }
  void MakeRow(int64_t y, const RingOfRows<T>& rows, float* out) override {
    const int64_t lower = rows_.lower[y], upper = rows_.upper[y];
    if constexpr (std::is_same_v<T, uint8_t>) {
      if (in_one_go_) {
        LerpTwoRows(rows.Row(lower), rows.Row(upper), sizes_.in_width, sizes_.channels, columns_, rows_.fraction[y],
                    out);
        return;
      }
    }
    const auto row = [&](int64_t from, float* to) {
      LerpColumns(rows.Row(from), sizes_.in_width, sizes_.channels, columns_, to);
    };
    const float *const a = cache_.Row(lower, row), *const b = cache_.Row(upper, row);
    LerpRows(a, b, rows_.fraction[y], sizes_.out_row(), out);
  }

 private:
  const Sizes sizes_;
  const LerpAxis rows_, columns_;
  // When the picture gets smaller, most input rows are used only once, so that caching resized rows does not pay and
  // both rows are interpolated in one step.
  const bool in_one_go_ = sizes_.in_height >= sizes_.out_height && CanLerpTwoRows(sizes_.channels);
  RowCache cache_;
};

// Resizes along the columns' axis first, as TensorFlow's kernel for areas does.
template <typename T>
class Area : public ResizeRule<T> {
 public:
  explicit Area(const Sizes& sizes)
      : sizes_(sizes),
        rows_(MakeAreaAxis(sizes.in_height, sizes.out_height)),
        columns_(MakeAreaAxis(sizes.in_width, sizes.out_width)),
        cache_(rows_.span, sizes.out_row()),
        sum_(sizes.out_row()) {
    const float row_scale = sizes.in_height / static_cast<float>(sizes.out_height);
    const float column_scale = sizes.in_width / static_cast<float>(sizes.out_width);
    scale_ = 1.0 / (row_scale * column_scale);
  }
  int64_t span() const override { return rows_.span; }
  int64_t LastRow(int64_t y) const override { return rows_.start[y] + rows_.count[y] - 1; }
  void MakeRow(int64_t y, const RingOfRows<T>& rows, float* out) override {
    const auto row = [&](int64_t from, float* to) {
      SumColumns(rows.Row(from), sizes_.in_width, sizes_.channels, columns_, to);
    };
    const float* const weights = &rows_.weights[y * rows_.span];
    ScaleRow(cache_.Row(rows_.start[y], row), weights[0], sizes_.out_row(), sum_.data());
    for (int32_t k = 1; k < rows_.count[y]; ++k) {
      AddScaledRow(cache_.Row(rows_.start[y] + k, row), weights[k], sizes_.out_row(), sum_.data());
    }
    ScaleRow(sum_.data(), scale_, sizes_.out_row(), out);
  }

 private:
  const Sizes sizes_;
  const SumAxis rows_, columns_;
  float scale_;
  RowCache cache_;
  std::vector<float> sum_;
};

// Resizes along the rows' axis first, as TensorFlow's kernel for antialiasing does.
template <typename T>
class Antialiased : public ResizeRule<T> {
 public:
  explicit Antialiased(const Sizes& sizes)
      : sizes_(sizes),
        rows_(MakeTriangleAxis(sizes.in_height, sizes.out_height)),
        columns_(MakeTriangleAxis(sizes.in_width, sizes.out_width)),
        sum_(in_row()) {}
  int64_t span() const override { return rows_.span; }
  int64_t LastRow(int64_t y) const override { return rows_.start[y] + rows_.count[y] - 1; }
  void MakeRow(int64_t y, const RingOfRows<T>& rows, float* out) override {
    const float* const weights = &rows_.weights[y * rows_.span];
    ScaleRow(rows.Row(rows_.start[y]), weights[0], in_row(), sum_.data());
    for (int32_t k = 1; k < rows_.count[y]; ++k) {
      AddScaledRow(rows.Row(rows_.start[y] + k), weights[k], in_row(), sum_.data());
    }
    SumColumns(sum_.data(), sizes_.in_width, sizes_.channels, columns_, out);
  }

 private:
  int64_t in_row() const { return sizes_.in_width * sizes_.channels; }

  const Sizes sizes_;
  const SumAxis rows_, columns_;
  std::vector<float> sum_;
};

template <typename T>
class Nearest : public ResizeRule<T> {
 public:
  explicit Nearest(const Sizes& sizes)
      : channels_(sizes.channels),
        rows_(MakeNearestAxis(sizes.in_height, sizes.out_height)),
        columns_(MakeNearestAxis(sizes.in_width, sizes.out_width)) {}
  int64_t span() const override { return 1; }
  int64_t LastRow(int64_t y) const override { return rows_[y]; }
  void MakeRow(int64_t y, const RingOfRows<T>& rows, float* out) override {
    const T* const in = rows.Row(rows_[y]);
    for (const int32_t x : columns_) {
      for (int64_t c = 0; c < channels_; ++c) *out++ = in[x * channels_ + c];
    }
  }

 private:
  const int64_t channels_;
  const std::vector<int32_t> rows_, columns_;
};

template <typename T>
std::unique_ptr<ResizeRule<T>> MakeRule(const ResizeOptions& options, const Sizes& sizes) {
  switch (options.method) {
    case ResizeMethod::kBilinear:
      if (options.antialias) return std::make_unique<Antialiased<T>>(sizes);
      return std::make_unique<Bilinear<T>>(sizes);
    case ResizeMethod::kNearest:
      return std::make_unique<Nearest<T>>(sizes);
    case ResizeMethod::kArea:
      return std::make_unique<Area<T>>(sizes);
  }
  return nullptr;
}

}  // namespace

template <typename T>
RowResizer<T>::RowResizer(const ResizeOptions& options, int64_t in_height, int64_t in_width,
                          const ComponentBuffer& result)
    : rule_(MakeRule<T>(options, {in_height, in_width, result.shape[0], result.shape[1], result.shape[2]})),
      result_(result),
      height_(result.shape[0]),
      row_elements_(result.shape[1] * result.shape[2]) {
  if (result.dtype == DType::kUInt8) to_round_ = std::make_unique<float[]>(row_elements_);
}

template <typename T>
void RowResizer<T>::Advance(const RingOfRows<T>& rows, int64_t count) {
  for (; next_ < height_ && rule_->LastRow(next_) < count; ++next_) {
    if (to_round_ == nullptr) {
      rule_->MakeRow(next_, rows, result_.data<float>() + next_ * row_elements_);
      continue;
    }
    rule_->MakeRow(next_, rows, to_round_.get());
    RoundRow(to_round_.get(), row_elements_, result_.data<uint8_t>() + next_ * row_elements_);
  }
}

template class RowResizer<uint8_t>;
template class RowResizer<float>;

}  // namespace tandem::image_internal
