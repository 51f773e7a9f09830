// A command: one entry of an executable's programs, described without the backend that runs it.
//
// Each kind (a table of the union CommandBody in runtime/format/index.td) has a file here, which says what it reads and
// writes, what the loader checks, what it costs and how reports show it. NewCommand (new_command.cc) is the one place
// that lists the kinds. CPUs and GPUs have a factory of their own for how commands run.
#ifndef TANDEM_RUNTIME_COMMANDS_COMMAND_H_
#define TANDEM_RUNTIME_COMMANDS_COMMAND_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "runtime/commands/work_context.h"
#include "runtime/format/index.h"

namespace tandem {

class CommandVerifier;
class GpuCommandVerifier;

// A kernel that a command launches once for each entry of `counts`. An entry is the number of elements or blocks of its
// launch; 0 if the kernel runs over rows, or once.
struct KernelLaunches {
  uint32_t kernel = 0;
  std::vector<uint64_t> counts;
  bool grouped = false;  // true if a backend may do all these launches as one
};

// The collective that a command takes part in: its number in Index.collectives, and how values are combined.
struct CollectiveUse {
  uint32_t number = 0;
  format::ReduceKind kind = format::ReduceKind::kSum;
};

// A property of a command that a dump shows beside its name and operands.
struct CommandProperty {
  std::string name;
  std::variant<bool, int64_t, std::string> value;
};

class Command {
 public:
  // `table` must outlive the command.
  explicit Command(const format::Command& table) : table_(table) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  const format::Command& table() const { return table_; }
  // Returns the name of the command's table in runtime/format/index.td, such as "KernelLaunch".
  std::string kind() const { return std::string(format::Name(table_.body)); }
  virtual bool is_library_call() const { return false; }

  // Checks the command for the loader. The file may be forged, so this checks everything that the execution relies on
  // without further checks. The operands and the location have been checked before: they exist, and are in spaces that
  // a section of this kind may access.
  virtual absl::Status Verify(const CommandVerifier& verifier, const std::string& field,
                              format::SectionKind section) const = 0;
  // Checks what programs for GPUs require in addition.
  virtual absl::Status VerifyForGpu(const GpuCommandVerifier& verifier, const std::string& field) const;

  // The buffers that the command reads and writes, with repetitions.
  virtual std::vector<uint32_t> Reads() const { return table_.inputs; }
  virtual std::vector<uint32_t> Writes() const { return table_.outputs; }
  virtual bool WritesVariables(const format::Program& program) const;
  // True if outputs hold plain numbers, which can be checked for NaNs, and not a library's layout with its padding.
  virtual bool has_plain_outputs() const { return true; }
  // True if the command may end the step. Later commands that write variables then wait for it.
  virtual bool may_end_step() const { return false; }
  // Returns the collective if all devices have to run the command together, and in the same order as other such
  // commands; otherwise nothing.
  virtual std::optional<CollectiveUse> collective() const { return std::nullopt; }
  virtual std::optional<KernelLaunches> launches() const { return std::nullopt; }
  // Returns the number of launches (kernels, copies, library calls) that the command adds to a GPU's stream for a full
  // batch. A library's own kernels beyond its first are not counted.
  virtual int64_t GpuLaunches(const WorkContext& context) const { return 1; }
  // Returns the bytes of the tables that these launches read, a multiple of 8.
  virtual uint64_t GpuTableBytes(const WorkContext& context) const { return 0; }
  // Returns the bytes of memory that a GPU's stream needs while the command runs.
  virtual uint64_t WorkspaceBytes(const WorkContext& context) const { return 0; }

  // Returns the operations and bytes of one execution. All tables have been checked.
  ExecutionWork Work(const WorkContext& context) const;

  // Returns a short text for one line of a list: "kernel_3", "MatMul brg_matmul:avx512_core + Relu", "collective 2",
  // "".
  virtual std::string Summary(const format::Index& index) const { return ""; }
  // Returns Summary with the ops of a kernel: "kernel_3 row: td.add td.relu".
  virtual std::string Detail(const format::Index& index) const { return ""; }
  virtual std::vector<CommandProperty> Properties(const format::Index& index) const { return {}; }

 protected:
  // Returns how many times the bytes of an operand are read or written.
  virtual double Passes(const format::Buffer& operand, const WorkContext& context) const { return 1; }
  // Adds the command's operations to `work`. `batched` is true if an operand has rows of the batch.
  virtual void AddFlops(const WorkContext& context, bool batched, ExecutionWork& work) const {}

 private:
  const format::Command& table_;
};

// Returns the object of the command's kind. Null when the body is missing or of a kind that this version does not know;
// the loader refuses such a file.
std::unique_ptr<Command> NewCommand(const format::Command& table);

// Returns the commands of all sections in order; a command's number is its index here. An element may be null, as for
// NewCommand.
std::vector<std::unique_ptr<Command>> CommandsInOrder(const format::Program& program);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COMMANDS_COMMAND_H_
