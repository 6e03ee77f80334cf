// A libcuda.so.1 with the functions that the hook asks for. Streams are created out of thin air:
// any pointer is one. An event recorded on a stream completes at once, unless the stream is held;
// then the test lets events through one by one. Times are CLOCK_MONOTONIC.
#pragma once

extern "C" {
void FakeCudaHold(void* stream);
// Completes the oldest `count` pending events of the stream, now.
void FakeCudaLetThrough(void* stream, int count);
void FakeCudaSetCapturing(void* stream, int is_capturing);
// What cuEventRecord and cuEventQuery return from now on, instead of working. 0: they work.
void FakeCudaFail(int status);
int FakeCudaPending(void* stream);
}
