// ElementStore: the memory or the file in which Cache keeps elements.
#ifndef TANDEM_DATA_ELEMENT_STORE_H_
#define TANDEM_DATA_ELEMENT_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "data/element.h"
#include "data/files/cache_file.h"

namespace tandem::data_internal {

// Stores elements by their numbers. Thread-safe.
class ElementStore {
 public:
  virtual ~ElementStore() = default;
  // Returns true and stores element number `i` in *out if the store has it.
  virtual absl::StatusOr<bool> Get(int64_t i, Element* out) = 0;
  virtual absl::Status Put(int64_t i, const Element& element) = 0;
  // Completes the store after every element was put, except those that are errors. The pass has `elements` elements in
  // all, and `tokens` are the tokens of these elements, concatenated.
  virtual absl::Status Finish(int64_t elements, absl::Span<const int64_t> tokens) = 0;
};

std::unique_ptr<ElementStore> MakeMemoryStore();

// Reads the elements of a complete cache file. They must fit `spec`.
std::unique_ptr<ElementStore> MakeFileStore(std::unique_ptr<CacheFile> file, std::vector<ComponentSpec> spec);
// Writes the elements into a file, which the first Put creates.
std::unique_ptr<ElementStore> MakeWritingStore(std::string path, CacheIdentity identity, int64_t token_width, Env* env);

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_ELEMENT_STORE_H_
