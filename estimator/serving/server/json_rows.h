// JsonRows: reads the rows of an input from JSON into a tensor.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_JSON_ROWS_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_JSON_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/host_tensor.h"
#include "estimator/serving/server/json_reader.h"
#include "estimator/serving/tensor_signature.h"

namespace tandem::serving {

class JsonRows {
 public:
  // `signature` must outlive this.
  explicit JsonRows(const TensorSignature& signature);

  const TensorSignature& signature() const { return signature_; }
  int64_t rows() const { return rows_; }
  // Reads the value of one row, nested lists of the sizes after the first, and appends it. `where` is its place, for
  // errors.
  absl::Status ReadRow(absl::string_view where, JsonReader* json);
  // Reads a list of rows.
  absl::Status ReadRows(absl::string_view where, JsonReader* json);
  // Returns all rows.
  HostTensor Tensor() const;

 private:
  // Reads the values from `dimension` of a row on, writes them to *next, and moves it.
  template <typename T>
  absl::Status ReadValues(size_t dimension, JsonReader* json, T** next);
  template <typename T>
  absl::Status ReadRowOf(JsonReader* json);
  absl::Status ReadRowOfDType(JsonReader* json);
  // Returns the place of what is read now: where_ and the indices up to `dimension`.
  std::string Place(size_t dimension) const;

  const TensorSignature& signature_;
  const Shape row_shape_;
  const int64_t row_bytes_;
  std::vector<uint8_t> bytes_;
  int64_t rows_ = 0;
  absl::string_view where_;     // of the row that is read now
  std::vector<int64_t> index_;  // in each dimension of the row
};

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_JSON_ROWS_H_
