/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5-type.c - types of elements as the library has them */
#include "backends/hdf5/hdf5-file.h"

static hid_t native_of(enum weir_elem elem)
{
    switch (elem) {
    case WEIR_ELEM_BYTE:
        return H5T_NATIVE_CHAR;
    case WEIR_ELEM_INT32:
        return H5T_NATIVE_INT32;
    case WEIR_ELEM_INT64:
        return H5T_NATIVE_INT64;
    case WEIR_ELEM_FLOAT32:
        return H5T_NATIVE_FLOAT;
    case WEIR_ELEM_FLOAT64:
        return H5T_NATIVE_DOUBLE;
    default:
        return H5I_INVALID_HID;
    }
}

static hid_t make_compound(const struct weir_type *type)
{
    hid_t id = H5Tcreate(H5T_COMPOUND, type->size);

    for (int i = 0; id >= 0 && i < type->count; i++) {
        const struct weir_member *m = &type->members[i];

        if (H5Tinsert(id, m->name, m->at, native_of(m->elem)) < 0) {
            H5Tclose(id);
            id = H5I_INVALID_HID;
        }
    }
    return id;
}

hid_t hdf5_type_make(const struct weir_type *type, struct weir_err *err)
{
    bool is_record = type->elem == WEIR_ELEM_COMPOUND;
    hid_t id = is_record ? make_compound(type) : H5Tcopy(native_of(type->elem));

    if (id < 0)
        hdf5_fail(err, "type %s", weir_elem_name(type->elem));
    return id;
}

enum weir_elem hdf5_elem_of(hid_t type)
{
    H5T_class_t class = H5Tget_class(type);
    size_t size = H5Tget_size(type);

    if (class == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2)
        return size == 1   ? WEIR_ELEM_BYTE
               : size == 4 ? WEIR_ELEM_INT32
               : size == 8 ? WEIR_ELEM_INT64
                           : WEIR_ELEMS;
    if (class == H5T_FLOAT)
        return size == 4 ? WEIR_ELEM_FLOAT32 : size == 8 ? WEIR_ELEM_FLOAT64 : WEIR_ELEMS;
    return WEIR_ELEMS;
}
