// Compressed bytes for targets that read them.
#ifndef TANDEM_TESTS_FUZZ_GZIP_H_
#define TANDEM_TESTS_FUZZ_GZIP_H_

#include <zlib.h>

#include <string>

#include "absl/strings/string_view.h"

namespace tandem::fuzz {

// In gzip's or zlib's envelope; level 0 stores the bytes, so that changes of them keep the stream whole.
inline std::string Compress(absl::string_view bytes, bool gzip, int level) {
  z_stream stream = {};
  deflateInit2(&stream, level, Z_DEFLATED, gzip ? 31 : 15, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace tandem::fuzz

#endif  // TANDEM_TESTS_FUZZ_GZIP_H_
