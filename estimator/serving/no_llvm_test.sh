#!/bin/sh
# no_llvm_test.sh MODEL COMPILER: lists of targets of LLVM and MLIR that the two depend on. A program that serves depends
# on none; that the compiler does shows that the lists are right.
if [ -s "$1" ]; then
  echo "//estimator/serving:model depends on these:"
  cat "$1"
  exit 1
fi
grep -q '^@llvm//' "$2"
