// Time is part of the public API, so it lives there.
#pragma once

#include "homa/base/time.h"
