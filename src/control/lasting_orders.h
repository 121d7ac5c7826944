// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/lasting_texts.h"

namespace augur {

// What the prediction of a daemon writes down for the daemon that goes on with the mount (OrderHandover).
struct LastingOrders {
  LastingTexts followed;  // orders that jobs follow
  LastingTexts hints;     // of 'augurctl hint --sampler', the newest first
};

}  // namespace augur
