// Session: a loaded executable with its arenas, threads and access to the variables. Free of LLVM types.
#ifndef TANDEM_RUNTIME_SESSION_SESSION_H_
#define TANDEM_RUNTIME_SESSION_SESSION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/host_tensor.h"
#include "runtime/executable/executable.h"
#include "runtime/session/command_trace.h"
#include "runtime/session/scalar_value.h"
#include "runtime/threads/thread_pool.h"
#include "runtime/variables/variable_store.h"

namespace tandem {

class DeviceClass;   // defined in runtime/session/device_class.h
class ProcessGroup;  // defined in runtime/collectives/process_group.h

// One step's inputs. inputs[r][i] is input i (order of Executable::inputs) for replica r, [rows_r, ...] with 0 <=
// rows_r <= rows_per_lane * lanes / replicas; rows may differ between replicas. The global batch is the rows of replica
// 0, then of replica 1, ...: a row's random numbers depend on its place in it.
//
// replica_rows are the rows of all replicas of the program. They are needed by a program without inputs, and by a group
// of processes. In a group, `inputs` has only the replicas of this process, and every process passes the same
// replica_rows.
struct StepInputs {
  std::vector<std::vector<HostTensor>> inputs;
  std::vector<int64_t> replica_rows;  // if empty, the rows are those of `inputs`
  StepScalars scalars;                // all scalars except those that the session sets itself (base/step_scalars.h)
};

struct StepResult {
  // Outputs in the order of Executable::outputs; batched ones are concatenated over microbatches and this process's
  // replicas.
  std::vector<HostTensor> outputs;
  int64_t examples = 0;  // number of rows of the global batch
  // False if a CheckFinite command found a NaN or infinity; then no variable has changed.
  bool finite = true;
  // For GPUs: the time in which the caller's thread issued the step's commands. For the rest of the step it waits.
  double issue_seconds = 0;
};

// Bytes of a session's memory, without variables and inputs. The system provides arenas' memory on first use.
struct SessionMemory {
  // bytes of all threads' values inside one microbatch, and of scratch and staging memory for library calls
  uint64_t microbatch = 0;
  // bytes of the slots for sums: one per lane (part of the batch), and on a CPU a scratch slot per thread
  uint64_t lane = 0;
  uint64_t step = 0;   // bytes of the step arenas (values of global sections) of all devices
  uint64_t batch = 0;  // bytes of the batch arenas (values with a row per example) of all devices
  uint64_t total() const { return microbatch + lane + step + batch; }
};

// The time of one command of the program, summed over all runs, lanes and microbatches since the session was created.
struct CommandTime {
  int id = 0;           // index in ListCommands (command_info.h)
  std::string section;  // "map" for commands that run in every microbatch, else "global"
  // the command's kind in runtime/format/index.td; "LaneSum" for adding a microbatch's results to those of its lane
  std::string kind;
  std::string name;    // scope and op
  std::string detail;  // the kernel with its ops, or the library's primitive and implementation
  double seconds = 0;  // map commands: summed over the threads; global commands: as measured by the calling thread
  int64_t calls = 0;
};

// One Run at a time: calls from several threads wait for each other.
class Session {
 public:
  struct Options {
    std::shared_ptr<ThreadPool> pool;  // shared by the sessions of a job; must not be null
    bool time_commands = false;        // for command_times(); costs some ten nanoseconds per command and microbatch
    // For GPUs: how many seconds a step may take before the session considers a device or a peer lost. Must be over 0.
    double deadline_seconds = 600;
    // For GPUs: a file with the library plans that were measured to be the fastest. Plans in it are used; those that it
    // lacks are measured on the device and added. If empty, the environment variable TANDEM_GPU_PLANS names the file;
    // without either, the libraries' own preferences are used.
    std::string gpu_plans = "";
    // For GPUs: if true, sums over more than two GPUs are added in the order of the reduction tree, as on CPUs, instead
    // of NCCL's order.
    bool deterministic = false;
    // The processes that run the program together; null if this process has all replicas. Rank r of n has replicas [r
    // R/n, (r + 1) R/n) of R. All processes run the same steps, and fail or find a value that is not finite in the same
    // steps. The group must outlive the session. GPUs exchange values by NCCL, and use the group only to connect and to
    // learn of lost processes.
    ProcessGroup* group = nullptr;
    // For GPUs in a group: the names of this process's devices, one for each of its replicas. The executable names
    // devices as if one process had all replicas. If empty, the executable's names are used.
    std::vector<std::string> devices = {};
  };
  // Checks the executable against this machine, loads kernels, creates primitives, allocates arenas and binds variables
  // by name (they are created, not initialised, where the store lacks them; a shape or dtype mismatch is an error). The
  // store must have a device per replica of this process, and exactly as many when the program updates variables.
  // FailedPrecondition (exit code 2) for a program that was compiled for another class, and where devices are not there
  // or do not fit. CreateSession (runtime/device_classes/device_classes.h) finds the class by itself.
  static absl::StatusOr<std::unique_ptr<Session>> Create(const DeviceClass& device_class,
                                                         std::shared_ptr<const Executable> executable,
                                                         std::shared_ptr<VariableStore> variables, Options options);
  virtual ~Session() = default;

  // Runs one step. `fetches` are indices into Executable::outputs whose values are returned (others stay empty). Values
  // without a batch are those of the first replica. When a check fails (`finite` is false), outputs that were computed
  // before the check have their values; usually the loss is one of them. Errors: InvalidArgument for inputs or scalars
  // that do not fit the executable, FailedPrecondition for a variable that has no value yet.
  virtual absl::StatusOr<StepResult> Run(const StepInputs& inputs, const std::vector<int>& fetches) = 0;

  // Runs the step again with a check of every command's outputs. Returns the name and source line of the first command
  // that produced a NaN or infinity (and the lane and device), or "" if none did. For a kernel of several ops it names
  // all of them. Changes no variable. In a group it checks what this process computes from its own rows; if it finds
  // nothing, another process may.
  virtual absl::StatusOr<std::string> FindNonFinite(const StepInputs& inputs) = 0;

  // True if MakeSibling makes sessions.
  virtual bool CanHaveSiblings() const { return false; }
  // Makes another session of the same program and variables, for steps that run at the same time as this session's. It
  // has memory of its own for what a step computes. It shares machine code and variables and, once this session has
  // made a step, what follows from variables alone, such as packed weights; so variables must not change any more. This
  // session must outlive it. FindNonFinite is not for siblings that share values. Unimplemented without
  // CanHaveSiblings.
  virtual absl::StatusOr<std::unique_ptr<Session>> MakeSibling(std::shared_ptr<ThreadPool> pool);

  // Copies the inputs of a coming step to the devices while a step runs. To be called from another thread than Run,
  // which uses the copies when it gets the same tensors. This is a hint: it does nothing on a CPU, and of more than two
  // waiting batches the oldest is dropped. Errors of the copies are returned by that Run.
  virtual void Prefetch(const StepInputs& inputs) {}
  // True if Prefetch does something.
  virtual bool CanPrefetch() const { return false; }

  virtual SessionMemory memory() const = 0;

  // Returns times in the order of the program; empty without Options::time_commands. Must not be called during a Run.
  virtual std::vector<CommandTime> command_times() const = 0;

  // From the next Run on, adds a record of every execution of a command to `trace`, which gets a list per thread of the
  // pool; null ends the recording. Costs about 50 nanoseconds per record, and nothing without a trace. command_times()
  // does not count traced runs. `trace` must exist until the recording or the session ends. Must not be called during a
  // Run.
  virtual void set_trace(CommandTrace* trace) = 0;
};

// Returns the name of the device class that the executable was compiled for.
absl::string_view DeviceClassName(const Executable& executable);

// Creates those of the executable's variables that the store does not have. Device classes call it.
absl::Status CreateSessionVariables(const Executable& executable, VariableStore& variables);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_SESSION_SESSION_H_
