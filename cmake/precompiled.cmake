# Headers that cost more to read than the files that include them: read once a target, where a target is large enough to gain.
# Never for kernels: each of those files has instruction-set flags of its own. ccache needs -fpch-preprocess, and its
# sloppiness (scripts/build sets it).
function(laya_precompile TARGET)
  target_precompile_headers(${TARGET} PRIVATE ${ARGN})
  target_compile_options(${TARGET} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()
