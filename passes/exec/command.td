// What phases `memory` and `commands`, and the serialiser, ask of the commands of a program.
#ifndef TANDEM_PASSES_EXEC_COMMAND
#define TANDEM_PASSES_EXEC_COMMAND

include "mlir/IR/OpBase.td"

def Exec_CommandOp : OpInterface<"CommandOp"> {
  let cppNamespace = "::tandem::exec";
  let description = [{
    An op that is one command of an executable (CommandBody of runtime/format/index.td). A map is no command but a
    section of them. The defaults are those of a command that reads its operands, writes its results wherever they are
    placed, touches as many elements as its first result has, never fails the step, and is not in lists of calls.
  }];
  let methods = [
    InterfaceMethod<[{Writes the body of `command`, whose buffers and location are there, and its name if it has another
        one than the op.}],
      "void", "writeCommand",
      (ins "::tandem::exec::CommandContext&":$context, "::tandem::format::Command&":$command)>,

    InterfaceMethod<"The kernel that it launches, or null.", "::mlir::FlatSymbolRefAttr", "getLaunchedKernel", (ins),
      /*methodBody=*/"", "return {};">,
    InterfaceMethod<[{How many times it launches the kernel: member i has the i-th part of the operands and of the
        results. Members run in any order.}],
      "int64_t", "getLaunchedMembers", (ins), /*methodBody=*/"", "return 1;">,

    InterfaceMethod<"The operand in whose place `result` is written, or null for a result with a place of its own.",
      "::mlir::OpOperand*", "getOperandInPlace", (ins "unsigned":$result), /*methodBody=*/"", "return nullptr;">,

    InterfaceMethod<"Whether it may fail the step: nothing moves across it.", "bool", "mayEndStep", (ins),
      /*methodBody=*/"", "return false;">,

    InterfaceMethod<[{The elements that it touches outside of a map, by which td-mark-inline decides whether it is worth
        waking a thread; nullopt: it always is. `lanes`: of one replica.}],
      "::std::optional<int64_t>", "getElementsTouched", (ins "int64_t":$replicas, "int64_t":$lanes), /*methodBody=*/"",
      "return ::tandem::exec::ElementsOfFirstResult($_op);">,
    InterfaceMethod<"Whether a flat program's list of calls can have it, outside of a map.", "bool", "isListable",
      (ins "int64_t":$replicas), /*methodBody=*/"", "return false;">,
    InterfaceMethod<"The calls that it is in such a list.", "int64_t", "getListedCalls", (ins), /*methodBody=*/"",
      "return 1;">,
  ];
}

#endif
