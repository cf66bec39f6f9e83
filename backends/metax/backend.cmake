# How the sources of MetaX kernels are laid out under operators/: read by runtime/cmake/launchers.cmake and by the
# emulator's build.
set(OPRT_LAUNCHER_SUFFIX _metax.maca)   # operators/<op>/metax/<op>_metax.maca holds kernels and registration
set(OPRT_KERNEL_NAME "")                # so a learner replaces that file itself
set(OPRT_TECHNIQUE_EXTENSION h)         # operators/<op>/metax/techniques/<technique>.h
set(OPRT_KERNEL_EXTENSIONS maca h hpp)  # what a learner's folder may hold
set(OPRT_SOURCE_EXTENSION maca)         # of a translation unit for the vendor's compiler
set(OPRT_WARP_SIZE 64)
