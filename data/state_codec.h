// Encodes the states of iterators as bytes, and decodes them.
#ifndef TANDEM_DATA_STATE_CODEC_H_
#define TANDEM_DATA_STATE_CODEC_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem::data_internal {

// A body of non-negative integers, each a LEB128 varint, in an envelope:
//   "TDIT" | version | size of the signature | signature | body | Fingerprint64 of all before (8 bytes, little endian)
// Version 2, which is written: the body is the state of the dataset's order after the last delivered element, and the
// signature has batch sizes only where the position depends on them.
// Version 1: the body begins with the number of elements that were drawn but not delivered, and these elements; the
// rest is the state after them. The signature has all batch sizes. It is still read, and still written as long as such
// elements are left, because they are whole batches.
enum class StateVersion : uint64_t { kDrawnBatches = 1, kDelivered = 2 };

class StateWriter {
 public:
  void Write(uint64_t value);
  // The encoded numbers, without an envelope.
  const std::string& body() const { return body_; }
  // The complete state of an iterator over the dataset with this signature.
  std::string Finish(StateVersion version, absl::string_view signature) const;

 private:
  std::string body_;
};

// Reads a body. States come from files: every number is checked against the range that makes sense.
class StateReader {
 public:
  // Checks the envelope. DataLoss when the state is damaged, FailedPrecondition for a version that this build does not
  // know.
  static absl::StatusOr<StateReader> Open(absl::string_view state);

  // Reads what a StateWriter wrote, without an envelope; `body` must outlive the reader.
  static StateReader OfBody(absl::string_view body) {
    StateReader reader;
    reader.body_ = body;
    reader.state_size_ = static_cast<int64_t>(body.size());
    return reader;
  }

  StateVersion version() const { return version_; }
  // FailedPrecondition, with both signatures, unless the state was saved with this signature.
  absl::Status CheckSignature(absl::string_view signature) const;

  // False when the number is missing, malformed or outside [min, max].
  bool Read(uint64_t* value, uint64_t min = 0, uint64_t max = UINT64_MAX);
  bool Read(int64_t* value, int64_t min, int64_t max);
  bool Read(bool* value);

  // Records why a valid state cannot be restored, for Damaged to return. Returns false.
  bool Fail(absl::Status status) {
    failure_ = std::move(status);
    return false;
  }

  // An upper bound on how many numbers follow: the remaining bytes.
  int64_t remaining() const { return static_cast<int64_t>(body_.size()); }
  // Returns the error that was passed to Fail, or one for a failed Read, with the offset in the state.
  absl::Status Damaged() const;

 private:
  absl::string_view signature_, body_;
  absl::Status failure_;
  int64_t state_size_ = 0;
  StateVersion version_ = StateVersion::kDelivered;
};

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_STATE_CODEC_H_
