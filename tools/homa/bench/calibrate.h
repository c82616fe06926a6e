// What this core does right now, printed beside measurements: neighbours on a shared machine change it.
#pragma once

namespace homa::tools {

struct Calibration {
  double alu_nanoseconds = 0;  ///< one step of a dependent multiply-xor chain
  double copy_gigabytes = 0;   ///< memcpy of 32 MiB, 10^9 bytes per second
};

/// Takes about 0.2 s.
Calibration calibrate();

}  // namespace homa::tools
