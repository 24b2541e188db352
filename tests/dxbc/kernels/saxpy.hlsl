// The kernel of that name in examples/kernels: y[i] = a * x[i] + y[i] for i < n.
StructuredBuffer<float> x : register(t0);
RWStructuredBuffer<float> y : register(u1);
cbuffer Scalars : register(b0) { float a; uint n; };

[numthreads(256, 1, 1)]
void saxpy(uint3 id : SV_DispatchThreadID)
{
    if (id.x < n)
        y[id.x] = mad(a, x[id.x], y[id.x]);
}
