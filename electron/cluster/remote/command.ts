/**
 * Gate to a server's shell: a command line that is not on the closed list (shapes.ts) is not sent, and commands
 * that need root are sent through `sudo -n` with absolute paths if the login is not root.
 *
 * If sudoers has exact lists of parameters, a reading of several is split into those that are granted, one call each,
 * unless the whole of it is granted.
 */
import { fail, formatFailure, ok, type Result } from '#core/base/result.ts'
import { shellQuote } from '#core/lustre/lctl.ts'
import { parseRuleCommand, type RuleCommand } from '#core/tbf/rule-command.ts'
import type { NodeConnection } from '../../base/connection.ts'
import { readTimerCommand, timerCommandText } from '../../enforce/expiry-match.ts'
import { filterTail, readFiltered } from '../probes/job-filter.ts'
import { FIND_READERS } from '../probes/other-readers.ts'
import { READ_SHELL_CPU } from '../probes/shell-cpu.ts'
import { parseWhileTimerExists, whileTimerExists } from '../../base/while-timer-exists.ts'
import type { NodeFacts } from './facts.ts'
import { isGranted } from './sudo-grants.ts'
import { readingOf, REMOTE_COMMANDS, type Access, type CompoundShape } from './shapes.ts'
import { HELPER_PATH, type SudoScope } from './sudo-scope.ts'

/** Timers as made, ended and listed by electron/enforce; each kind reaches root in its own way. */
const expiryTimer: CompoundShape = {
  name: 'an expiry timer',
  rewrite(line, { isRoot, sudo, lctl }) {
    const command = readTimerCommand(line)
    if (!command) return undefined
    const text = timerCommandText(command, { lctl, sudo: !isRoot })
    if (text === undefined || isRoot || command.kind === 'shell') return text
    if (command.kind === 'helper') return `sudo -n ${sudo.helper || HELPER_PATH}${text.slice('sluice-rule'.length)}`
    // Any login may list systemd units.
    return command.verb === 'list' ? text : `sudo -n /usr/bin/${text}`
  },
}

/** Reading that awk filters on the server; one that is sent in parts is filtered as a whole. */
const filteredReading: CompoundShape = {
  name: 'a reading filtered on the server',
  rewrite(line, access, simple) {
    const filtered = readFiltered(line)
    const reading = filtered && simple(filtered.reading)
    if (!filtered || reading === undefined || !filtered.reading.startsWith('lctl get_param ')) return undefined
    return `${/; /.test(reading) ? `(${reading})` : reading} | ${filterTail(filtered.after)}`
  },
}

/** Lines without variable parts. */
const constants: CompoundShape = {
  name: 'a constant line',
  rewrite: (line) => (line === READ_SHELL_CPU || line === FIND_READERS ? line : undefined),
}

/** `printf %s TEXT | sluice padll policies set`: the policy text is the operator's own. */
const padllPolicies: CompoundShape = {
  name: "policies of PADLL's controller",
  rewrite(line) {
    const m = /^printf %s (.{1,120000}) \| sluice padll policies set(?: --epoch \d{1,15})?$/s.exec(line)
    const quoted = m?.[1]
    if (quoted === undefined || quoted.includes('\0')) return undefined
    const text = quoted.startsWith("'") ? quoted.slice(1, -1).replaceAll(`'\\''`, "'") : quoted
    return shellQuote(text) === quoted ? line : undefined
  },
}

/**
 * `test -e FILE-OF-A-TIMER && lctl set_param ...`, after the removals of the same period if there are any: any login may
 * check whether the file exists.
 */
const rulesUnderTimer: CompoundShape = {
  name: 'rules with a pending timer',
  rewrite(line, _access, simple) {
    const write = (part: string): string | undefined => {
      const command = part.startsWith('lctl set_param ') ? simple(part) : undefined
      return command?.includes('; ') ? undefined : command
    }
    // Rules contain no semicolon.
    const at = line.indexOf('; test -e ')
    const removals = at < 0 ? '' : write(line.slice(0, at))
    const read = parseWhileTimerExists(at < 0 ? line : line.slice(at + '; '.length))
    const command = read && write(read.command)
    if (!read || removals === undefined || command === undefined) return undefined
    const guarded = whileTimerExists(read.file, command)
    return removals === '' ? guarded : `${removals}; ${guarded}`
  },
}

/** Lines of the console that are more than simple commands, each with its maker. New makers add their shape here. */
const COMPOUND_SHAPES: readonly CompoundShape[] = [
  expiryTimer,
  rulesUnderTimer,
  filteredReading,
  constants,
  padllPolicies,
]

interface Word {
  /** Text without its quotes. */
  readonly text: string
  /** Position in the line. */
  readonly from: number
  readonly to: number
}

/** Longest line, bytes: Linux accepts 128 KiB in one argument. */
const LINE_BYTES = 120 << 10

/** Piece of a word: plain characters, quoted text, or a quote outside of quotes, as written by `shellQuote`. */
const PIECE = /[A-Za-z0-9_@%+=:,./-]+|'[^'\x00-\x1f\x7f]*'|\\'/y

function wordAt(line: string, from: number): Word | undefined {
  let text = ''
  let to = from
  for (;;) {
    PIECE.lastIndex = to
    const piece = PIECE.exec(line)?.[0]
    if (piece === undefined) break
    to += piece.length
    text += piece.startsWith("'") ? piece.slice(1, -1) : piece === "\\'" ? "'" : piece
  }
  return to === from ? undefined : { text, from, to }
}

/**
 * Parses a command line as written by the console into its simple commands, each at least one word: words that are
 * plain or in single quotes, separated by one blank, and simple commands separated by `; `. Anything else that a shell
 * would interpret is rejected: expansions, double quotes, globs, redirections, pipes, jobs, comments, newlines.
 *
 * Text in single quotes is data to every POSIX shell, whatever it contains. Control characters and NUL are refused even
 * there.
 *
 * @returns  undefined for a line that contains anything else, or that is too long.
 */
export function readLine(line: string): readonly (readonly Word[])[] | undefined {
  if (line.length > LINE_BYTES) return undefined
  const commands: Word[][] = [[]]
  for (let at = 0; ;) {
    const word = wordAt(line, at)
    if (!word) return undefined
    commands.at(-1)?.push(word)
    if (word.to === line.length) return commands
    if (line[word.to] === ' ') at = word.to + 1
    else if (line.startsWith('; ', word.to)) {
      commands.push([])
      at = word.to + 2
    } else return undefined
  }
}

export type { Access } from './shapes.ts'

/** Root access of a server's commands, from its facts. */
export const accessOf = (facts: NodeFacts): Access => ({ isRoot: facts.isRoot, sudo: facts.sudo, lctl: facts.lctl })

const refuse = (code: 'REMOTE_COMMAND_REFUSED' | 'REMOTE_NO_RIGHT', why: string): Result<never> =>
  fail({
    code,
    what:
      code === 'REMOTE_NO_RIGHT' ? 'The login may not do this' : 'The command is not on the list of allowed commands',
    why,
    unaffected: 'Nothing was sent.',
  })

/** Shortens a line for messages and replaces unprintable characters. */
const shown = (line: string): string => line.slice(0, 120).replace(/[^\x20-\x7e]/g, '?')

/** Default rate of a rule on a server, RPC/s. */
const DEFAULT_RATE = 10_000

const rankOf = (c: { rank: string | undefined }): readonly string[] => (c.rank === undefined ? [] : [`rank=${c.rank}`])

function helperArguments(parameter: string, c: RuleCommand): Result<readonly string[]> {
  const head = [c.verb, parameter, c.queue ?? 'both', c.name]
  if (c.verb === 'stop') return ok(head)
  if (c.verb === 'start') {
    const realtime = c.realtime ? ['realtime=1'] : []
    return ok([...head, c.conditions, String(c.rate ?? DEFAULT_RATE), ...rankOf(c), ...realtime])
  }
  if (c.realtime)
    return refuse('REMOTE_NO_RIGHT', 'the helper does not change realtime=; stop the rule and start it again')
  return ok([...head, ...(c.rate === undefined ? [] : [`rate=${c.rate}`]), ...rankOf(c)])
}

/**
 * Call of the helper that sudoers allows (resources/server/sluice-rule) for the assignments of one set_param; the helper checks
 * every word again.
 *
 * @param assignments  `PARAMETER=VALUE`, on the closed list.
 * @returns            REMOTE_NO_RIGHT for assignments that the helper does not support: it changes no policy.
 */
export function throughHelper(assignments: readonly string[], sudo: SudoScope): Result<string> {
  const calls: (readonly string[])[] = []
  for (const assignment of assignments) {
    const at = assignment.indexOf('=')
    const parameter = assignment.slice(0, at)
    const command = parseRuleCommand(assignment.slice(at + 1))
    if (!parameter.endsWith('.nrs_tbf_rule') || !command.ok) {
      return refuse('REMOTE_NO_RIGHT', 'sudo allows the helper only, and that changes rules, not which policy runs')
    }
    const words = helperArguments(parameter, command.value)
    if (!words.ok) return words
    calls.push(words.value)
  }
  const several = calls.length === 1 ? [] : ['apply']
  const words = [...several, ...calls.flatMap((call, i) => (i === 0 ? call : ['--', ...call]))]
  return ok(`sudo -n ${sudo.helper || HELPER_PATH} ${words.map(shellQuote).join(' ')}`)
}

/** Call of lctl through sudo; a reading that is granted only in parts becomes several. */
function throughSudo(words: readonly Word[], raw: string, { sudo, lctl }: Access): string {
  const call = (rest: string): string => `sudo -n ${lctl} ${rest}`
  const args = words.slice(1).map((w) => w.text)
  const reading = readingOf(args)
  const hasFullSudo = sudo.kind === 'broad' || sudo.grants.length === 0 || isGranted(sudo.grants, lctl, args)
  if (!reading || reading.names.length === 1 || hasFullSudo) return call(raw)
  const one = (name: string): readonly string[] => ['get_param', ...reading.flags, name]
  const granted = reading.names.filter((name) => isGranted(sudo.grants, lctl, one(name)))
  if (granted.length === 0) return call(raw)
  return granted.map((name) => call(one(name).map(shellQuote).join(' '))).join('; ')
}

function literalOfOne(words: readonly Word[], line: string, access: Access): Result<string> {
  const [program, ...rest] = words
  const args = rest.map((w) => w.text)
  const entry = REMOTE_COMMANDS.find((c) => c.program === program?.text)
  // The name must be written plainly: `'lctl'` is not accepted.
  if (!program || !entry || program.to - program.from !== program.text.length || !entry.takes(args)) {
    return refuse('REMOTE_COMMAND_REFUSED', shown(line))
  }
  const end = words.at(-1)?.to ?? program.to
  const tail = line.slice(rest[0]?.from ?? program.to, end)
  const isLctl = entry.program === 'lctl'
  const named = isLctl ? access.lctl : entry.program
  if (access.isRoot || entry.needsRoot?.(args) === false) return ok(tail === '' ? named : `${named} ${tail}`)
  if (access.sudo.kind === 'none') return refuse('REMOTE_NO_RIGHT', access.sudo.text)
  const { sudo, lctl } = access
  const isHelped = sudo.kind === 'write' && sudo.hasHelper && args[0] === 'set_param'
  if (isLctl && isHelped && !isGranted(sudo.grants, lctl, args)) return throughHelper(args.slice(1), sudo)
  return ok(isLctl ? throughSudo(words, tail, access) : `sudo -n ${entry.path ?? entry.program} ${tail}`)
}

/**
 * Command line as sent to a server: also for the review and the audit.
 *
 * @returns  REMOTE_COMMAND_REFUSED for a line that is not on the list; REMOTE_NO_RIGHT if it needs root and there is no
 *           access.
 */
export function literalOf(
  line: string,
  access: Access,
  compounds: readonly CompoundShape[] = COMPOUND_SHAPES,
): Result<string> {
  if (!/^(?:lctl|\/[A-Za-z0-9_./-]{1,200})$/.test(access.lctl))
    return refuse('REMOTE_COMMAND_REFUSED', 'the path of lctl')
  // Without any root access the line is rewritten as if there were one: it is sent if it does not need it.
  const hasNone = !access.isRoot && access.sudo.kind === 'none'
  const able: Access = hasNone ? { ...access, sudo: { ...access.sudo, kind: 'broad' } } : access
  const simple = (part: string): string | undefined => {
    const inner = literalOfLine(part, able)
    return inner.ok ? inner.value : undefined
  }
  for (const shape of compounds) {
    const text = shape.rewrite(line, able, simple)
    if (text !== undefined)
      return hasNone && text.includes('sudo -n ') ? refuse('REMOTE_NO_RIGHT', access.sudo.text) : ok(text)
  }
  return literalOfLine(line, access)
}

function literalOfLine(line: string, access: Access): Result<string> {
  const commands = readLine(line)
  if (!commands) return refuse('REMOTE_COMMAND_REFUSED', shown(line))
  // A sequence of simple commands: only harmless ones.
  if (commands.length > 1 && !commands.every(isHarmless)) return refuse('REMOTE_COMMAND_REFUSED', shown(line))
  const out: string[] = []
  for (const words of commands) {
    const one = literalOfOne(words, line, access)
    if (!one.ok) return one
    out.push(one.value)
  }
  return ok(out.join('; '))
}

const isHarmless = (words: readonly Word[]): boolean =>
  words[1]?.text !== 'set_param' &&
  !/^(?:stop|reset-failed|set)$/.test(words[1]?.text ?? '') &&
  words[2]?.text !== 'set'

/** Exit code of commands not sent for lack of rights: a shell's code for a program that it may not execute. */
const MAY_NOT = 126

/**
 * Node for the rest of the console: its shell accepts only listed commands. Commands without the necessary rights are
 * not sent, and answered as by a shell; a line that is not on the list is not sent either, and fails with
 * REMOTE_COMMAND_REFUSED.
 */
export function gate(node: NodeConnection, access: Access): NodeConnection {
  return {
    host: node.host,
    roles: node.roles,
    timers: node.timers,
    exec: async (command) => {
      const literal = literalOf(command, access)
      if (literal.ok) return node.exec(literal.value)
      if (literal.error.code !== 'REMOTE_NO_RIGHT') return literal
      return ok({ stdout: '', stderr: `sluice: ${formatFailure(literal.error)}\n`, code: MAY_NOT })
    },
  }
}
