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
  int64_t offset = 0;     // in the file's uncompressed data
  int64_t number = 0;     // number of the record or line in its file, from 0
  uint32_t checksum = 0;  // 0 if the format has none
};

// Reads the pieces of one file. After an error nothing more can be read.
class PieceReader {
 public:
  virtual ~PieceReader() = default;
  // Reads the next piece into *piece, all but piece->file; sets *end to true if there is none.
  virtual absl::Status Next(Piece* piece, bool* end) = 0;
  // Moves to the piece at this place.
  virtual absl::Status Seek(int64_t offset, int64_t number) = 0;
  // The place of the next piece.
  virtual int64_t offset() const = 0;
  virtual int64_t number() const = 0;
};

// How to read the pieces of a file and make elements of them. Immutable; used by several threads.
class FileFormat {
 public:
  virtual ~FileFormat() = default;
  // Opens a file. If `look_up` is true, single pieces at scattered places will be read: read little at once.
  virtual absl::StatusOr<std::unique_ptr<PieceReader>> Open(const std::string& path, bool look_up) const = 0;
  virtual Compression compression() const { return Compression::kNone; }
  // Makes an element: all `pieces` stacked if `batched`, otherwise the only piece. An error names file and place.
  virtual absl::Status Make(absl::Span<const Piece> pieces, bool batched, Element* out) const = 0;
  // Describes a place for messages: "the record 3, at byte 120, of FILE".
  virtual std::string Describe(const std::string& path, int64_t offset, int64_t number) const = 0;
  // The name of the format and the settings that a position depends on, such as "tfrecord" and "gzip".
  virtual std::string name() const = 0;
  virtual std::string settings() const = 0;
};

// Makes a dataset of the pieces of `files`. A token is the number of a file, an offset, and the number of the piece in
// its file. `cache_settings` are settings that FileFormat::settings lacks: data/cache_settings.h.
absl::StatusOr<NodePtr> MakeFileSource(std::vector<std::string> files, std::vector<ComponentSpec> spec,
                                       std::unique_ptr<const FileFormat> format, std::string cache_settings = "");

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_FILE_SOURCE_H_
