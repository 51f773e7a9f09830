// Reads ELF objects with the machine code of kernels: relocatable objects for x86-64, as compilers write them.
//
// An object comes from a file that may be cut or forged. Every offset, size, alignment and index in it is checked, and
// a section, symbol or relocation of a kind that kernels do not have is refused by name.
#ifndef TANDEM_RUNTIME_CPU_KERNELS_ELF_OBJECT_H_
#define TANDEM_RUNTIME_CPU_KERNELS_ELF_OBJECT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

// The memory that a section needs: machine code, constants, or data that code writes.
enum class MemoryKind { kCode, kConstants, kData };
inline constexpr int kMemoryKinds = 3;

inline constexpr uint64_t kMaxSectionAlignment = 4096;

// A section that is to be loaded.
struct ElfSection {
  size_t number = 0;  // index in the object's table of sections
  absl::string_view name;
  MemoryKind kind = MemoryKind::kCode;
  absl::string_view bytes;  // the section's first bytes; the rest, up to `size`, is zero
  uint64_t size = 0;
  uint64_t alignment = 1;  // a power of two, at most kMaxSectionAlignment

  // Returns "section 2 (.text)", for messages.
  std::string Text() const;
};

// A byte of a section, or the end of one.
struct ElfPlace {
  size_t section = 0;  // index into ElfObject::sections
  uint64_t offset = 0;
};

enum class RelocationKind {
  kRelative32,  // becomes the distance from the field to the target, in 4 bytes
  kAbsolute64,  // becomes the target's address, in 8 bytes
};

// A field in a section's bytes that depends on where things are loaded.
struct ElfRelocation {
  RelocationKind kind = RelocationKind::kRelative32;
  ElfPlace field;
  ElfPlace target;           // valid if `import` is empty
  absl::string_view import;  // name of the target if it is a function outside of the object
  int64_t addend = 0;        // to be added to the target's address
};

// Names and bytes are parts of the object's bytes.
struct ElfObject {
  std::vector<ElfSection> sections;
  std::vector<ElfRelocation> relocations;
  std::map<absl::string_view, ElfPlace> functions;  // the object's global functions, by name
};

// Parses an object. Leaves out unwind tables, because nothing throws through a kernel, and constructors, which only the
// thread sanitizer generates, for a runtime that the process has set up.
// Errors: DataLoss, with the section, the offset and the value, for an object that is damaged or not of kernels.
absl::StatusOr<ElfObject> ParseElfObject(absl::string_view bytes);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_KERNELS_ELF_OBJECT_H_
