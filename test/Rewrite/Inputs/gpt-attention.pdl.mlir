// The rewrites that TensorRT-LLM applies to its attention plugin, as rules.

// Moves the bias of the projection before the plugin into the plugin. The plugin must have no bias yet. Its input must
// be the sum of a constant and a value that is not constant, without other users.
pdl.pattern @fuse_attention_with_bias : benefit(1) {
  %x = pdl.operand
  %bias = pdl.operand
  %rest = pdl.operands
  %depth = pdl.attribute = 10 : i64
  pdl.apply_native_constraint "foldable"(%bias, %depth : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "foldable"(%x, %depth : !pdl.value, !pdl.attribute) {isNegated = true}
  %t = pdl.type
  %out = pdl.type
  %cache = pdl.type
  %name = pdl.attribute = "GPTAttention"
  %flag = pdl.attribute = "qkv_bias_enabled"
  %add = pdl.operation "inlay.add"(%x, %bias : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %qkv = pdl.result 0 of %add
  %plugin = pdl.operation "inlay.plugin"(%qkv, %rest : !pdl.value, !pdl.range<value>) {"name" = %name}
    -> (%out, %cache : !pdl.type, !pdl.type)
  pdl.apply_native_constraint "absent"(%plugin, %flag : !pdl.operation, !pdl.attribute)
  pdl.rewrite %plugin {
    %enabled = pdl.attribute = 1 : i64
    %new = pdl.operation "inlay.plugin"(%x, %rest, %bias : !pdl.value, !pdl.range<value>, !pdl.value)
      {"name" = %name, "qkv_bias_enabled" = %enabled} -> (%out, %cache : !pdl.type, !pdl.type)
    pdl.replace %plugin with %new
  }
}

// Packs a padded batch into one row: [batch, length, hidden] becomes [1, batch * length, hidden].
pdl.pattern @remove_input_padding : benefit(1) {
  %qkv = pdl.operand
  %rest = pdl.operands
  %zero = pdl.attribute = 0 : i64
  %one = pdl.attribute = 1 : i64
  pdl.apply_native_constraint "dim"(%qkv, %zero, %one : !pdl.value, !pdl.attribute, !pdl.attribute) {isNegated = true}
  %out = pdl.type
  %cache = pdl.type
  %name = pdl.attribute = "GPTAttention"
  %plugin = pdl.operation "inlay.plugin"(%qkv, %rest : !pdl.value, !pdl.range<value>) {"name" = %name}
    -> (%out, %cache : !pdl.type, !pdl.type)
  pdl.rewrite %plugin {
    %hidden_name = pdl.attribute = "hidden_size"
    %hidden = pdl.apply_native_rewrite "arg"(%hidden_name : !pdl.attribute) : !pdl.attribute
    %all = pdl.attribute = -1 : i64
    %packed = pdl.apply_native_rewrite "dims"(%one, %all, %hidden : !pdl.attribute, !pdl.attribute, !pdl.attribute)
      : !pdl.attribute
    %pack = pdl.operation "inlay.reshape"(%qkv : !pdl.value) {"shape" = %packed}
    %row = pdl.result 0 of %pack
    %new = pdl.operation "inlay.plugin"(%row, %rest : !pdl.value, !pdl.range<value>) {"name" = %name}
      -> (%out, %cache : !pdl.type, !pdl.type)
    pdl.replace %plugin with %new
  }
}
