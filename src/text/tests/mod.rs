mod errors;
mod random;
mod round_trips;

use super::*;

/// A kernel with every kind of line.
const EVERYTHING: &str = r#"kernel "all of it \"\u{7}" workgroup 8 4 2 contract {
  scalar arg0 "n" u32
  buffer buf0 "in" f32 read set 0 binding 0
  buffer buf1 "größe; \\ 'x'" i64 read_write set 1 binding 7 may_alias
  scalar arg1 bool
  buffer buf2 f32 write set 0 binding 2
  buffer buf3 "count" u32 read_write set 0 binding 3 may_alias
  shared shared0 "tile" f32 x 256 zeroed
  shared shared1 u32 dynamic
  private private0 "p" u32 x 4
  v0: u32 = global_id.y
  v1: u32 = const 3
  v2: i64 = const -9223372036854775808
  v3: f32 = const 0x7FC00001
  v4: f32 = const -0.0
  v5: f32 = const 1e-45
  v6: f64 = const -inf
  v7: bool = param arg1
  v8: f32 = load buf0[v0 + 4294967295] volatile coherent
  store buf1[v0], v2
  store buf2[v0 + 7], v8 coherent
  v11: u64 = array_length buf2
  v12: u32 = atomic_add buf3[v11], v1
  v13: u32 = atomic_compare_exchange buf3[v0 + 1], v1, v12 acq_rel workgroup
  atomic_store shared1[v1], v0 release device
  v15: i32 = convert v3
  v16: u32 = bitfield_insert v0, v1, v1, v1
  memory_fence workgroup
  memory_fence device
  workgroup_barrier
  var20: f32 = var v3
  loop
    v22: f32 = var_get var20
    v23: bool = lt v22, v3
    if v7
      break
    else
      var_set var20, v4
    end
  continuing
  end
  return
}
"#;
