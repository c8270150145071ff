/* no_symbol.c: a shared object that is not a plugin. */
int no_symbol(void);

int no_symbol(void)
{
    return 1;
}
