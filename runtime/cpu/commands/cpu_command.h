// A command of a program, made ready to run on a CPU: operands resolved to spaces and offsets, kernels and primitives
// to calls, work cut into tasks. Each kind has a file in this folder; NewCpuCommand is the one place that lists them.
#ifndef TANDEM_RUNTIME_CPU_COMMANDS_CPU_COMMAND_H_
#define TANDEM_RUNTIME_CPU_COMMANDS_CPU_COMMAND_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/commands/command.h"
#include "runtime/cpu/commands/global_run.h"
#include "runtime/cpu/object_loader.h"
#include "runtime/cpu/operand.h"
#include "runtime/cpu/step_state.h"
#include "runtime/executable.h"
#include "runtime/thread_pool.h"

namespace tandem {

// What a command is planned from.
struct PlanContext {
  const Executable& executable;
  const format::Program& program;
  const LoadedKernels& kernels;
  int num_threads;

  const format::Index& index() const { return executable.index(); }
  Operand MakeOperand(uint32_t buffer) const;
};

// Where the commands of a map section run: one thread, with its memory.
struct MapRun {
  const StepState& state;
  int thread;
  uint64_t scratch_bytes;  // of the thread's library memory; what lies behind is for staging

  const ThreadState& memory() const { return state.threads[thread]; }
  void** args() const { return const_cast<void**>(memory().args.data()); }
};

class CallList;

class CpuCommand {
 public:
  CpuCommand(const PlanContext& context, const format::Command& table);
  CpuCommand(const CpuCommand&) = delete;
  CpuCommand& operator=(const CpuCommand&) = delete;
  virtual ~CpuCommand() = default;

  const format::Command& table() const { return table_; }
  const std::vector<Operand>& inputs() const { return inputs_; }
  const std::vector<Operand>& outputs() const { return outputs_; }
  // What the command is, whatever runs it.
  const Command& command() const { return *command_; }
  // Memory that a thread needs for it.
  virtual uint64_t scratch_bytes() const { return 0; }
  virtual uint64_t staging_bytes() const { return 0; }

  // In a global section: one piece of the work, for one device. Kinds that map sections alone have do nothing.
  virtual void RunPiece(GlobalRun& run, int device, const Piece& piece, int thread) const = 0;
  // Before the pieces.
  virtual void Begin(GlobalRun& run, ThreadPool& pool) const {}
  // Behind the pieces, from one thread, where the command has such an end: what processes of a group tell each other,
  // which may be on another thread than the rest of the command; then what is left to do.
  virtual absl::Status Exchange(GlobalRun& run) const { return absl::OkStatus(); }
  virtual absl::Status End(GlobalRun& run, ThreadPool& pool) const { return absl::OkStatus(); }
  virtual bool has_end(const StepState& state) const { return state.group != nullptr; }
  // A piece is for all devices, of which the first one's number is given; with one device there are no pieces.
  virtual bool is_for_all_devices() const { return false; }

  // In a map section: the rows of one microbatch of one lane. Internal for kinds that have none.
  virtual absl::Status RunRows(const MapRun& run, const MicrobatchContext& context, int64_t rows,
                               int64_t global_row) const;
  // Prepares RunJoint, for the rows of `lanes` lanes that run together. The table says whether it is joint.
  virtual absl::Status PlanJoint(const PlanContext& context, int lanes);
  virtual bool is_joint() const { return false; }
  virtual absl::Status RunJoint(const MapRun& run, const MicrobatchContext& first_lane) const;

  // In a flat program (call_list.h).
  virtual bool is_listable() const { return false; }
  // One lane of a map section, all of whose rows are there.
  virtual bool AddRowCalls(CallList& list, const MicrobatchContext& context, int device, int64_t first_row) const;
  virtual void AddCalls(CallList& list, const MicrobatchContext& context, int device, const Piece& piece) const {}

  bool writes_variables = false;
  int id = 0;  // of ListCommands (command_info.h): where its time is counted
  PlannedWork work;
  std::optional<PlannedWork> others;  // without what block updates do (block_updates.h)

 protected:
  // Pieces are counted in something larger than elements: each is a task.
  bool pieces_apart_ = false;

 private:
  friend absl::StatusOr<std::unique_ptr<CpuCommand>> NewCpuCommand(const PlanContext& context,
                                                                   const format::Command& table);

  const format::Command& table_;
  const std::unique_ptr<Command> command_;
  std::vector<Operand> inputs_, outputs_;
};

// `table` must outlive it. Errors: those of OneDnnPrimitive::Create, and DataLoss for packed weights whose buffer is
// too small.
absl::StatusOr<std::unique_ptr<CpuCommand>> NewCpuCommand(const PlanContext& context, const format::Command& table);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_COMMANDS_CPU_COMMAND_H_
