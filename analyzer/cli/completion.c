/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/completion.c - writes bash's completion script for `locus` from the tables of commands and
 * options.
 *
 * For each option the script knows the kind of its value: one of some words, a directory, a file,
 * or something that cannot be guessed. For each command it knows the kind of operands.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/cli/command.h"

/* bash divides "--format=json" at its "=", unless COMP_WORDBREAKS says otherwise. */
static const char begin[] =
    "# bash completion of locus, made from its tables of options\n"
    "_locus()\n{\n"
    "\tlocal cur=${COMP_WORDS[COMP_CWORD]} name=${COMP_WORDS[COMP_CWORD-1]} prefix='' words='' "
    "kind=''\n"
    "\tlocal command=${COMP_WORDS[1]} i first\n\n"
    "\tCOMPREPLY=()\n"
    "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
    "\t\tcommand='' name=''\n"
    "\telif [ \"$cur\" = = ]; then\n"
    "\t\tcur=''\n"
    "\telif [ \"$cur\" = : ]; then\n"
    "\t\tcur='' name=:\n"
    "\telif [ \"$name\" = = ]; then\n"
    "\t\tname=${COMP_WORDS[COMP_CWORD-2]}\n"
    "\telif [[ $cur == --*=* ]]; then\n"
    "\t\tname=${cur%%=*} prefix=${cur%%=*}= cur=${cur#*=}\n"
    "\tfi\n";

/* `first` is the place of the command that is to be run, 0 before there is one. */
static const char find_first[] =
    "\tif [[ $command == @(run|repeat|agree) ]]; then\n"
    "\t\tfirst=0\n"
    "\t\tfor ((i = 2; i < COMP_CWORD && !first; i++)); do\n"
    "\t\t\tcase ${COMP_WORDS[i]} in\n"
    "\t\t\t--) first=$((i + 1)) ;;\n"
    "\t\t\t=) i=$((i + 1)) ;;\n"
    "\t\t\t-*) [[ $takes != *\" ${COMP_WORDS[i]} \"* || ${COMP_WORDS[i+1]} == = ]] || "
    "i=$((i + 1)) ;;\n"
    "\t\t\t*) [ \"$command\" != run ] || first=$i ;;\n" /* elsewhere it is a profile */
    "\t\t\tesac\n"
    "\t\tdone\n"
    "\t\t[ \"$first\" -eq 0 ] || command=run-program name=''\n"
    "\tfi\n";

static const char end[] =
    "\tesac\n"
    "\tif [ \"$command\" = run-program ] && [ \"$first\" -lt \"$COMP_CWORD\" ]; then\n"
    "\t\tkind='file'\n"
    "\tfi\n"
    "\tif [ \"$kind\" = set ]; then\n"
    "\t\t[[ $cur != *,* ]] || prefix=$prefix${cur%,*},\n"
    "\t\tcur=${cur##*,} kind='words'\n"
    "\tfi\n"
    "\tcase $kind in\n"
    "\twords) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\") ;;\n"
    "\tdirectory) mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
    "\tfile) mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
    "\tprogram) mapfile -t COMPREPLY < <(compgen -c -- \"$cur\") ;;\n"
    "\tesac\n"
    "\tCOMPREPLY=(\"${COMPREPLY[@]/#/$prefix}\")\n"
    "\tcase $kind in\n"
    "\tdirectory | file) compopt -o filenames ;;\n"
    "\twords) [ \"${#COMPREPLY[@]}\" -ne 1 ] || [[ ${COMPREPLY[0]} != *= ]] || compopt -o "
    "nospace ;;\n"
    "\tesac\n"
    "}\n"
    "complete -F _locus locus\n";

static bool has_value(const struct lc_option_info *o)
{
	return o->argument[0] != '\0';
}

/* "fold|keep" as "fold keep". */
static void put_words(const char *words)
{
	for (; *words; words++)
		putchar(*words == '|' ? ' ' : *words);
}

/* Write the kind of an option's value, and its words, as assignments for the shell. */
static void put_kind(const struct lc_option_info *o)
{
	if (strcmp(o->type, "CHOICE") == 0 || strcmp(o->type, "SET") == 0) {
		printf("kind='%s' words=\"", *o->type == 'S' ? "set" : "words");
		put_words(o->argument);
		putchar('"');
	} else if (strcmp(o->argument, "DIR") == 0 || strcmp(o->argument, "PROFILE") == 0) {
		fputs("kind='directory'", stdout);
	} else if (strcmp(o->argument, "FILE") == 0 || strcmp(o->argument, "PATH") == 0) {
		fputs("kind='file'", stdout);
	} else {
		fputs("kind=''", stdout);
	}
}

/* Operands of a command, by how its usage names them. */
static const char *operand_kind(const char *operands)
{
	if (strstr(operands, "PROFILE") || strstr(operands, "BEFORE"))
		return "directory";
	return strstr(operands, "COMMAND") ? "program" : "";
}

static void put_command(const struct lc_command *c)
{
	size_t count;
	const struct lc_option_info *o = c->options(&count);

	for (size_t i = 0; i < count; i++) {
		if (!has_value(&o[i]))
			continue;
		printf("\t%s:--%s:*", c->name, o[i].name);
		if (o[i].letter)
			printf(" | %s:-%c:*", c->name, o[i].letter);
		fputs(") ", stdout);
		put_kind(&o[i]);
		puts(" ;;");
	}
	printf("\t%s:*:-*) kind='words' words=\"", c->name);
	for (size_t i = 0; i < count; i++)
		printf("--%s%s ", o[i].name, has_value(&o[i]) ? "=" : "");
	puts("--help --version\" ;;");
	printf("\t%s:*) kind='%s' ;;\n", c->name, operand_kind(c->operands));
}

/* The options of a command that take the next word for their value. */
static void put_takers(const struct lc_command *c)
{
	size_t count;
	const struct lc_option_info *o = c->options(&count);

	for (size_t i = 0; i < count; i++) {
		if (!has_value(&o[i]))
			continue;
		printf("--%s ", o[i].name);
		if (o[i].letter)
			printf("-%c ", o[i].letter);
	}
}

/* Does the command run a program? An option has the same kind of value in all these commands. */
static bool runs_program(const char *command)
{
	return strcmp(command, "run") == 0 || strcmp(command, "repeat") == 0 ||
	       strcmp(command, "agree") == 0;
}

void lc_completion(void)
{
	size_t count;
	const struct lc_command *table = lc_command_table(&count);

	fputs(begin, stdout);
	fputs("\tlocal takes=\" ", stdout);
	for (size_t i = 0; i < count; i++)
		if (runs_program(table[i].name))
			put_takers(&table[i]);
	puts("\"");
	fputs(find_first, stdout);
	puts("\tcase $command:$name:$cur in");
	/* A path of several files, a:b, is divided too. */
	puts("\treport:'::'*) kind='file' ;;");
	for (size_t i = 0; i < count; i++)
		put_command(&table[i]);
	puts("\trun-program:*) kind='program' ;;");
	for (int help = 0; help < 2; help++) {
		printf("\t%s) kind='words' words=\"", help ? "help:*" : "::*");
		for (size_t i = 0; i < count; i++)
			printf("%s ", table[i].name);
		puts(help ? "\" ;;" : "help --help --version\" ;;");
	}
	fputs(end, stdout);
}
