/**
 * The closed list of what the console ever runs on a server: programs and the shapes of their arguments. Whoever makes a new command
 * line adds its shape here; a line that has none is not sent.
 *
 * A line of several commands, with a pipe or a redirection, is made in one place and has a compound shape of its own: it is taken
 * when its maker makes the very same text out of what was read from it.
 */
import { parsePolicyCommand, POLICIES } from '#core/tbf/policy-command.ts'
import { parseRuleCommand } from '#core/tbf/rule-command.ts'
import type { SudoScope } from './sudo-scope.ts'
import { SERVICES } from '../../base/service.ts'

/** How commands reach root's rights on one server. */
export interface Access {
  readonly isRoot: boolean
  readonly sudo: SudoScope
  /** lctl as it is called: a path, or `lctl` where root finds it by name. */
  readonly lctl: string
}

export interface RemoteCommand {
  /** The word that a line begins with. */
  readonly program: string
  /** Where sudoers has it; undefined: it needs no root, or access says where. */
  readonly path?: string | undefined
  /** Whether these arguments are on the list. */
  takes(args: readonly string[]): boolean
  /** Whether it needs root; true when absent. */
  needsRoot?(args: readonly string[]): boolean
}

/** A line that is not one simple command. */
export interface CompoundShape {
  readonly name: string
  /**
   * The line as it is sent with this access; undefined: it is not one of these.
   *
   * @param simple  the same of a part that is made of simple commands.
   */
  rewrite(line: string, access: Access, simple: (part: string) => string | undefined): string | undefined
}

const NAMED = /^(?:version|health_check|jobid_var|jobid_name|cpu_partition_table|devices|memused)$/
const IN_TREE = /^(?:obdfilter|mdt|mdd|osd-[a-z*]{1,16}|ost|mds|ldlm|mgs|lod|osp)\.[A-Za-z0-9_.*{},-]{1,300}$/
const isReadable = (name: string): boolean => NAMED.test(name) || IN_TREE.test(name)

/** Rules and policies of the services that the console writes, and nothing else. */
const RULES: ReadonlySet<string> = new Set(Object.values(SERVICES).map((s) => s.rules))
const POLICY: ReadonlySet<string> = new Set(Object.values(SERVICES).map((s) => s.policies))

/** What rules are made of: conditions, names, numbers. Neither quotes nor anything that a shell would act on. */
const RULE_TEXT = /^[A-Za-z0-9.@_:/+#%=~^*?,&{}[\] -]{1,4095}$/
const POLICY_TEXT = /^[a-z0-9_+ ]{1,64}$/

/** Whether a value may be written to nrs_tbf_rule: the rule grammar, within the characters above. */
export const isRuleText = (value: string): boolean => RULE_TEXT.test(value) && parseRuleCommand(value).ok

/** `NAME=VALUE` of set_param. */
export function isAssignment(word: string): boolean {
  const at = word.indexOf('=')
  const name = word.slice(0, at)
  const value = word.slice(at + 1)
  if (RULES.has(name)) return isRuleText(value)
  return POLICY.has(name) && POLICY_TEXT.test(value) && parsePolicyCommand(value, { hp: true, policies: POLICIES }).ok
}

/** Arguments of one reading: names of parameters, with -n (values alone) or -N (names alone). */
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
  if (verb === 'set_param') return rest.length === 1 && isAssignment(rest[0] ?? '')
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

/** A unit of ours, or a pattern of ours. */
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
  // Who the jobs are, and on how many nodes: everybody may ask.
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
    takes: ([first, ...rest]) =>
      first === 'padll' &&
      (all(/^status$/)(rest) ||
        all(/^policies$/, /^show$/)(rest) ||
        (rest[0] === 'set' &&
          each(
            /^--epoch$/,
            /^\d{1,15}$/,
            /^[a-z_.]{1,40}[A-Za-z0-9_.:@-]{0,80}=[A-Za-z0-9_.:+-]{1,40}$/,
          )(rest.slice(1)))),
    needsRoot: free,
  },
  // Finding out about a server: nothing of these has an argument that is not here.
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
