// Inflates compressed files, for InputFile and GzipFile (data/gzip_file.h).
#ifndef TANDEM_DATA_FILES_INFLATE_STREAM_H_
#define TANDEM_DATA_FILES_INFLATE_STREAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tandem/base/api.h"
#include "tandem/data/files/compression.h"
#include "tandem/data/files/regular_file.h"

struct inflate_state;

namespace TANDEM_API tandem {

// Returns the most bytes that `bytes` bytes can inflate to: deflate cannot expand by more than 1032:1.
int64_t MaxInflatedBytes(int64_t bytes);
// True if the first `size` bytes of a file are those of gzip.
bool HasGzipMagic(const uint8_t* bytes, int64_t size);

// Says which bytes may follow the compressed data without being an error.
enum class BehindCompressed { kAnything, kZeros };

// The uncompressed data of a file, inflated by ISA-L (which is 1.6 times as fast as zlib) from front to back. Members
// of a gzip file are joined. Thread-compatible.
class InflateStream {
 public:
  // The data is inflated in blocks of this size, counted from the first byte. ISA-L inflates ahead of what it is asked
  // for, and when it finds damage there it returns nothing of this call. Because it is always asked for whole blocks,
  // how much data can be read before damage does not depend on the sizes of the caller's reads. A read that covers a
  // whole block inflates it directly into the caller's memory.
  static constexpr int64_t kBlockBytes = 1 << 16;

  // `file` must be open and outlive the stream; `format` is not kNone.
  InflateStream(const RegularFile* file, Compression format, BehindCompressed behind);
  ~InflateStream();

  // Reads up to `bytes`; less only at the end of the data and before damage. How much can be read before damage does
  // not depend on `bytes`. Errors are those of RegularFile. A member's checksum is compared when a read reaches beyond
  // its last byte.
  absl::StatusOr<int64_t> Read(void* to, int64_t bytes);
  // Describes the damage after the bytes that were read, such as "gzip: invalid block"; empty if there is none.
  absl::string_view damage() const { return ready_.empty() ? damage_ : absl::string_view(); }
  // True if the damage is at the very beginning: the data is not in the expected format.
  bool is_other_format() const { return is_other_format_; }

  // Goes back to the first byte.
  void Rewind();

 private:
  void StartMember();
  // Appends the file's next bytes to the unread part of `chunk_`; nothing at the file's end.
  absl::Status Fill();
  // Called after the end of a member: begins the next one, or returns false when there is none.
  absl::StatusOr<bool> NextMember();
  // Inflates the next block into `to`, which has room for it. Returns its number of bytes: less than a whole block at
  // the end and before damage.
  absl::StatusOr<int64_t> NextBlock(uint8_t* to);
  // Inflates up to `bytes` bytes into `to`. A smaller result means that more input is needed, a member ends, or there
  // is damage.
  int64_t Inflate(uint8_t* to, int64_t bytes);

  const RegularFile* const file_;
  const Compression format_;
  const BehindCompressed behind_;
  int64_t file_offset_ = 0;     // file offset from which Fill reads next
  std::vector<uint8_t> chunk_;  // compressed bytes; [begin_, end_) are not used yet
  size_t begin_ = 0, end_ = 0;
  std::unique_ptr<inflate_state> state_;
  std::vector<uint8_t> block_;       // holds an inflated block for reads of less than a block
  absl::Span<const uint8_t> ready_;  // the unread part of block_
  std::string damage_;               // the damage that follows the bytes of ready_
  bool is_other_format_ = false;
};

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_INFLATE_STREAM_H_
