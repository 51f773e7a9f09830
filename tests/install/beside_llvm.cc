// Trains a model in a process that compiles by LLVM 14 too: beside_llvm ORDER, where ORDER is "llvm-first" or
// "tandem-first". Prints what both computed. LLVM 14 is linked in front of Tandem, so that its names win where both
// export one.
#include <cstdio>
#include <cstring>

#include "tandem/tandem.h"

// Of LLVM's C interface, whose headers are not needed for it.
extern "C" {
typedef struct LLVMOpaqueModule* LLVMModuleRef;
typedef struct LLVMOpaqueType* LLVMTypeRef;
typedef struct LLVMOpaqueValue* LLVMValueRef;
typedef struct LLVMOpaqueBuilder* LLVMBuilderRef;
typedef struct LLVMOpaqueBasicBlock* LLVMBasicBlockRef;
typedef struct LLVMOpaqueExecutionEngine* LLVMExecutionEngineRef;
void LLVMLinkInMCJIT();
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86Target();
void LLVMInitializeX86TargetMC();
void LLVMInitializeX86AsmPrinter();
LLVMModuleRef LLVMModuleCreateWithName(const char* name);
LLVMTypeRef LLVMInt32Type();
LLVMTypeRef LLVMFunctionType(LLVMTypeRef result, LLVMTypeRef* arguments, unsigned count, int variadic);
LLVMValueRef LLVMAddFunction(LLVMModuleRef module, const char* name, LLVMTypeRef type);
LLVMBuilderRef LLVMCreateBuilder();
LLVMBasicBlockRef LLVMAppendBasicBlock(LLVMValueRef function, const char* name);
void LLVMPositionBuilderAtEnd(LLVMBuilderRef builder, LLVMBasicBlockRef block);
LLVMValueRef LLVMGetParam(LLVMValueRef function, unsigned index);
LLVMValueRef LLVMBuildAdd(LLVMBuilderRef builder, LLVMValueRef a, LLVMValueRef b, const char* name);
LLVMValueRef LLVMBuildRet(LLVMBuilderRef builder, LLVMValueRef value);
void LLVMDisposeBuilder(LLVMBuilderRef builder);
int LLVMCreateExecutionEngineForModule(LLVMExecutionEngineRef* engine, LLVMModuleRef module, char** error);
unsigned long LLVMGetFunctionAddress(LLVMExecutionEngineRef engine, const char* name);
void LLVMDisposeExecutionEngine(LLVMExecutionEngineRef engine);
}

namespace {

// 40 + 2, by a function that LLVM 14 compiles.
int LlvmAdds() {
  LLVMLinkInMCJIT();
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMModuleRef module = LLVMModuleCreateWithName("module");
  LLVMTypeRef arguments[] = {LLVMInt32Type(), LLVMInt32Type()};
  LLVMValueRef function = LLVMAddFunction(module, "add", LLVMFunctionType(LLVMInt32Type(), arguments, 2, 0));
  LLVMBuilderRef builder = LLVMCreateBuilder();
  LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlock(function, "entry"));
  LLVMBuildRet(builder, LLVMBuildAdd(builder, LLVMGetParam(function, 0), LLVMGetParam(function, 1), "sum"));
  LLVMDisposeBuilder(builder);
  LLVMExecutionEngineRef engine;
  char* error = nullptr;
  if (LLVMCreateExecutionEngineForModule(&engine, module, &error)) {
    std::printf("LLVM 14: %s\n", error);
    return -1;
  }
  const int sum = reinterpret_cast<int (*)(int, int)>(LLVMGetFunctionAddress(engine, "add"))(40, 2);
  LLVMDisposeExecutionEngine(engine);
  return sum;
}

using namespace tandem;

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  Tensor y = layers::Dense(features["x"], {.units = 1});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}});
  Tensor loss = losses::MeanSquaredError(labels, y);
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.1}).Minimize(loss));
}

absl::StatusOr<Dataset> Points(const InputContext&) {
  return Dataset::FromTensorSlices({{"x", HostTensor::FromVector<float>({4, 1}, {1, 2, 3, 4})},
                                    {"label", HostTensor::FromVector<float>({4, 1}, {2, 4, 6, 8})}})
      .Repeat()
      .Batch(4);
}

absl::Status Train() {
  Estimator estimator(ModelFn, RunConfig{});
  TD_RETURN_IF_ERROR(estimator.Train(Points, {.max_steps = 50}));
  TD_ASSIGN_OR_RETURN(const HostTensor kernel, estimator.GetVariableValue("dense/kernel"));
  std::printf("Tandem: kernel %.1f\n", kernel.data<float>()[0]);
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "llvm-first") == 0) std::printf("LLVM 14: %d\n", LlvmAdds());
  const absl::Status status = Train();
  if (!status.ok()) std::printf("Tandem: %s\n", status.ToString().c_str());
  std::printf("LLVM 14: %d\n", LlvmAdds());
  return status.ok() ? 0 : 1;
}
