// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "predict/identified_order.h"
#include "predict/next_epochs.h"

namespace augur {

// JobHistory is what one job has read: of each dataset the last order and the view of the mount, and which dataset was
// read after which. From that it says which epoch is to be expected next. A dataset is a list of samples, or a recorded
// run. Not synchronized. Memory: an order for each dataset.
class JobHistory {
 public:
  // The name of the dataset that an order is of.
  static std::string DatasetOf(const IdentifiedOrder& order);

  // An epoch of this order has begun, after the one that began last.
  void Begin(const IdentifiedOrder& order);
  // The epoch that began last is read in this order instead; or the next ones of its dataset by this share. REQUIRES:
  // one has begun.
  void Correct(const IdentifiedOrder& order) { last_[dataset_] = order; }
  void CorrectShare(const RankSubset& share) { last_[dataset_].guess.share = share; }
  // Whether the order is of the dataset of which an epoch began last.
  bool IsOfLastDataset(const IdentifiedOrder& order) const { return DatasetOf(order) == dataset_; }

  // The order is read in this view.
  void ReadIn(const IdentifiedOrder& order, uint32_t view) { views_[ViewKey(order)] = view; }
  // In which such an order was read last.
  std::optional<uint32_t> ViewOf(const IdentifiedOrder& order) const;

  // How the epoch may have been drawn that comes behind `dataset_epoch` passes over its dataset; 0: they are not known.
  // The likeliest dataset first.
  std::vector<Guess> Expected(uint32_t dataset_epoch = 0) const;
  // Whether the seed of the epoch before, of the dataset that is to be expected next, was found by a search of all.
  bool Drawn() const;
  // Where in the streams of known seeds the script's own stream may be.
  void SetStreamPlaces(std::vector<StreamPosition> places) { places_ = std::move(places); }

  // The epoch behind the last one of these, which follow from each other: of the dataset that came after that one's
  // before, mostly the same. None: it does not follow from them. REQUIRES: there is one.
  std::optional<IdentifiedOrder> Next(std::span<const IdentifiedOrder* const> epochs) const;

 private:
  // The same where one record has several datasets.
  static std::string ViewKey(const IdentifiedOrder& order);
  // The dataset of which an epoch is to be expected after one of this dataset.
  const std::string& After(const std::string& dataset) const;

  std::unordered_map<std::string, IdentifiedOrder> last_;  // by dataset
  std::unordered_map<std::string, std::string> after_;     // which dataset was read after which
  std::string dataset_;                                    // of the epoch that began last
  std::unordered_map<std::string, uint32_t> views_;        // by ViewKey
  std::vector<StreamPosition> places_;
};

}  // namespace augur
