# Writes .clangd at the root of the checkout (ignored by git), so that an editor resolves host code by the build's
# commands and kernels through the emulator's stand-in headers, without any SDK. Only for a build folder inside the
# checkout.
include_guard()

function(oprt_write_clangd)
    cmake_path(IS_PREFIX OPRT_ROOT ${OPRT_BINARY_DIR} NORMALIZE inside)
    if(NOT inside)
        return()
    endif()
    string(CONFIGURE [=[
# Made by CMake (runtime/cmake/editor.cmake); the next configure writes it again.
CompileFlags:
  CompilationDatabase: @OPRT_BINARY_DIR@
  Remove: [-mtls-dialect=*, -fno-gnu-unique]
]=] text @ONLY)
    oprt_known_backends(backends)
    list(JOIN backends "|" vendor_folders)
    foreach(backend IN LISTS backends)
        _oprt_append_clangd_rule(text ${backend} ".*/${backend}/.*\\.(cu|cuh|maca|h|hpp)" "")
    endforeach()
    # Device code that all vendors share is shown as the first built backend compiles it.
    list(GET OPRT_BACKEND 0 backend)
    _oprt_append_clangd_rule(text ${backend} "operators/.*\\.h" ".*/(${vendor_folders})/.*")
    set(old "")
    if(EXISTS ${OPRT_ROOT}/.clangd)
        file(READ ${OPRT_ROOT}/.clangd old)
    endif()
    if(NOT text STREQUAL old)
        file(WRITE ${OPRT_ROOT}/.clangd "${text}")
    endif()
endfunction()

# Files whose path from the checkout's root matches path, but not exclude, are C++ over the stand-in headers of backend.
function(_oprt_append_clangd_rule result backend path exclude)
    include(${OPRT_ROOT}/backends/${backend}/backend.cmake)
    set(except "")
    if(exclude)
        set(except "\n  PathExclude: ${exclude}")
    endif()
    string(CONFIGURE [=[
---
If:
  PathMatch: @path@@except@
CompileFlags:
  CompilationDatabase: None
  Add:
    - -xc++
    - -std=c++17
    - -I@OPRT_ROOT@
    - -I@OPRT_ROOT@/runtime/include
    - -I@OPRT_ROOT@/operators
    - -I@OPRT_ROOT@/backends/@backend@/include
    - -I@OPRT_ROOT@/backends/emulator/include
    - -I@OPRT_GENERATED@
    - -DOPRT_EMULATOR_WARP_SIZE=@OPRT_WARP_SIZE@
    - -DOPRT_PLAN_HASH=""
    - -DOPRT_KERNEL_PATH=""
    - -DOPRT_KERNEL_SHA256=""
    - -DOPRT_KERNEL_FILE="@OPRT_KERNEL_NAME@"
    - -Wno-unknown-pragmas
]=] rule @ONLY)
    set(${result} "${${result}}${rule}" PARENT_SCOPE)
endfunction()
