// The host functions of the vendors' runtimes, written once: cuda_runtime_api.h and mc_runtime_api.h include this text
// with their prefix. Thin: types of the vendor outside, oprt_emulator/runtime.h inside. Calls that make no sense on an
// emulator (textures, peers, memory pools, graphics) are not there, so that using one is a compile error and not a
// wrong answer.
//   OPRT_EMULATOR_API(name)      puts the prefix before a name: cudaMalloc, mcMalloc
//   OPRT_EMULATOR_API_PREFIX     the prefix as text
//   OPRT_EMULATOR_API_IS_MACA    1 for mc, 0 for cuda

#define OPRT_EMULATOR_ENUMERATOR(name, number, text) OPRT_EMULATOR_API(name) = number,
enum OPRT_EMULATOR_API(Error) { OPRT_EMULATOR_ERRORS(OPRT_EMULATOR_ENUMERATOR) };
#undef OPRT_EMULATOR_ENUMERATOR
typedef enum OPRT_EMULATOR_API(Error) OPRT_EMULATOR_API(Error_t);

typedef oprt_emulator::runtime::stream *OPRT_EMULATOR_API(Stream_t);
typedef oprt_emulator::runtime::event *OPRT_EMULATOR_API(Event_t);
typedef oprt_emulator::runtime::graph *OPRT_EMULATOR_API(Graph_t);
typedef oprt_emulator::runtime::executable *OPRT_EMULATOR_API(GraphExec_t);
typedef struct OPRT_EMULATOR_API(GraphNode) * OPRT_EMULATOR_API(GraphNode_t);
typedef void (*OPRT_EMULATOR_API(HostFn_t))(void *data);

enum OPRT_EMULATOR_API(MemcpyKind) {
    OPRT_EMULATOR_API(MemcpyHostToHost) = 0,
    OPRT_EMULATOR_API(MemcpyHostToDevice) = 1,
    OPRT_EMULATOR_API(MemcpyDeviceToHost) = 2,
    OPRT_EMULATOR_API(MemcpyDeviceToDevice) = 3,
    OPRT_EMULATOR_API(MemcpyDefault) = 4
};
enum OPRT_EMULATOR_API(MemoryType) {
    OPRT_EMULATOR_API(MemoryTypeUnregistered) = 0,
    OPRT_EMULATOR_API(MemoryTypeHost) = 1,
    OPRT_EMULATOR_API(MemoryTypeDevice) = 2,
    OPRT_EMULATOR_API(MemoryTypeManaged) = 3
};
enum OPRT_EMULATOR_API(StreamCaptureMode) {
    OPRT_EMULATOR_API(StreamCaptureModeGlobal) = 0,
    OPRT_EMULATOR_API(StreamCaptureModeThreadLocal) = 1,
    OPRT_EMULATOR_API(StreamCaptureModeRelaxed) = 2
};
enum OPRT_EMULATOR_API(StreamCaptureStatus) {
    OPRT_EMULATOR_API(StreamCaptureStatusNone) = 0,
    OPRT_EMULATOR_API(StreamCaptureStatusActive) = 1,
    OPRT_EMULATOR_API(StreamCaptureStatusInvalidated) = 2
};
enum OPRT_EMULATOR_API(FuncAttribute) {
    OPRT_EMULATOR_API(FuncAttributeMaxDynamicSharedMemorySize) = 8,
    OPRT_EMULATOR_API(FuncAttributePreferredSharedMemoryCarveout) = 9
};
enum OPRT_EMULATOR_API(FuncCache) {
    OPRT_EMULATOR_API(FuncCachePreferNone) = 0,
    OPRT_EMULATOR_API(FuncCachePreferShared) = 1,
    OPRT_EMULATOR_API(FuncCachePreferL1) = 2,
    OPRT_EMULATOR_API(FuncCachePreferEqual) = 3
};

inline constexpr unsigned int OPRT_EMULATOR_API(StreamDefault) = 0;
inline constexpr unsigned int OPRT_EMULATOR_API(StreamNonBlocking) = 1;
inline constexpr unsigned int OPRT_EMULATOR_API(EventDefault) = 0;
inline constexpr unsigned int OPRT_EMULATOR_API(EventBlockingSync) = 1;
inline constexpr unsigned int OPRT_EMULATOR_API(EventDisableTiming) = 2;
inline constexpr unsigned int OPRT_EMULATOR_API(EventInterprocess) = 4;
inline constexpr unsigned int OPRT_EMULATOR_API(EventRecordDefault) = 0;
inline constexpr unsigned int OPRT_EMULATOR_API(EventRecordExternal) = 1;
inline constexpr unsigned int OPRT_EMULATOR_API(EventWaitDefault) = 0;
inline constexpr unsigned int OPRT_EMULATOR_API(EventWaitExternal) = 1;
inline constexpr unsigned int OPRT_EMULATOR_API(HostAllocDefault) = 0;
inline constexpr unsigned int OPRT_EMULATOR_API(HostAllocPortable) = 1;
inline constexpr unsigned int OPRT_EMULATOR_API(HostAllocMapped) = 2;
inline constexpr unsigned int OPRT_EMULATOR_API(HostAllocWriteCombined) = 4;
inline constexpr unsigned int OPRT_EMULATOR_API(HostRegisterDefault) = 0;
inline constexpr unsigned int OPRT_EMULATOR_API(MemAttachGlobal) = 1;
inline constexpr unsigned int OPRT_EMULATOR_API(OccupancyDefault) = 0;

// What is not said here is 0. The names of the fields are the vendors'.
struct OPRT_EMULATOR_API(DeviceProp) {
    char name[256];
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    size_t memPitch;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    size_t totalConstMem;
    int major;
    int minor;
    int multiProcessorCount;
    int integrated;
    int canMapHostMemory;
    int concurrentKernels;
    int ECCEnabled;
    int asyncEngineCount;
    int unifiedAddressing;
    int memoryBusWidth;
    int l2CacheSize;
    int persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor;
    int managedMemory;
    int pageableMemoryAccess;
    int concurrentManagedAccess;
    int cooperativeLaunch;
    size_t sharedMemPerBlockOptin;
    int maxBlocksPerMultiProcessor;
    size_t reservedSharedMemPerBlock;
#if OPRT_EMULATOR_API_IS_MACA
    int clockRate;
    int memoryClockRate;
    int waveSize;
#endif
};

struct OPRT_EMULATOR_API(PointerAttributes) {
    enum OPRT_EMULATOR_API(MemoryType) type;
    int device;
    void *devicePointer;
    void *hostPointer;
};

struct OPRT_EMULATOR_API(FuncAttributes) {
    size_t sharedSizeBytes;
    size_t constSizeBytes;
    size_t localSizeBytes;
    int maxThreadsPerBlock;
    int numRegs;
    int ptxVersion;
    int binaryVersion;
    int cacheModeCA;
    int maxDynamicSharedSizeBytes;
    int preferredShmemCarveout;
};

#if OPRT_EMULATOR_API_IS_MACA
typedef struct mcDeviceProp mcDeviceProp_t;
typedef struct mcPointerAttributes mcPointerAttribute_t;
#define OPRT_EMULATOR_ATTRIBUTE(name) mcDeviceAttribute##name
enum mcDeviceAttribute_t {
#else
#define OPRT_EMULATOR_ATTRIBUTE(name) cudaDevAttr##name
enum cudaDeviceAttr {
#endif
    OPRT_EMULATOR_ATTRIBUTE(MaxThreadsPerBlock) = 1,
    OPRT_EMULATOR_ATTRIBUTE(MaxBlockDimX) = 2,
    OPRT_EMULATOR_ATTRIBUTE(MaxBlockDimY) = 3,
    OPRT_EMULATOR_ATTRIBUTE(MaxBlockDimZ) = 4,
    OPRT_EMULATOR_ATTRIBUTE(MaxGridDimX) = 5,
    OPRT_EMULATOR_ATTRIBUTE(MaxGridDimY) = 6,
    OPRT_EMULATOR_ATTRIBUTE(MaxGridDimZ) = 7,
    OPRT_EMULATOR_ATTRIBUTE(MaxSharedMemoryPerBlock) = 8,
    OPRT_EMULATOR_ATTRIBUTE(TotalConstantMemory) = 9,
    OPRT_EMULATOR_ATTRIBUTE(WarpSize) = 10,
    OPRT_EMULATOR_ATTRIBUTE(MaxRegistersPerBlock) = 12,
    OPRT_EMULATOR_ATTRIBUTE(ClockRate) = 13,
    OPRT_EMULATOR_ATTRIBUTE(MultiProcessorCount) = 16,
    OPRT_EMULATOR_ATTRIBUTE(MemoryClockRate) = 36,
#if OPRT_EMULATOR_API_IS_MACA
    OPRT_EMULATOR_ATTRIBUTE(MemoryBusWidth) = 37,
#else
    OPRT_EMULATOR_ATTRIBUTE(GlobalMemoryBusWidth) = 37,
#endif
    OPRT_EMULATOR_ATTRIBUTE(L2CacheSize) = 38,
#if OPRT_EMULATOR_API_IS_MACA
    OPRT_EMULATOR_ATTRIBUTE(MaxThreadsPerMultiProcessor) = 39,
#else
    OPRT_EMULATOR_ATTRIBUTE(MaxThreadsPerMultiProcessor) = 39,
    OPRT_EMULATOR_ATTRIBUTE(UnifiedAddressing) = 41,
#endif
    OPRT_EMULATOR_ATTRIBUTE(ComputeCapabilityMajor) = 75,
    OPRT_EMULATOR_ATTRIBUTE(ComputeCapabilityMinor) = 76,
    OPRT_EMULATOR_ATTRIBUTE(MaxSharedMemoryPerMultiprocessor) = 81,
    OPRT_EMULATOR_ATTRIBUTE(CooperativeLaunch) = 95,
#if OPRT_EMULATOR_API_IS_MACA
    OPRT_EMULATOR_ATTRIBUTE(MemoryPoolsSupported) = 115,
    OPRT_EMULATOR_ATTRIBUTE(WaveSize) = 10000
#else
    OPRT_EMULATOR_ATTRIBUTE(MaxRegistersPerMultiprocessor) = 82,
    OPRT_EMULATOR_ATTRIBUTE(ManagedMemory) = 83,
    OPRT_EMULATOR_ATTRIBUTE(MaxSharedMemoryPerBlockOptin) = 97,
    OPRT_EMULATOR_ATTRIBUTE(MaxBlocksPerMultiprocessor) = 106,
    OPRT_EMULATOR_ATTRIBUTE(ReservedSharedMemoryPerBlock) = 111,
    OPRT_EMULATOR_ATTRIBUTE(MemoryPoolsSupported) = 115,
    OPRT_EMULATOR_ATTRIBUTE(ClusterLaunch) = 120
#endif
};

// Errors.
inline OPRT_EMULATOR_API(Error_t) OPRT_EMULATOR_API(GetLastError)() {
    return static_cast<OPRT_EMULATOR_API(Error_t)>(oprt_emulator::runtime::take_last_error());
}
inline OPRT_EMULATOR_API(Error_t) OPRT_EMULATOR_API(PeekAtLastError)() {
    return static_cast<OPRT_EMULATOR_API(Error_t)>(oprt_emulator::runtime::peek_last_error());
}
inline const char *OPRT_EMULATOR_API(GetErrorName)(OPRT_EMULATOR_API(Error_t) error) {
    return oprt_emulator::runtime::error_name(static_cast<int>(error), OPRT_EMULATOR_API_PREFIX);
}
inline const char *OPRT_EMULATOR_API(GetErrorString)(OPRT_EMULATOR_API(Error_t) error) {
    return oprt_emulator::runtime::error_text(static_cast<int>(error));
}

// OPRT_EMULATOR_FUNCTION(Malloc, (void **pointer, size_t size_bytes), allocate(pointer, size_bytes)): the vendor's
// function of that name, over an expression of oprt_emulator::runtime.
#define OPRT_EMULATOR_FUNCTION(name, parameters, call)                                \
    inline OPRT_EMULATOR_API(Error_t) OPRT_EMULATOR_API(name) parameters {            \
        using namespace oprt_emulator::runtime;                                       \
        return static_cast<OPRT_EMULATOR_API(Error_t)>(oprt_emulator::runtime::call); \
    }

// Device.
OPRT_EMULATOR_FUNCTION(SetDevice, (int device), set_device(device))
OPRT_EMULATOR_FUNCTION(DeviceSynchronize, (), synchronize_device())
OPRT_EMULATOR_FUNCTION(DeviceReset, (), reset_device())
OPRT_EMULATOR_FUNCTION(MemGetInfo, (size_t * free_bytes, size_t *total_bytes), memory_sizes(free_bytes, total_bytes))
inline OPRT_EMULATOR_API(Error_t) OPRT_EMULATOR_API(GetDeviceCount)(int *count) {
    if (count == nullptr) {
        return static_cast<OPRT_EMULATOR_API(Error_t)>(
            oprt_emulator::runtime::fail(OPRT_EMULATOR_API(ErrorInvalidValue)));
    }
    *count = 1;
    return OPRT_EMULATOR_API(Success);
}
inline OPRT_EMULATOR_API(Error_t) OPRT_EMULATOR_API(GetDevice)(int *device) {
    if (device == nullptr) {
        return static_cast<OPRT_EMULATOR_API(Error_t)>(
            oprt_emulator::runtime::fail(OPRT_EMULATOR_API(ErrorInvalidValue)));
    }
    *device = 0;
    return OPRT_EMULATOR_API(Success);
}
inline OPRT_EMULATOR_API(Error_t) OPRT_EMULATOR_API(RuntimeGetVersion)(int *version) {
    if (version == nullptr) {
        return static_cast<OPRT_EMULATOR_API(Error_t)>(
            oprt_emulator::runtime::fail(OPRT_EMULATOR_API(ErrorInvalidValue)));
    }
    *version = oprt_emulator::runtime::facts.version;
    return OPRT_EMULATOR_API(Success);
}
inline OPRT_EMULATOR_API(Error_t) OPRT_EMULATOR_API(DriverGetVersion)(int *version) {
    return OPRT_EMULATOR_API(RuntimeGetVersion)(version);
}

inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(GetDeviceProperties)(struct OPRT_EMULATOR_API(DeviceProp) * properties, int device) {
    using namespace oprt_emulator::runtime;
    if (properties == nullptr)
        return static_cast<OPRT_EMULATOR_API(Error_t)>(fail(OPRT_EMULATOR_API(ErrorInvalidValue)));
    if (const int error = check_device(device)) return static_cast<OPRT_EMULATOR_API(Error_t)>(error);
    *properties = {};
    std::strncpy(properties->name, facts.name, sizeof properties->name - 1);
    properties->totalGlobalMem = oprt_emulator::memory_total_bytes();
    properties->sharedMemPerBlock = facts.shared_bytes_per_block;
    properties->regsPerBlock = properties->regsPerMultiprocessor = facts.registers_per_block;
    properties->warpSize = oprt_emulator::warp_size;
    properties->memPitch = 0x7FFFFFFF;
    properties->maxThreadsPerBlock = oprt_emulator::max_block_threads;
    properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = max_block_xy;
    properties->maxThreadsDim[2] = max_block_z;
    properties->maxGridSize[0] = max_grid_x;
    properties->maxGridSize[1] = properties->maxGridSize[2] = max_grid_yz;
    properties->totalConstMem = 65536;
    properties->major = facts.compute_capability_major;
    properties->minor = facts.compute_capability_minor;
    properties->multiProcessorCount = facts.multiprocessors;
    properties->canMapHostMemory = properties->unifiedAddressing = properties->managedMemory = 1;
    properties->l2CacheSize = facts.l2_cache_bytes;
    properties->maxThreadsPerMultiProcessor = facts.threads_per_multiprocessor;
    properties->sharedMemPerMultiprocessor = facts.shared_bytes_per_multiprocessor;
    properties->sharedMemPerBlockOptin = facts.shared_bytes_per_block_opt_in;
    properties->maxBlocksPerMultiProcessor = facts.blocks_per_multiprocessor;
    properties->reservedSharedMemPerBlock = facts.shared_bytes_reserved_per_block;
#if OPRT_EMULATOR_API_IS_MACA
    properties->waveSize = oprt_emulator::warp_size;
#endif
    return OPRT_EMULATOR_API(Success);
}

inline OPRT_EMULATOR_API(Error_t) OPRT_EMULATOR_API(DeviceGetAttribute)(
#if OPRT_EMULATOR_API_IS_MACA
    int *value, enum mcDeviceAttribute_t attribute, int device) {
#else
    int *value, enum cudaDeviceAttr attribute, int device) {
#endif
    using namespace oprt_emulator::runtime;
    if (value == nullptr) return static_cast<OPRT_EMULATOR_API(Error_t)>(fail(OPRT_EMULATOR_API(ErrorInvalidValue)));
    if (const int error = check_device(device)) return static_cast<OPRT_EMULATOR_API(Error_t)>(error);
    switch (attribute) {
        case OPRT_EMULATOR_ATTRIBUTE(MaxThreadsPerBlock): *value = oprt_emulator::max_block_threads; break;
        case OPRT_EMULATOR_ATTRIBUTE(MaxBlockDimX):
        case OPRT_EMULATOR_ATTRIBUTE(MaxBlockDimY): *value = max_block_xy; break;
        case OPRT_EMULATOR_ATTRIBUTE(MaxBlockDimZ): *value = max_block_z; break;
        case OPRT_EMULATOR_ATTRIBUTE(MaxGridDimX): *value = max_grid_x; break;
        case OPRT_EMULATOR_ATTRIBUTE(MaxGridDimY):
        case OPRT_EMULATOR_ATTRIBUTE(MaxGridDimZ): *value = max_grid_yz; break;
        case OPRT_EMULATOR_ATTRIBUTE(MaxSharedMemoryPerBlock):
            *value = static_cast<int>(facts.shared_bytes_per_block);
            break;
        case OPRT_EMULATOR_ATTRIBUTE(TotalConstantMemory): *value = 65536; break;
        case OPRT_EMULATOR_ATTRIBUTE(MaxRegistersPerBlock): *value = facts.registers_per_block; break;
        case OPRT_EMULATOR_ATTRIBUTE(MultiProcessorCount): *value = facts.multiprocessors; break;
        case OPRT_EMULATOR_ATTRIBUTE(L2CacheSize): *value = facts.l2_cache_bytes; break;
        case OPRT_EMULATOR_ATTRIBUTE(MaxThreadsPerMultiProcessor): *value = facts.threads_per_multiprocessor; break;
        case OPRT_EMULATOR_ATTRIBUTE(ComputeCapabilityMajor): *value = facts.compute_capability_major; break;
        case OPRT_EMULATOR_ATTRIBUTE(ComputeCapabilityMinor): *value = facts.compute_capability_minor; break;
        case OPRT_EMULATOR_ATTRIBUTE(MaxSharedMemoryPerMultiprocessor):
            *value = static_cast<int>(facts.shared_bytes_per_multiprocessor);
            break;
        case OPRT_EMULATOR_ATTRIBUTE(WarpSize):
#if OPRT_EMULATOR_API_IS_MACA
        case OPRT_EMULATOR_ATTRIBUTE(WaveSize):
#endif
            *value = oprt_emulator::warp_size;
            break;
        case OPRT_EMULATOR_ATTRIBUTE(MemoryPoolsSupported):
        case OPRT_EMULATOR_ATTRIBUTE(CooperativeLaunch):
        case OPRT_EMULATOR_ATTRIBUTE(ClockRate):
        case OPRT_EMULATOR_ATTRIBUTE(MemoryClockRate):
#if OPRT_EMULATOR_API_IS_MACA
        case OPRT_EMULATOR_ATTRIBUTE(MemoryBusWidth): *value = 0; break;
#else
        case OPRT_EMULATOR_ATTRIBUTE(GlobalMemoryBusWidth):
        case OPRT_EMULATOR_ATTRIBUTE(ClusterLaunch): *value = 0; break;
        case OPRT_EMULATOR_ATTRIBUTE(UnifiedAddressing):
        case OPRT_EMULATOR_ATTRIBUTE(ManagedMemory): *value = 1; break;
        case OPRT_EMULATOR_ATTRIBUTE(MaxRegistersPerMultiprocessor): *value = facts.registers_per_block; break;
        case OPRT_EMULATOR_ATTRIBUTE(MaxSharedMemoryPerBlockOptin):
            *value = static_cast<int>(facts.shared_bytes_per_block_opt_in);
            break;
        case OPRT_EMULATOR_ATTRIBUTE(MaxBlocksPerMultiprocessor): *value = facts.blocks_per_multiprocessor; break;
        case OPRT_EMULATOR_ATTRIBUTE(ReservedSharedMemoryPerBlock):
            *value = static_cast<int>(facts.shared_bytes_reserved_per_block);
            break;
#endif
        default: return static_cast<OPRT_EMULATOR_API(Error_t)>(fail(OPRT_EMULATOR_API(ErrorInvalidValue)));
    }
    return OPRT_EMULATOR_API(Success);
}

#if OPRT_EMULATOR_API_IS_MACA
inline mcError_t mcInit(unsigned int flags) {
    return flags == 0 ? mcSuccess : static_cast<mcError_t>(oprt_emulator::runtime::fail(mcErrorInvalidValue));
}
inline mcError_t mcDeviceGetName(char *name, int length, int device) {
    using namespace oprt_emulator::runtime;
    if (name == nullptr || length <= 0) return static_cast<mcError_t>(fail(mcErrorInvalidValue));
    if (const int error = check_device(device)) return static_cast<mcError_t>(error);
    std::strncpy(name, facts.name, static_cast<size_t>(length));
    name[length - 1] = '\0';
    return mcSuccess;
}
#endif

// Memory.
OPRT_EMULATOR_FUNCTION(Malloc, (void **pointer, size_t size_bytes), allocate(pointer, size_bytes))
OPRT_EMULATOR_FUNCTION(Free, (void *pointer), release(pointer))
OPRT_EMULATOR_FUNCTION(MallocAsync, (void **pointer, size_t size_bytes, OPRT_EMULATOR_API(Stream_t) stream),
                       allocate_on_stream(pointer, size_bytes, stream))
OPRT_EMULATOR_FUNCTION(FreeAsync, (void *pointer, OPRT_EMULATOR_API(Stream_t) stream),
                       release_on_stream(pointer, stream))
OPRT_EMULATOR_FUNCTION(MallocHost, (void **pointer, size_t size_bytes, unsigned int = 0),
                       allocate_host(pointer, size_bytes, false))
OPRT_EMULATOR_FUNCTION(HostAlloc, (void **pointer, size_t size_bytes, unsigned int),
                       allocate_host(pointer, size_bytes, false))
OPRT_EMULATOR_FUNCTION(FreeHost, (void *pointer), release_host(pointer))
OPRT_EMULATOR_FUNCTION(MallocManaged,
                       (void **pointer, size_t size_bytes, unsigned int = OPRT_EMULATOR_API(MemAttachGlobal)),
                       allocate_host(pointer, size_bytes, true))
OPRT_EMULATOR_FUNCTION(HostRegister, (void *pointer, size_t size_bytes, unsigned int),
                       register_host(pointer, size_bytes))
OPRT_EMULATOR_FUNCTION(HostUnregister, (void *pointer), unregister_host(pointer))

// cudaMalloc(&floats, bytes) without a cast, and the same for the others.
template <typename T>
inline OPRT_EMULATOR_API(Error_t) OPRT_EMULATOR_API(Malloc)(T **pointer, size_t size_bytes) {
    return OPRT_EMULATOR_API(Malloc)(reinterpret_cast<void **>(pointer), size_bytes);
}
template <typename T>
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(MallocAsync)(T **pointer, size_t size_bytes, OPRT_EMULATOR_API(Stream_t) stream) {
    return OPRT_EMULATOR_API(MallocAsync)(reinterpret_cast<void **>(pointer), size_bytes, stream);
}
template <typename T>
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(MallocHost)(T **pointer, size_t size_bytes, unsigned int flags = 0) {
    return OPRT_EMULATOR_API(MallocHost)(reinterpret_cast<void **>(pointer), size_bytes, flags);
}
template <typename T>
inline OPRT_EMULATOR_API(Error_t) OPRT_EMULATOR_API(HostAlloc)(T **pointer, size_t size_bytes, unsigned int flags) {
    return OPRT_EMULATOR_API(HostAlloc)(reinterpret_cast<void **>(pointer), size_bytes, flags);
}
template <typename T>
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(MallocManaged)(T **pointer, size_t size_bytes,
                                     unsigned int flags = OPRT_EMULATOR_API(MemAttachGlobal)) {
    return OPRT_EMULATOR_API(MallocManaged)(reinterpret_cast<void **>(pointer), size_bytes, flags);
}
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(HostGetDevicePointer)(void **device_pointer, void *host_pointer, unsigned int) {
    using namespace oprt_emulator::runtime;
    const bool known = device_pointer != nullptr && kind_of(host_pointer) == memory_kind::host;
    if (!known) return static_cast<OPRT_EMULATOR_API(Error_t)>(fail(OPRT_EMULATOR_API(ErrorInvalidValue)));
    *device_pointer = host_pointer;
    return OPRT_EMULATOR_API(Success);
}
// Rows of width_bytes, each starting at a multiple of 512 bytes.
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(MallocPitch)(void **pointer, size_t *pitch_bytes, size_t width_bytes, size_t height) {
    if (pitch_bytes == nullptr) {
        return static_cast<OPRT_EMULATOR_API(Error_t)>(
            oprt_emulator::runtime::fail(OPRT_EMULATOR_API(ErrorInvalidValue)));
    }
    *pitch_bytes = (width_bytes + 511) / 512 * 512;
    return OPRT_EMULATOR_API(Malloc)(pointer, *pitch_bytes * height);
}
template <typename T>
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(MallocPitch)(T **pointer, size_t *pitch_bytes, size_t width_bytes, size_t height) {
    return OPRT_EMULATOR_API(MallocPitch)(reinterpret_cast<void **>(pointer), pitch_bytes, width_bytes, height);
}

OPRT_EMULATOR_FUNCTION(Memcpy,
                       (void *destination, const void *source, size_t size_bytes,
                        enum OPRT_EMULATOR_API(MemcpyKind) kind),
                       copy({destination, size_bytes, source, size_bytes, size_bytes, 1, kind}, nullptr, true))
OPRT_EMULATOR_FUNCTION(MemcpyAsync,
                       (void *destination, const void *source, size_t size_bytes,
                        enum OPRT_EMULATOR_API(MemcpyKind) kind, OPRT_EMULATOR_API(Stream_t) stream = nullptr),
                       copy({destination, size_bytes, source, size_bytes, size_bytes, 1, kind}, stream, false))
OPRT_EMULATOR_FUNCTION(Memcpy2D,
                       (void *destination, size_t destination_pitch, const void *source, size_t source_pitch,
                        size_t width_bytes, size_t height, enum OPRT_EMULATOR_API(MemcpyKind) kind),
                       copy({destination, destination_pitch, source, source_pitch, width_bytes, height, kind}, nullptr,
                            true))
OPRT_EMULATOR_FUNCTION(Memcpy2DAsync,
                       (void *destination, size_t destination_pitch, const void *source, size_t source_pitch,
                        size_t width_bytes, size_t height, enum OPRT_EMULATOR_API(MemcpyKind) kind,
                        OPRT_EMULATOR_API(Stream_t) stream = nullptr),
                       copy({destination, destination_pitch, source, source_pitch, width_bytes, height, kind}, stream,
                            false))
OPRT_EMULATOR_FUNCTION(Memset, (void *pointer, int value, size_t size_bytes),
                       fill(pointer, size_bytes, value, size_bytes, 1, nullptr, true))
OPRT_EMULATOR_FUNCTION(MemsetAsync,
                       (void *pointer, int value, size_t size_bytes, OPRT_EMULATOR_API(Stream_t) stream = nullptr),
                       fill(pointer, size_bytes, value, size_bytes, 1, stream, false))
OPRT_EMULATOR_FUNCTION(Memset2D, (void *pointer, size_t pitch, int value, size_t width_bytes, size_t height),
                       fill(pointer, pitch, value, width_bytes, height, nullptr, true))
OPRT_EMULATOR_FUNCTION(Memset2DAsync,
                       (void *pointer, size_t pitch, int value, size_t width_bytes, size_t height,
                        OPRT_EMULATOR_API(Stream_t) stream = nullptr),
                       fill(pointer, pitch, value, width_bytes, height, stream, false))

// Variables with __device__ or __constant__ are plain globals here; these copy to and from them.
template <typename T>
inline OPRT_EMULATOR_API(Error_t) OPRT_EMULATOR_API(GetSymbolAddress)(void **pointer, const T &symbol) {
    using namespace oprt_emulator::runtime;
    if (pointer == nullptr) return static_cast<OPRT_EMULATOR_API(Error_t)>(fail(OPRT_EMULATOR_API(ErrorInvalidValue)));
    const void *const address = &symbol;
    *pointer = const_cast<void *>(address);
    return static_cast<OPRT_EMULATOR_API(Error_t)>(register_symbol(address, sizeof(T)));
}
template <typename T>
inline OPRT_EMULATOR_API(Error_t) OPRT_EMULATOR_API(GetSymbolSize)(size_t *size_bytes, const T &) {
    *size_bytes = sizeof(T);
    return OPRT_EMULATOR_API(Success);
}
template <typename T>
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(MemcpyToSymbolAsync)(const T &symbol, const void *source, size_t size_bytes, size_t offset,
                                           enum OPRT_EMULATOR_API(MemcpyKind) kind,
                                           OPRT_EMULATOR_API(Stream_t) stream = nullptr) {
    void *address = nullptr;
    const OPRT_EMULATOR_API(Error_t) error = OPRT_EMULATOR_API(GetSymbolAddress)(&address, symbol);
    if (error != OPRT_EMULATOR_API(Success)) return error;
    return OPRT_EMULATOR_API(MemcpyAsync)(static_cast<char *>(address) + offset, source, size_bytes, kind, stream);
}
template <typename T>
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(MemcpyFromSymbolAsync)(void *destination, const T &symbol, size_t size_bytes, size_t offset,
                                             enum OPRT_EMULATOR_API(MemcpyKind) kind,
                                             OPRT_EMULATOR_API(Stream_t) stream = nullptr) {
    void *address = nullptr;
    const OPRT_EMULATOR_API(Error_t) error = OPRT_EMULATOR_API(GetSymbolAddress)(&address, symbol);
    if (error != OPRT_EMULATOR_API(Success)) return error;
    return OPRT_EMULATOR_API(MemcpyAsync)(destination, static_cast<char *>(address) + offset, size_bytes, kind, stream);
}
template <typename T>
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(MemcpyToSymbol)(const T &symbol, const void *source, size_t size_bytes, size_t offset = 0,
                                      enum OPRT_EMULATOR_API(MemcpyKind) kind = OPRT_EMULATOR_API(MemcpyHostToDevice)) {
    void *address = nullptr;
    const OPRT_EMULATOR_API(Error_t) error = OPRT_EMULATOR_API(GetSymbolAddress)(&address, symbol);
    if (error != OPRT_EMULATOR_API(Success)) return error;
    return OPRT_EMULATOR_API(Memcpy)(static_cast<char *>(address) + offset, source, size_bytes, kind);
}
template <typename T>
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(MemcpyFromSymbol)(void *destination, const T &symbol, size_t size_bytes, size_t offset = 0,
                                        enum OPRT_EMULATOR_API(MemcpyKind)
                                            kind = OPRT_EMULATOR_API(MemcpyDeviceToHost)) {
    void *address = nullptr;
    const OPRT_EMULATOR_API(Error_t) error = OPRT_EMULATOR_API(GetSymbolAddress)(&address, symbol);
    if (error != OPRT_EMULATOR_API(Success)) return error;
    return OPRT_EMULATOR_API(Memcpy)(destination, static_cast<char *>(address) + offset, size_bytes, kind);
}

inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(PointerGetAttributes)(struct OPRT_EMULATOR_API(PointerAttributes) * attributes,
                                            const void *pointer) {
    using namespace oprt_emulator::runtime;
    if (attributes == nullptr)
        return static_cast<OPRT_EMULATOR_API(Error_t)>(fail(OPRT_EMULATOR_API(ErrorInvalidValue)));
    void *const address = const_cast<void *>(pointer);
    switch (kind_of(pointer)) {
        case memory_kind::unregistered:
            *attributes = {OPRT_EMULATOR_API(MemoryTypeUnregistered), -2, nullptr, address};
            break;
        case memory_kind::host: *attributes = {OPRT_EMULATOR_API(MemoryTypeHost), 0, address, address}; break;
        case memory_kind::device: *attributes = {OPRT_EMULATOR_API(MemoryTypeDevice), 0, address, nullptr}; break;
        case memory_kind::managed: *attributes = {OPRT_EMULATOR_API(MemoryTypeManaged), 0, address, address}; break;
    }
    return OPRT_EMULATOR_API(Success);
}

// Streams.
OPRT_EMULATOR_FUNCTION(StreamCreate, (OPRT_EMULATOR_API(Stream_t) * created), create_stream(created, true, 0))
OPRT_EMULATOR_FUNCTION(StreamCreateWithFlags, (OPRT_EMULATOR_API(Stream_t) * created, unsigned int flags),
                       create_stream(created, (flags & OPRT_EMULATOR_API(StreamNonBlocking)) == 0, 0))
OPRT_EMULATOR_FUNCTION(StreamCreateWithPriority,
                       (OPRT_EMULATOR_API(Stream_t) * created, unsigned int flags, int priority),
                       create_stream(created, (flags & OPRT_EMULATOR_API(StreamNonBlocking)) == 0, priority))
OPRT_EMULATOR_FUNCTION(StreamDestroy, (OPRT_EMULATOR_API(Stream_t) stream), destroy_stream(stream))
OPRT_EMULATOR_FUNCTION(StreamSynchronize, (OPRT_EMULATOR_API(Stream_t) stream), synchronize_stream(stream))
OPRT_EMULATOR_FUNCTION(StreamQuery, (OPRT_EMULATOR_API(Stream_t) stream), query_stream(stream))
OPRT_EMULATOR_FUNCTION(StreamGetPriority, (OPRT_EMULATOR_API(Stream_t) stream, int *priority),
                       stream_priority(stream, priority))
OPRT_EMULATOR_FUNCTION(StreamGetFlags, (OPRT_EMULATOR_API(Stream_t) stream, unsigned int *flags),
                       stream_flags(stream, flags))
OPRT_EMULATOR_FUNCTION(StreamWaitEvent,
                       (OPRT_EMULATOR_API(Stream_t) stream, OPRT_EMULATOR_API(Event_t) event, unsigned int flags = 0),
                       stream_wait_event(stream, event, flags == OPRT_EMULATOR_API(EventWaitExternal)))
OPRT_EMULATOR_FUNCTION(LaunchHostFunc,
                       (OPRT_EMULATOR_API(Stream_t) stream, OPRT_EMULATOR_API(HostFn_t) function, void *data),
                       call_host(stream, function, data))
inline OPRT_EMULATOR_API(Error_t) OPRT_EMULATOR_API(DeviceGetStreamPriorityRange)(int *least, int *greatest) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = 0;
    return OPRT_EMULATOR_API(Success);
}

// Events.
OPRT_EMULATOR_FUNCTION(EventCreate, (OPRT_EMULATOR_API(Event_t) * created), create_event(created, true))
OPRT_EMULATOR_FUNCTION(EventCreate, (OPRT_EMULATOR_API(Event_t) * created, unsigned int flags),
                       create_event(created, (flags & OPRT_EMULATOR_API(EventDisableTiming)) == 0))
OPRT_EMULATOR_FUNCTION(EventCreateWithFlags, (OPRT_EMULATOR_API(Event_t) * created, unsigned int flags),
                       create_event(created, (flags & OPRT_EMULATOR_API(EventDisableTiming)) == 0))
OPRT_EMULATOR_FUNCTION(EventDestroy, (OPRT_EMULATOR_API(Event_t) event), destroy_event(event))
OPRT_EMULATOR_FUNCTION(EventRecord, (OPRT_EMULATOR_API(Event_t) event, OPRT_EMULATOR_API(Stream_t) stream = nullptr),
                       record_event(event, stream, false))
OPRT_EMULATOR_FUNCTION(EventRecordWithFlags,
                       (OPRT_EMULATOR_API(Event_t) event, OPRT_EMULATOR_API(Stream_t) stream, unsigned int flags),
                       record_event(event, stream, flags == OPRT_EMULATOR_API(EventRecordExternal)))
OPRT_EMULATOR_FUNCTION(EventSynchronize, (OPRT_EMULATOR_API(Event_t) event), synchronize_event(event))
OPRT_EMULATOR_FUNCTION(EventQuery, (OPRT_EMULATOR_API(Event_t) event), query_event(event))
OPRT_EMULATOR_FUNCTION(EventElapsedTime,
                       (float *time_ms, OPRT_EMULATOR_API(Event_t) start, OPRT_EMULATOR_API(Event_t) stop),
                       elapsed_time(time_ms, start, stop))

// Capture and graphs.
OPRT_EMULATOR_FUNCTION(StreamBeginCapture,
                       (OPRT_EMULATOR_API(Stream_t) stream, enum OPRT_EMULATOR_API(StreamCaptureMode) mode),
                       begin_capture(stream, mode))
OPRT_EMULATOR_FUNCTION(StreamEndCapture, (OPRT_EMULATOR_API(Stream_t) stream, OPRT_EMULATOR_API(Graph_t) * captured),
                       end_capture(stream, captured))
OPRT_EMULATOR_FUNCTION(GraphCreate, (OPRT_EMULATOR_API(Graph_t) * created, unsigned int = 0), create_graph(created))
OPRT_EMULATOR_FUNCTION(GraphDestroy, (OPRT_EMULATOR_API(Graph_t) graph), destroy_graph(graph))
OPRT_EMULATOR_FUNCTION(GraphInstantiate,
                       (OPRT_EMULATOR_API(GraphExec_t) * created, OPRT_EMULATOR_API(Graph_t) graph,
                        unsigned long long = 0),
                       instantiate_graph(created, graph))
OPRT_EMULATOR_FUNCTION(GraphInstantiate,
                       (OPRT_EMULATOR_API(GraphExec_t) * created, OPRT_EMULATOR_API(Graph_t) graph,
                        OPRT_EMULATOR_API(GraphNode_t) *, char *, size_t),
                       instantiate_graph(created, graph))
OPRT_EMULATOR_FUNCTION(GraphInstantiateWithFlags,
                       (OPRT_EMULATOR_API(GraphExec_t) * created, OPRT_EMULATOR_API(Graph_t) graph,
                        unsigned long long = 0),
                       instantiate_graph(created, graph))
OPRT_EMULATOR_FUNCTION(GraphLaunch, (OPRT_EMULATOR_API(GraphExec_t) graph, OPRT_EMULATOR_API(Stream_t) stream),
                       launch_graph(graph, stream))
OPRT_EMULATOR_FUNCTION(GraphExecDestroy, (OPRT_EMULATOR_API(GraphExec_t) graph), destroy_executable(graph))
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(StreamIsCapturing)(OPRT_EMULATOR_API(Stream_t) stream,
                                         enum OPRT_EMULATOR_API(StreamCaptureStatus) * status) {
    int number = 0;
    const int error = oprt_emulator::runtime::capture_status(stream, status == nullptr ? nullptr : &number, nullptr);
    if (error == 0) *status = static_cast<OPRT_EMULATOR_API(StreamCaptureStatus)>(number);
    return static_cast<OPRT_EMULATOR_API(Error_t)>(error);
}
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(StreamGetCaptureInfo)(OPRT_EMULATOR_API(Stream_t) stream,
                                            enum OPRT_EMULATOR_API(StreamCaptureStatus) * status,
                                            unsigned long long *id = nullptr) {
    int number = 0;
    const int error = oprt_emulator::runtime::capture_status(stream, status == nullptr ? nullptr : &number, id);
    if (error == 0) *status = static_cast<OPRT_EMULATOR_API(StreamCaptureStatus)>(number);
    return static_cast<OPRT_EMULATOR_API(Error_t)>(error);
}
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(ThreadExchangeStreamCaptureMode)(enum OPRT_EMULATOR_API(StreamCaptureMode) * mode) {
    int number = mode == nullptr ? -1 : static_cast<int>(*mode);
    const int error = oprt_emulator::runtime::exchange_capture_mode(&number);
    if (error == 0) *mode = static_cast<OPRT_EMULATOR_API(StreamCaptureMode)>(number);
    return static_cast<OPRT_EMULATOR_API(Error_t)>(error);
}
// How many nodes a graph has; the nodes themselves are not handed out (nodes must be null).
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(GraphGetNodes)(OPRT_EMULATOR_API(Graph_t) graph, OPRT_EMULATOR_API(GraphNode_t) * nodes,
                                     size_t *count) {
    if (nodes != nullptr) {
        return static_cast<OPRT_EMULATOR_API(Error_t)>(
            oprt_emulator::runtime::fail(OPRT_EMULATOR_API(ErrorNotSupported)));
    }
    return static_cast<OPRT_EMULATOR_API(Error_t)>(oprt_emulator::runtime::count_nodes(graph, count));
}

// Kernels. Functions that take a kernel as const void * and need no parameters; below them those that must know the
// type.
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(FuncSetAttribute)(const void *kernel, enum OPRT_EMULATOR_API(FuncAttribute) attribute,
                                        int value) {
    using namespace oprt_emulator::runtime;
    const bool is_size = attribute == OPRT_EMULATOR_API(FuncAttributeMaxDynamicSharedMemorySize);
    return static_cast<OPRT_EMULATOR_API(Error_t)>(is_size ? set_dynamic_shared_limit(kernel, value) : Success);
}
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(FuncSetCacheConfig)(const void *, enum OPRT_EMULATOR_API(FuncCache)) {
    return OPRT_EMULATOR_API(Success);
}
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(FuncGetAttributes)(struct OPRT_EMULATOR_API(FuncAttributes) * attributes, const void *kernel) {
    oprt_emulator::runtime::kernel_facts known{};
    const int error = oprt_emulator::runtime::get_kernel_facts(attributes == nullptr ? nullptr : kernel, &known);
    if (error != 0) return static_cast<OPRT_EMULATOR_API(Error_t)>(error);
    *attributes = {};  // registers and local memory are not known: 0
    attributes->sharedSizeBytes = known.static_shared_bytes;
    attributes->maxThreadsPerBlock = oprt_emulator::max_block_threads;
    attributes->maxDynamicSharedSizeBytes = known.dynamic_shared_limit_bytes;
    attributes->preferredShmemCarveout = -1;
    return OPRT_EMULATOR_API(Success);
}
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(OccupancyMaxActiveBlocksPerMultiprocessor)(int *blocks, const void *kernel, int block_threads,
                                                                 size_t dynamic_shared_bytes) {
    if (blocks == nullptr || kernel == nullptr || block_threads <= 0) {
        return static_cast<OPRT_EMULATOR_API(Error_t)>(
            oprt_emulator::runtime::fail(OPRT_EMULATOR_API(ErrorInvalidValue)));
    }
    *blocks = oprt_emulator::runtime::blocks_per_multiprocessor(kernel, block_threads, dynamic_shared_bytes);
    return OPRT_EMULATOR_API(Success);
}
template <typename... P>
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(FuncSetAttribute)(void (*kernel)(P...), enum OPRT_EMULATOR_API(FuncAttribute) attribute,
                                        int value) {
    return OPRT_EMULATOR_API(FuncSetAttribute)(reinterpret_cast<const void *>(kernel), attribute, value);
}
template <typename... P>
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(FuncSetCacheConfig)(void (*)(P...), enum OPRT_EMULATOR_API(FuncCache)) {
    return OPRT_EMULATOR_API(Success);
}
template <typename... P>
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(FuncGetAttributes)(struct OPRT_EMULATOR_API(FuncAttributes) * attributes, void (*kernel)(P...)) {
    return OPRT_EMULATOR_API(FuncGetAttributes)(attributes, reinterpret_cast<const void *>(kernel));
}
template <typename... P>
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(OccupancyMaxActiveBlocksPerMultiprocessor)(int *blocks, void (*kernel)(P...), int block_threads,
                                                                 size_t dynamic_shared_bytes) {
    return OPRT_EMULATOR_API(OccupancyMaxActiveBlocksPerMultiprocessor)(blocks, reinterpret_cast<const void *>(kernel),
                                                                        block_threads, dynamic_shared_bytes);
}
// The largest block that the kernel may have (up to block_limit; 0: no limit of its own), and a grid that fills the
// device with it.
template <typename... P>
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(OccupancyMaxPotentialBlockSize)(int *grid_blocks, int *block_threads, void (*kernel)(P...),
                                                      size_t dynamic_shared_bytes = 0, int block_limit = 0) {
    const int largest = static_cast<int>(oprt_emulator::max_block_threads);
    *block_threads = block_limit > 0 && block_limit < largest ? block_limit : largest;
    const OPRT_EMULATOR_API(Error_t) error = OPRT_EMULATOR_API(OccupancyMaxActiveBlocksPerMultiprocessor)(
        grid_blocks, kernel, *block_threads, dynamic_shared_bytes);
    *grid_blocks *= oprt_emulator::runtime::facts.multiprocessors;
    return error;
}

// A launch from a list of pointers to the arguments. The kernel must keep its type: the sizes of the arguments are in
// it.
template <typename... P, size_t... I>
inline int OPRT_EMULATOR_API(LaunchUnpacked)(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
                                             size_t shared_bytes, OPRT_EMULATOR_API(Stream_t) stream,
                                             std::index_sequence<I...>) {
    (void)arguments;
    return oprt_emulator::launch(kernel, grid, block, shared_bytes, stream,
                                 *static_cast<typename std::decay<P>::type *>(arguments[I])...);
}
template <typename... P>
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(LaunchKernel)(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
                                    size_t shared_bytes = 0, OPRT_EMULATOR_API(Stream_t) stream = nullptr) {
    return static_cast<OPRT_EMULATOR_API(Error_t)>(OPRT_EMULATOR_API(LaunchUnpacked)(
        kernel, grid, block, arguments, shared_bytes, stream, std::index_sequence_for<P...>{}));
}
__attribute__((unavailable("the emulator needs the kernel's type: pass the kernel itself, not a void pointer to it")))
OPRT_EMULATOR_API(Error_t) OPRT_EMULATOR_API(LaunchKernel)(const void *, dim3, dim3, void **, size_t = 0,
                                                           OPRT_EMULATOR_API(Stream_t) = nullptr);
// Blocks run to their end one after the other, so no grid can wait for all of its blocks.
template <typename... P>
inline OPRT_EMULATOR_API(Error_t)
    OPRT_EMULATOR_API(LaunchCooperativeKernel)(void (*)(P...), dim3, dim3, void **, size_t = 0,
                                               OPRT_EMULATOR_API(Stream_t) = nullptr) {
    return static_cast<OPRT_EMULATOR_API(Error_t)>(oprt_emulator::runtime::fail(
        OPRT_EMULATOR_API(ErrorNotSupported), "the emulator has no cooperative launch: blocks run to their end"));
}

#if !OPRT_EMULATOR_API_IS_MACA
// The extensible launch. Attributes that would change what the kernel may do are refused, hints are ignored.
enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore = 0,
    cudaLaunchAttributeAccessPolicyWindow = 1,
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeClusterDimension = 4,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6,
    cudaLaunchAttributePriority = 8
};
union cudaLaunchAttributeValue {
    char pad[64];
    int cooperative;
    struct {
        unsigned int x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
    int priority;
};
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim;
    dim3 blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned int numAttrs;
};
inline cudaError_t cudaCheckLaunchAttributes(const cudaLaunchConfig_t *config) {
    if (config == nullptr) return static_cast<cudaError_t>(oprt_emulator::runtime::fail(cudaErrorInvalidValue));
    for (unsigned int i = 0; i < config->numAttrs; ++i) {
        const cudaLaunchAttribute &attribute = config->attrs[i];
        const bool cooperative = attribute.id == cudaLaunchAttributeCooperative && attribute.val.cooperative != 0;
        const auto &cluster = attribute.val.clusterDim;
        const bool clustered =
            attribute.id == cudaLaunchAttributeClusterDimension && cluster.x * cluster.y * cluster.z > 1;
        if (cooperative || clustered) {
            return static_cast<cudaError_t>(oprt_emulator::runtime::fail(
                cudaErrorNotSupported, "the emulator has neither clusters nor cooperative launches"));
        }
    }
    return cudaSuccess;
}
template <typename... P, typename... A>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...), A &&...arguments) {
    const cudaError_t error = cudaCheckLaunchAttributes(config);
    if (error != cudaSuccess) return error;
    return static_cast<cudaError_t>(oprt_emulator::launch(kernel, config->gridDim, config->blockDim,
                                                          config->dynamicSmemBytes, config->stream,
                                                          std::forward<A>(arguments)...));
}
template <typename... P>
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, void (*kernel)(P...), void **arguments) {
    const cudaError_t error = cudaCheckLaunchAttributes(config);
    if (error != cudaSuccess) return error;
    return cudaLaunchKernel(kernel, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                            config->stream);
}
__attribute__((unavailable("the emulator needs the kernel's type: pass the kernel itself, not a void pointer to it")))
cudaError_t
cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
#endif

#undef OPRT_EMULATOR_FUNCTION
#undef OPRT_EMULATOR_ATTRIBUTE
#undef OPRT_EMULATOR_API
#undef OPRT_EMULATOR_API_PREFIX
#undef OPRT_EMULATOR_API_IS_MACA
