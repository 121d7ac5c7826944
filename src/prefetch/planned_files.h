// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <unordered_set>

#include "datasets/order.h"

namespace augur {

// Who says in which order files are read.
enum class OrderSource {
  kNothing,
  kGiven,      // a client of the control socket
  kPredicted,  // the OrderPredictor
  kPass,       // reads in path order
};

// The files that the planner of a view was told of.
struct PlannedFiles {
  OrderSource source = OrderSource::kNothing;
  std::unordered_set<EntryNumber> of_orders;  // all of them
  std::shared_ptr<const Order> of_fill;       // all files of the store, once they were to be brought
  bool filling = false;
  std::shared_ptr<const Order> of_warm;  // those that 'augurctl warm' has asked for and that have room
  bool warming = false;                  // ... and they are being read

  // Whether other files have no use that is known, or have to give way to those of 'augurctl warm'. Of a pass, the next
  // files are not known either.
  bool AreAll() const {
    return source == OrderSource::kGiven || source == OrderSource::kPredicted || filling || warming;
  }
};

}  // namespace augur
