# Settings that every library of the build shares, checks of the cache variables, and what configure leaves in the build
# folder. Vendors' toolchains are in backends/<backend>/CMakeLists.txt.
include_guard()
include(CheckCXXCompilerFlag)

# A backend is a folder that says how its launchers are laid out.
function(oprt_known_backends result)
    file(GLOB descriptions RELATIVE ${OPRT_ROOT}/backends ${OPRT_ROOT}/backends/*/backend.cmake)
    list(TRANSFORM descriptions REPLACE "/backend.cmake$" "")
    set(${result} "${descriptions}" PARENT_SCOPE)
endfunction()

# variable: name of a list; each entry must be one of known, and there must be one.
function(oprt_check_choice variable known)
    list(JOIN known ", " known_text)
    if("${${variable}}" STREQUAL "")
        message(FATAL_ERROR "${variable} is empty, wanted one or more of: ${known_text}")
    endif()
    foreach(entry IN LISTS ${variable})
        if(NOT entry IN_LIST known)
            message(FATAL_ERROR "${variable} has \"${entry}\", wanted one or more of: ${known_text}")
        endif()
    endforeach()
endfunction()

function(oprt_use_ccache)
    find_program(OPRT_CCACHE ccache)
    if(OPRT_CCACHE)
        foreach(language C CXX CUDA)
            if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
                set(CMAKE_${language}_COMPILER_LAUNCHER ${OPRT_CCACHE} PARENT_SCOPE)
            endif()
        endforeach()
    endif()
endfunction()

# C++17, hidden symbols, warnings, the include roots. Two modules in one process must not share template statics, which
# g++ and nvcc make unique for the whole process unless told not to. CMAKE_COMPILE_WARNING_AS_ERROR turns warnings into
# errors.
function(oprt_configure_target target)
    set_target_properties(${target} PROPERTIES
        CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON
        CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF
        CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    target_include_directories(${target} PRIVATE
        ${OPRT_ROOT} ${OPRT_ROOT}/runtime/include ${OPRT_ROOT}/operators ${OPRT_GENERATED})
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra>
        $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>
        $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-fno-gnu-unique>)
    add_dependencies(${target} oprt_generated_headers)
endfunction()

# Only symbols that match pattern leave the library, whatever the compiler exports; unresolved symbols fail here, not at
# load.
function(oprt_export_only target pattern)
    set(map ${CMAKE_CURRENT_BINARY_DIR}/${target}.map)
    file(CONFIGURE OUTPUT ${map} CONTENT "{ global: ${pattern}; local: *; };\n")
    target_link_options(${target} PRIVATE -Wl,-z,defs -Wl,--version-script=${map})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()

# The module of one backend and device: <folder>/<name>.so. variant "overlay" is the learner's: not part of a plain
# build.
#   oprt_add_module(<target> <name> [OVERLAY] SOURCES ...)
function(oprt_add_module target name)
    cmake_parse_arguments(PARSE_ARGV 2 arg "OVERLAY" "" "SOURCES")
    if(arg_OVERLAY)
        set(folder ${OPRT_BINARY_DIR}/overlay)
        add_library(${target} MODULE EXCLUDE_FROM_ALL ${arg_SOURCES})
        # A learner's warning is advice.
        set_target_properties(${target} PROPERTIES COMPILE_WARNING_AS_ERROR OFF)
    else()
        set(folder ${OPRT_BINARY_DIR})
        add_library(${target} MODULE ${arg_SOURCES})
        install(TARGETS ${target} LIBRARY DESTINATION .)
    endif()
    oprt_configure_target(${target})
    if(arg_OVERLAY)  # an exercise that is not begun uses none of its parameters
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-unused-parameter>)
    endif()
    oprt_export_only(${target} oprt_get_module)
    set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${folder})
    set_property(GLOBAL APPEND PROPERTY OPRT_MODULES ${folder}/${name}.so)
endfunction()

# A module that this configuration does not build would be loaded all the same, stale.
function(oprt_remove_stale_modules)
    get_property(wanted GLOBAL PROPERTY OPRT_MODULES)
    file(GLOB present ${OPRT_BINARY_DIR}/camp_ops_*.so ${OPRT_BINARY_DIR}/overlay/camp_ops_*.so)
    if(present)
        list(REMOVE_ITEM present ${wanted})
    endif()
    if(present)
        file(REMOVE ${present})
    endif()
endfunction()

# Whoever cleans removes only folders with this file.
function(oprt_mark_build_folder)
    set(marker ${OPRT_BINARY_DIR}/.operator-runtime-build)
    if(NOT EXISTS ${marker})
        file(WRITE ${marker} "A build folder of Operator Runtime. It holds nothing that a build does not make again.\n")
    endif()
endfunction()
