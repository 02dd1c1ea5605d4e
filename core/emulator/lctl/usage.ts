/**
 * Usage texts of lctl's commands: options and layout by release.
 *
 * Source: measured A25 (2.15.8, 2.17.0, development line). set_param's up to 2.17 was not measured and follows the layout of
 * the others.
 */
import type { Profile } from '../../lustre/profile.ts'
import { exitWith, type ExecResult } from '../exec.ts'
import type { LongNames } from './options.ts'

export type ParamCommand = 'get_param' | 'set_param' | 'list_param'

/** Long options of all three commands; the long name of a letter that a command lacks does not work there. */
export const LONG_NAMES: Readonly<Record<ParamCommand, LongNames>> = {
  get_param: {
    dshbak: 'b',
    color: 'c',
    classify: 'F',
    header: 'H',
    links: 'l',
    'no-links': 'L',
    merge: 'm',
    'no-merge': 'M',
    'no-name': 'n',
    'only-name': 'N',
    'name-only': 'N',
    module: 'o',
    path: 'p',
    readable: 'r',
    recursive: 'R',
    'only-tunable': 't',
    tunable: 't',
    writable: 'w',
    yaml: 'y',
  },
  list_param: {
    dshbak: 'b',
    color: 'c',
    'only-dir': 'D',
    'dir-only': 'D',
    classify: 'F',
    links: 'l',
    'no-links': 'L',
    merge: 'm',
    'no-merge': 'M',
    module: 'o',
    path: 'p',
    readable: 'r',
    recursive: 'R',
    'only-tunable': 't',
    tunable: 't',
    writable: 'w',
  },
  set_param: {
    client: 'C',
    delete: 'd',
    file: 'F',
    'no-name': 'n',
    noname: 'n',
    module: 'o',
    permanent: 'P',
    perm: 'P',
    thread: 't',
  },
}

const COLOUR = '[--color|-c auto|always|never]'
const PARAMS = 'PARAM1 [PARAM2 ...]'
const indented = (blank: string, lines: readonly string[]): string => lines.join(`\n${blank}`)

const OLD: Readonly<Record<ParamCommand, string>> = {
  get_param: `get the Lustre or LNET parameter
usage: get_param [-F|n|-N|-R] <param_path1 param_path2 ...>
Get the value of Lustre or LNET parameter from the specified path.
The path can contain shell-style filename patterns.
  -F  When -N specified, add '/', '@' or '=' for directories,
      symlinks and writeable files, respectively.
  -n  Print only the value and not parameter name.
  -N  Print only matched parameter names and not the values.
      (Especially useful when using patterns.)
  -R  Get parameters recursively from the specified entry.
`,
  list_param: `list the Lustre or LNET parameter name
usage: list_param [-F|-R|-D] <param_path1 param_path2 ...>
List the name of Lustre or LNET parameter from the specified path.
  -F  Add '/', '@' or '=' for dirs, symlinks and writeable files,
respectively.
  -D  Only list directories.
  -R  Recursively list all parameters under the specified path.
`,
  set_param: `set the Lustre or LNET parameter
usage: set_param [-d|-F|-n|-P|-t] <param_path1=value1 param_path2=value2 ...>
Set the value of the Lustre or LNET parameter at the specified path.
`,
}

const V2_17: Readonly<Record<ParamCommand, string>> = {
  get_param: `get the Lustre or LNET parameter
usage: ${indented('\t\t   ', [
    `get_param [--dshbak|-b] ${COLOUR}`,
    '[--classify|-F] [--header|-H] [--links|-l]',
    '[--no-links|-L] [--no-name|-n] [--only-name|-N]',
    '[--merge|-m] [--no-merge|-M] [--path|-p]',
    '[--readable|-r] [--recursive|-R] [--only-tunable|-t]',
    '[--writable|-w] [--yaml|-y]',
    PARAMS,
  ])}
Get the value of Lustre or LNET parameter from the specified path.
The path can contain shell-style filename patterns.
`,
  list_param: `list the Lustre or LNET parameter name
usage: ${indented('\t\t    ', [
    `list_param [--dshbak|-b] ${COLOUR}`,
    '[--only-dir|-D] [--classify|-F] [--links|-l]',
    '[--no-links|-L] [--merge|-m] [--no-merge|-M]',
    '[--path|-p] [--readable|-r] [--recursive|-R]',
    '[--only-tunable|-t] [--writable|-w]',
    PARAMS,
  ])}
List the name of Lustre or LNet parameter from the specified path.
`,
  set_param: `set the Lustre or LNET parameter
usage: ${indented('\t\t   ', [
    'set_param [--client|-C[FSNAME]] [--delete|-d] [--file|-F]',
    '[--no-name|-n] [--permanent|-P] [--thread|-t[THREAD_COUNT]]',
    'PARAM1=VALUE1 [PARAM2=VALUE2 ...]',
  ])}
Set the value of the Lustre or LNET parameter at the specified path.
`,
}

const DEV: Readonly<Record<ParamCommand, string>> = {
  get_param: `get the Lustre or LNET parameter
get value of Lustre or LNet parameter(s) from specified path,
which can contain shell-style filename patterns.
usage: ${indented(' '.repeat(17), [
    `get_param [--dshbak|-b] ${COLOUR} [--classify|-F]`,
    '[--header|-H] [--links|-l] [--no-links|-L]',
    '[--merge|-m] [--no-merge|-M] [--no-name|-n] [--only-name|-N]',
    '[--module|-o] [--path|-p] [--readable|-r] [--recursive|-R]',
    '[--only-tunable|-t] [--writable|-w] [--yaml|-y]',
    PARAMS,
  ])}
`,
  list_param: `list the name of Lustre or LNet parameter from the specified path.
usage: ${indented(' '.repeat(18), [
    `list_param [--dshbak|-b] ${COLOUR}`,
    '[--only-dir|-D] [--classify|-F] [--links|-l] [--no-links|-L]',
    '[--merge|-m] [--no-merge|-M] [--module|-o] [--path|-p]',
    '[--readable|-r] [--recursive|-R] [--only-tunable|-t]',
    `[--writable|-w] ${PARAMS}`,
  ])}
`,
  set_param: `set the Lustre or LNET parameter
set the value of the Lustre or LNET parameter at the specified path.
usage: ${indented(' '.repeat(17), [
    'set_param [--client|-C[FSNAME]] [--delete|-d]',
    '[--file|-F YAML_PARAM_FILE] [--no-name|-n] [--module|-o]',
    '[--permanent|-P] [--thread|-t[THREAD_COUNT]]',
    'PARAM1=VALUE1 [PARAM2=VALUE2 ...]',
  ])}
`,
}

const EXIT_USAGE = 4

/** Usage error; `complaint` is getopt's message about an argument. */
export function usage(profile: Profile, command: ParamCommand, complaint = ''): ExecResult {
  const texts = profile.release === 'dev' ? DEV : profile.lctl.hasLongOptions ? V2_17 : OLD
  const text = `${texts[command]}\n`
  return profile.lctl.usageTo === 'stdout'
    ? exitWith(EXIT_USAGE, complaint, text)
    : exitWith(EXIT_USAGE, complaint + text)
}
