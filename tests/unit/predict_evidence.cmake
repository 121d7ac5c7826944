# SPDX-License-Identifier: Apache-2.0
augur_test(predict_evidence
  unit/predict_evidence/epoch_follower_test.cc unit/predict_evidence/evidence_test.cc
  unit/predict_evidence/candidate_scorer_test.cc unit/predict_evidence/loader_reads.cc unit/predict_evidence/order_fit_test.cc
  LAYERS predict)
