# Helpers that define a library, a tool and generated sources. A CMakeLists.txt lists the sources, the libraries that
# they link and the TableGen targets that they need.

# inlay_compile_together(TARGET): compiles the sources of each folder of TARGET in batches of one compiler run each. Most
# of the time goes into MLIR's headers, which a batch reads once. A batch stays small, so that a change of one source
# compiles again within seconds.
function(inlay_compile_together name)
  if(NOT INLAY_UNITY)
    return()
  endif()
  get_target_property(sources ${name} SOURCES)
  foreach(source ${sources})
    get_filename_component(folder "${source}" DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    math(EXPR size_${folder} "0${size_${folder}} + 1")
    math(EXPR batch "(${size_${folder}} - 1) / ${INLAY_UNITY_BATCH}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${folder}${batch}")
  endforeach()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# add_inlay_library(InlayFoo SOURCES... [NO_MLIR] [DEPENDS ...] [LINK ...]): defines a static library whose public headers
# are in include/.
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
      target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O2>)
    endif()
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  inlay_compile_together(${name})
  set_property(GLOBAL APPEND PROPERTY INLAY_LIBRARIES ${name})
  install(TARGETS ${name} EXPORT InlayTargets)
endfunction()

# add_inlay_tool(inlay-foo SOURCES... LINK ...): defines an executable in build/bin.
function(add_inlay_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  inlay_compile_together(${name})
  set_property(GLOBAL APPEND PROPERTY INLAY_TOOLS ${name})
  install(TARGETS ${name})
endfunction()

# inlay_tablegen(TARGET FILE.td OUTPUT "FLAGS" [OUTPUT "FLAGS"]...): generates each OUTPUT from FILE.td with its flags.
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
