// Slowdown by message size, as the papers draw it: the x axis is the share of messages, its ticks are their sizes.
#pragma once

#include <vector>

#include "sim/figure.h"
#include "sim/points.h"
#include "sim/published.h"

namespace homa::tools::sim {

/// "2", "1.4 k", "10 M".
std::string short_bytes(double bytes);
/// Sizes at each tenth of the messages.
std::vector<Tick> size_ticks(const std::string& workload);
/// Points of one workload and load, whose curves are named by `names`; one panel for p50 and one for p99, with what was
/// published for that load.
Figure slowdown_figure(const std::string& name, const std::string& title, const std::vector<const Point*>& points,
                       const std::vector<std::string>& names, const Published& published);

}  // namespace homa::tools::sim
