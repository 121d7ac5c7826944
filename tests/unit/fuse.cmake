# SPDX-License-Identifier: Apache-2.0
augur_test(fuse unit/fuse/attributes_test.cc unit/fuse/dying_daemons_test.cc unit/fuse/errno_table_test.cc unit/fuse/held_daemon_test.cc unit/fuse/held_mount_test.cc unit/fuse/holder_link_test.cc unit/fuse/lasting_state_test.cc unit/fuse/mount_refusal_test.cc unit/fuse/other_process.cc unit/fuse/passed_fds_test.cc unit/fuse/pending_signals_test.cc unit/fuse/program_start_test.cc unit/fuse/program_trial_test.cc unit/fuse/recent_deaths_test.cc
  unit/fuse/ring_area_test.cc unit/fuse/transport_choice_test.cc unit/fuse/upgrade_attempt_test.cc unit/fuse/uring_transport_test.cc unit/fuse/writable_folder_test.cc
  LAYERS fuse)
augur_test(settings unit/tools/augurfs_settings_test.cc LAYERS tools)
augur_test(daemon_signals unit/tools/daemon_signals_test.cc ${PROJECT_SOURCE_DIR}/tools/daemon_signals.cc LAYERS fuse tools)
