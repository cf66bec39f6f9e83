# OPRT_VERSION, read from the public header: the one place that has it.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../include/operator_runtime/types.h oprt_version_lines
     REGEX "^#define OPRT_VERSION_(MAJOR|MINOR|PATCH) [0-9]+$")
list(TRANSFORM oprt_version_lines REPLACE "^.* " "")
list(JOIN oprt_version_lines "." OPRT_VERSION)
