# SPDX-License-Identifier: Apache-2.0
augur_test(fleet
  unit/fleet/fleet_address_test.cc unit/fleet/fleet_client_test.cc unit/fleet/fleet_list_test.cc
  unit/fleet/fleet_self_test.cc unit/fleet/held_name.cc
  unit/fleet/member_breaker_test.cc unit/fleet/memcached_connection_test.cc unit/fleet/memcached_server.cc
  unit/fleet/rendezvous_test.cc unit/fleet/reply_deadline_test.cc unit/store/test_store.cc
  LAYERS fleet store LIBS PkgConfig::xxhash PkgConfig::crypto)
