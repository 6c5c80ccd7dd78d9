// Fuses the ops that models write out into a single op. The rules expect the form that `cleanup` produces: squares as
// products, and quotients by roots as products with `rsqrt`.

// x w^T -> linear(x, w)
pdl.pattern @linear : benefit(1) {
  %x = pdl.operand
  %w = pdl.operand
  %two = pdl.attribute = 2 : i64
  pdl.apply_native_constraint "rank"(%w, %two : !pdl.value, !pdl.attribute)
  %dims = pdl.attribute = array<i64: 1, 0>
  %permute = pdl.operation "inlay.permute"(%w : !pdl.value) {"dims" = %dims} {shared}
  %transposed = pdl.result 0 of %permute
  %matmul = pdl.operation "inlay.matmul"(%x, %transposed : !pdl.value, !pdl.value)
  pdl.rewrite %matmul {
    %new = pdl.operation "inlay.linear"(%x, %w : !pdl.value, !pdl.value)
    pdl.replace %matmul with %new
  }
}

// linear(x, w) + b -> linear(x, w, b)
pdl.pattern @linear_bias : benefit(2) {
  %x = pdl.operand
  %w = pdl.operand
  %b = pdl.operand
  %one = pdl.attribute = 1 : i64
  %zero = pdl.attribute = 0 : i64
  pdl.apply_native_constraint "rank"(%b, %one : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "same_dim"(%b, %zero, %w, %zero : !pdl.value, !pdl.attribute, !pdl.value, !pdl.attribute)
  %t = pdl.type
  %linear = pdl.operation "inlay.linear"(%x, %w : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %product = pdl.result 0 of %linear
  %add = pdl.operation "inlay.add"(%product, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %add {
    %new = pdl.operation "inlay.linear"(%x, %w, %b : !pdl.value, !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %add with %new
  }
}

// batch_norm(conv(x, w)) -> conv(x, w * scale, shift), with scale and shift computed from weights only
pdl.pattern @conv_batch_norm : benefit(1) attributes {finite} {
  %x = pdl.operand
  %w = pdl.operand
  %gamma = pdl.operand
  %beta = pdl.operand
  %mean = pdl.operand
  %var = pdl.operand
  %depth = pdl.attribute = 4 : i64
  pdl.apply_native_constraint "foldable"(%w, %depth : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "foldable"(%gamma, %depth : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "foldable"(%beta, %depth : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "foldable"(%mean, %depth : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "foldable"(%var, %depth : !pdl.value, !pdl.attribute)
  %stride = pdl.attribute
  %padding = pdl.attribute
  %dilation = pdl.attribute
  %groups = pdl.attribute
  %eps = pdl.attribute
  %t = pdl.type
  %conv = pdl.operation "inlay.conv"(%x, %w : !pdl.value, !pdl.value)
    {"stride" = %stride, "padding" = %padding, "dilation" = %dilation, "groups" = %groups} -> (%t : !pdl.type)
  %product = pdl.result 0 of %conv
  %norm = pdl.operation "inlay.batch_norm"(%product, %gamma, %beta, %mean, %var
    : !pdl.value, !pdl.value, !pdl.value, !pdl.value, !pdl.value) {"eps" = %eps} -> (%t : !pdl.type)
  pdl.rewrite %norm {
    %number = pdl.apply_native_rewrite "scalar"(%eps, %var : !pdl.attribute, !pdl.value) : !pdl.attribute
    %constant = pdl.operation "inlay.constant" {"value" = %number}
    %c = pdl.result 0 of %constant
    %above = pdl.operation "inlay.add"(%var, %c : !pdl.value, !pdl.value)
    %a = pdl.result 0 of %above
    %rsqrt = pdl.operation "inlay.rsqrt"(%a : !pdl.value)
    %r = pdl.result 0 of %rsqrt
    %scaling = pdl.operation "inlay.mul"(%gamma, %r : !pdl.value, !pdl.value)
    %scale = pdl.result 0 of %scaling
    %shape = pdl.apply_native_rewrite "column_shape"(%w : !pdl.value) : !pdl.attribute
    %reshape = pdl.operation "inlay.reshape"(%scale : !pdl.value) {"shape" = %shape}
    %column = pdl.result 0 of %reshape
    %weighing = pdl.operation "inlay.mul"(%w, %column : !pdl.value, !pdl.value)
    %weight = pdl.result 0 of %weighing
    %moving = pdl.operation "inlay.mul"(%mean, %scale : !pdl.value, !pdl.value)
    %moved = pdl.result 0 of %moving
    %shifting = pdl.operation "inlay.sub"(%beta, %moved : !pdl.value, !pdl.value)
    %shift = pdl.result 0 of %shifting
    %new = pdl.operation "inlay.conv"(%x, %weight, %shift : !pdl.value, !pdl.value, !pdl.value)
      {"stride" = %stride, "padding" = %padding, "dilation" = %dilation, "groups" = %groups} -> (%t : !pdl.type)
    pdl.replace %norm with %new
  }
}

// batch_norm(conv(x, w, b)) -> conv(x, w * scale, shift), with scale and shift computed from weights only
pdl.pattern @conv_bias_batch_norm : benefit(1) attributes {finite} {
  %x = pdl.operand
  %w = pdl.operand
  %b = pdl.operand
  %gamma = pdl.operand
  %beta = pdl.operand
  %mean = pdl.operand
  %var = pdl.operand
  %depth = pdl.attribute = 4 : i64
  pdl.apply_native_constraint "foldable"(%w, %depth : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "foldable"(%b, %depth : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "foldable"(%gamma, %depth : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "foldable"(%beta, %depth : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "foldable"(%mean, %depth : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "foldable"(%var, %depth : !pdl.value, !pdl.attribute)
  %stride = pdl.attribute
  %padding = pdl.attribute
  %dilation = pdl.attribute
  %groups = pdl.attribute
  %eps = pdl.attribute
  %t = pdl.type
  %conv = pdl.operation "inlay.conv"(%x, %w, %b : !pdl.value, !pdl.value, !pdl.value)
    {"stride" = %stride, "padding" = %padding, "dilation" = %dilation, "groups" = %groups} -> (%t : !pdl.type)
  %product = pdl.result 0 of %conv
  %norm = pdl.operation "inlay.batch_norm"(%product, %gamma, %beta, %mean, %var
    : !pdl.value, !pdl.value, !pdl.value, !pdl.value, !pdl.value) {"eps" = %eps} -> (%t : !pdl.type)
  pdl.rewrite %norm {
    %number = pdl.apply_native_rewrite "scalar"(%eps, %var : !pdl.attribute, !pdl.value) : !pdl.attribute
    %constant = pdl.operation "inlay.constant" {"value" = %number}
    %c = pdl.result 0 of %constant
    %above = pdl.operation "inlay.add"(%var, %c : !pdl.value, !pdl.value)
    %a = pdl.result 0 of %above
    %rsqrt = pdl.operation "inlay.rsqrt"(%a : !pdl.value)
    %r = pdl.result 0 of %rsqrt
    %scaling = pdl.operation "inlay.mul"(%gamma, %r : !pdl.value, !pdl.value)
    %scale = pdl.result 0 of %scaling
    %shape = pdl.apply_native_rewrite "column_shape"(%w : !pdl.value) : !pdl.attribute
    %reshape = pdl.operation "inlay.reshape"(%scale : !pdl.value) {"shape" = %shape}
    %column = pdl.result 0 of %reshape
    %weighing = pdl.operation "inlay.mul"(%w, %column : !pdl.value, !pdl.value)
    %weight = pdl.result 0 of %weighing
    %centering = pdl.operation "inlay.sub"(%b, %mean : !pdl.value, !pdl.value)
    %centered = pdl.result 0 of %centering
    %moving = pdl.operation "inlay.mul"(%centered, %scale : !pdl.value, !pdl.value)
    %moved = pdl.result 0 of %moving
    %shifting = pdl.operation "inlay.add"(%beta, %moved : !pdl.value, !pdl.value)
    %shift = pdl.result 0 of %shifting
    %new = pdl.operation "inlay.conv"(%x, %weight, %shift : !pdl.value, !pdl.value, !pdl.value)
      {"stride" = %stride, "padding" = %padding, "dilation" = %dilation, "groups" = %groups} -> (%t : !pdl.type)
    pdl.replace %norm with %new
  }
}

// x * sigmoid(x) -> silu(x)
pdl.pattern @silu : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %sigmoid = pdl.operation "inlay.sigmoid"(%x : !pdl.value) -> (%t : !pdl.type)
  %gate = pdl.result 0 of %sigmoid
  %mul = pdl.operation "inlay.mul"(%x, %gate : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %mul {
    %new = pdl.operation "inlay.silu"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %mul with %new
  }
}

// x * 0.5 * (1 + erf(x / sqrt(2))) -> gelu(x)
pdl.pattern @gelu : benefit(2) {
  %x = pdl.operand
  %half = pdl.operand
  %root = pdl.operand
  %one = pdl.operand
  %a = pdl.attribute = 0.5 : f64
  %b = pdl.attribute = 1.4142135623730951 : f64
  %c = pdl.attribute = 1.0 : f64
  %near = pdl.attribute = 1.0e-6 : f64
  pdl.apply_native_constraint "splat"(%half, %a : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "splat"(%root, %b, %near : !pdl.value, !pdl.attribute, !pdl.attribute)
  pdl.apply_native_constraint "splat"(%one, %c : !pdl.value, !pdl.attribute)
  %t = pdl.type
  %halving = pdl.operation "inlay.mul"(%x, %half : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %h = pdl.result 0 of %halving
  %div = pdl.operation "inlay.div"(%x, %root : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %d = pdl.result 0 of %div
  %erf = pdl.operation "inlay.erf"(%d : !pdl.value) -> (%t : !pdl.type)
  %e = pdl.result 0 of %erf
  %add = pdl.operation "inlay.add"(%e, %one : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %s = pdl.result 0 of %add
  %mul = pdl.operation "inlay.mul"(%h, %s : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %mul {
    %new = pdl.operation "inlay.gelu"(%x : !pdl.value)
    pdl.replace %mul with %new
  }
}

// x * 0.5 * (1 + erf(x * sqrt(1/2))) -> gelu(x)
pdl.pattern @gelu_product : benefit(2) {
  %x = pdl.operand
  %half = pdl.operand
  %root = pdl.operand
  %one = pdl.operand
  %a = pdl.attribute = 0.5 : f64
  %b = pdl.attribute = 0.70710678118654752 : f64
  %c = pdl.attribute = 1.0 : f64
  %near = pdl.attribute = 1.0e-6 : f64
  pdl.apply_native_constraint "splat"(%half, %a : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "splat"(%root, %b, %near : !pdl.value, !pdl.attribute, !pdl.attribute)
  pdl.apply_native_constraint "splat"(%one, %c : !pdl.value, !pdl.attribute)
  %t = pdl.type
  %halving = pdl.operation "inlay.mul"(%x, %half : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %h = pdl.result 0 of %halving
  %scaling = pdl.operation "inlay.mul"(%x, %root : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %d = pdl.result 0 of %scaling
  %erf = pdl.operation "inlay.erf"(%d : !pdl.value) -> (%t : !pdl.type)
  %e = pdl.result 0 of %erf
  %add = pdl.operation "inlay.add"(%e, %one : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %s = pdl.result 0 of %add
  %mul = pdl.operation "inlay.mul"(%h, %s : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %mul {
    %new = pdl.operation "inlay.gelu"(%x : !pdl.value)
    pdl.replace %mul with %new
  }
}

// exp(x - amax(x)) / sum(exp(x - amax(x))) -> softmax(x)
pdl.pattern @softmax : benefit(2) {
  %x = pdl.operand
  %floats = pdl.attribute = [f16, bf16, f32, f64]
  pdl.apply_native_constraint "dtype"(%x, %floats : !pdl.value, !pdl.attribute)
  %dims = pdl.attribute
  %dim = pdl.apply_native_constraint "only"(%dims : !pdl.attribute) : !pdl.attribute
  %keepdim = pdl.attribute = unit
  %t = pdl.type
  %u = pdl.type
  %amax = pdl.operation "inlay.amax"(%x : !pdl.value) {"dims" = %dims, "keepdim" = %keepdim} -> (%u : !pdl.type)
  %largest = pdl.result 0 of %amax
  %sub = pdl.operation "inlay.sub"(%x, %largest : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %below = pdl.result 0 of %sub
  %exp = pdl.operation "inlay.exp"(%below : !pdl.value) -> (%t : !pdl.type)
  %power = pdl.result 0 of %exp
  %sum = pdl.operation "inlay.sum"(%power : !pdl.value) {"dims" = %dims, "keepdim" = %keepdim} -> (%u : !pdl.type)
  %total = pdl.result 0 of %sum
  %div = pdl.operation "inlay.div"(%power, %total : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %div {
    %new = pdl.operation "inlay.softmax"(%x : !pdl.value) {"dim" = %dim}
    pdl.replace %div with %new
  }
}

// exp(x) / sum(exp(x)) -> softmax(x), which does not overflow
pdl.pattern @softmax_unshifted : benefit(1) attributes {finite} {
  %x = pdl.operand
  %floats = pdl.attribute = [f16, bf16, f32, f64]
  pdl.apply_native_constraint "dtype"(%x, %floats : !pdl.value, !pdl.attribute)
  %dims = pdl.attribute
  %dim = pdl.apply_native_constraint "only"(%dims : !pdl.attribute) : !pdl.attribute
  %keepdim = pdl.attribute = unit
  %t = pdl.type
  %exp = pdl.operation "inlay.exp"(%x : !pdl.value) -> (%t : !pdl.type)
  %power = pdl.result 0 of %exp
  %sum = pdl.operation "inlay.sum"(%power : !pdl.value) {"dims" = %dims, "keepdim" = %keepdim}
  %total = pdl.result 0 of %sum
  %div = pdl.operation "inlay.div"(%power, %total : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %div {
    %new = pdl.operation "inlay.softmax"(%x : !pdl.value) {"dim" = %dim}
    pdl.replace %div with %new
  }
}

// (q * s) (k^T * s) -> (q * (s * s)) k^T: scales the scores of attention once
pdl.pattern @attention_scale : benefit(1) attributes {finite} {
  %q = pdl.operand
  %k = pdl.operand
  %s = pdl.operand
  %zero = pdl.attribute = 0 : i64
  pdl.apply_native_constraint "rank"(%s, %zero : !pdl.value, !pdl.attribute)
  pdl.apply_native_constraint "constant"(%s : !pdl.value)
  %t = pdl.type
  %u = pdl.type
  %queries = pdl.operation "inlay.mul"(%q, %s : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %a = pdl.result 0 of %queries
  %keys = pdl.operation "inlay.mul"(%k, %s : !pdl.value, !pdl.value) -> (%u : !pdl.type)
  %b = pdl.result 0 of %keys
  %matmul = pdl.operation "inlay.matmul"(%a, %b : !pdl.value, !pdl.value)
  pdl.rewrite %matmul {
    %squaring = pdl.operation "inlay.mul"(%s, %s : !pdl.value, !pdl.value)
    %square = pdl.result 0 of %squaring
    %scaling = pdl.operation "inlay.mul"(%q, %square : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    %scaled = pdl.result 0 of %scaling
    %new = pdl.operation "inlay.matmul"(%scaled, %k : !pdl.value, !pdl.value)
    pdl.replace %matmul with %new
  }
}

// (x - mean(x)) * rsqrt(mean((x - mean(x))^2) + eps) * w + b -> layer_norm(x, w, b)
pdl.pattern @layer_norm : benefit(2) attributes {finite} {
  %x = pdl.operand
  %w = pdl.operand
  %b = pdl.operand
  %c = pdl.operand
  %floats = pdl.attribute = [f32, f64]
  pdl.apply_native_constraint "dtype"(%x, %floats : !pdl.value, !pdl.attribute)
  %dims = pdl.attribute
  pdl.apply_native_constraint "trailing_dims"(%dims, %x, %w : !pdl.attribute, !pdl.value, !pdl.value)
  pdl.apply_native_constraint "same_type"(%w, %b : !pdl.value, !pdl.value)
  %min = pdl.attribute = 1 : i64
  %max = pdl.attribute = 8 : i64
  pdl.apply_native_constraint "rank"(%w, %min, %max : !pdl.value, !pdl.attribute, !pdl.attribute)
  %eps = pdl.apply_native_constraint "splat_value"(%c : !pdl.value) : !pdl.attribute
  %keepdim = pdl.attribute = unit
  %t = pdl.type
  %u = pdl.type
  %averaging = pdl.operation "inlay.mean"(%x : !pdl.value) {"dims" = %dims, "keepdim" = %keepdim} -> (%u : !pdl.type)
  %mean = pdl.result 0 of %averaging
  %sub = pdl.operation "inlay.sub"(%x, %mean : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %centered = pdl.result 0 of %sub
  %squaring = pdl.operation "inlay.mul"(%centered, %centered : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %square = pdl.result 0 of %squaring
  %spread = pdl.operation "inlay.mean"(%square : !pdl.value) {"dims" = %dims, "keepdim" = %keepdim} -> (%u : !pdl.type)
  %variance = pdl.result 0 of %spread
  %adding = pdl.operation "inlay.add"(%variance, %c : !pdl.value, !pdl.value) -> (%u : !pdl.type)
  %above = pdl.result 0 of %adding
  %rsqrt = pdl.operation "inlay.rsqrt"(%above : !pdl.value) -> (%u : !pdl.type)
  %over = pdl.result 0 of %rsqrt
  %norming = pdl.operation "inlay.mul"(%centered, %over : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %normal = pdl.result 0 of %norming
  %weighing = pdl.operation "inlay.mul"(%normal, %w : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %weighed = pdl.result 0 of %weighing
  %add = pdl.operation "inlay.add"(%weighed, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %add {
    %new = pdl.operation "inlay.layer_norm"(%x, %w, %b : !pdl.value, !pdl.value, !pdl.value) {"eps" = %eps}
    pdl.replace %add with %new
  }
}
