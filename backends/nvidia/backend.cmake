# How the sources of NVIDIA kernels are laid out under operators/: read by runtime/cmake/launchers.cmake and by the
# emulator's build.
set(OPRT_LAUNCHER_SUFFIX _cuda.cu)        # operators/<op>/nvidia/<op>_cuda.cu registers the operator
set(OPRT_KERNEL_NAME kernel.cuh)          # and includes the kernel file beside it, which a learner replaces
set(OPRT_TECHNIQUE_EXTENSION cuh)         # operators/<op>/nvidia/techniques/<technique>.cuh
set(OPRT_KERNEL_EXTENSIONS cuh cu h hpp)  # what a learner's folder may hold
set(OPRT_SOURCE_EXTENSION cu)             # of a translation unit for the vendor's compiler
set(OPRT_WARP_SIZE 32)
