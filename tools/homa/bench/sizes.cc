#include "bench/sizes.h"

#include <cctype>

#include "failure.h"
#include "parse.h"

namespace homa::tools {

simulation::Workload parse_sizes(const std::string& text) {
  if (!text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0) {
    if (const auto size = parse_size(text)) return simulation::Workload::fixed(*size);
  }
  auto sizes = simulation::Workload::read(text);
  if (!sizes) throw usage_failure(sizes.error);
  return *std::move(sizes.value);
}

}  // namespace homa::tools
