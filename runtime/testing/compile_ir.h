// Makes ELF objects from LLVM IR text, for tests of hand-written kernels.
#ifndef TANDEM_RUNTIME_TESTING_COMPILE_IR_H_
#define TANDEM_RUNTIME_TESTING_COMPILE_IR_H_

#include <string>

namespace tandem {

// Returns the object's bytes; aborts when the text is wrong.
std::string CompileIr(const std::string& text);

// Returns the IR of `define void @name(ptr %args, i64 %begin, i64 %end, i64 %row_offset)` that loops over [begin, end)
// in steps of one, with `body` per index %i. In the body, %p0, %p1, ... are the addresses of element %i of argument 0,
// 1, ...: argument k advances by `strides[k]` bytes per index (0: always its first element).
std::string LoopKernel(const std::string& name, const std::string& strides, const std::string& body);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_TESTING_COMPILE_IR_H_
