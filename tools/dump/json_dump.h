// Shows an executable as JSON.
#ifndef TANDEM_TOOLS_DUMP_JSON_DUMP_H_
#define TANDEM_TOOLS_DUMP_JSON_DUMP_H_

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/executable/executable.h"

namespace tandem {

// Top-level keys of the result: executable, replicas, collectives, kernels, commands, memory, variables, phases. With
// `expand_replicas`, the commands are listed for every replica, with its name, instead of once for each program.
nlohmann::ordered_json DumpJson(const Executable& executable, bool expand_replicas);

// Returns a JSON string without its quotes, and any other value as JSON text.
std::string TextOf(const nlohmann::ordered_json& value);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_JSON_DUMP_H_
