# Cross-compiles for AArch64 with Debian's g++-aarch64-linux-gnu, and runs the programs in qemu-user-static. All libraries
# and headers except those of C and C++ are in INLAY_SYSROOT, where fetch_arm64.sh installs them.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${INLAY_SYSROOT})

set(CMAKE_FIND_ROOT_PATH ${INLAY_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES INLAY_SYSROOT)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${INLAY_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR}
    ${INLAY_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${INLAY_SYSROOT}/usr/share/pkgconfig)
set(OpenMP_gomp_LIBRARY gomp CACHE STRING "the OpenMP runtime of the compiler")
