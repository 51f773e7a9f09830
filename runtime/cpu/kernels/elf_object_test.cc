#include "runtime/cpu/kernels/elf_object.h"

#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/compile_ir.h"
#include "runtime/testing/small_object.h"

namespace tandem {
namespace {

using namespace small_object;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

const ElfSection* FindSection(const ElfObject& object, absl::string_view name) {
  for (const ElfSection& section : object.sections) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

TEST(ElfObjectTest, ReadsSectionsRelocationsAndFunctions) {
  const std::string bytes = SmallObject();
  const absl::StatusOr<ElfObject> object = ParseElfObject(bytes);
  ASSERT_TRUE(object.ok()) << object.status();
  ASSERT_EQ(object->sections.size(), 4);
  const ElfSection *text = FindSection(*object, ".text"), *rodata = FindSection(*object, ".rodata"),
                   *data = FindSection(*object, ".data"), *bss = FindSection(*object, ".bss");
  ASSERT_TRUE(text != nullptr && rodata != nullptr && data != nullptr && bss != nullptr);
  EXPECT_EQ(text->kind, MemoryKind::kCode);
  EXPECT_EQ(rodata->kind, MemoryKind::kConstants);
  EXPECT_EQ(data->kind, MemoryKind::kData);
  EXPECT_EQ(bss->kind, MemoryKind::kData);
  EXPECT_EQ(text->alignment, 16);
  EXPECT_EQ(text->Text(), "section 1 (.text)");
  EXPECT_EQ(rodata->bytes.size(), 8);
  EXPECT_EQ(bss->bytes, "");
  EXPECT_EQ(bss->size, 16);
  EXPECT_THAT(object->functions, UnorderedElementsAre(Key("kernel"), Key("second")));
  EXPECT_EQ(object->functions.at("second").offset, 27);

  ASSERT_EQ(object->relocations.size(), 3);
  const ElfRelocation &relative = object->relocations[0], &absolute = object->relocations[2];
  EXPECT_EQ(relative.kind, RelocationKind::kRelative32);
  EXPECT_EQ(object->sections[relative.field.section].name, ".text");
  EXPECT_EQ(relative.field.offset, 6);
  EXPECT_EQ(object->sections[relative.target.section].name, ".data");
  EXPECT_EQ(relative.import, "");
  EXPECT_EQ(relative.addend, -4);
  EXPECT_EQ(absolute.kind, RelocationKind::kAbsolute64);
  EXPECT_EQ(object->sections[absolute.field.section].name, ".data");
  EXPECT_EQ(object->sections[absolute.target.section].name, ".rodata");
}

// A function that may throw has a table of unwinding.
TEST(ElfObjectTest, LeavesTablesOfUnwindingOut) {
  const std::string bytes = CompileIr(
      "declare float @expf(float)\ndefine void @kernel(ptr %args, i64 %begin, i64 %end, i64 %row_offset) uwtable {\n"
      "  %x = load float, ptr %args\n  %y = call float @expf(float %x)\n  store float %y, ptr %args\n  ret void\n}");
  ASSERT_THAT(bytes, HasSubstr(".eh_frame"));
  const absl::StatusOr<ElfObject> object = ParseElfObject(bytes);
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ(FindSection(*object, ".eh_frame"), nullptr);
  ASSERT_EQ(object->relocations.size(), 1);
  EXPECT_EQ(object->relocations[0].import, "expf");
}

struct Broken {
  const char* message;  // what the error must contain
  std::function<void(std::string&)> change;
};

void ExpectRefusals(const std::vector<Broken>& cases) {
  for (const Broken& broken : cases) {
    std::string bytes = SmallObject();
    broken.change(bytes);
    const absl::Status status = ParseElfObject(bytes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << broken.message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(broken.message));
  }
}

TEST(ElfObjectTest, BrokenHeadersAreRefused) {
  ExpectRefusals({
      {"the object has 63 bytes, less than the 64 of its header", [](std::string& o) { o.resize(63); }},
      {"offset 0: no ELF object", [](std::string& o) { o[0] = 'E'; }},
      {"offset 4: the class is 1, and 2 in", [](std::string& o) { o[EI_CLASS] = ELFCLASS32; }},
      {"offset 5: the byte order is 2, and 1 in", [](std::string& o) { o[EI_DATA] = ELFDATA2MSB; }},
      {"offset 6: the version is 7, and 1 in", [](std::string& o) { o[EI_VERSION] = 7; }},
      {"offset 16: the type is 3, and 1 in", [](std::string& o) { HeaderOf(o).e_type = ET_DYN; }},
      {"offset 18: the machine is 183, and 62 in", [](std::string& o) { HeaderOf(o).e_machine = EM_AARCH64; }},
      {"offset 58: the size of a section's header is 40, and 64 in",
       [](std::string& o) { HeaderOf(o).e_shentsize = sizeof(Elf32_Shdr); }},
      {"offset 40: the headers of 9 sections from offset", [](std::string& o) { o.pop_back(); }},
      {"offset 40: the headers of 65535 sections from offset", [](std::string& o) { HeaderOf(o).e_shnum = 65535; }},
      {"from offset 18446744073709551615 on end behind", [](std::string& o) { HeaderOf(o).e_shoff = ~uint64_t{0}; }},
      {"section 0: its name is in section 2, which is no string table",
       [](std::string& o) { HeaderOf(o).e_shstrndx = kRodata; }},
      {"section 0: its name is in section 9, which is no string table",
       [](std::string& o) { HeaderOf(o).e_shstrndx = kSections; }},
  });
}

TEST(ElfObjectTest, BrokenSectionsAreRefused) {
  ExpectRefusals({
      {"section 1: its name is at offset 5000 of section 8, which ends in front of it",
       [](std::string& o) { SectionOf(o, kText).sh_name = 5000; }},
      {"section 1: its name, at offset",
       [](std::string& o) {
         const size_t last = SectionOf(o, kStrtab).sh_size - 1;
         SectionOf(o, kText).sh_name = static_cast<Elf64_Word>(last);
         *NameOf(o, SectionOf(o, kText).sh_name) = 'x';
       }},
      {"section 2 (.rodata): its 1000000 bytes from offset",
       [](std::string& o) { SectionOf(o, kRodata).sh_size = 1000000; }},
      {"from offset 18446744073709551600 on end behind the object",
       [](std::string& o) { SectionOf(o, kData).sh_offset = ~uint64_t{15}; }},
      {"section 3 (.data): its alignment 24 is no power of two up to 4096",
       [](std::string& o) { SectionOf(o, kData).sh_addralign = 24; }},
      {"its alignment 8192 is no power of two up to 4096",
       [](std::string& o) { SectionOf(o, kData).sh_addralign = 8192; }},
      {"section 3 (.data): kernels have no section with flag 1024 (SHF_TLS)",
       [](std::string& o) { SectionOf(o, kData).sh_flags |= SHF_TLS; }},
      {"kernels have no section with flag 2048 (SHF_COMPRESSED)",
       [](std::string& o) { SectionOf(o, kRodata).sh_flags |= SHF_COMPRESSED; }},
      {"kernels have no section with flag 268435456",
       [](std::string& o) { SectionOf(o, kRodata).sh_flags |= 0x10000000; }},
      {"section 1 (.text): it is to be writable and executable at once",
       [](std::string& o) { SectionOf(o, kText).sh_flags |= SHF_WRITE; }},
      {"section 2 (.rodata): kernels have no section of type 7 (SHT_NOTE) in memory",
       [](std::string& o) { SectionOf(o, kRodata).sh_type = SHT_NOTE; }},
      {"section 8 (.strtab): kernels have no section of type 3 in memory",
       [](std::string& o) { SectionOf(o, kStrtab).sh_flags |= SHF_ALLOC; }},
      {"section 5 (.rela.text): kernels have no section of type 9 (SHT_REL)",
       [](std::string& o) { SectionOf(o, kRelaText).sh_type = SHT_REL; }},
      {"section 5 (.rela.text): kernels have no section of type 1879048191",
       [](std::string& o) { SectionOf(o, kRelaText).sh_type = SHT_GNU_versym; }},
      {"they overlap", [](std::string& o) { SectionOf(o, kData).sh_size = o.size() - 200; }},
  });
}

TEST(ElfObjectTest, BrokenSymbolsAreRefused) {
  ExpectRefusals({
      {"section 7 (.symtab): it has 168 bytes in entries of 16, and an entry is 24",
       [](std::string& o) { SectionOf(o, kSymtab).sh_entsize = 16; }},
      {"section 7 (.symtab): it has 167 bytes in entries of 24",
       [](std::string& o) { --SectionOf(o, kSymtab).sh_size; }},
      {"section 7 (.symtab): it is a second symbol table, beside section 6 (.symtab)",
       [](std::string& o) { SectionOf(o, kRelaData) = SectionOf(o, kSymtab); }},
      {"section 7 (.symtab): symbol 0: its name is in section 3, which is no string table",
       [](std::string& o) { SectionOf(o, kSymtab).sh_link = kData; }},
      {"section 7 (.symtab): symbol 4: its name is at offset 5000 of section 8",
       [](std::string& o) { SymbolOf(o, kKernel).st_name = 5000; }},
      {"symbol 4 (kernel): kernels have no symbol of type 10 (STT_GNU_IFUNC)",
       [](std::string& o) { SymbolOf(o, kKernel).st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC); }},
      {"symbol 4 (kernel): kernels have no symbol of type 6 (STT_TLS)",
       [](std::string& o) { SymbolOf(o, kKernel).st_info = ELF64_ST_INFO(STB_GLOBAL, STT_TLS); }},
      {"symbol 4 (kernel): it is in section 9, and there are 9",
       [](std::string& o) { SymbolOf(o, kKernel).st_shndx = kSections; }},
      {"symbol 2: its offset 9 is behind section 2 (.rodata), which has 8 bytes",
       [](std::string& o) { SymbolOf(o, kRodataStart).st_value = 9; }},
      {"symbol 4 (kernel): there is no code at offset 28 of section 1 (.text)",
       [](std::string& o) { SymbolOf(o, kKernel).st_value = 28; }},
      {"symbol 4 (kernel): there is no code at offset 0 of section 2 (.rodata)",
       [](std::string& o) { SymbolOf(o, kKernel).st_shndx = kRodata; }},
      {"symbol 5 (kernel): the object has two functions of this name",
       [](std::string& o) { SymbolOf(o, kSecond).st_name = SymbolOf(o, kKernel).st_name; }},
  });
}

TEST(ElfObjectTest, BrokenRelocationsAreRefused) {
  const auto with_type = [](Elf64_Xword type) {
    return [type](std::string& o) {
      RelocationOf(o, kRelaText, 1).r_info = ELF64_R_INFO(Elf64_Xword{kRodataStart}, type);
    };
  };
  const auto to_symbol = [](Elf64_Xword symbol) {
    return [symbol](std::string& o) { RelocationOf(o, kRelaText, 1).r_info = ELF64_R_INFO(symbol, R_X86_64_PC32); };
  };
  ExpectRefusals({
      {"section 5 (.rela.text): relocation 1: kernels have no relocation of type 11 (R_X86_64_32S)",
       with_type(R_X86_64_32S)},
      {"kernels have no relocation of type 42 (R_X86_64_REX_GOTPCRELX)", with_type(R_X86_64_REX_GOTPCRELX)},
      {"kernels have no relocation of type 99", with_type(99)},
      {"section 5 (.rela.text): it has 48 bytes in entries of 16, and an entry is 24",
       [](std::string& o) { SectionOf(o, kRelaText).sh_entsize = 16; }},
      {"section 5 (.rela.text): it is for section 9, and there are 9",
       [](std::string& o) { SectionOf(o, kRelaText).sh_info = kSections; }},
      {"section 5 (.rela.text): its symbols are in section 8, which is no symbol table",
       [](std::string& o) { SectionOf(o, kRelaText).sh_link = kStrtab; }},
      {"relocation 1: its 4 bytes at offset 25 end behind section 1 (.text), which has 28 bytes",
       [](std::string& o) { RelocationOf(o, kRelaText, 1).r_offset = 25; }},
      {"its 4 bytes at offset 18446744073709551615 end behind",
       [](std::string& o) { RelocationOf(o, kRelaText, 1).r_offset = ~uint64_t{0}; }},
      {"section 6 (.rela.data): relocation 0: its 8 bytes at offset 1 end behind section 3 (.data), which has 8 bytes",
       [](std::string& o) { RelocationOf(o, kRelaData, 0).r_offset = 1; }},
      {"its 8 bytes at offset 0 end behind section 4 (.bss), which has 0 bytes",
       [](std::string& o) { SectionOf(o, kRelaData).sh_info = kBss; }},
      {"relocation 1: it is to symbol 7, and there are 7", to_symbol(kSymbols)},
      {"relocation 1: it is to symbol 0, which is in no section that is loaded", to_symbol(kNoSymbol)},
      {"relocation 1: it is to symbol 1 (kernel.cc), which is in no section that is loaded", to_symbol(kFile)},
  });
}

// Wherever it is cut: its table of sections is at its end.
TEST(ElfObjectTest, APartOfAnObjectIsRefused) {
  const std::string bytes = SmallObject();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ParseElfObject(absl::string_view(bytes).substr(0, size)).ok()) << size;
  }
}

}  // namespace
}  // namespace tandem
