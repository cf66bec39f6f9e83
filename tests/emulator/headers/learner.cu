// A source as learners write it, in CUDA's own syntax: <<<>>>, extern __shared__ in its forms, host variables named as
// the built-ins.
#include <cuda_runtime.h>

#include <cstdio>
#include <utility>
#include <vector>

extern __shared__ float everywhere[];

template <typename T>
__global__ void reverse(T *values) {
    extern __shared__ __align__(16) unsigned char bytes[];
    T *tile = reinterpret_cast<T *>(bytes);
    tile[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void transpose(float *values) {
    extern __shared__ float rows[][8];
    rows[threadIdx.y][threadIdx.x] = values[threadIdx.y * 8 + threadIdx.x];
    __syncthreads();
    values[threadIdx.y * 8 + threadIdx.x] = rows[threadIdx.x][threadIdx.y];
}

__global__ void through_global_name(float *values) {
    everywhere[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    const float *next = everywhere + (threadIdx.x + 1) % blockDim.x;
#pragma unroll
    for (int i = 0; i < 1; ++i) values[threadIdx.x] = *next;
}

template <int amount>
__global__ void add(float *values, size_t count) {
    const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] += amount;
}

__global__ void refuse(int x) { assert(x == 0); }

#define RUN(kernel, ...) kernel<<<gridDim, blockDim>>>(__VA_ARGS__)

int main() {
    constexpr int count = 64;
    std::vector<float> host(count);
    for (int i = 0; i < count; ++i) host[i] = static_cast<float>(i);
    float *values;
    cudaMalloc(&values, count * sizeof(float));
    cudaMemcpy(values, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    dim3 gridDim(2), blockDim(32);
    cudaStream_t stream;
    cudaStreamCreate(&stream);

    reverse<<<1, count, count * sizeof(float), stream>>>(values);         // 63, 62, ...
    reverse<float><<<1, count, count * sizeof(float), stream>>>(values);  // 0, 1, ...
    transpose<<<1, dim3(8, 8), count * sizeof(float), stream>>>(values);
    cudaStreamSynchronize(stream);
    RUN(add<100>, values, count);
    through_global_name<<<1, count, count * sizeof(float)>>>(values);
    if (cudaGetLastError() != cudaSuccess) return 1;
    reverse<<<1, 2000>>>(values);
    if (cudaGetLastError() != cudaErrorInvalidConfiguration) return 2;
    cudaMemcpy(host.data(), values, count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; ++i) {
        const int from = (i + 1) % count;
        if (host[i] != static_cast<float>(from % 8 * 8 + from / 8 + 100)) {
            std::printf("value %d is %g\n", i, host[i]);
            return 3;
        }
    }
    refuse<<<1, 1>>>(7);
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    std::printf("passed\n");
}
