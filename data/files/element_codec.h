// Elements as bytes, for files that only Tandem reads.
#ifndef TANDEM_DATA_FILES_ELEMENT_CODEC_H_
#define TANDEM_DATA_FILES_ELEMENT_CODEC_H_

#include <string>

#include "absl/strings/string_view.h"
#include "data/element.h"

namespace tandem {

// Appends: the number of components, and of each the type (DType), the rank, the sizes and the bytes; of strings their
// lengths before their bytes. Every number is 8 bytes, little endian.
void AppendElement(const Element& element, std::string* out);

// What AppendElement wrote; false, and *out in any state, when `bytes` are not that, to the last.
bool ParseElement(absl::string_view bytes, Element* out);

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_ELEMENT_CODEC_H_
