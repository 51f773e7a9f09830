// Reads the global heaps of HDF5, which hold strings of variable length.
#ifndef TANDEM_DATA_FILES_HDF5_HEAP_H_
#define TANDEM_DATA_FILES_HDF5_HEAP_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "data/files/hdf5_format.h"
#include "data/files/hdf5_input.h"

namespace tandem::hdf5 {

// Resolves references to strings in global heaps. Each heap is read only once. Thread-compatible.
class GlobalHeaps {
 public:
  // Returns the string that the 16 bytes at `at` of `data` refer to: its length, the address of its heap and its number
  // there. A string ends before its first NUL. DataLoss when it does not exist or is not UTF-8.
  absl::StatusOr<std::string> ReadString(Input& input, Bytes data, uint64_t at);

 private:
  struct Heap {
    std::string bytes;
    // An object's number, with the position of its contents in `bytes` and their size.
    std::map<uint16_t, std::pair<uint64_t, uint64_t>> objects;
  };
  absl::StatusOr<const Heap*> Find(Input& input, uint64_t address);

  std::map<uint64_t, Heap> heaps_;  // indexed by the heap's address in the file
};

}  // namespace tandem::hdf5

#endif  // TANDEM_DATA_FILES_HDF5_HEAP_H_
