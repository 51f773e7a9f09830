#include "passes/codegen/translate.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

namespace tandem {
namespace {

// The LLVM IR of a function over two pointers and two numbers with this body, or the error.
std::string Translated(const std::string& body, int index_bits = 64) {
  mlir::MLIRContext mlir_context;
  mlir_context.loadDialect<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                           mlir::LLVM::LLVMDialect>();
  const std::string text = absl::StrCat(
      "llvm.func internal @f(%a: !llvm.ptr {llvm.noalias}, %b: !llvm.ptr {llvm.align = 16 : i64}, %m: i64, %n: i64) "
      "attributes {passthrough = [\"noinline\"]} {\n",
      body, "\nllvm.return\n}");
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &mlir_context);
  if (!module) return "does not parse";
  llvm::LLVMContext context;
  absl::StatusOr<std::unique_ptr<llvm::Module>> to = TranslateToLlvmIr(*module, context, index_bits);
  if (!to.ok()) return std::string(to.status().message());
  EXPECT_FALSE(llvm::verifyModule(**to, &llvm::errs()));
  std::string ir;
  llvm::raw_string_ostream(ir) << **to;
  return ir;
}

void ExpectHas(const std::string& ir, absl::string_view part) {
  EXPECT_TRUE(absl::StrContains(ir, part)) << ir << "\nlacks: " << part;
}

TEST(TranslateTest, FunctionsKeepTheirAttributes) {
  const std::string ir = Translated("");
  ExpectHas(ir, "define internal void @f(ptr noalias %0, ptr align 16 %1, i64 %2, i64 %3)");
  ExpectHas(ir, "noinline");
}

TEST(TranslateTest, LoopsCarryValues) {
  const std::string ir = Translated(R"(
    %from = arith.index_cast %m : i64 to index
    %to = arith.index_cast %n : i64 to index
    %one = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %from to %to step %one iter_args(%s = %zero) -> (f32) {
      %at = arith.index_cast %i : index to i64
      %p = llvm.getelementptr inbounds %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %x = llvm.load %p : !llvm.ptr -> f32
      %t = arith.addf %s, %x fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    llvm.store %sum, %b : f32, !llvm.ptr)");
  ExpectHas(ir, "phi i64 [ %2, ");
  ExpectHas(ir, "phi float [ 0.000000e+00, ");
  ExpectHas(ir, "icmp slt i64");
  ExpectHas(ir, "getelementptr inbounds float, ptr %0");
  ExpectHas(ir, "fadd reassoc float");
}

TEST(TranslateTest, WhatIsKnownNeedsNoBranch) {
  const std::string ir = Translated(R"(
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    %three = arith.constant 3 : index
    scf.for %i = %zero to %two step %three {
      %at = arith.index_cast %i : index to i64
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %p, %b : !llvm.ptr, !llvm.ptr
    }
    scf.for %i = %two to %zero step %three {
      llvm.store %b, %b : !llvm.ptr, !llvm.ptr
    }
    %yes = arith.cmpi ult, %zero, %two : index
    %x = scf.if %yes -> (index) {
      scf.yield %two : index
    } else {
      scf.yield %three : index
    }
    %y = arith.index_cast %x : index to i64
    llvm.store %y, %a : i64, !llvm.ptr)");
  EXPECT_FALSE(absl::StrContains(ir, "br ")) << ir;
  EXPECT_FALSE(absl::StrContains(ir, "store ptr %1, ptr %1")) << ir;
  ExpectHas(ir, "store i64 2, ptr %0");
}

TEST(TranslateTest, BranchesJoin) {
  const std::string ir = Translated(R"(
    %c = arith.cmpi sgt, %m, %n : i64
    %x = scf.if %c -> (i64) {
      llvm.store %m, %a : i64, !llvm.ptr
      scf.yield %m : i64
    } else {
      %d = arith.subi %n, %m overflow<nsw> : i64
      scf.yield %d : i64
    }
    llvm.store %x, %b : i64, !llvm.ptr)");
  ExpectHas(ir, "icmp sgt i64 %2, %3");
  ExpectHas(ir, "sub nsw i64 %3, %2");
  ExpectHas(ir, "phi i64 [ %2, ");
}

TEST(TranslateTest, FunctionsOfFloatsAreCalls) {
  const std::string ir = Translated(R"(
    %x = llvm.load %a : !llvm.ptr -> f32
    %y = math.exp %x : f32
    %z = math.fma %x, %y, %y : f32
    llvm.store %z, %b : f32, !llvm.ptr)");
  ExpectHas(ir, "call float @expf(float");
  ExpectHas(ir, "call float @llvm.fma.f32(float");
}

TEST(TranslateTest, IndicesMayBeNarrow) {
  const std::string ir = Translated(R"(
    %i = arith.index_cast %m : i64 to index
    %j = arith.muli %i, %i : index
    %k = arith.index_cast %j : index to i64
    llvm.store %k, %a : i64, !llvm.ptr)",
                                    32);
  ExpectHas(ir, "trunc i64 %2 to i32");
  ExpectHas(ir, "mul i32");
  ExpectHas(ir, "sext i32");
}

TEST(TranslateTest, OpsThatKernelsDoNotHaveAreErrors) {
  EXPECT_EQ(Translated("%x = llvm.ptrtoint %a : !llvm.ptr to i64"),
            "the op llvm.ptrtoint has no translation to LLVM IR");
}

}  // namespace
}  // namespace tandem
