#include "data/image/decode_image.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "data/image/jpeg.h"
#include "data/image/png.h"

namespace tandem {
namespace {

// Returns the name of a format that is recognised but not supported.
absl::string_view OtherFormat(absl::string_view bytes) {
  if (absl::StartsWith(bytes, "GIF8")) return "GIF";
  if (absl::StartsWith(bytes, "BM")) return "BMP";
  if (absl::StartsWith(bytes, "RIFF") && bytes.substr(0, 16).find("WEBP") != absl::string_view::npos) return "WebP";
  if (absl::StartsWith(bytes, absl::string_view("II*\0", 4))) return "TIFF";
  if (absl::StartsWith(bytes, absl::string_view("MM\0*", 4))) return "TIFF";
  return "";
}

}  // namespace

absl::StatusOr<HostTensor> DecodeImage(absl::string_view bytes, const DecodeImageOptions& options) {
  if (IsJpeg(bytes)) return DecodeJpeg(bytes, options);
  if (IsPng(bytes)) return DecodePng(bytes, options);
  const std::string name = PrintableLine(options.name);
  if (bytes.empty()) return absl::DataLossError(absl::StrCat(name, ": the picture is empty (0 bytes); write it again"));
  const absl::string_view other = OtherFormat(bytes);
  if (!other.empty()) {
    return absl::UnimplementedError(
        absl::StrCat(name, ": a ", other, " picture; Tandem reads JPEG and PNG: convert it"));
  }
  return absl::DataLossError(absl::StrCat(
      name, ": neither a JPEG (ff d8 ff) nor a PNG picture (89 50 4e 47): the first of its ", bytes.size(),
      " bytes are ", absl::BytesToHexString(bytes.substr(0, 8)), "; convert it, or take it out of the data"));
}

}  // namespace tandem
