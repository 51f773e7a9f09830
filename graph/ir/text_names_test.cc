#include "graph/ir/text_names.h"

#include <string>

#include "gtest/gtest.h"

namespace tandem::td {
namespace {

TEST(TextNamesTest, ProgramsDefineWhatTheyUse) {
  for (const char* text : {
           "",
           "func.func private @k(tensor<4xf32>) -> tensor<4xf32>",
           "func.func @f(%x: tensor<4xf32> {td.input = \"x\"}) -> tensor<4xf32> {\n return %x : tensor<4xf32>\n}",
           "func.func @f() {\n %0 = td.a\n %1 = td.b %0, %0 : f32\n}\nfunc.func @g() {\n %0 = td.a\n td.b %0\n}",
           "func.func @f() {\n %a, %b:2 = td.a\n td.b %a, %b#0, %b#1 : f32\n}",
           "func.func @f() {\n %r:2 =\n td.a\n td.b %r#1\n}",
           // Of a region around; of a block's arguments.
           "func.func @f(%x: f32) {\n %r = exec.map (%x : f32) {\n ^bb0(%y: f32, %z: f32):\n td.a %y, %z, %x\n }\n}",
           "\"func.func\"() ({\n ^bb0(%x: f32):\n td.a %x\n }) : () -> ()",
           // Not names.
           "func.func @f() {\n td.a {text = \"%y \\\" %z\"} // %u\n}",
       }) {
    EXPECT_EQ(CheckTextNames(text, "a"), absl::OkStatus()) << text;
  }
}

TEST(TextNamesTest, WhatComesLaterIsNotThere) {
  const auto message = [](const char* text) { return std::string(CheckTextNames(text, "a.mlir").message()); };
  // Of a later function: what freed memory was written for.
  EXPECT_EQ(message("func.func @f() {\n %0 = td.a %y : f32\n}\nfunc.func @g() {\n %y = td.a\n}"),
            "a.mlir:2: %y is used and not defined before");
  // Of an earlier one, its arguments included.
  EXPECT_EQ(message("func.func @f(%y: f32) {\n}\nfunc.func @g() {\n td.a %y\n}"),
            "a.mlir:4: %y is used and not defined before");
  // Of a region further in, before and behind it.
  EXPECT_EQ(message("func.func @f() {\n td.a %y\n exec.map {\n %y = td.a\n }\n}"),
            "a.mlir:2: %y is used and not defined before");
  EXPECT_EQ(message("func.func @f() {\n exec.map {\n %y = td.a\n }\n td.a %y\n}"),
            "a.mlir:5: %y is used and not defined before");
  EXPECT_EQ(message("%"), "a.mlir:1: % is used and not defined before");
  EXPECT_EQ(message("}}} %a, %b: = td.a"), "a.mlir:1: %a is used and not defined before");
}

}  // namespace
}  // namespace tandem::td
