/**
 * Closed list of all commands that the console runs on servers: programs and the shapes of their arguments. A new
 * command line needs a shape here; a line without one is not sent.
 *
 * A line of several commands, with a pipe or a redirection, is made in one place and has a compound shape of its own:
 * it is accepted if its maker renders the same text from its parsed form.
 */
import { parsePolicyCommand, POLICIES } from '#core/tbf/policy-command.ts'
import { parseRuleCommand } from '#core/tbf/rule-command.ts'
import type { SudoScope } from './sudo-scope.ts'
import { SERVICES } from '../../base/service.ts'

/** Root access of commands on one server. */
export interface Access {
  readonly isRoot: boolean
  readonly sudo: SudoScope
  /** lctl as called; a path, or `lctl` if root finds it by name. */
  readonly lctl: string
}

export interface RemoteCommand {
  /** First word of the line. */
  readonly program: string
  /** Its path in sudoers; undefined: it needs no root, or `Access` has the path. */
  readonly path?: string | undefined
  /** True if these arguments are on the list. */
  takes(args: readonly string[]): boolean
  /** True if it needs root, which is the default. */
  needsRoot?(args: readonly string[]): boolean
}

/** Line that is not one simple command. */
export interface CompoundShape {
  readonly name: string
  /**
   * Line as sent with this access; undefined: not of this shape.
   *
   * @param simple  same for a part that consists of simple commands.
   */
  rewrite(line: string, access: Access, simple: (part: string) => string | undefined): string | undefined
}

const NAMED = /^(?:version|health_check|jobid_var|jobid_name|cpu_partition_table|devices|memused)$/
const IN_TREE = /^(?:obdfilter|mdt|mdd|osd-[a-z*]{1,16}|ost|mds|ldlm|mgs|lod|osp)\.[A-Za-z0-9_.*{},-]{1,300}$/
const isReadable = (name: string): boolean => NAMED.test(name) || IN_TREE.test(name)

/** Rule parameters of the services that the console writes. */
const RULES: ReadonlySet<string> = new Set(Object.values(SERVICES).map((s) => s.rules))
const POLICY: ReadonlySet<string> = new Set(Object.values(SERVICES).map((s) => s.policies))

/** The only assignment that clears counters: those of all jobs on the OSTs of a server, after a period (docs/connect.md). */
export const CLEAR_JOB_STATS = `${SERVICES.ost_io.jobStats}=clear`

/** Parts of rules: conditions, names, numbers. Neither quotes nor other characters that are special to a shell. */
const RULE_TEXT = /^[A-Za-z0-9.@_:/+#%=~^*?,&{}[\] -]{1,4095}$/
const POLICY_TEXT = /^[a-z0-9_+ ]{1,64}$/

/** True if a value may be written to nrs_tbf_rule: the rule grammar, within the characters above. */
export const isRuleText = (value: string): boolean => RULE_TEXT.test(value) && parseRuleCommand(value).ok

/** `NAME=VALUE` of set_param. */
export function isAssignment(word: string): boolean {
  const at = word.indexOf('=')
  const name = word.slice(0, at)
  const value = word.slice(at + 1)
  if (RULES.has(name)) return isRuleText(value)
  if (word === CLEAR_JOB_STATS) return true
  return POLICY.has(name) && POLICY_TEXT.test(value) && parsePolicyCommand(value, { hp: true, policies: POLICIES }).ok
}

/** Most rules that one call of set_param writes. */
const ASSIGNMENTS_MOST = 64

/** True for the assignments of one call of set_param: several only to the rules of one service. */
function areAssignments(words: readonly string[]): boolean {
  if (words.length === 0 || words.length > ASSIGNMENTS_MOST || !words.every(isAssignment)) return false
  const names = new Set(words.map((word) => word.slice(0, word.indexOf('='))))
  return words.length === 1 || (names.size === 1 && [...names].every((name) => RULES.has(name)))
}

/** Parses the arguments of one reading: names of parameters, with -n (values only) or -N (names only). */
export function readingOf(args: readonly string[]): { flags: readonly string[]; names: readonly string[] } | undefined {
  if (args[0] !== 'get_param') return undefined
  const from = args.findIndex((a, i) => i > 0 && !a.startsWith('-'))
  const flags = args.slice(1, from < 0 ? undefined : from)
  const names = from < 0 ? [] : args.slice(from)
  return names.length > 0 && flags.every((f) => f === '-n' || f === '-N') && names.every(isReadable)
    ? { flags, names }
    : undefined
}

function takesLctl(args: readonly string[]): boolean {
  const [verb, ...rest] = args
  if (verb === 'get_param') return readingOf(args) !== undefined
  if (verb === 'set_param') return areAssignments(rest)
  return (verb === 'dl' || verb === '--version') && rest.length === 0
}

const all =
  (...shapes: readonly RegExp[]) =>
  (args: readonly string[]): boolean =>
    args.length === shapes.length && shapes.every((s, i) => s.test(args[i] ?? ''))
const oneOf =
  (...forms: readonly ((args: readonly string[]) => boolean)[]) =>
  (args: readonly string[]): boolean =>
    forms.some((f) => f(args))
const each =
  (...shapes: readonly RegExp[]) =>
  (args: readonly string[]): boolean =>
    args.length <= 16 && args.every((a) => shapes.some((s) => s.test(a)))
const free = (): boolean => false

const takesPadll = oneOf(all(/^status$/), all(/^policies$/, /^show$/), ([verb, ...rest]) =>
  verb === 'set'
    ? each(/^--epoch$/, /^\d{1,15}$/, /^[a-z_.]{1,40}[A-Za-z0-9_.:@-]{0,80}=[A-Za-z0-9_.:+-]{1,40}$/)(rest)
    : false,
)

/** Status of a data node, and a reservation of one client in one run of it. */
const takesHaechi = oneOf(
  all(/^status$/, /^--json$/, /^--since$/, /^\d{1,10}$/),
  all(
    /^set$/,
    /^--run$/,
    /^[0-9a-f]{16}$/,
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    /^reservation=\d{1,10}$/,
    /^limit=(?:none|\d{1,10})$/,
  ),
)

/** Readings of the ccPFS servers of a node. */
const AFTER = [/^--after$/, /^[\d:,]{1,2000}$/]
const NAMES = [/^--names$/, /^[\d,]{1,4000}$/]
const takesCcpfs = oneOf(
  all(/^list$/),
  all(/^observe$/),
  all(/^observe$/, ...AFTER),
  all(/^observe$/, ...NAMES),
  all(/^observe$/, ...AFTER, ...NAMES),
)

/** Subcommands of `sluice` on a node, with the arguments that each takes. */
const SLUICE_AREAS = new Map([
  ['padll', takesPadll],
  ['haechi', takesHaechi],
  ['ccpfs', takesCcpfs],
])

/** Unit of Sluice, or a pattern for them. */
const UNIT = /^sluice-[A-Za-z0-9_.:*-]{1,200}$/
const UNIT_FLAG = /^--(?:all|no-legend|no-pager|plain|full|quiet|type=timer|output=json|property=[A-Za-z,]{1,120})$/

export const REMOTE_COMMANDS: readonly RemoteCommand[] = [
  { program: 'lctl', takes: takesLctl, needsRoot: (args) => args[0] !== '--version' },
  {
    program: 'systemctl',
    path: '/usr/bin/systemctl',
    takes: ([verb, ...rest]) =>
      verb === 'is-system-running'
        ? rest.length === 0
        : /^(?:stop|is-active|show|list-timers|list-units|reset-failed)$/.test(verb ?? '') &&
          each(UNIT, UNIT_FLAG)(rest),
    needsRoot: ([verb]) => verb === 'stop' || verb === 'reset-failed',
  },
  // Owners and node counts of jobs: any login may read them.
  {
    program: 'squeue',
    takes: each(
      /^-[ahro]$/,
      /^--(?:json|noheader|all|array)$/,
      /^--states=[A-Z,]{1,80}$/,
      /^(?:%[0-9.]{0,5}[A-Za-z]\|?){1,16}$/,
    ),
    needsRoot: free,
  },
  {
    program: 'scontrol',
    takes: oneOf(
      all(/^show$/, /^jobs?$/),
      all(/^show$/, /^jobs?$/, /^(?:-o|--json|--oneliner)$/),
      all(/^-o$/, /^show$/, /^jobs?$/),
    ),
    needsRoot: free,
  },
  { program: 'qstat', takes: each(/^-[fxtw]$/, /^-F$/, /^json$/), needsRoot: free },
  {
    program: 'sluice',
    takes: ([area = '', ...rest]) => SLUICE_AREAS.get(area)?.(rest) ?? false,
    needsRoot: free,
  },
  // Discovery of a server: only with the arguments listed here.
  { program: 'id', takes: oneOf(all(/^-u$/), all(/^-un$/)), needsRoot: free },
  { program: 'hostname', takes: all(), needsRoot: free },
  { program: 'date', takes: all(/^\+%s\.%N$/), needsRoot: free },
  {
    program: 'command',
    takes: all(/^-v$/, /^(?:lctl|squeue|qstat|sluice|systemd-run|setsid|nohup)$/),
    needsRoot: free,
  },
  { program: 'sudo', takes: all(/^-n$/, /^-l$/), needsRoot: free },
]
