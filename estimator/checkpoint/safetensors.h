// The safetensors file format: named tensors in one file that any framework can read.
//
// A file is: u64 little-endian N | N bytes of JSON | the tensors' bytes, little-endian, row-major, without gaps. Files
// are untrusted: every rule of the format is checked before a size is allocated or an offset is used. Format:
// https://github.com/huggingface/safetensors
#ifndef TANDEM_ESTIMATOR_CHECKPOINT_SAFETENSORS_H_
#define TANDEM_ESTIMATOR_CHECKPOINT_SAFETENSORS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/dtype.h"
#include "base/env.h"
#include "base/host_tensor.h"

namespace tandem {

using TensorMap = std::map<std::string, HostTensor>;
using MetadataMap = std::map<std::string, std::string>;

// A file's header entry for a tensor.
struct SafetensorsEntry {
  std::string name;
  std::string file_dtype;         // the format's name: "F32", "BF16", ...
  DType dtype = DType::kInvalid;  // kInvalid if Tandem lacks the type; such a tensor can be listed, not read
  Shape shape;
  int64_t begin = 0, end = 0;  // bytes, relative to the beginning of the first tensor
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // sorted by `begin`
  MetadataMap metadata;                   // the header's object "__metadata__"
};

// Parses and checks a header. `buffer_size` is the number of bytes in the file after the header. `path` is for messages
// only. DataLoss for any breach of the format, including duplicate keys, holes and overlaps.
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(absl::string_view json, int64_t buffer_size,
                                                         const std::string& path);

// An open file: lists all tensors, reads them one at a time. Thread-safe.
class SafetensorsReader {
 public:
  // NotFound if the file does not exist, DataLoss if it is not well-formed.
  static absl::StatusOr<std::unique_ptr<SafetensorsReader>> Open(Env* env, const std::string& path);

  const std::string& path() const { return file_->path(); }
  const std::vector<SafetensorsEntry>& entries() const { return header_.entries; }
  const MetadataMap& metadata() const { return header_.metadata; }
  // Returns the entry of that name; null if there is none.
  const SafetensorsEntry* Find(const std::string& name) const;

  // NotFound for an unknown name, Unimplemented for an element type that Tandem lacks, DataLoss for a bool that is
  // neither 0 nor 1.
  absl::StatusOr<HostTensor> Read(const std::string& name) const;

 private:
  SafetensorsReader() = default;
  std::unique_ptr<RandomAccessFile> file_;
  SafetensorsHeader header_;
  std::map<std::string, size_t> index_;  // by name, the index in header_.entries
  int64_t data_begin_ = 0;               // file offset of the first tensor
};

// The content of a file as pieces to be written one after another: the header, then each tensor's bytes. The pieces
// point into this object and into the tensors given. Equal content gives equal bytes: metadata keys are sorted, tensors
// come by descending type (I64, F64, F32, I32, U8, BOOL: the order of the reference implementation, which aligns all
// data), then by name; the header is padded with spaces to a multiple of 8.
struct SafetensorsImage {
  std::string header;
  std::vector<absl::string_view> tensors;

  // All pieces. Valid until the image is moved or destroyed.
  std::vector<absl::string_view> Pieces() const;
};

// InvalidArgument for an empty tensor handle, a tensor of strings, a name or metadata text that is not UTF-8, or a
// tensor called "__metadata__".
absl::StatusOr<SafetensorsImage> SerializeSafetensors(const TensorMap& tensors, const MetadataMap& metadata = {});

// Writes a file and syncs it; replaces an existing one in place (for atomic replacement see checkpoint_manager.h).
absl::Status WriteSafetensors(Env* env, const std::string& path, const TensorMap& tensors,
                              const MetadataMap& metadata = {});

// Reads all tensors of a file.
absl::StatusOr<TensorMap> ReadSafetensors(Env* env, const std::string& path);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CHECKPOINT_SAFETENSORS_H_
