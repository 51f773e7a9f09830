// A command of a program, prepared to run on a CPU: operands are resolved to spaces and offsets, kernels and primitives
// to calls, and work is cut into tasks. Each kind has a file in this folder; NewCpuCommand is the one place that lists
// them.
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
#include "runtime/cpu/kernels/object_loader.h"
#include "runtime/cpu/step/operand.h"
#include "runtime/cpu/step/step_state.h"
#include "runtime/executable/executable.h"
#include "runtime/threads/thread_pool.h"

namespace tandem {

// The data from which a command is planned.
struct PlanContext {
  const Executable& executable;
  const format::Program& program;
  const LoadedKernels& kernels;
  int num_threads;

  const format::Index& index() const { return executable.index(); }
  Operand MakeOperand(uint32_t buffer) const;
};

// The thread on which commands of a map section run, with its memory.
struct MapRun {
  const StepState& state;
  int thread;
  uint64_t scratch_bytes;  // size of the scratch part of the thread's library memory; the part behind it is for staging

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
  // Returns the description of the command that does not depend on the backend.
  const Command& command() const { return *command_; }
  // Return the bytes of scratch and of staging memory that a thread needs to run the command.
  virtual uint64_t scratch_bytes() const { return 0; }
  virtual uint64_t staging_bytes() const { return 0; }

  // In a global section: runs one piece of the work, for one device. Kinds that occur only in map sections do nothing.
  virtual void RunPiece(GlobalRun& run, int device, const Piece& piece, int thread) const = 0;
  // In a global section: called before the pieces of the work run.
  virtual void Begin(GlobalRun& run, ThreadPool& pool) const {}
  // Called after the pieces if has_end, each by one thread. Exchange exchanges values with the other processes of a
  // group, and may run on another thread than the rest of the command. End does the rest.
  virtual absl::Status Exchange(GlobalRun& run) const { return absl::OkStatus(); }
  virtual absl::Status End(GlobalRun& run, ThreadPool& pool) const { return absl::OkStatus(); }
  virtual bool has_end(const StepState& state) const { return state.group != nullptr; }
  // True if a piece covers all devices together. RunPiece then gets the number of the first device. If there is only
  // one device, there are no pieces.
  virtual bool is_for_all_devices() const { return false; }

  // In a map section: runs the command for the rows of one microbatch of one lane. Internal for kinds that do not occur
  // in map sections.
  virtual absl::Status RunRows(const MapRun& run, const MicrobatchContext& context, int64_t rows,
                               int64_t global_row) const;
  // Prepares RunJoint, which runs the command once for the rows of `lanes` lanes (parts of the batch). Only called for
  // commands that are `joint` in their table.
  virtual absl::Status PlanJoint(const PlanContext& context, int lanes);
  virtual bool is_joint() const { return false; }
  virtual absl::Status RunJoint(const MapRun& run, const MicrobatchContext& first_lane) const;

  // For flat programs (call_list.h): true if the command can be in a call list.
  virtual bool is_listable() const { return false; }
  // Adds the calls that run the command for one lane of a map section. The lane has all of its rows.
  virtual bool AddRowCalls(CallList& list, const MicrobatchContext& context, int device, int64_t first_row) const;
  virtual void AddCalls(CallList& list, const MicrobatchContext& context, int device, const Piece& piece) const {}

  bool writes_variables = false;
  int id = 0;  // index in ListCommands (command_info.h), under which its time is counted
  PlannedWork work;
  // the part of `work` that remains when block updates do the rest (block_updates.h)
  std::optional<PlannedWork> others;

 protected:
  // True if pieces count units larger than elements, such as blocks. Then each piece is a task of its own.
  bool pieces_apart_ = false;

 private:
  friend absl::StatusOr<std::unique_ptr<CpuCommand>> NewCpuCommand(const PlanContext& context,
                                                                   const format::Command& table);

  const format::Command& table_;
  const std::unique_ptr<Command> command_;
  std::vector<Operand> inputs_, outputs_;
};

// Prepares a command. `table` must outlive it. Errors: those of OneDnnPrimitive::Create, and DataLoss for packed
// weights whose buffer is too small.
absl::StatusOr<std::unique_ptr<CpuCommand>> NewCpuCommand(const PlanContext& context, const format::Command& table);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_COMMANDS_CPU_COMMAND_H_
