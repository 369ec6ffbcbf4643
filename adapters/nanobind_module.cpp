// What adapters/nanobind.py compiles: an import of nanobind, exported again over the same
// memory. There are two overloads, as a binding for any array would have them: writable
// arrays, then read-only ones.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <vector>

namespace nb = nanobind;

template <typename Imported, typename Exported>
Exported pass_on(Imported x)
{
    auto *kept = new Imported(x);
    nb::capsule owner(kept, [](void *p) noexcept { delete static_cast<Imported *>(p); });
    std::vector<size_t> shape;
    std::vector<int64_t> strides;
    for (size_t axis = 0; axis < x.ndim(); axis++) {
        shape.push_back(x.shape(axis));
        strides.push_back(x.stride(axis));
    }
    return Exported(x.data(), shape.size(), shape.data(), owner, strides.data(), x.dtype(),
                    x.device_type(), x.device_id());
}

NB_MODULE(nanobind_module, m)
{
    using Writable = nb::ndarray<>;
    using ReadOnly = nb::ndarray<nb::ro>;
    m.def("from_dlpack", &pass_on<Writable, nb::ndarray<nb::array_api>>);
    m.def("from_dlpack", &pass_on<ReadOnly, nb::ndarray<nb::array_api, nb::ro>>);
}
