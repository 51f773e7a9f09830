// Sources that read pieces of files (records, lines) from front to back; a FileFormat supplies the format.
#ifndef TANDEM_DATA_FILE_SOURCE_H_
#define TANDEM_DATA_FILE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "data/element.h"
#include "data/files/compression.h"
#include "data/node.h"

namespace tandem::data_internal {

// A record or a line of a file.
struct Piece {
  std::shared_ptr<const uint8_t[]> block;  // owns `bytes`
  absl::string_view bytes;
  int64_t file = 0;
  int64_t offset = 0;     // offset of the piece in the file's uncompressed data
  int64_t number = 0;     // number of the record or line in its file, from 0
  uint32_t checksum = 0;  // 0 if the format stores no checksums
};

// Reads the pieces of one file. After an error nothing more can be read.
class PieceReader {
 public:
  virtual ~PieceReader() = default;
  // Reads the next piece into *piece, all but piece->file; sets *end to true if there is none.
  virtual absl::Status Next(Piece* piece, bool* end) = 0;
  // Moves to the piece that begins at `offset` and is number `number` in the file.
  virtual absl::Status Seek(int64_t offset, int64_t number) = 0;
  // The offset and the number of the next piece.
  virtual int64_t offset() const = 0;
  virtual int64_t number() const = 0;
};

// How to read the pieces of a file and make elements of them. Immutable; used by several threads.
class FileFormat {
 public:
  virtual ~FileFormat() = default;
  // Opens a file. If `look_up` is true, the reader will be used for single pieces at scattered offsets, so it should
  // read little at a time.
  virtual absl::StatusOr<std::unique_ptr<PieceReader>> Open(const std::string& path, bool look_up) const = 0;
  virtual Compression compression() const { return Compression::kNone; }
  // Makes one element of `pieces`: a batch of all of them if `batched`, otherwise of the only piece. An error names the
  // file and the place in it.
  virtual absl::Status Make(absl::Span<const Piece> pieces, bool batched, Element* out) const = 0;
  // Describes a place for messages: "the record 3, at byte 120, of FILE".
  virtual std::string Describe(const std::string& path, int64_t offset, int64_t number) const = 0;
  // The name of the format, such as "tfrecord", and its settings that change the meaning of a position, such as "gzip".
  virtual std::string name() const = 0;
  virtual std::string settings() const = 0;
};

// Makes a dataset of the pieces of `files`. A token (the name of an element) is the number of a file, the piece's
// offset in it, and the piece's number in it. `cache_settings` are the settings that only caches depend on
// (data/cache_settings.h), which FileFormat::settings lacks.
absl::StatusOr<NodePtr> MakeFileSource(std::vector<std::string> files, std::vector<ComponentSpec> spec,
                                       std::unique_ptr<const FileFormat> format, std::string cache_settings = "");

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_FILE_SOURCE_H_
