/* no_symbol.c: a shared object that is no plugin. */
int no_symbol(void);

int no_symbol(void)
{
    return 1;
}
