#version 460
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer A { int a[]; };
int f(int n) { for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) { if (a[j] == 3) return j; if (a[j] == 4) continue; if (a[i] == 5) break; switch (a[j]) { case 0: continue; case 1: if (a[i] > 1) break; a[i] = 2; break; case 7: return 9; } } } return 0; }
void main() { int r = f(a[0]); for (;;) { if (r > 3) { if (r > 4) break; r++; } else { while (r < 2) { r++; if (a[r] == 1) continue; a[r]++; } } r += 2; } switch (r) { default: switch (r + 1) { case 2: a[1] = r; } break; case 4: for (int k = 0; k < 3; ++k) if (a[k] > 2) break; } a[2] = r; }
