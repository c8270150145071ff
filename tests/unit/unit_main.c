/* unit_main.c: main() of all unit tests. */
#include "unit.h"

int main(void)
{
    return unit_run();
}
