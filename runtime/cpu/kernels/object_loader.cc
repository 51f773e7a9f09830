#include "runtime/cpu/kernels/object_loader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/align.h"
#include "base/cpu_features.h"
#include "base/exit_code.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/tile_registers.h"
#include "runtime/cpu/kernels/elf_object.h"
#include "runtime/cpu/kernels/imported_functions.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

// Sections begin at cache lines, so that the place of a loop in them does not depend on the kernels in front.
constexpr uint64_t kCacheLine = 64;

// A jump to an imported function, which may be too far away for the 32-bit distance of a call.
struct Stub {
  unsigned char jump[8] = {0xff, 0x25, 2, 0, 0, 0,  // jmp *2(%rip): to where `function` points
                           0xcc, 0xcc};             // int3: padding
  void* function = nullptr;
};

// An object, and where its sections begin in the areas of their kinds.
struct PlacedObject {
  ElfObject elf;
  std::vector<uint64_t> offsets;
};

// Puts the objects of an executable into memory.
class Linker {
 public:
  explicit Linker(const Executable& executable) : executable_(executable) {}

  absl::StatusOr<std::unique_ptr<LoadedKernels>> Link() {
    for (const format::Kernel& kernel : executable_.index().kernels) {
      if (!objects_.contains(kernel.segment)) TD_RETURN_IF_ERROR(Read(kernel.segment));
    }
    for (const auto& [segment, object] : objects_) TD_RETURN_IF_ERROR(FindImports(segment, object.elf));
    size_of(MemoryKind::kCode) = stubs_.size() * sizeof(Stub);
    for (auto& [segment, object] : objects_) TD_RETURN_IF_ERROR(Place(segment, object));
    TD_ASSIGN_OR_RETURN(memory_, KernelMemory::Map(sizes_, executable_.name()));
    WriteStubs();
    for (const auto& [segment, object] : objects_) TD_RETURN_IF_ERROR(Write(segment, object));
    TD_RETURN_IF_ERROR(memory_.Protect(executable_.name()));
    TD_ASSIGN_OR_RETURN(std::vector<KernelFunction> functions, FindKernels());
    return std::make_unique<LoadedKernels>(std::move(memory_), std::move(functions));
  }

 private:
  template <typename... Args>
  absl::Status Bad(uint32_t segment, const Args&... what) const {
    const std::string name = PrintableLine(executable_.index().segments[segment].name);
    return WithExitCode(absl::DataLossError(absl::StrCat(executable_.name(), ": segments[", segment, "] (", name, "): ",
                                                         what..., "; delete the file, it will be compiled again")),
                        kExitBadData);
  }

  absl::Status Read(uint32_t segment) {
    absl::StatusOr<ElfObject> object = ParseElfObject(executable_.segment(static_cast<int>(segment)));
    if (!object.ok()) return Bad(segment, object.status().message());
    objects_[segment].elf = *std::move(object);
    return absl::OkStatus();
  }

  absl::Status FindImports(uint32_t segment, const ElfObject& object) {
    for (const ElfRelocation& r : object.relocations) {
      if (r.import.empty() || stubs_.contains(r.import)) continue;
      if (void* const function = FindImportedFunction(r.import); function != nullptr) {
        const uint64_t offset = stubs_.size() * sizeof(Stub);
        stubs_[r.import] = {.offset = offset, .stub = {.function = function}};
        continue;
      }
      if (absl::string_view config = SanitizerOfFunction(r.import); !config.empty()) {
        return absl::FailedPreconditionError(
            absl::StrCat(executable_.name(), ": its kernels were compiled for a sanitizer that this program does not ",
                         "have; build it with --config=", config, ", or compile the model again"));
      }
      return Bad(segment, object.sections[r.field.section].Text(), ": offset ", r.field.offset, ": it calls \"",
                 PrintableLine(r.import), "\", which is no function that kernels may call");
    }
    return absl::OkStatus();
  }

  // Assigns offsets to the sections of an object, behind those of the objects that were placed before.
  absl::Status Place(uint32_t segment, PlacedObject& object) {
    for (const ElfSection& section : object.elf.sections) {
      uint64_t& size = size_of(section.kind);
      const uint64_t offset = AlignUp(size, std::max(section.alignment, kCacheLine));
      if (section.size > kMaxMemoryOfKind - offset) {
        return Bad(segment, section.Text(), ": with its ", section.size, " bytes, kernels need more than ",
                   kMaxMemoryOfKind, " in one piece");
      }
      object.offsets.push_back(offset);
      size = offset + section.size;
    }
    return absl::OkStatus();
  }

  void WriteStubs() {
    for (const auto& [name, placed] : stubs_) {
      std::memcpy(memory_.area(MemoryKind::kCode) + placed.offset, &placed.stub, sizeof placed.stub);
    }
  }

  absl::Status Write(uint32_t segment, const PlacedObject& object) {
    for (size_t i = 0; i < object.elf.sections.size(); ++i) {
      const absl::string_view bytes = object.elf.sections[i].bytes;
      if (!bytes.empty()) std::memcpy(Address(object, {.section = i}), bytes.data(), bytes.size());
    }
    for (const ElfRelocation& r : object.elf.relocations) {
      char* const field = Address(object, r.field);
      const char* const target = r.import.empty()
                                     ? Address(object, r.target)
                                     : memory_.area(MemoryKind::kCode) + stubs_.find(r.import)->second.offset;
      const uint64_t address = reinterpret_cast<uint64_t>(target) + static_cast<uint64_t>(r.addend);
      if (r.kind == RelocationKind::kAbsolute64) {
        std::memcpy(field, &address, sizeof address);
        continue;
      }
      const auto distance = static_cast<int64_t>(address - reinterpret_cast<uint64_t>(field));
      const auto narrow = static_cast<int32_t>(distance);
      if (narrow != distance) {
        return Bad(segment, object.elf.sections[r.field.section].Text(), ": offset ", r.field.offset, ": the distance ",
                   distance, " to its target does not fit into 32 bits");
      }
      std::memcpy(field, &narrow, sizeof narrow);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<KernelFunction>> FindKernels() const {
    std::vector<KernelFunction> functions;
    for (const format::Kernel& kernel : executable_.index().kernels) {
      const PlacedObject& object = objects_.find(kernel.segment)->second;
      const auto found = object.elf.functions.find(kernel.symbol);
      if (found == object.elf.functions.end()) {
        return Bad(kernel.segment, "there is no kernel ", PrintableLine(kernel.name), " (symbol ",
                   PrintableLine(kernel.symbol), ")");
      }
      functions.push_back(reinterpret_cast<KernelFunction>(Address(object, found->second)));
    }
    return functions;
  }

  char* Address(const PlacedObject& object, const ElfPlace& place) const {
    return memory_.area(object.elf.sections[place.section].kind) + object.offsets[place.section] + place.offset;
  }

  uint64_t& size_of(MemoryKind kind) { return sizes_[static_cast<size_t>(kind)]; }

  struct PlacedStub {
    uint64_t offset = 0;  // in the memory of code, before all sections
    Stub stub;
  };

  const Executable& executable_;
  std::map<uint32_t, PlacedObject> objects_;       // by index of the object's segment in the executable
  std::map<absl::string_view, PlacedStub> stubs_;  // by name of the imported function
  std::array<uint64_t, kMemoryKinds> sizes_ = {};
  KernelMemory memory_;
};

}  // namespace

absl::Status CheckTargetFeatures(absl::string_view target) {
  std::vector<std::string> words = absl::StrSplit(target, ' ', absl::SkipEmpty()), missing;
  for (size_t i = 0; i < words.size(); ++i) {
    const auto found = CpuFeatures().find(words[i]);
    const bool here =
        i == 0 ? words[i] == "x86-64"
               : found != CpuFeatures().end() && found->second && (words[i] != "amx-tile" || RequestTileRegisters());
    if (!here) missing.push_back(words[i]);
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("compiled for ", target, "; this machine has no ",
                                                    absl::StrJoin(missing, ", "),
                                                    ": compile the model again on this machine"));
}

absl::StatusOr<std::unique_ptr<LoadedKernels>> LoadedKernels::Load(const Executable& executable) {
  if (absl::Status s = CheckTargetFeatures(executable.index().target); !s.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(executable.name(), ": ", s.message()));
  }
  return Linker(executable).Link();
}

}  // namespace tandem
