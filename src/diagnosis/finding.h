// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace augur {

// One result of a diagnosis, for people and programs: the symptom with its numbers, what it comes from, what to do.
struct Finding {
  enum class Weight {
    kProblem,  // it holds the run back now, or keeps the machine from mounting
    kAdvice,   // it may cost something, or will
    kFine,     // looked at, and in order
  };
  Weight weight = Weight::kFine;
  std::string_view name;  // one for each kind, for programs: "disk-iops"
  std::string text;       // sentences: symptom and cause
  std::string cure;       // sentences; empty: there is nothing to do
};

// Whether one of them is a problem.
bool HasProblem(const std::vector<Finding>& findings);

// Problems first, then advice, each with its cure; in each weight the order of the list.
std::string RenderFindings(const std::vector<Finding>& findings);
// {"findings": [{"name", "weight": "problem" | "advice" | "fine", "text", "cure"}]}, in the same order.
std::string RenderFindingsJson(const std::vector<Finding>& findings);

}  // namespace augur
