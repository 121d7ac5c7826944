# SPDX-License-Identifier: Apache-2.0
# What makes a defect harder to use: for every program, in every build but those of the sanitizers, which see more and
# do not go with it. tests/cli/test_hardening.py reads the built programs.
include(CheckCXXCompilerFlag)
include(CheckPIESupported)

check_pie_supported(LANGUAGES CXX) # for -pie at the link; CMAKE_POSITION_INDEPENDENT_CODE asks for it

if(NOT AUGUR_SANITIZE AND NOT AUGUR_FUZZ)
  # A return address behind an array is checked; array bounds of the C++ library are, too.
  add_compile_options(-fstack-protector-strong)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  # Bounds of the C library's calls, where the compiler knows them: only with optimisation. Some systems set it already.
  add_compile_options($<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
  # Jumps and returns lead only where they may, on processors that have it (x86: CET), where the C library's start files
  # are built so, too; those of Debian 12 are not.
  check_cxx_compiler_flag(-fcf-protection=full AUGUR_HAS_CF_PROTECTION)
  if(AUGUR_HAS_CF_PROTECTION)
    add_compile_options(-fcf-protection=full)
  endif()
  # Tables of addresses are filled at the start, and read-only from then on.
  add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endif()
