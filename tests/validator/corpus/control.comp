#version 460
layout(local_size_x=64) in;
layout(std430,binding=0) buffer A { float a[]; };
layout(std430,binding=1) readonly buffer B { vec4 b[]; };
layout(push_constant) uniform P { uint n; float s; } p;
shared float sm[64];
float f(float x, inout float y){ y += x; return sin(x)*y; }
void main(){ uint i=gl_GlobalInvocationID.x; if(i>=p.n) return; float acc=0; for(int k=0;k<4;k++){ if (b[i][k]<0.5) continue; acc+=f(b[i][k],acc)*1e-20; if(acc>3.0) break;} sm[gl_LocalInvocationIndex]=acc; barrier(); switch(i%4u){case 0u: acc+=1; case 1u: acc*=2; break; default: acc=0;} a[i]=acc*p.s+sm[(i+1)&63]; }
