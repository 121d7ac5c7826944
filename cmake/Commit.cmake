# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=FOLDER -DGIVEN=TEXT -DHEADER=FILE -P Commit.cmake: writes the commit of FOLDER into a header, which changes only if the
# commit does. TEXT, if not empty, stands for what git would say: for a build from a folder that has no history.
set(commit "${GIVEN}")
if(commit STREQUAL "")
  find_program(GIT git)
  set(commit "not known (built without git)")
  if(GIT)
    # A folder within another repository has no commit of its own.
    execute_process(COMMAND ${GIT} rev-parse --show-toplevel WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE top RESULT_VARIABLE failed
                    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    file(REAL_PATH ${SOURCE} source)
    if(NOT failed AND top STREQUAL source)
      execute_process(COMMAND ${GIT} log -1 "--format=%h of %cs" --abbrev=12 WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE found
                      RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
      execute_process(COMMAND ${GIT} --no-optional-locks status --porcelain --untracked-files=no WORKING_DIRECTORY ${SOURCE}
                      OUTPUT_VARIABLE changes ERROR_QUIET)
      if(NOT failed)
        set(commit "${found}")
        if(changes)
          string(APPEND commit ", with changes")
        endif()
      endif()
    endif()
  endif()
endif()
string(REGEX REPLACE "[\\\"\n]" " " commit "${commit}")
set(text "#define AUGUR_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${HEADER} "${text}")
endif()
