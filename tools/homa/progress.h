// A progress line for what takes longer than two seconds; only on a terminal.
#pragma once

#include <string>

#include "base/time.h"

namespace homa::tools {

class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// True at most four times a second, once two seconds have passed: then it is worth making a text for show().
  bool due();
  void show(const std::string& text);
  Duration elapsed() const;

 private:
  Time begin_;
  Time next_;
  bool terminal_ = false;
  bool shown_ = false;
};

/// "512 B", "1.5 MB".
std::string human_bytes(double bytes);
/// "950 ns", "12.3 us", "4.56 ms", "7.8 s".
std::string human_time(double nanoseconds);

}  // namespace homa::tools
