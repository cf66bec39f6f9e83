# Headers made by the build under ${OPRT_GENERATED}: the umbrella operator_runtime/ops.h, interface.h (the hash by which
# library and modules know each other) and plan_hash/<op>.h. Hashes are remade when a header changes, without a
# configure.
include_guard()

# A header OUTPUT with `#define MACRO "<SHA-256 of the files>"`, and with PATH_MACRO also the path of the (only) file.
#   oprt_hash_header(OUTPUT <file> MACRO <name> [PATH_MACRO <name>] FILES <file>...)
function(oprt_hash_header)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUTPUT;MACRO;PATH_MACRO" "FILES")
    set(script ${OPRT_ROOT}/runtime/cmake/write_hash.cmake)
    cmake_path(RELATIVE_PATH arg_OUTPUT BASE_DIRECTORY ${OPRT_BINARY_DIR} OUTPUT_VARIABLE shown)
    add_custom_command(
        OUTPUT ${arg_OUTPUT}
        COMMAND ${CMAKE_COMMAND} -DOUTPUT=${arg_OUTPUT} -DMACRO=${arg_MACRO} -DPATH_MACRO=${arg_PATH_MACRO}
                "-DFILES=${arg_FILES}" -P ${script}
        DEPENDS ${arg_FILES} ${script}
        COMMENT "Hash ${shown}"
        VERBATIM)
endfunction()

# Target oprt_generated_headers. Files that are new or gone are seen by the next build (CONFIGURE_DEPENDS).
function(oprt_generate_headers)
    set(public ${OPRT_ROOT}/runtime/include)
    file(GLOB operator_headers CONFIGURE_DEPENDS RELATIVE ${public} ${public}/operator_runtime/ops/*.h)
    list(TRANSFORM operator_headers REPLACE "(.+)" "#include \"\\1\"")
    list(JOIN operator_headers "\n" includes)
    file(CONFIGURE OUTPUT ${OPRT_GENERATED}/operator_runtime/ops.h @ONLY CONTENT [=[
/* Made by CMake (runtime/cmake/generated.cmake): every header of operator_runtime/ops. */
#ifndef OPERATOR_RUNTIME_OPS_H
#define OPERATOR_RUNTIME_OPS_H

@includes@

#endif
]=])

    # What crosses between library and module; the plan of an operator has a hash of its own.
    oprt_hash_header(OUTPUT ${OPRT_GENERATED}/interface.h MACRO OPRT_INTERFACE_HASH FILES
        ${OPRT_ROOT}/backends/module.h ${public}/operator_runtime/types.h ${public}/operator_runtime/device.h
        ${public}/operator_runtime/probe.h)
    set(headers ${OPRT_GENERATED}/interface.h)

    # The plan of elementwise/relu is in relu.h and elementwise.h: the <folder>.h of each folder on the way.
    set(operators ${OPRT_ROOT}/operators)
    file(GLOB candidates CONFIGURE_DEPENDS RELATIVE ${operators} ${operators}/*/*.h ${operators}/*/*/*.h)
    foreach(candidate IN LISTS candidates)
        cmake_path(GET candidate STEM op)
        cmake_path(GET candidate PARENT_PATH folder)
        cmake_path(GET folder FILENAME folder_name)
        if(NOT op STREQUAL folder_name)
            continue()
        endif()
        set(files ${operators}/shared/layout.h ${operators}/${candidate})
        cmake_path(GET folder PARENT_PATH parent)
        if(parent AND EXISTS ${operators}/${parent}/${parent}.h)
            list(INSERT files 1 ${operators}/${parent}/${parent}.h)
        endif()
        oprt_hash_header(OUTPUT ${OPRT_GENERATED}/plan_hash/${op}.h MACRO OPRT_PLAN_HASH FILES ${files})
        list(APPEND headers ${OPRT_GENERATED}/plan_hash/${op}.h)
    endforeach()
    add_custom_target(oprt_generated_headers DEPENDS ${headers})
endfunction()
