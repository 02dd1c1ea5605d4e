/**
 * Commands of `sluice padll ...` on the node of a global controller, and their answers. The emulated controller and the
 * real one both answer through this file, so the console never knows which one it talks to (docs/stage-protocol.md,
 * "Console").
 */
import { fail, ok, type Failure, type Result } from '../base/result.ts'
import { shellQuote } from '../lustre/lctl.ts'
import { ALGORITHMS, type Algorithm } from './algorithms/algorithm.ts'
import type { PadllStatus } from './status.ts'
import { isScope, type Scope } from './vocabulary.ts'

/** Settings that may change while a controller runs; absent ones stay. */
export interface SettingsChange {
  readonly algorithm?: Algorithm
  /** 0..1. */
  readonly epsilon?: number
  readonly split?: 'equal' | 'usage'
  /** 1..60. */
  readonly collectRounds?: number
  /** Limits of all jobs together, op/s; null removes the limit. */
  readonly limits?: readonly { readonly scope: Scope; readonly rate: number | null }[]
}

export type ConsoleCommand =
  | { readonly kind: 'status' }
  | { readonly kind: 'policies-show' }
  | { readonly kind: 'policies-check' }
  | { readonly kind: 'policies-set'; readonly epoch: number | undefined }
  | { readonly kind: 'set'; readonly epoch: number | undefined; readonly change: SettingsChange }

/** Fault of a policy text, counted from 1. */
export interface ConsoleFault {
  readonly line: number
  readonly column: number
  readonly severity: 'error' | 'warning'
  readonly message: string
}

/** Controller interface that the commands use. */
export interface ConsoleController {
  readonly epoch: number
  readonly policiesText: string
  status(): PadllStatus
  /** Returns the faults of a policy text without applying it. */
  checkPolicies(text: string): readonly ConsoleFault[]
  /** Puts a text without errors in force, from second 0 of its own time on. */
  setPolicies(text: string): Result<undefined>
  change(change: SettingsChange): Result<undefined>
}

export interface ConsoleAnswer {
  readonly stdout: string
  readonly stderr: string
  /** 0 done, 1 refused, 2 not understood. */
  readonly code: number
}

/** Byte rates count, too: up to 1 TB/s. */
export const RATE_MAX = 1e12
export const ROUNDS_MAX = 60

const USAGE = `usage: sluice padll status
       sluice padll policies show | check | set [--epoch N]    (check and set read the text from standard input)
       sluice padll set [--epoch N] NAME=VALUE ...    (algorithm, epsilon, split, collect_rounds, limit.SCOPE)
`

/** Bounded, since a controller keeps its settings as text. */
const number = (text: string): number => (/^\d{1,16}(?:\.\d{1,32})?$/.test(text) ? Number(text) : NaN)

/** Parses one `NAME=VALUE`; the error says what was expected. */
function setting(word: string): Result<SettingsChange, string> {
  const at = word.indexOf('=')
  const name = at < 0 ? word : word.slice(0, at)
  const value = at < 0 ? '' : word.slice(at + 1)
  const algorithm = ALGORITHMS.find((a) => a === value)
  const n = number(value)
  if (name === 'algorithm') {
    return algorithm ? ok({ algorithm }) : fail(`algorithm: expected one of ${ALGORITHMS.join(', ')}`)
  }
  if (name === 'epsilon') return n <= 1 ? ok({ epsilon: n }) : fail('epsilon: expected a number from 0 to 1')
  if (name === 'split') {
    return value === 'equal' || value === 'usage' ? ok({ split: value }) : fail('split: expected equal or usage')
  }
  if (name === 'collect_rounds') {
    const isRounds = Number.isInteger(n) && n >= 1 && n <= ROUNDS_MAX
    return isRounds ? ok({ collectRounds: n }) : fail(`collect_rounds: expected a whole number from 1 to ${ROUNDS_MAX}`)
  }
  if (!name.startsWith('limit.')) return fail(`"${name}" cannot be set`)
  const scope = name.slice('limit.'.length)
  if (!isScope(scope)) return fail(`limit: "${scope}" is neither an operation nor a class`)
  if (value === 'none') return ok({ limits: [{ scope, rate: null }] })
  return n >= 1 && n <= RATE_MAX
    ? ok({ limits: [{ scope, rate: n }] })
    : fail(`${name}: expected none, or op/s from 1 to ${RATE_MAX}`)
}

function settings(args: readonly string[]): Result<SettingsChange, string> {
  let change: SettingsChange = {}
  for (const word of args) {
    const one = setting(word)
    if (!one.ok) return one
    const limits = [...(change.limits ?? []), ...(one.value.limits ?? [])]
    change = { ...change, ...one.value, ...(limits.length > 0 ? { limits } : {}) }
  }
  return args.length === 0 ? fail('nothing to set') : ok(change)
}

/** Parses the arguments after `sluice padll`; the error says what was not understood. */
export function parseConsole(args: readonly string[]): Result<ConsoleCommand, string> {
  const rest = [...args]
  let epoch: number | undefined
  const at = rest.indexOf('--epoch')
  if (at >= 0) {
    epoch = number(rest[at + 1] ?? '')
    if (!Number.isSafeInteger(epoch)) return fail('--epoch: expected a whole number')
    rest.splice(at, 2)
  }
  const [verb, second, ...more] = rest
  const isRead = verb === 'status' || (verb === 'policies' && (second === 'show' || second === 'check'))
  if (isRead && epoch !== undefined) return fail('--epoch is only valid with a change')
  if (verb === 'set') {
    const change = settings(rest.slice(1))
    return change.ok ? ok({ kind: 'set', epoch, change: change.value }) : change
  }
  if (verb === 'status' && second === undefined) return ok({ kind: 'status' })
  if (verb === 'policies' && more.length === 0) {
    if (second === 'show') return ok({ kind: 'policies-show' })
    if (second === 'check') return ok({ kind: 'policies-check' })
    if (second === 'set') return ok({ kind: 'policies-set', epoch })
  }
  return fail(`unknown command: ${rest.slice(0, 3).join(' ').slice(0, 80)}`)
}

const message = (text: string): string => `sluice padll: ${text}\n`
const refused = (f: Failure): ConsoleAnswer => ({
  stdout: '',
  stderr: message(f.why === undefined ? f.what : `${f.what}: ${f.why}`),
  code: 1,
})
const lineOf = (f: ConsoleFault): string => `${f.line}:${f.column}: ${f.severity}: ${f.message}\n`

/** Formats the faults of a text as lines for stderr; warnings alone do not refuse it. */
function checked(faults: readonly ConsoleFault[]): ConsoleAnswer {
  return { stdout: '', stderr: faults.map(lineOf).join(''), code: faults.some((f) => f.severity === 'error') ? 1 : 0 }
}

/** One line of ASCII-only JSON: job ids are bytes, and no encoding on the way can change them. */
const json = (value: unknown): string =>
  `${JSON.stringify(value).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`

/**
 * Executes `sluice padll ARGS`.
 *
 * @param stdin       the policy text, for `check` and `set`.
 * @param controller  undefined when none runs.
 */
export function answerConsole(
  args: readonly string[],
  stdin: string,
  controller: ConsoleController | undefined,
): ConsoleAnswer {
  const command = parseConsole(args)
  if (!command.ok) return { stdout: '', stderr: message(command.error) + USAGE, code: 2 }
  if (!controller) return { stdout: '', stderr: message('no global controller runs on this node'), code: 1 }
  const { value } = command
  if (value.kind === 'status') return { stdout: json(controller.status()), stderr: '', code: 0 }
  if (value.kind === 'policies-show') return { stdout: controller.policiesText, stderr: '', code: 0 }
  if (value.kind === 'policies-check') return checked(controller.checkPolicies(stdin))
  if (value.epoch !== undefined && value.epoch !== controller.epoch) {
    const why = `the controller's epoch is ${controller.epoch}, not ${value.epoch}; check its status before changing it`
    return { stdout: '', stderr: message(why), code: 1 }
  }
  if (value.kind === 'set') {
    const done = controller.change(value.change)
    return done.ok ? { stdout: '', stderr: '', code: 0 } : refused(done.error)
  }
  const check = checked(controller.checkPolicies(stdin))
  if (check.code !== 0) return check
  const done = controller.setPolicies(stdin)
  return done.ok ? check : refused(done.error)
}

/** Commands sent by the console. */
export const STATUS_COMMAND = 'sluice padll status'

const epochOption = (epoch: number | undefined): string => (epoch === undefined ? '' : ` --epoch ${epoch}`)

/** Uses the shell builtin `printf`, so the text may exceed the kernel's limit for one program argument. */
export const setPoliciesCommand = (text: string, epoch?: number): string =>
  `printf %s ${shellQuote(text === '' ? '\n' : text)} | sluice padll policies set${epochOption(epoch)}`

export function setCommand(change: SettingsChange, epoch?: number): string {
  const { algorithm, epsilon, split, collectRounds, limits = [] } = change
  const args = [
    ...(algorithm === undefined ? [] : [`algorithm=${algorithm}`]),
    ...(epsilon === undefined ? [] : [`epsilon=${epsilon}`]),
    ...(split === undefined ? [] : [`split=${split}`]),
    ...(collectRounds === undefined ? [] : [`collect_rounds=${collectRounds}`]),
    ...limits.map(({ scope, rate }) => `limit.${scope}=${rate ?? 'none'}`),
  ]
  return `sluice padll set${epochOption(epoch)} ${args.map(shellQuote).join(' ')}`
}
