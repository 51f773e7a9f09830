// The byte encoding of iterator states.
#ifndef TANDEM_DATA_STATE_CODEC_H_
#define TANDEM_DATA_STATE_CODEC_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem::data_internal {

// A body that is not negative integers, each as a LEB128 varint, within an envelope:
//   "TDIT" | version | size of the signature | signature | body | Fingerprint64 of all before (8 bytes, little endian)
class StateWriter {
 public:
  void Write(uint64_t value);
  // The complete state of an iterator over the dataset with this signature.
  std::string Finish(absl::string_view signature) const;

 private:
  std::string body_;
};

// Reads a body. States come from files: every number is checked against the range that makes sense.
class StateReader {
 public:
  // Checks the envelope. DataLoss when damaged, FailedPrecondition when of another version or another dataset.
  static absl::StatusOr<StateReader> Open(absl::string_view state, absl::string_view signature);

  // False when the number is missing, malformed or outside [min, max].
  bool Read(uint64_t* value, uint64_t min = 0, uint64_t max = UINT64_MAX);
  bool Read(int64_t* value, int64_t min, int64_t max);
  bool Read(bool* value);

  // An upper bound for how many numbers are still to come.
  int64_t remaining() const { return static_cast<int64_t>(body_.size()); }
  // The error for a Read that failed, with the offset in the state.
  absl::Status Damaged() const;

 private:
  absl::string_view body_;
  int64_t state_size_ = 0;
};

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_STATE_CODEC_H_
