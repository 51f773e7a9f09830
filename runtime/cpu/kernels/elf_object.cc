#include "runtime/cpu/kernels/elf_object.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

// Types of sections that the C library's elf.h does not have.
constexpr uint32_t kUnwindTable = 0x70000001;         // SHT_X86_64_UNWIND
constexpr uint32_t kAddressSignificant = 0x6fff4c03;  // SHT_LLVM_ADDRSIG

// The longest name that is accepted, far above those of kernels. The limit keeps a forged file from taking much time by
// many names that all end at the end of one long text.
constexpr size_t kMaxNameBytes = 1000;

// A number of the ELF format and the name of its constant, for messages.
struct Named {
  uint64_t value;
  const char* name;
};

constexpr Named kRelocationNames[] = {
    {R_X86_64_NONE, "R_X86_64_NONE"},
    {R_X86_64_GOT32, "R_X86_64_GOT32"},
    {R_X86_64_GOTPCREL, "R_X86_64_GOTPCREL"},
    {R_X86_64_32, "R_X86_64_32"},
    {R_X86_64_32S, "R_X86_64_32S"},
    {R_X86_64_16, "R_X86_64_16"},
    {R_X86_64_PC16, "R_X86_64_PC16"},
    {R_X86_64_8, "R_X86_64_8"},
    {R_X86_64_PC8, "R_X86_64_PC8"},
    {R_X86_64_TLSGD, "R_X86_64_TLSGD"},
    {R_X86_64_TLSLD, "R_X86_64_TLSLD"},
    {R_X86_64_GOTTPOFF, "R_X86_64_GOTTPOFF"},
    {R_X86_64_TPOFF32, "R_X86_64_TPOFF32"},
    {R_X86_64_PC64, "R_X86_64_PC64"},
    {R_X86_64_GOTPCRELX, "R_X86_64_GOTPCRELX"},
    {R_X86_64_REX_GOTPCRELX, "R_X86_64_REX_GOTPCRELX"},
};
constexpr Named kSectionNames[] = {
    {SHT_HASH, "SHT_HASH"},
    {SHT_DYNAMIC, "SHT_DYNAMIC"},
    {SHT_NOTE, "SHT_NOTE"},
    {SHT_REL, "SHT_REL"},
    {SHT_DYNSYM, "SHT_DYNSYM"},
    {SHT_FINI_ARRAY, "SHT_FINI_ARRAY"},
    {SHT_PREINIT_ARRAY, "SHT_PREINIT_ARRAY"},
    {SHT_SYMTAB_SHNDX, "SHT_SYMTAB_SHNDX"},
    {SHT_RELR, "SHT_RELR"},
};
constexpr Named kFlagNames[] = {
    {SHF_LINK_ORDER, "SHF_LINK_ORDER"},
    {SHF_TLS, "SHF_TLS"},
    {SHF_COMPRESSED, "SHF_COMPRESSED"},
    {SHF_EXCLUDE, "SHF_EXCLUDE"},
};
constexpr Named kSymbolNames[] = {
    {STT_COMMON, "STT_COMMON"},
    {STT_TLS, "STT_TLS"},
    {STT_GNU_IFUNC, "STT_GNU_IFUNC"},
};

// Returns "11 (R_X86_64_32S)", or the number alone.
template <size_t n>
std::string NumberAndName(uint64_t value, const Named (&names)[n]) {
  for (const Named& named : names) {
    if (named.value == value) return absl::StrCat(value, " (", named.name, ")");
  }
  return absl::StrCat(value);
}

std::string TextOf(absl::string_view what, uint64_t number, absl::string_view name) {
  return absl::StrCat(what, " ", number, name.empty() ? "" : absl::StrCat(" (", PrintableLine(name), ")"));
}

template <typename... Args>
absl::Status Bad(const Args&... what) {
  return absl::DataLossError(absl::StrCat(what...));
}

class Parser {
 public:
  explicit Parser(absl::string_view bytes) : bytes_(bytes) {}

  absl::StatusOr<ElfObject> Parse() {
    TD_RETURN_IF_ERROR(ReadHeaders());
    for (size_t i = 0; i < sections_.size(); ++i) TD_RETURN_IF_ERROR(ReadSection(i));
    TD_RETURN_IF_ERROR(CheckOverlap());
    for (size_t i = 0; i < sections_.size(); ++i) {
      if (sections_[i].header.sh_type == SHT_SYMTAB) TD_RETURN_IF_ERROR(ReadSymbols(i));
    }
    for (size_t i = 0; i < sections_.size(); ++i) {
      if (sections_[i].header.sh_type == SHT_RELA) TD_RETURN_IF_ERROR(ReadRelocations(i));
    }
    return std::move(object_);
  }

 private:
  struct Section {
    Elf64_Shdr header;
    absl::string_view name;
    std::optional<size_t> loaded;  // the section's index in object_.sections if it is loaded
  };
  struct Symbol {
    absl::string_view name;
    std::optional<ElfPlace> place;  // the symbol's place if it is in a section that is loaded
    bool defined = false;           // true if the object defines the symbol
  };

  bool Contains(uint64_t offset, uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }

  // Returns the T at an offset of the object. The caller has checked that all of it is inside the object.
  template <typename T>
  T Read(uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  std::string SectionText(size_t i) const { return TextOf("section", i, sections_[i].name); }

  // Reads the header of the object and those of its sections.
  absl::Status ReadHeaders() {
    if (bytes_.size() < sizeof(Elf64_Ehdr)) {
      return Bad("the object has ", bytes_.size(), " bytes, less than the ", sizeof(Elf64_Ehdr), " of its header");
    }
    const auto header = Read<Elf64_Ehdr>(0);
    TD_RETURN_IF_ERROR(CheckHeader(header));
    if (!Contains(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr))) {
      return Bad("offset ", offsetof(Elf64_Ehdr, e_shoff), ": the headers of ", header.e_shnum,
                 " sections from offset ", header.e_shoff, " on end behind the object, which has ", bytes_.size(),
                 " bytes");
    }
    for (size_t i = 0; i < header.e_shnum; ++i) {
      sections_.push_back({.header = Read<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr))});
    }
    for (size_t i = 0; i < sections_.size(); ++i) {
      absl::StatusOr<absl::string_view> name = Name(header.e_shstrndx, sections_[i].header.sh_name);
      if (!name.ok()) return Bad("section ", i, ": ", name.status().message());
      sections_[i].name = *name;
    }
    return absl::OkStatus();
  }

  static absl::Status CheckHeader(const Elf64_Ehdr& header) {
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return Bad("offset 0: no ELF object");
    const struct {
      const char* what;
      uint64_t offset, value, wanted;
    } fields[] = {
        {"class", EI_CLASS, header.e_ident[EI_CLASS], ELFCLASS64},
        {"byte order", EI_DATA, header.e_ident[EI_DATA], ELFDATA2LSB},
        {"version", EI_VERSION, header.e_ident[EI_VERSION], EV_CURRENT},
        {"type", offsetof(Elf64_Ehdr, e_type), header.e_type, ET_REL},
        {"machine", offsetof(Elf64_Ehdr, e_machine), header.e_machine, EM_X86_64},
        {"size of a section's header", offsetof(Elf64_Ehdr, e_shentsize), header.e_shentsize, sizeof(Elf64_Shdr)},
    };
    for (const auto& f : fields) {
      if (f.value != f.wanted) {
        return Bad("offset ", f.offset, ": the ", f.what, " is ", f.value, ", and ", f.wanted,
                   " in a relocatable ELF object for x86-64");
      }
    }
    return absl::OkStatus();
  }

  // Returns the name at an offset of a string table.
  absl::StatusOr<absl::string_view> Name(size_t table, uint64_t offset) const {
    if (table >= sections_.size() || sections_[table].header.sh_type != SHT_STRTAB) {
      return Bad("its name is in section ", table, ", which is no string table");
    }
    const Elf64_Shdr& header = sections_[table].header;
    if (!Contains(header.sh_offset, header.sh_size) || offset >= header.sh_size) {
      return Bad("its name is at offset ", offset, " of section ", table, ", which ends in front of it");
    }
    const absl::string_view rest = bytes_.substr(header.sh_offset + offset, header.sh_size - offset);
    const size_t end = rest.substr(0, kMaxNameBytes + 1).find('\0');
    if (end == absl::string_view::npos) {
      return Bad("its name, at offset ", offset, " of section ", table, ", has no end or more than ", kMaxNameBytes,
                 " bytes");
    }
    return rest.substr(0, end);
  }

  absl::Status ReadSection(size_t i) {
    const Elf64_Shdr& header = sections_[i].header;
    if (header.sh_type == SHT_NULL) return absl::OkStatus();
    if (header.sh_type != SHT_NOBITS && !Contains(header.sh_offset, header.sh_size)) {
      return Bad(SectionText(i), ": its ", header.sh_size, " bytes from offset ", header.sh_offset,
                 " on end behind the object, which has ", bytes_.size(), " bytes");
    }
    if ((header.sh_flags & SHF_ALLOC) != 0) return LoadSection(i);
    switch (header.sh_type) {
      case SHT_PROGBITS:  // debug information and the like
      case SHT_NOTE:
      case SHT_STRTAB:
      case SHT_SYMTAB:
      case SHT_RELA:
      case SHT_GROUP:
      case kAddressSignificant:
        return absl::OkStatus();
      default:
        return Bad(SectionText(i), ": kernels have no section of type ", NumberAndName(header.sh_type, kSectionNames));
    }
  }

  // Adds section i, which is to be loaded into memory, to object_. Skips those that kernels do not need.
  absl::Status LoadSection(size_t i) {
    Section& section = sections_[i];
    const Elf64_Shdr& header = section.header;
    if (header.sh_type == kUnwindTable || section.name == ".eh_frame" || header.sh_type == SHT_INIT_ARRAY) {
      return absl::OkStatus();
    }
    if (header.sh_type != SHT_PROGBITS && header.sh_type != SHT_NOBITS) {
      return Bad(SectionText(i), ": kernels have no section of type ", NumberAndName(header.sh_type, kSectionNames),
                 " in memory");
    }
    TD_RETURN_IF_ERROR(CheckFlags(i));
    const uint64_t alignment = header.sh_addralign == 0 ? 1 : header.sh_addralign;
    if ((alignment & (alignment - 1)) != 0 || alignment > kMaxSectionAlignment) {
      return Bad(SectionText(i), ": its alignment ", alignment, " is no power of two up to ", kMaxSectionAlignment);
    }
    section.loaded = object_.sections.size();
    object_.sections.push_back({
        .number = i,
        .name = section.name,
        .kind = (header.sh_flags & SHF_EXECINSTR) != 0 ? MemoryKind::kCode
                : (header.sh_flags & SHF_WRITE) != 0   ? MemoryKind::kData
                                                       : MemoryKind::kConstants,
        .bytes = header.sh_type == SHT_NOBITS ? "" : bytes_.substr(header.sh_offset, header.sh_size),
        .size = header.sh_size,
        .alignment = alignment,
    });
    return absl::OkStatus();
  }

  absl::Status CheckFlags(size_t i) const {
    constexpr uint64_t kKnown =
        SHF_WRITE | SHF_ALLOC | SHF_EXECINSTR | SHF_MERGE | SHF_STRINGS | SHF_INFO_LINK | SHF_GROUP | SHF_GNU_RETAIN;
    const uint64_t flags = sections_[i].header.sh_flags, unknown = flags & ~kKnown;
    if (unknown != 0) {
      return Bad(SectionText(i), ": kernels have no section with flag ", NumberAndName(unknown & -unknown, kFlagNames));
    }
    if ((flags & SHF_WRITE) != 0 && (flags & SHF_EXECINSTR) != 0) {
      return Bad(SectionText(i), ": it is to be writable and executable at once");
    }
    return absl::OkStatus();
  }

  // Checks that sections do not overlap: together they could be many times as large as the object otherwise.
  absl::Status CheckOverlap() const {
    uint64_t total = 0;
    for (size_t i = 0; i < sections_.size(); ++i) {
      const Elf64_Shdr& header = sections_[i].header;
      if (header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL) continue;
      total += header.sh_size;
      if (total > bytes_.size()) {
        return Bad(SectionText(i), ": up to here sections have ", total, " bytes and the object ", bytes_.size(),
                   ": they overlap");
      }
    }
    return absl::OkStatus();
  }

  // Returns how many entries a table has.
  template <typename Entry>
  absl::StatusOr<uint64_t> NumEntries(size_t table) const {
    const Elf64_Shdr& header = sections_[table].header;
    if (header.sh_entsize != sizeof(Entry) || header.sh_size % sizeof(Entry) != 0) {
      return Bad(SectionText(table), ": it has ", header.sh_size, " bytes in entries of ", header.sh_entsize,
                 ", and an entry is ", sizeof(Entry));
    }
    return header.sh_size / sizeof(Entry);
  }

  absl::Status ReadSymbols(size_t table) {
    if (symbol_table_) {
      return Bad(SectionText(table), ": it is a second symbol table, beside ", SectionText(*symbol_table_));
    }
    symbol_table_ = table;
    TD_ASSIGN_OR_RETURN(const uint64_t count, NumEntries<Elf64_Sym>(table));
    const Elf64_Shdr& header = sections_[table].header;
    for (uint64_t i = 0; i < count; ++i) {
      TD_RETURN_IF_ERROR(ReadSymbol(header.sh_link, Read<Elf64_Sym>(header.sh_offset + i * sizeof(Elf64_Sym))));
    }
    return absl::OkStatus();
  }

  template <typename... Args>
  absl::Status BadSymbol(size_t number, absl::string_view name, const Args&... what) const {
    return Bad(SectionText(*symbol_table_), ": ", TextOf("symbol", number, name), ": ", what...);
  }

  // Reads one symbol. Section `names` is the string table with its name.
  absl::Status ReadSymbol(size_t names, const Elf64_Sym& entry) {
    const size_t number = symbols_.size();
    absl::StatusOr<absl::string_view> name = Name(names, entry.st_name);
    if (!name.ok()) return BadSymbol(number, "", name.status().message());
    Symbol& symbol = symbols_.emplace_back(Symbol{.name = *name, .defined = entry.st_shndx != SHN_UNDEF});
    const unsigned type = ELF64_ST_TYPE(entry.st_info);
    if (type > STT_FILE) {
      return BadSymbol(number, *name, "kernels have no symbol of type ", NumberAndName(type, kSymbolNames));
    }
    // Section numbers from SHN_LORESERVE on mean that the symbol, such as a source file's name, is in no section.
    if (!symbol.defined || entry.st_shndx >= SHN_LORESERVE) return absl::OkStatus();
    if (entry.st_shndx >= sections_.size()) {
      return BadSymbol(number, *name, "it is in section ", entry.st_shndx, ", and there are ", sections_.size());
    }
    if (!sections_[entry.st_shndx].loaded) return absl::OkStatus();
    const ElfPlace place = {.section = *sections_[entry.st_shndx].loaded, .offset = entry.st_value};
    const ElfSection& section = object_.sections[place.section];
    if (place.offset > section.size) {
      return BadSymbol(number, *name, "its offset ", place.offset, " is behind ", section.Text(), ", which has ",
                       section.size, " bytes");
    }
    symbol.place = place;
    if (type != STT_FUNC || ELF64_ST_BIND(entry.st_info) == STB_LOCAL) return absl::OkStatus();
    if (section.kind != MemoryKind::kCode || place.offset >= section.bytes.size()) {
      return BadSymbol(number, *name, "there is no code at offset ", place.offset, " of ", section.Text());
    }
    if (!object_.functions.emplace(*name, place).second) {
      return BadSymbol(number, *name, "the object has two functions of this name");
    }
    return absl::OkStatus();
  }

  absl::Status ReadRelocations(size_t table) {
    const Elf64_Shdr& header = sections_[table].header;
    if (header.sh_info >= sections_.size()) {
      return Bad(SectionText(table), ": it is for section ", header.sh_info, ", and there are ", sections_.size());
    }
    const std::optional<size_t> changed = sections_[header.sh_info].loaded;
    if (!changed) return absl::OkStatus();
    if (header.sh_link != symbol_table_) {
      return Bad(SectionText(table), ": its symbols are in section ", header.sh_link, ", which is no symbol table");
    }
    TD_ASSIGN_OR_RETURN(const uint64_t count, NumEntries<Elf64_Rela>(table));
    for (uint64_t i = 0; i < count; ++i) {
      const absl::Status status = ReadRelocation(*changed, Read<Elf64_Rela>(header.sh_offset + i * sizeof(Elf64_Rela)));
      if (!status.ok()) return Bad(SectionText(table), ": relocation ", i, ": ", status.message());
    }
    return absl::OkStatus();
  }

  // Reads a relocation, which changes bytes of the section object_.sections[changed].
  absl::Status ReadRelocation(size_t changed, const Elf64_Rela& entry) {
    const uint64_t type = ELF64_R_TYPE(entry.r_info), number = ELF64_R_SYM(entry.r_info);
    const bool absolute = type == R_X86_64_64;
    if (!absolute && type != R_X86_64_PC32 && type != R_X86_64_PLT32) {
      return Bad("kernels have no relocation of type ", NumberAndName(type, kRelocationNames));
    }
    const ElfSection& section = object_.sections[changed];
    const uint64_t width = absolute ? sizeof(uint64_t) : sizeof(uint32_t);
    if (section.bytes.size() < width || entry.r_offset > section.bytes.size() - width) {
      return Bad("its ", width, " bytes at offset ", entry.r_offset, " end behind ", section.Text(), ", which has ",
                 section.bytes.size(), " bytes");
    }
    if (number >= symbols_.size()) return Bad("it is to symbol ", number, ", and there are ", symbols_.size());
    const Symbol& symbol = symbols_[number];
    if (!symbol.place && (symbol.defined || symbol.name.empty())) {
      return Bad("it is to ", TextOf("symbol", number, symbol.name), ", which is in no section that is loaded");
    }
    object_.relocations.push_back({
        .kind = absolute ? RelocationKind::kAbsolute64 : RelocationKind::kRelative32,
        .field = {.section = changed, .offset = entry.r_offset},
        .target = symbol.place.value_or(ElfPlace()),
        .import = symbol.place ? "" : symbol.name,
        .addend = entry.r_addend,
    });
    return absl::OkStatus();
  }

  const absl::string_view bytes_;
  std::vector<Section> sections_;
  std::optional<size_t> symbol_table_;  // the symbol table's index in sections_
  std::vector<Symbol> symbols_;
  ElfObject object_;
};

}  // namespace

std::string ElfSection::Text() const { return TextOf("section", number, name); }

absl::StatusOr<ElfObject> ParseElfObject(absl::string_view bytes) { return Parser(bytes).Parse(); }

}  // namespace tandem
