#include "runtime/cpu/kernels/object_loader.h"

#include <cmath>

#include "base/exit_code.h"
#include "gtest/gtest.h"
#include "runtime/testing/compile_ir.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

std::shared_ptr<const Executable> WithKernels(const std::vector<std::string>& symbols, const std::string& object,
                                              const std::string& target = "x86-64") {
  ExecutableBuilder b(1, 1, 1, 1);
  for (const std::string& s : symbols) b.Kernel(s, 0, format::Domain::kElements);
  b.index().target = target;
  auto e =
      Executable::Parse(BuildExecutable(b.Take(), {{format::SegmentKind::kElfObject, "kernels", object}}), "f.tdx");
  EXPECT_TRUE(e.ok()) << e.status();
  return *e;
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
  float x = 1;
  void* args[] = {&x};
  (*kernels)->function(0)(args, 0, 1, 0);
  EXPECT_FLOAT_EQ(x, std::exp(1.f));
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
  EXPECT_NE(status.message().find("kernel"), absl::string_view::npos) << status;
}

TEST(ObjectLoaderTest, GarbageIsAnError) {
  absl::Status status = LoadedKernels::Load(*WithKernels({"kernel"}, "this is no object")).status();
  EXPECT_EQ(ExitCodeFor(status), kExitBadData) << status;
  std::string half = CompileIr(kExp);
  half.resize(half.size() / 2);
  EXPECT_FALSE(LoadedKernels::Load(*WithKernels({"kernel"}, half)).ok());
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
