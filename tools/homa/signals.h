// SIGINT and SIGTERM end a command cleanly: a flag that loops look at.
#pragma once

#include <atomic>

namespace homa::tools {

/// Installs the handlers once; the flag becomes true at the first signal. A second SIGINT kills as usual.
const std::atomic<bool>& stop_requested();
/// Sleeps until a signal came.
void wait_for_stop();

}  // namespace homa::tools
