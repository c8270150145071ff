/*
 * completion.c: `later completion` prints what a shell needs to complete commands, options, queues
 * and states.
 *
 * All of it is made from the tables of commands, so a new option is completed as soon as there is
 * one. What an option's value is, its name in the help says: Q, FILE, STATE.
 */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#define QUEUES "later size --names 2>/dev/null"
#define STATES "ready delayed reserved dead waiting done"

/* How a shell writes its parts. */
struct shell {
    const char *name;
    void (*print)(void);
};

/* Do the words of a command name queues? Its usage says so. */
static bool takes_queues(const struct command *command)
{
    return *command->usage == 'Q' || strstr(command->usage, "Q...");
}

/* Prints a text that stands in single quotes, with a backslash before each of `special`, and
 * `quote` for a single quote. */
static void completion_quoted(const char *text, const char *special, const char *quote)
{
    for (; *text; text++) {
        if (*text == '\'') {
            fputs(quote, stdout);
            continue;
        }
        if (strchr(special, *text))
            putchar('\\');
        putchar(*text);
    }
}

/* Calls fn for each option of a command and of all. */
static void each_option(const struct command *command,
                        void (*fn)(const struct command *, const struct args_option *))
{
    for (const struct args_option *o = command->options; o && o->name; o++)
        fn(command, o);
    for (const struct args_option *o = global_options; o->name; o++)
        fn(command, o);
}

/* --- bash and zsh: one case of a value's kind, one of a command --- */

/* The names that were printed so far. */
struct printed {
    const char *names[COMMANDS_MAX];
    size_t count;
};

/* Prints those of a table that take such a value and are not yet printed. */
static void put_takers_of(const struct args_option *option, const char *value,
                          struct printed *printed)
{
    for (; option && option->name; option++) {
        size_t i = 0;

        if (!option->value || strcmp(option->value, value) != 0)
            continue;
        while (i < printed->count && strcmp(printed->names[i], option->name) != 0)
            i++;
        if (i < printed->count || i == COMMANDS_MAX)
            continue;
        printf("%s--%s", i ? "|" : "    ", option->name);
        if (option->letter)
            printf("|-%c", option->letter);
        printed->names[printed->count++] = option->name;
    }
}

/* Prints the options that take such a value, as a pattern of `case`. */
static void put_takers(const char *value)
{
    struct printed printed = { .count = 0 };
    const struct command *command;

    put_takers_of(global_options, value, &printed);
    for (size_t i = 0; (command = command_at(i)); i++)
        put_takers_of(command->options, value, &printed);
    puts(")");
}

static void put_commands(const char *between)
{
    const struct command *command;

    for (size_t i = 0; (command = command_at(i)); i++)
        printf("%s%s", i ? between : "", command->name);
}

static void bash_option(const struct command *command, const struct args_option *option)
{
    (void)command;
    printf(" --%s", option->name);
}

static void bash_print(void)
{
    const struct command *command;

    puts("# bash: . <(later completion bash)\n"
         "_later() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= "
         "words= i\n"
         "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "        case ${COMP_WORDS[i]} in");
    printf("        ");
    put_commands("|");
    puts(") command=${COMP_WORDS[i]}; break ;;\n"
         "        esac\n"
         "    done\n"
         "    case $before in");
    put_takers("Q");
    puts("        COMPREPLY=($(compgen -W \"$(" QUEUES ")\" -- \"$cur\")); return ;;");
    put_takers("STATE");
    puts("        COMPREPLY=($(compgen -W '" STATES "' -- \"$cur\")); return ;;");
    put_takers("FILE");
    puts("        COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n"
         "    esac\n"
         "    case $command:$cur in");
    for (size_t i = 0; (command = command_at(i)); i++) {
        printf("    %s:-*) words='", command->name);
        each_option(command, bash_option);
        puts("' ;;");
        if (takes_queues(command))
            printf("    %s:*) words=$(" QUEUES ") ;;\n", command->name);
    }
    printf("    :-*) words='");
    for (const struct args_option *o = global_options; o->name; o++)
        bash_option(NULL, o);
    printf("' ;;\n    :*|help:*) words='");
    put_commands(" ");
    puts("' ;;\n"
         "    esac\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "}\n"
         "complete -o default -F _later later");
}

static void zsh_option(const struct command *command, const struct args_option *option)
{
    (void)command;
    printf("        '--%s:", option->name);
    completion_quoted(option->help, ":\\", "'\\''");
    puts("'");
}

static void zsh_print(void)
{
    const struct command *command;

    puts(
        "#compdef later\n"
        "# zsh: later completion zsh >~/.zfunc/_later, with ~/.zfunc in fpath before compinit; or\n"
        "# . <(later completion zsh) after it\n"
        "_later() {\n"
        "    local -a commands options\n"
        "    local command= queues= i\n"
        "    for ((i = 2; i < CURRENT; i++)); do\n"
        "        case $words[i] in");
    printf("        ");
    put_commands("|");
    puts(") command=$words[i]; break ;;\n"
         "        esac\n"
         "    done\n"
         "    case $words[CURRENT-1] in");
    put_takers("Q");
    puts("        compadd -- ${(f)\"$(" QUEUES ")\"}; return ;;");
    put_takers("STATE");
    puts("        compadd -- " STATES "; return ;;");
    put_takers("FILE");
    puts("        _files; return ;;\n"
         "    esac\n"
         "    case $command in");
    for (size_t i = 0; (command = command_at(i)); i++) {
        printf("    %s) queues=%s options=(\n", command->name, takes_queues(command) ? "yes" : "");
        each_option(command, zsh_option);
        puts("        ) ;;");
    }
    puts("    *) options=(");
    for (const struct args_option *o = global_options; o->name; o++)
        zsh_option(NULL, o);
    puts("        ) ;;\n"
         "    esac\n"
         "    commands=(");
    for (size_t i = 0; (command = command_at(i)); i++) {
        printf("        '%s:", command->name);
        completion_quoted(command->brief, ":\\", "'\\''");
        puts("'");
    }
    puts("    )\n"
         "    if [[ $PREFIX == -* ]]; then _describe option options\n"
         "    elif [[ -z $command || $command == help ]]; then _describe command commands\n"
         "    elif [[ -n $queues ]]; then compadd -- ${(f)\"$(" QUEUES ")\"}\n"
         "    else _files\n"
         "    fi\n"
         "}\n"
         "if [[ $funcstack[1] == _later ]]; then _later \"$@\"; else compdef _later later; fi");
}

/* --- fish: a line for each --- */

static void fish_option(const struct command *command, const struct args_option *option)
{
    const char *value = option->value;

    printf("complete -c later%s", command ? " -n '__fish_seen_subcommand_from " : "");
    printf("%s%s -l %s", command ? command->name : "", command ? "'" : "", option->name);
    if (option->letter)
        printf(" -s %c", option->letter);
    if (value && strcmp(value, "Q") == 0)
        printf(" -x -a '(" QUEUES ")'");
    else if (value && strcmp(value, "STATE") == 0)
        printf(" -x -a '" STATES "'");
    else if (value && *value != '[')
        printf(strcmp(value, "FILE") == 0 ? " -r -F" : " -x");
    printf(" -d '");
    completion_quoted(option->help, "\\", "\\'");
    puts("'");
}

static void fish_print(void)
{
    const struct command *command;

    puts("# fish: later completion fish >~/.config/fish/completions/later.fish\n"
         "complete -c later -f");
    for (const struct args_option *o = global_options; o->name; o++)
        fish_option(NULL, o);
    printf("complete -c later -n '__fish_seen_subcommand_from help' -a '");
    put_commands(" ");
    puts("'");
    for (size_t i = 0; (command = command_at(i)); i++) {
        printf("complete -c later -n __fish_use_subcommand -a %s -d '", command->name);
        completion_quoted(command->brief, "\\", "\\'");
        puts("'");
        if (takes_queues(command))
            printf("complete -c later -n '__fish_seen_subcommand_from %s' -a '(" QUEUES ")'\n",
                   command->name);
        for (const struct args_option *o = command->options; o && o->name; o++)
            fish_option(command, o);
    }
}

static const struct shell shells[] = {
    { "bash", bash_print },
    { "zsh", zsh_print },
    { "fish", fish_print },
};

static int completion_run(struct cli *cli, struct later_error *err)
{
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(cli->args.words[0], shells[i].name) == 0) {
            shells[i].print();
            return LATER_OK;
        }
    }
    return later_fail(err, LATER_E_USAGE, "%.40s: no shell that is known; bash, zsh and fish are",
                      cli->args.words[0]);
}

const struct command command_completion = {
    .name = "completion",
    .usage = "bash|zsh|fish",
    .brief = "Print what a shell needs to complete commands",
    .more = "Commands, options, queues, states and files are completed. Asks no Redis until a "
            "queue is.\n",
    .example = "later completion bash >~/.local/share/bash-completion/completions/later\n"
               "later completion zsh >~/.zfunc/_later\n"
               "later completion fish >~/.config/fish/completions/later.fish\n",
    .min = 1,
    .max = 1,
    .run = completion_run,
};
