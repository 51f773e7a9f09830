// The types of executable.fbs, declared: for headers that name them and do not look into them, so that who includes
// these does not read the generated header of 10,000 lines.
#ifndef TANDEM_RUNTIME_EXECUTABLE_FWD_H_
#define TANDEM_RUNTIME_EXECUTABLE_FWD_H_

#include <cstdint>

namespace tandem::fb {

enum class Activation : int8_t;
enum class Algorithm : int8_t;
enum class DType : int8_t;
enum class Domain : int8_t;
enum class InstructionSet : int8_t;
enum class LibraryOperation : uint8_t;
enum class ReduceKind : int8_t;
enum class SectionKind : int8_t;
enum class SegmentKind : int8_t;
enum class Space : int8_t;
enum class Stream : int8_t;
enum class Summed : int8_t;
struct BatchMatMulT;
struct BlockUpdateT;
struct BufferT;
struct CollectiveT;
struct CommandT;
struct Conv2DT;
struct ExecutableT;
struct GpuLaunchT;
struct GpuProgramT;
struct GroupedLaunchT;
struct InitializerT;
struct InputT;
struct KernelArgumentT;
struct KernelT;
struct LibraryCallT;
struct MatMulT;
struct PackWeightsT;
struct ProgramT;
struct SectionT;
struct SegmentT;

}  // namespace tandem::fb

#endif  // TANDEM_RUNTIME_EXECUTABLE_FWD_H_
