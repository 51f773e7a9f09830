// Executable files, which the compiler writes and the runtime loads.
//
// Layout (little endian):
//     0  8 bytes  "TANDEMX1"
//     8  uint64   length of the index
//    16  uint64   length of the file
//    24  uint32   CRC-32C of the index
//    28  uint32   CRC-32C of bytes [0, 28)
//    32           the index (a FlatBuffer, runtime/format/index.td)
//    ..           segments in the order of Index.segments, each from the next multiple of 64
// All padding is zero, and the file ends where its last segment ends (with no segments: where the index ends).
#ifndef TANDEM_RUNTIME_EXECUTABLE_EXECUTABLE_H_
#define TANDEM_RUNTIME_EXECUTABLE_EXECUTABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/env.h"
#include "base/host_tensor.h"
#include "runtime/format/index.h"

namespace tandem {

// The large data of an executable; kernels and constants refer to segments by index.
struct SegmentData {
  format::SegmentKind kind{};  // the default is ElfObject
  std::string name;
  std::string bytes;
  // Further data of the segment, which follows `bytes`, one piece after another. The caller must keep this memory until
  // the executable is built.
  std::vector<absl::string_view> pieces = {};
};

// Returns the bytes of an executable file, uint8 [n]. `index.segments` is overwritten from `segments`; kernels without
// an entry_crc32c get one. Equal arguments give equal bytes.
HostTensor PackExecutable(format::Index index, const std::vector<SegmentData>& segments);
// Returns the same bytes as PackExecutable, as a string.
std::string BuildExecutable(format::Index index, const std::vector<SegmentData>& segments);

// A loaded executable. Everything in it has been checked: see executable_verify.h. Immutable, thread-safe.
class Executable {
 public:
  ~Executable();

  // Reads and checks a file. Errors: those of Env for the file; PermissionDenied (exit code 74) when it belongs to
  // another user or others may write it, since it holds code; DataLoss (exit code 65) naming the file and the offset or
  // the field for damage or content that the runtime cannot trust.
  static absl::StatusOr<std::shared_ptr<const Executable>> Load(const std::string& path, Env* env = Env::Default());
  // Does the same as Load for a file that anybody may own or write, because the file is only shown and never run.
  static absl::StatusOr<std::shared_ptr<const Executable>> LoadToLook(const std::string& path,
                                                                      Env* env = Env::Default());
  // Does the same as LoadToLook for bytes in memory; `name` stands for the path in messages.
  static absl::StatusOr<std::shared_ptr<const Executable>> Parse(absl::string_view bytes,
                                                                 const std::string& name = "executable");
  // Does the same as Parse for `bytes` that PackExecutable returned. The executable shares them, so they must not
  // change any more.
  static absl::StatusOr<std::shared_ptr<const Executable>> FromBytes(HostTensor bytes, const std::string& name);

  const format::Index& index() const { return index_; }
  // The path of the file, or the name that was passed to Parse or FromBytes.
  const std::string& name() const { return name_; }
  // The bytes of segment i, 64-byte aligned.
  absl::string_view segment(int i) const;
  // The segment of constants; empty when there is none.
  absl::string_view constants() const;

  int num_replicas() const;
  int lanes_per_replica() const;
  // The most rows that one replica can compute in one step.
  int64_t rows_per_replica() const;
  // "file:line" and name of a debug location; empty when there is none.
  std::string LocationString(uint32_t location) const;

 private:
  Executable();
  static absl::StatusOr<std::shared_ptr<const Executable>> FromFile(const RandomAccessFile& file);

  std::string name_;
  HostTensor bytes_;
  format::Index index_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_EXECUTABLE_EXECUTABLE_H_
