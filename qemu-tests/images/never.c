// SPDX-License-Identifier: MIT
// qemu-tests/images: the product with a trace that is linked in and never enabled.
#include "image.h"

void image_main(void)
{
    bout_start(product_define);
}
