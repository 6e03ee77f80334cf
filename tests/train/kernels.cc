// The PTX text; see kernels.h.
#include "tests/train/kernels.h"

namespace c4::train {

// c4_fill and c4_scale walk the array in strides of the whole grid, so any grid size is right.
const char kKernelsPtx[] = R"ptx(
.version 6.0
.target sm_50
.address_size 64

.visible .entry c4_compute(.param .u64 duration_ns)
{
  .reg .pred %more;
  .reg .u64 %duration, %begin, %now, %elapsed;
  ld.param.u64 %duration, [duration_ns];
  mov.u64 %begin, %globaltimer;
spin:
  mov.u64 %now, %globaltimer;
  sub.u64 %elapsed, %now, %begin;
  setp.lt.u64 %more, %elapsed, %duration;
  @%more bra spin;
  ret;
}

.visible .entry c4_fill(.param .u64 pointer, .param .f32 value, .param .u64 count)
{
  .reg .pred %past_end;
  .reg .u32 %block, %threads, %thread, %first, %blocks, %stride32;
  .reg .u64 %base, %count, %index, %stride, %address;
  .reg .f32 %value;
  ld.param.u64 %base, [pointer];
  ld.param.f32 %value, [value];
  ld.param.u64 %count, [count];
  cvta.to.global.u64 %base, %base;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mad.lo.u32 %first, %block, %threads, %thread;
  cvt.u64.u32 %index, %first;
  mov.u32 %blocks, %nctaid.x;
  mul.lo.u32 %stride32, %blocks, %threads;
  cvt.u64.u32 %stride, %stride32;
fill_next:
  setp.ge.u64 %past_end, %index, %count;
  @%past_end bra fill_done;
  shl.b64 %address, %index, 2;
  add.u64 %address, %address, %base;
  st.global.f32 [%address], %value;
  add.u64 %index, %index, %stride;
  bra fill_next;
fill_done:
  ret;
}

.visible .entry c4_scale(.param .u64 pointer, .param .f32 factor, .param .u64 count)
{
  .reg .pred %past_end;
  .reg .u32 %block, %threads, %thread, %first, %blocks, %stride32;
  .reg .u64 %base, %count, %index, %stride, %address;
  .reg .f32 %factor, %value;
  ld.param.u64 %base, [pointer];
  ld.param.f32 %factor, [factor];
  ld.param.u64 %count, [count];
  cvta.to.global.u64 %base, %base;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mad.lo.u32 %first, %block, %threads, %thread;
  cvt.u64.u32 %index, %first;
  mov.u32 %blocks, %nctaid.x;
  mul.lo.u32 %stride32, %blocks, %threads;
  cvt.u64.u32 %stride, %stride32;
scale_next:
  setp.ge.u64 %past_end, %index, %count;
  @%past_end bra scale_done;
  shl.b64 %address, %index, 2;
  add.u64 %address, %address, %base;
  ld.global.f32 %value, [%address];
  mul.f32 %value, %value, %factor;
  st.global.f32 [%address], %value;
  add.u64 %index, %index, %stride;
  bra scale_next;
scale_done:
  ret;
}

.visible .entry c4_stuck(.param .u64 flag)
{
  .reg .pred %unset;
  .reg .u32 %seen;
  .reg .u64 %address;
  ld.param.u64 %address, [flag];
  cvta.to.global.u64 %address, %address;
again:
  ld.volatile.global.u32 %seen, [%address];
  setp.eq.u32 %unset, %seen, 0;
  @%unset bra again;
  ret;
}
)ptx";

}  // namespace c4::train
