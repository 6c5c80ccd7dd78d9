# Two helpers: a library per folder, a tool per main. A leaf CMakeLists holds sources, its own IncGen and what it links.

# add_inlay_library(InlayFoo SOURCES... [DEPENDS ...] [LINK ...]): one static library with public headers in include/.
function(add_inlay_library name)
  cmake_parse_arguments(ARG "NO_MLIR" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/lib)
  if(NOT ARG_NO_MLIR)
    target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    target_link_libraries(${name} PUBLIC MLIR LLVM)
    if(INLAY_PRECOMPILE)
      target_precompile_headers(${name} REUSE_FROM InlayPrecompiled)
    endif()
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY INLAY_LIBRARIES ${name})
  install(TARGETS ${name} EXPORT InlayTargets)
endfunction()

# add_inlay_tool(inlay-foo SOURCES... LINK ...): an executable in build/bin.
function(add_inlay_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  set_property(GLOBAL APPEND PROPERTY INLAY_TOOLS ${name})
  install(TARGETS ${name})
endfunction()

# inlay_tablegen(TARGET td OUTPUT -gen-flags ... OUTPUT2 -gen...): pairs of output file and generator flags.
macro(inlay_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(pairs ${ARGN})
  while(pairs)
    list(POP_FRONT pairs output flags)
    separate_arguments(flags)
    mlir_tablegen(${output} ${flags})
  endwhile()
  add_public_tablegen_target(${target})
endmacro()
