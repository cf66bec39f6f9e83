// A thread's sum over many terms. A plain float sum of a million terms has lost up to twenty of its bits; this one
// keeps what each addition rounds away and adds it at the end, so that its error is about one rounding, however long a
// thread's share is. The method is the two-sum of Knuth (The Art of Computer Programming, volume 2, section 4.2.2).
#pragma once

#include <oprt_device.h>

namespace oprt {

template <typename A>
class running_sum {
public:
    __device__ __forceinline__ void add(A term) {
        const A next = sum_ + term;
        const A added = next - sum_;
        lost_ += (sum_ - (next - added)) + (term - added);
        sum_ = next;
    }

    __device__ __forceinline__ void scale(A factor) {
        sum_ *= factor;
        lost_ *= factor;
    }

    // An infinite or NaN sum makes `lost_` NaN (inf - inf) and stands as it is.
    __device__ __forceinline__ A total() const { return lost_ == lost_ ? sum_ + lost_ : sum_; }

private:
    A sum_ = 0;
    A lost_ = 0;
};

}  // namespace oprt
