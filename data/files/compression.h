// How a data file is compressed as a whole.
#ifndef TANDEM_DATA_FILES_COMPRESSION_H_
#define TANDEM_DATA_FILES_COMPRESSION_H_

#include "absl/strings/string_view.h"
#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// kGzip: one or more members as in RFC 1952. kZlib: one stream as in RFC 1950.
enum class Compression { kNone, kGzip, kZlib };

// Returns "none", "gzip" or "zlib".
constexpr absl::string_view Name(Compression compression) {
  return compression == Compression::kGzip ? "gzip" : compression == Compression::kZlib ? "zlib" : "none";
}

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_COMPRESSION_H_
