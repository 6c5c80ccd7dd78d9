// The page needs no other file and handles any label.
// RUN: inlay-opt %s --inlay-partition=report=%t.html -o /dev/null
// RUN: %python %S/Inputs/check_page.py %t.html segment=6 box=6 frame=2 region=2 clone=1
// RUN: FileCheck %s < %t.html
// RUN: inlay-opt %s --inlay-partition --inlay-partition-report="format=html output=%t.txt" -o /dev/null && cmp %t.html %t.txt
// RUN: inlay-opt %s --inlay-partition=report=%t.htm -o /dev/null && cmp %t.html %t.htm

// CHECK: <!DOCTYPE html>
// CHECK: <title>Partition</title>
// CHECK: <h1>Partition of <code>@forward</code></h1>
// CHECK: <i>ops on accelerators</i><b>2</b><i>of 6, 33.3 %</i>
// CHECK: <i>segments</i><b>3</b><i>no fewer are possible; 2 more in regions</i>
// CHECK: <i>across accelerator borders</i><b>≥ 128 B</b>
// CHECK: <b>npu&lt;/style&gt;</b> 2 ops in 2 segments

// The graph: bytes on arrows, and regions in the box of their owner.
// CHECK: <title>#0 to #1: 64 B in &lt;script&gt;alert(&quot;1&#39;&amp;2&quot;)&lt;/script&gt;</title>
// CHECK: <a href="#f0s0" class="t0"><title>#0 on npu&lt;/style&gt;: &lt;script&gt;
// CHECK: class="small"{{.*}}>region 0</text>
// CHECK: <text class="bytes"{{.*}}>64 B</text>

// The ops and their reasons.
// CHECK: <code title="supported">%_script_alert__1__2____script_ : tensor&lt;4x4xf32&gt; = aten::cat(%l)</code></li>
// CHECK: <code title="non-tensor: its result is needed outside of accelerators (because of s)">%l : {{.*}}</code><span class="why"
// CHECK: <td>no-converter: g: g is not among the ops that &#39;npu&lt;/style&gt;&#39; declares</td><td class="mono">s e</td>
// CHECK: no partition of these ops to these targets has fewer than 3 segments.
// CHECK: <td class="n" data-v="0">0</td><td class="mono">&lt;script&gt;alert(&quot;1&#39;&amp;2&quot;)&lt;/script&gt;</td>

// The next function has different ids. A function without ops is stated as such.
// CHECK: <h1>Partition of <code>@second</code></h1>
// CHECK: <details class="segment t1" id="f1s0" open>
// CHECK: <h1>Partition of <code>@third</code></h1>
// CHECK: <b>0</b><i>of 0, 0.0 %</i>

!t = tensor<4x4xf32>
module attributes {inlay.targets = [#inlay.declared<"npu</style>", ["prim::ListConstruct", "aten::cat", "f"]>, #inlay.declared<"host", ["*"]>]} {
  func.func @forward(%x: !t, %c: i1) -> (tensor<?xf32>, !t) {
    %l = inlay.opaque "prim::ListConstruct"(%x, %x) : (!t, !t) -> !inlay.list<!t> loc("l")
    %a = inlay.opaque "aten::cat"(%l) : (!inlay.list<!t>) -> !t loc("<script>alert(\221'&2\22)</script>")
    %s:2 = inlay.opaque "g"(%l, %a) : (!inlay.list<!t>, !t) -> (!t, tensor<?xf32>) loc("s")
    %i = scf.if %c -> tensor<?xf32> {
      %t = inlay.opaque "f"(%s#1) : (tensor<?xf32>) -> tensor<?xf32> loc("\FF\01 bytes")
      scf.yield %t : tensor<?xf32>
    } else {
      %e = inlay.opaque "g"(%s#1) : (tensor<?xf32>) -> tensor<?xf32> loc("e")
      scf.yield %e : tensor<?xf32>
    } loc("if")
    return %i, %s#0 : tensor<?xf32>, !t
  }
  func.func @second(%x: !t) -> !t {
    %0 = inlay.opaque "g"(%x) : (!t) -> !t
    return %0 : !t
  }
  func.func @third() {
    return
  }
}
