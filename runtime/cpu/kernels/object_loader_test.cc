#include "runtime/cpu/kernels/object_loader.h"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/sanitizers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/compile_ir.h"
#include "runtime/testing/executable_builder.h"
#include "runtime/testing/small_object.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Returns an executable with a segment for each object, and kernels that are functions of the segments in turn.
std::shared_ptr<const Executable> WithObjects(const std::vector<std::string>& symbols,
                                              const std::vector<std::string>& objects,
                                              const std::string& target = "x86-64") {
  ExecutableBuilder b(1, 1, 1, 1);
  for (size_t i = 0; i < symbols.size(); ++i) {
    b.Kernel(symbols[i], static_cast<int>(i % objects.size()), format::Domain::kElements);
  }
  b.index().target = target;
  std::vector<SegmentData> segments;
  for (const std::string& object : objects) segments.push_back({format::SegmentKind::kElfObject, "kernels", object});
  auto e = Executable::Parse(BuildExecutable(b.Take(), segments), "f.tdx");
  EXPECT_TRUE(e.ok()) << e.status();
  return *e;
}

std::shared_ptr<const Executable> WithKernels(const std::vector<std::string>& symbols, const std::string& object,
                                              const std::string& target = "x86-64") {
  return WithObjects(symbols, {object}, target);
}

// Returns what a kernel makes of args[0] = 1.
float Call(const LoadedKernels& kernels, int kernel) {
  float x = 1;
  void* args[] = {&x};
  kernels.function(kernel)(args, 0, 1, 0);
  return x;
}

const char kExp[] = R"(
declare float @expf(float)
define void @kernel(ptr %args, i64 %begin, i64 %end, i64 %row_offset) {
  %p = load ptr, ptr %args
  %x = load float, ptr %p
  %y = call float @expf(float %x)
  store float %y, ptr %p
  ret void
})";

TEST(ObjectLoaderTest, RunsKernelsThatCallMathematics) {
  auto kernels = LoadedKernels::Load(*WithKernels({"kernel"}, CompileIr(kExp)));
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  EXPECT_FLOAT_EQ(Call(**kernels, 0), std::exp(1.f));
}

TEST(ObjectLoaderTest, CodeReadsConstantsAndData) {
  auto kernels = LoadedKernels::Load(*WithKernels({"kernel", "second"}, SmallObject()));
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  EXPECT_EQ(Call(**kernels, 0), 2.75f);
  EXPECT_EQ(Call(**kernels, 1), 1);
}

std::string Storing(float value) {
  return CompileIr(absl::StrCat("define void @kernel(ptr %args, i64 %begin, i64 %end, i64 %row_offset) {\n",
                                "  %p = load ptr, ptr %args\n  store float ", value, ".0, ptr %p\n  ret void\n}"));
}

TEST(ObjectLoaderTest, AKernelIsTheFunctionOfItsOwnSegment) {
  auto kernels =
      LoadedKernels::Load(*WithObjects({"kernel", "kernel", "kernel"}, {Storing(3), Storing(4), CompileIr(kExp)}));
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  EXPECT_EQ(Call(**kernels, 0), 3);
  EXPECT_EQ(Call(**kernels, 1), 4);
  EXPECT_FLOAT_EQ(Call(**kernels, 2), std::exp(1.f));
  EXPECT_FALSE(LoadedKernels::Load(*WithObjects({"kernel", "second"}, {SmallObject(), Storing(3)})).ok());
}

TEST(ObjectLoaderTest, AnExecutableWithoutKernelsNeedsNoMemory) {
  EXPECT_TRUE(LoadedKernels::Load(*WithKernels({}, "this is no object")).ok());
}

TEST(ObjectLoaderTest, MissingSymbolsAreNamed) {
  absl::Status status = LoadedKernels::Load(*WithKernels({"kernel", "absent"}, CompileIr(kExp))).status();
  EXPECT_EQ(ExitCodeFor(status), kExitBadData);
  EXPECT_NE(status.message().find("absent"), absl::string_view::npos) << status;
}

TEST(ObjectLoaderTest, OnlyAllowedFunctionsCanBeCalled) {
  std::string object = CompileIr(
      "declare i32 @system(ptr)\ndefine void @kernel(ptr %args, i64 %b, i64 %e, i64 %r) {\n"
      "  %p = load ptr, ptr %args\n  %x = call i32 @system(ptr %p)\n  ret void\n}");
  absl::Status status = LoadedKernels::Load(*WithKernels({"kernel"}, object)).status();
  EXPECT_EQ(ExitCodeFor(status), kExitBadData);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("f.tdx: segments[0] (kernels): section 2 (.text): offset "),
                    HasSubstr(": it calls \"system\", which is no function that kernels may call; delete the file")));
}

TEST(ObjectLoaderTest, GarbageIsAnError) {
  absl::Status status = LoadedKernels::Load(*WithKernels({"kernel"}, "this is no object")).status();
  EXPECT_EQ(ExitCodeFor(status), kExitBadData) << status;
  std::string half = CompileIr(kExp);
  half.resize(half.size() / 2);
  EXPECT_FALSE(LoadedKernels::Load(*WithKernels({"kernel"}, half)).ok());
}

TEST(ObjectLoaderTest, ADamagedObjectIsNamedWithItsSegment) {
  std::string damaged = SmallObject();
  SectionOf(damaged, small_object::kText).sh_offset = 1 << 20;
  const absl::Status status =
      LoadedKernels::Load(*WithObjects({"kernel", "kernel"}, {SmallObject(), damaged})).status();
  EXPECT_EQ(ExitCodeFor(status), kExitBadData);
  EXPECT_EQ(status.message(),
            absl::StrCat("f.tdx: segments[1] (kernels): section 1 (.text): its 28 bytes from offset 1048576 on end ",
                         "behind the object, which has ", damaged.size(),
                         " bytes; delete the file, it will be compiled again"));
}

TEST(ObjectLoaderTest, WhatIsOutOfReachIsAnError) {
  std::string object = SmallObject();
  RelocationOf(object, small_object::kRelaText, 1).r_addend = int64_t{1} << 40;
  absl::Status status = LoadedKernels::Load(*WithKernels({"kernel"}, object)).status();
  EXPECT_EQ(ExitCodeFor(status), kExitBadData);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("section 1 (.text): offset 18: the distance 10995"),
                                                   HasSubstr("does not fit into 32 bits")));

  object = SmallObject();
  SectionOf(object, small_object::kBss).sh_size = 1 << 30;
  status = LoadedKernels::Load(*WithKernels({"kernel"}, object)).status();
  EXPECT_EQ(ExitCodeFor(status), kExitBadData);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("section 4 (.bss): with its 1073741824 bytes, kernels need more than 536870912 in one piece"));
}

TEST(ObjectLoaderTest, MemoryThatCannotBeMappedIsAnError) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "sanitizers reserve most of the address space";
  std::string object = SmallObject();
  SectionOf(object, small_object::kBss).sh_size = 500 << 20;
  const auto executable = WithKernels({"kernel"}, object);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limited = before;
  limited.rlim_cur = pages * 4096 + (100 << 20);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  const absl::Status status = LoadedKernels::Load(*executable).status();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(ExitCodeFor(status), kExitIo);
  EXPECT_THAT(std::string(status.message()), HasSubstr("f.tdx: cannot map 524300288 bytes for kernels: "));
}

// A line of /proc/self/maps.
struct Mapping {
  uintptr_t begin = 0, end = 0;
  std::string access;
};

std::vector<Mapping> Mappings() {
  std::vector<Mapping> mappings;
  std::ifstream file("/proc/self/maps");
  for (std::string line; std::getline(file, line);) {
    Mapping m;
    char dash = 0;
    std::istringstream(line) >> std::hex >> m.begin >> dash >> m.end >> m.access;
    mappings.push_back(m);
  }
  return mappings;
}

// Returns how many mappings are writable and executable. Other libraries have some: oneDNN, where its code is made.
int64_t NumWritableCode() {
  const std::vector<Mapping> mappings = Mappings();
  return std::count_if(mappings.begin(), mappings.end(), [](const Mapping& m) { return m.access.starts_with("rwx"); });
}

TEST(ObjectLoaderTest, NoMemoryIsWritableAndExecutable) {
  const int64_t before = NumWritableCode();
  auto kernels = LoadedKernels::Load(*WithKernels({"kernel"}, SmallObject()));
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  const auto code = reinterpret_cast<uintptr_t>((*kernels)->function(0));
  const std::vector<Mapping> mappings = Mappings();
  std::string around;  // the access to the code, and to the constants and the data behind it
  for (size_t i = 0; i < mappings.size(); ++i) {
    if (mappings[i].begin > code || code >= mappings[i].end) continue;
    for (size_t k = i; k < i + 3 && k < mappings.size(); ++k) absl::StrAppend(&around, mappings[k].access, " ");
  }
  EXPECT_EQ(around, "r-xp r--p rw-p ");
  EXPECT_EQ(NumWritableCode(), before);
}

TEST(ObjectLoaderTest, MemoryIsGivenBack) {
  auto kernels = LoadedKernels::Load(*WithKernels({"kernel"}, SmallObject()));
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  const auto code = reinterpret_cast<uintptr_t>((*kernels)->function(0));
  kernels->reset();
  for (const Mapping& m : Mappings()) EXPECT_FALSE(m.begin <= code && code < m.end && m.access[2] == 'x');
}

TEST(ObjectLoaderTest, TargetFeaturesAreChecked) {
  EXPECT_TRUE(CheckTargetFeatures("x86-64 sse2").ok());
  absl::Status status = LoadedKernels::Load(*WithKernels({"kernel"}, CompileIr(kExp), "x86-64 sse2 avx9000")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("compiled for x86-64 sse2 avx9000; this machine has no avx9000"),
            absl::string_view::npos)
      << status;
  EXPECT_FALSE(CheckTargetFeatures("aarch64").ok());
}

}  // namespace
}  // namespace tandem
