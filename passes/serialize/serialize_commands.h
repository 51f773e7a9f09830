// Makes the commands of an executable from ops whose buffers are assigned.
#ifndef TANDEM_PASSES_SERIALIZE_SERIALIZE_COMMANDS_H_
#define TANDEM_PASSES_SERIALIZE_SERIALIZE_COMMANDS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "absl/status/statusor.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/exec/command.h"
#include "runtime/format/index.h"

namespace tandem {

class CommandWriter final : public exec::CommandContext {
 public:
  explicit CommandWriter(format::Index* index) : index_(index) {}

  void AddKernel(llvm::StringRef symbol, uint32_t id) { kernels_[symbol] = id; }
  // Returns the number of `loc` in Debug.locations, to which it is added if it is new.
  uint32_t Location(mlir::Location loc);
  // Returns the command for `op`, which may be any command but a map.
  absl::StatusOr<format::Command> Write(mlir::Operation* op);

  uint32_t KernelNumber(mlir::FlatSymbolRefAttr kernel) const override;
  std::string NameOf(mlir::Value value) const override;
  uint32_t AddCollective(format::Collective collective) override;

 private:
  format::Index* index_;
  llvm::StringMap<uint32_t> kernels_;
  std::map<std::tuple<std::string, uint32_t, std::string>, uint32_t> locations_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_SERIALIZE_SERIALIZE_COMMANDS_H_
