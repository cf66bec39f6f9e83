# Finds the launchers of a backend and makes one small translation unit for each launcher and technique of a module,
# from backends/launcher.cu.in and technique.cu.in. Which kernel file a launcher includes is decided here: the
# learner's, where the module is the learner's (OVERLAY) and the file exists, else the reference. Nothing central lists
# operators.
include_guard()

# INPUT OUTPUT: <<<>>> and extern __shared__ become C++ that the emulator understands; lines stay where they are.
set(OPRT_REWRITER ${OPRT_ROOT}/backends/emulator/rewrite.py)

# Sources of one module in <result>, folders for its include path (before all others) in <result>_INCLUDES, targets to
# build first in <result>_DEPENDS.
#   oprt_make_launchers(<result> BACKEND <backend> DEVICE <emulator|gpu> [OVERLAY])
function(oprt_make_launchers result)
    cmake_parse_arguments(PARSE_ARGV 1 arg "OVERLAY" "BACKEND;DEVICE" "")
    include(${OPRT_ROOT}/backends/${arg_BACKEND}/backend.cmake)
    set(operators ${OPRT_ROOT}/operators)
    set(name ${arg_BACKEND}_${arg_DEVICE})
    set(rewritten ${OPRT_BINARY_DIR}/rewritten/${arg_BACKEND})
    set(units ${CMAKE_CURRENT_BINARY_DIR}/launchers)
    set(identities ${CMAKE_CURRENT_BINARY_DIR}/kernel_identity)
    set(unit_extension ${OPRT_SOURCE_EXTENSION})
    set(includes "")
    set(depends "")
    if(arg_DEVICE STREQUAL emulator)
        set(unit_extension cc)
        set(includes ${rewritten})
        set(depends oprt_rewritten_${name})
    endif()

    _oprt_find_launchers(launchers ${arg_BACKEND})
    set(learner_files "")
    if(arg_OVERLAY)
        set(units ${units}_overlay)
        set(staged ${OPRT_BINARY_DIR}/staged/${name})
        _oprt_stage_learner_files(learner_files ${name} ${staged} "${launchers}")
        list(PREPEND includes ${staged})
        if(learner_files)
            list(APPEND depends oprt_staged_${name})
        endif()
    endif()

    set(sources "")
    set(kernels "")     # reference kernel files, relative to operators/
    foreach(launcher IN LISTS launchers)
        _oprt_split_launcher(${launcher} op folder)
        set(kernel ${launcher})
        if(OPRT_KERNEL_NAME AND EXISTS ${operators}/${folder}/${OPRT_KERNEL_NAME})
            set(kernel ${folder}/${OPRT_KERNEL_NAME})
        endif()
        list(APPEND kernels ${kernel})
        cmake_path(GET kernel FILENAME kernel_name)

        if("${op}/${arg_BACKEND}/${kernel_name}" IN_LIST learner_files)
            set(chosen ${staged}/${op}/${arg_BACKEND}/${kernel_name})
            set(identity ${chosen}.identity.h)
        else()
            set(chosen ${operators}/${kernel})
            if(arg_DEVICE STREQUAL emulator)
                set(chosen ${rewritten}/${kernel})
            endif()
            set(identity ${identities}/${op}.h)
        endif()
        set(kernel_define "")
        set(launcher_include ${chosen})
        if(NOT kernel STREQUAL launcher)
            set(kernel_define "#define OPRT_KERNEL_FILE \"${chosen}\"")
            set(launcher_include ${operators}/${launcher})
        endif()
        set(unit ${units}/${op}.${unit_extension})
        configure_file(${OPRT_ROOT}/backends/launcher.cu.in ${unit} @ONLY)
        list(APPEND sources ${unit})

        if(arg_OVERLAY)
            continue()
        endif()
        oprt_hash_header(OUTPUT ${identities}/${op}.h MACRO OPRT_KERNEL_SHA256 PATH_MACRO OPRT_KERNEL_PATH
                         FILES ${operators}/${kernel})
        set(identity_headers ${identity_headers} ${identities}/${op}.h)

        file(GLOB techniques CONFIGURE_DEPENDS RELATIVE ${operators}
             ${operators}/${folder}/techniques/*.${OPRT_TECHNIQUE_EXTENSION})
        list(APPEND kernels ${techniques})
        _oprt_plan_header(${op} ${folder} plan_include)
        foreach(technique_file IN LISTS techniques)
            cmake_path(GET technique_file STEM technique)
            set(identity ${identities}/${op}.${technique}.h)
            set(technique_include ${technique_file})
            set(unit ${units}/${op}.${technique}.${unit_extension})
            configure_file(${OPRT_ROOT}/backends/technique.cu.in ${unit} @ONLY)
            list(APPEND sources ${unit})
            oprt_hash_header(OUTPUT ${identity} MACRO OPRT_KERNEL_SHA256 PATH_MACRO OPRT_KERNEL_PATH
                             FILES ${operators}/${technique_file})
            list(APPEND identity_headers ${identity})
        endforeach()
    endforeach()

    if(NOT arg_OVERLAY)
        add_custom_target(oprt_identities_${name} DEPENDS ${identity_headers})
        if(arg_DEVICE STREQUAL emulator)
            _oprt_rewrite_kernels(oprt_rewritten_${name} ${rewritten} "${kernels}")
        endif()
    endif()
    list(APPEND depends oprt_identities_${name})
    set(${result} "${sources}" PARENT_SCOPE)
    set(${result}_INCLUDES "${includes}" PARENT_SCOPE)
    set(${result}_DEPENDS "${depends}" PARENT_SCOPE)
endfunction()

# Launcher files relative to operators/: <op>/<backend>/<op><suffix> and the same one folder further down. A file whose
# operator is not the name of its folder, such as a scaffold's, is none.
function(_oprt_find_launchers result backend)
    set(operators ${OPRT_ROOT}/operators)
    file(GLOB candidates CONFIGURE_DEPENDS RELATIVE ${operators}
         ${operators}/*/${backend}/*${OPRT_LAUNCHER_SUFFIX} ${operators}/*/*/${backend}/*${OPRT_LAUNCHER_SUFFIX})
    set(launchers "")
    foreach(candidate IN LISTS candidates)
        _oprt_split_launcher(${candidate} op folder)
        if("/${folder}" MATCHES "/${op}/${backend}$")
            list(APPEND launchers ${candidate})
        endif()
    endforeach()
    set(${result} "${launchers}" PARENT_SCOPE)
endfunction()

# softmax/nvidia/softmax_cuda.cu -> softmax, softmax/nvidia
function(_oprt_split_launcher launcher op_result folder_result)
    cmake_path(GET launcher PARENT_PATH folder)
    cmake_path(GET launcher FILENAME op)
    string(LENGTH "${OPRT_LAUNCHER_SUFFIX}" suffix_length)
    string(LENGTH "${op}" length)
    math(EXPR length "${length} - ${suffix_length}")
    string(SUBSTRING "${op}" 0 ${length} op)
    set(${op_result} ${op} PARENT_SCOPE)
    set(${folder_result} ${folder} PARENT_SCOPE)
endfunction()

# elementwise/relu/nvidia -> elementwise/relu/relu.h
function(_oprt_plan_header op folder result)
    cmake_path(GET folder PARENT_PATH parent)
    set(${result} ${parent}/${op}.h PARENT_SCOPE)
endfunction()

# The emulator compiles kernel files with <<<>>> and extern __shared__ turned into C++: copies under rewritten/, with
# the lines and the file name of the original. One target for all of them.
function(_oprt_rewrite_kernels target rewritten kernels)
    set(outputs "")
    foreach(kernel IN LISTS kernels)
        add_custom_command(
            OUTPUT ${rewritten}/${kernel}
            COMMAND ${Python_EXECUTABLE} -S -E ${OPRT_REWRITER} ${OPRT_ROOT}/operators/${kernel} ${rewritten}/${kernel}
            DEPENDS ${OPRT_ROOT}/operators/${kernel} ${OPRT_REWRITER}
            COMMENT "Rewrite ${kernel} for the emulator"
            VERBATIM)
        list(APPEND outputs ${rewritten}/${kernel})
    endforeach()
    add_custom_target(${target} DEPENDS ${outputs})
endfunction()

# A learner's files reach the compiler as copies under staged/, because ninja compares times only: a file that was
# replaced by an older one would be missed. The copies are refreshed by content each time the overlay is built; a file
# that appears or goes is seen by CONFIGURE_DEPENDS. result: the files, relative to OPRT_KERNELS.
function(_oprt_stage_learner_files result name staged launchers)
    string(REGEX REPLACE "_.*" "" backend ${name})
    set(patterns "")
    foreach(extension IN LISTS OPRT_KERNEL_EXTENSIONS)
        list(APPEND patterns ${OPRT_KERNELS}/*/${backend}/*.${extension} ${OPRT_KERNELS}/*/${backend}/*/*.${extension})
    endforeach()
    file(GLOB files CONFIGURE_DEPENDS RELATIVE ${OPRT_KERNELS} ${patterns})
    _oprt_warn_of_unknown_operators("${files}" "${launchers}")

    set(copies ${files})
    list(TRANSFORM copies PREPEND ${staged}/)
    list(TRANSFORM copies APPEND .identity.h OUTPUT_VARIABLE identity_headers)
    set(byproducts ${copies} ${identity_headers})
    file(GLOB_RECURSE present ${staged}/*)
    list(REMOVE_ITEM present ${byproducts})
    if(present)
        file(REMOVE ${present})
    endif()

    if(files)
        set(rewriter "")
        if(name MATCHES "_emulator$")
            set(rewriter ${OPRT_REWRITER})
        endif()
        add_custom_target(oprt_staged_${name}
            COMMAND ${CMAKE_COMMAND} "-DFILES=${files}" -DFROM=${OPRT_KERNELS} -DTO=${staged}
                    -DPYTHON=${Python_EXECUTABLE} -DREWRITER=${rewriter} -P ${OPRT_ROOT}/runtime/cmake/stage.cmake
            BYPRODUCTS ${byproducts}
            COMMENT "Look at the learner's files in ${OPRT_KERNELS}"
            VERBATIM)
    endif()
    set(${result} "${files}" PARENT_SCOPE)
endfunction()

function(_oprt_warn_of_unknown_operators files launchers)
    set(known "")
    foreach(launcher IN LISTS launchers)
        _oprt_split_launcher(${launcher} op folder)
        list(APPEND known ${op})
    endforeach()
    foreach(file IN LISTS files)
        string(REGEX REPLACE "/.*" "" op ${file})
        if(NOT op IN_LIST known)
            list(JOIN known ", " known_text)
            message(WARNING "${OPRT_KERNELS}/${file} is of no known operator and is not used. Known: ${known_text}")
        endif()
    endforeach()
endfunction()
