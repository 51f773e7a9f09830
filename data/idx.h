// Reader of IDX, the file format of MNIST and its relatives.
#ifndef TANDEM_DATA_IDX_H_
#define TANDEM_DATA_IDX_H_

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tandem/base/api.h"
#include "tandem/base/host_tensor.h"

namespace TANDEM_API tandem {

// Reads an IDX file, plain or compressed with gzip (told by its first bytes). The tensor has the file's shape; the
// element types u8, i32, f32 and f64 are kept, i8 and i16 are widened to int32.
// Errors name path and offset (in the uncompressed data): NotFound when there is no such file, PermissionDenied,
// DataLoss when it is no IDX file, truncated, damaged (gzip's checksum) or longer than its header says.
absl::StatusOr<HostTensor> ReadIdx(const std::string& path);

// Reads an IDX file as ReadIdx does, but row by row, so that the first rows can be used early: to decompress the images
// of a training set takes longer than to load a small program. Pass a function that calls WaitForRows to
// Dataset::FromTensorSlices.
class IdxReader {
 public:
  // Reads and checks the header, and a small file (up to 1 MiB of data) as a whole.
  static absl::StatusOr<std::shared_ptr<IdxReader>> Open(const std::string& path);
  ~IdxReader();

  // A tensor of the file's shape. Its rows are valid, from the first to the last, once WaitForRows has returned OK for
  // them.
  const HostTensor& tensor() const { return tensor_; }
  // The size of dimension 0; 1 for a scalar.
  int64_t rows() const { return rows_; }

  // Reads rows [0, rows) of tensor() if need be, and returns OK when they are there. After an error anywhere in the
  // file all calls return it. May be called from any thread.
  absl::Status WaitForRows(int64_t rows);

  // Reads the remaining rows in a thread of the lowest priority, so that damage is noticed early and later rows are
  // ready when they are needed.
  void FinishInBackground();

 private:
  struct State;
  // Special values of ready_: everything was read and checked, or reading has failed.
  static constexpr int64_t kAll = std::numeric_limits<int64_t>::max(), kFailed = -1;

  explicit IdxReader(const std::string& path);
  absl::Status ReadMore();  // the caller holds mutex_

  HostTensor tensor_;
  int64_t rows_ = 0, row_elements_ = 0;
  std::atomic<int64_t> ready_{kFailed};  // number of first rows that are ready, or kAll or kFailed
  std::atomic<bool> stop_{false};
  std::atomic<int> waiting_{0};  // threads that wait for mutex_ in WaitForRows
  // Guards state_ and status_. It is a std::mutex because Abseil's ends the process when memory runs out.
  std::mutex mutex_;
  std::unique_ptr<State> state_;
  absl::Status status_;
  std::thread thread_;
};

}  // namespace tandem

#endif  // TANDEM_DATA_IDX_H_
