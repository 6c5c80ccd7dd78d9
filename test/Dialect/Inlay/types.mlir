// RUN: inlay-opt %s -split-input-file -verify-diagnostics | inlay-opt -split-input-file | FileCheck %s

// CHECK-LABEL: func @types
// CHECK-SAME: %{{.*}}: !inlay.list<tensor<4x4xf32>>, %{{.*}}: !inlay.list<!inlay.list<i64>>
// CHECK-SAME: %{{.*}}: !inlay.object<"Dict(str, Tensor)">, %{{.*}}: !inlay.object<"a \22quoted\22 \\ name">
func.func @types(%list: !inlay.list<tensor<4x4xf32>>, %nested: !inlay.list<!inlay.list<i64>>,
                 %object: !inlay.object<"Dict(str, Tensor)">, %quoted: !inlay.object<"a \"quoted\" \\ name">) {
  return
}

// -----

// expected-error @+1 {{expected the kind of a framework value, but got an empty string}}
func.func @nameless(%object: !inlay.object<"">) { return }

// -----

// expected-error @+2 {{expected string}}
// expected-error @+1 {{failed to parse Inlay_ObjectType parameter 'kind'}}
func.func @unquoted(%object: !inlay.object<None>) { return }
