# SPDX-License-Identifier: Apache-2.0
# The server of the tests speaks TLS, too.
augur_dependency(ssl libssl 3.0.0 libssl-dev)
augur_test(http
  unit/http/backoff_test.cc unit/http/concurrency_limit_test.cc unit/http/fault_server.cc unit/http/hedge_policy_test.cc
  unit/http/hedged_request_test.cc unit/http/http_engine_order_test.cc unit/http/http_engine_test.cc unit/http/http_request_test.cc
  unit/http/http_tls_test.cc
  unit/http/link_state_test.cc unit/http/lost_link_test.cc unit/http/requests_in_flight_test.cc
  unit/http/retrying_client_test.cc unit/http/slow_transfer_test.cc unit/http/transfer_watch_test.cc
  LAYERS http LIBS PkgConfig::ssl)
