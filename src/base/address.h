// Addresses are part of the public API, so they live there.
#pragma once

#include "homa/base/address.h"
