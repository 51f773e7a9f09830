#include "passes/codegen/optimize.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"

namespace tandem {
namespace {

// y[i] = x[i] * x[i] for i < n; a loop that is vectorised.
constexpr char kSquare[] = R"(
define void @square(ptr noalias %x, ptr noalias %y, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %v = load float, ptr %from
  %square = fmul float %v, %v
  %to = getelementptr float, ptr %y, i64 %i
  store float %square, ptr %to
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
})";

// Many constants, a call and one float64 operation.
constexpr char kScalar[] = R"(
define double @scalar(double %x) {
  %a = fmul double %x, 3.25
  %b = fadd double %a, 7.0
  %c = call double @llvm.fma.f64(double %b, double %x, double 0.1)
  %d = fptrunc double %c to float
  %e = fpext float %d to double
  ret double %e
}
declare double @llvm.fma.f64(double, double, double))";

CpuTarget Avx2() { return CpuTargetByName("x86-64-v3").value(); }

std::string Object(ObjectCompiler& compiler, const char* text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
  EXPECT_NE(module, nullptr) << problem.getMessage().str();
  if (module == nullptr) return "";
  absl::StatusOr<OptimizedObject> object = compiler.Compile(*module);
  EXPECT_TRUE(object.ok()) << object.status();
  return object.ok() ? object->elf : "";
}

std::string ObjectOfANewCompiler(const char* text) {
  absl::StatusOr<std::unique_ptr<ObjectCompiler>> compiler = ObjectCompiler::Create(Avx2(), KernelSanitizer::kNone);
  EXPECT_TRUE(compiler.ok()) << compiler.status();
  return compiler.ok() ? Object(**compiler, text) : "";
}

// Threads take kernels in any order: an object must not tell what its compiler made before.
TEST(ObjectCompiler, ObjectsDoNotDependOnThoseBefore) {
  const std::string square = ObjectOfANewCompiler(kSquare), scalar = ObjectOfANewCompiler(kScalar);
  EXPECT_EQ(square.substr(0, 4), "\177ELF");
  EXPECT_NE(square, scalar);
  absl::StatusOr<std::unique_ptr<ObjectCompiler>> compiler = ObjectCompiler::Create(Avx2(), KernelSanitizer::kNone);
  ASSERT_TRUE(compiler.ok()) << compiler.status();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Object(**compiler, kSquare), square) << i;
    EXPECT_EQ(Object(**compiler, kScalar), scalar) << i;
    EXPECT_EQ(Object(**compiler, kScalar), scalar) << i;
  }
}

TEST(ObjectCompiler, InvalidCodeIsAnError) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(kSquare, problem, context);
  ASSERT_NE(module, nullptr);
  module->getFunction("square")->getEntryBlock().getTerminator()->eraseFromParent();
  absl::StatusOr<std::unique_ptr<ObjectCompiler>> compiler = ObjectCompiler::Create(Avx2(), KernelSanitizer::kNone);
  ASSERT_TRUE(compiler.ok()) << compiler.status();
  EXPECT_EQ((*compiler)->Compile(*module).status().code(), absl::StatusCode::kInternal);
}

// Loads more vectors than there are registers before it stores the first.
std::string ManyVectors() {
  constexpr int kVectors = 40;
  std::string text = "define void @many(ptr %x, ptr %y) {\n";
  for (int i = 0; i < kVectors; ++i) {
    absl::StrAppend(&text, "%p", i, " = getelementptr <8 x float>, ptr %x, i64 ", i, "\n%v", i,
                    " = load volatile <8 x float>, ptr %p", i, ", align 4\n");
  }
  for (int i = 0; i < kVectors; ++i) {
    absl::StrAppend(&text, "%q", i, " = getelementptr <8 x float>, ptr %y, i64 ", i, "\nstore volatile <8 x float> %v",
                    i, ", ptr %q", i, ", align 4\n");
  }
  return text + "ret void\n}";
}

// How many instructions `vmov?ps %ymm, offset(%rsp)` with this opcode are in `code`.
int StoresToStack(const std::string& code, unsigned char opcode) {
  int found = 0;
  for (size_t i = 0; i + 4 < code.size(); ++i) {
    auto at = [&](size_t k) { return static_cast<unsigned char>(code[i + k]); };
    found += at(0) == 0xc5 && (at(1) & 0x7f) == 0x7c && at(2) == opcode && (at(3) & 0x07) == 0x04 && at(4) == 0x24;
  }
  return found;
}

TEST(ObjectCompiler, SpilledVectorsLieInOneCacheLine) {
  constexpr unsigned char kAligned = 0x29, kUnaligned = 0x11;
  const std::string object = ObjectOfANewCompiler(ManyVectors().c_str());
  EXPECT_GE(StoresToStack(object, kAligned), 20);
  EXPECT_EQ(StoresToStack(object, kUnaligned), 0);
}

}  // namespace
}  // namespace tandem
