/**
 * Commands of `sluice haechi ...` to a running node, and their answers: the console sends the same ones over SSH. Commands are
 * untrusted: every argument is checked here, before the node sees it.
 */
import { fail, ok, type Failure, type Result } from '../base/result.ts'
import { MAX_TOKENS } from './settings.ts'
import { MAX_RESERVATION } from './report-word.ts'
import type { HaechiStatus } from './status.ts'

/** Requests of a client: all at once, at equal intervals, always one waiting, or none. Counts are per period. */
export type NodeWorkload =
  { readonly kind: 'backlogged' | 'idle' } | { readonly kind: 'burst' | 'constant'; readonly perPeriod: number }

/** A client to start. */
export interface NewClient {
  readonly name: string
  /** Job id: any text. */
  readonly job: string
  readonly reservation: number
  readonly limit: number | null
  readonly workload: NodeWorkload
  /** Share of READs, 0..1. */
  readonly reads: number
}

export type NodeCommand =
  | { readonly kind: 'status'; readonly since: number }
  | {
      readonly kind: 'set'
      readonly client: string
      readonly run: string | undefined
      /** undefined: unchanged. */
      readonly reservation: number | undefined
      readonly limit: number | null | undefined
    }
  | { readonly kind: 'add'; readonly client: NewClient }
  | { readonly kind: 'remove'; readonly client: string }
  | { readonly kind: 'stop' }

/** Interface of a node that the commands use. */
export interface ConsoleNode {
  readonly run: string
  status(since: number): HaechiStatus
  /** Changes a reservation and a limit from the next period on. Failures: E_CLIENT, those of admission. */
  set(client: string, reservation: number | undefined, limit: number | null | undefined): Promise<Result<void>>
  add(client: NewClient): Promise<Result<void>>
  remove(client: string): Promise<Result<void>>
  stop(): void
}

export interface NodeAnswer {
  readonly stdout: string
  readonly stderr: string
  /** 0 done, 1 refused, 2 not understood. */
  readonly code: number
}

const USAGE = `usage: sluice haechi status [--json] [--since EPOCH]
       sluice haechi set [--run ID] CLIENT [reservation=N] [limit=N|none]
       sluice haechi add CLIENT [reservation=N] [limit=N|none] [workload=backlogged|idle|burst:N|constant:N] [reads=0..1] [job=ID]
       sluice haechi remove CLIENT
       sluice haechi stop
`

/** Name of a client: a word that no shell interprets. */
export const CLIENT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const RUN = /^[0-9a-f]{16}$/
const JOB_MAX = 128

const digits = (text: string, most: number): number | undefined => {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : NaN
  return value <= most ? value : undefined
}

const reservationOf = (text: string): Result<number, string> => {
  const value = digits(text, MAX_RESERVATION)
  return value === undefined ? fail(`reservation: expected a whole number from 0 to ${MAX_RESERVATION}`) : ok(value)
}
const limitOf = (text: string): Result<number | null, string> => {
  const value = text === 'none' ? null : digits(text, MAX_TOKENS)
  return value === undefined ? fail(`limit: expected none, or a whole number from 0 to ${MAX_TOKENS}`) : ok(value)
}

export function parseWorkload(text: string): Result<NodeWorkload, string> {
  if (text === 'backlogged' || text === 'idle') return ok({ kind: text })
  const [kind, number = ''] = text.split(':', 2)
  const perPeriod = digits(number, MAX_TOKENS)
  return (kind === 'burst' || kind === 'constant') && perPeriod !== undefined
    ? ok({ kind, perPeriod })
    : fail('workload: expected backlogged, idle, burst:N or constant:N')
}

export const printWorkload = (w: NodeWorkload): string => ('perPeriod' in w ? `${w.kind}:${w.perPeriod}` : w.kind)

/** Parses `NAME=VALUE` words into the known names; the error describes the first that is not. */
function pairs<N extends string>(words: readonly string[], names: readonly N[]): Result<Map<N, string>, string> {
  const found = new Map<N, string>()
  for (const word of words) {
    const at = word.indexOf('=')
    const name = names.find((n) => n === word.slice(0, Math.max(0, at)))
    if (name === undefined) return fail(`unknown argument: ${word.slice(0, 60)}`)
    if (found.has(name)) return fail(`${name} is given twice`)
    found.set(name, word.slice(at + 1))
  }
  return ok(found)
}

function parseSet(args: readonly string[]): Result<NodeCommand, string> {
  const hasRun = args[0] === '--run'
  const run = hasRun ? args[1] : undefined
  if (hasRun && !RUN.test(run ?? '')) return fail('--run: expected the 16 hexadecimal digits of the status')
  const [client = '', ...words] = hasRun ? args.slice(2) : args
  if (!CLIENT_NAME.test(client)) return fail('expected the name of a client')
  const given = pairs(words, ['reservation', 'limit'])
  if (!given.ok) return given
  const [r, l] = [given.value.get('reservation'), given.value.get('limit')]
  if (r === undefined && l === undefined) return fail('nothing to set')
  const reservation = r === undefined ? ok(undefined) : reservationOf(r)
  if (!reservation.ok) return reservation
  const limit = l === undefined ? ok(undefined) : limitOf(l)
  if (!limit.ok) return limit
  return ok({ kind: 'set', client, run, reservation: reservation.value, limit: limit.value })
}

function parseAdd([name = '', ...words]: readonly string[]): Result<NodeCommand, string> {
  if (!CLIENT_NAME.test(name)) return fail('expected the name of a client: letters, digits, dots, dashes')
  const given = pairs(words, ['reservation', 'limit', 'workload', 'reads', 'job'])
  if (!given.ok) return given
  const of = given.value
  const reservation = reservationOf(of.get('reservation') ?? '0')
  if (!reservation.ok) return reservation
  const limit = limitOf(of.get('limit') ?? 'none')
  if (!limit.ok) return limit
  const workload = parseWorkload(of.get('workload') ?? 'backlogged')
  if (!workload.ok) return workload
  const shown = of.get('reads') ?? '0.5'
  const reads = /^[01](?:\.\d{1,3})?$/.test(shown) ? Number(shown) : NaN
  if (!(reads <= 1)) return fail('reads: expected a number from 0 to 1')
  const job = of.get('job') ?? ''
  if (job.length > JOB_MAX) return fail(`job: expected ${JOB_MAX} characters at most`)
  const client = { name, job, reads, reservation: reservation.value, limit: limit.value, workload: workload.value }
  return ok({ kind: 'add', client })
}

/** Parses the arguments after `sluice haechi`; the error says what was not understood. */
export function parseNodeCommand(args: readonly string[]): Result<NodeCommand, string> {
  const [verb, ...rest] = args
  if (verb === 'set') return parseSet(rest)
  if (verb === 'add') return parseAdd(rest)
  if (verb === 'status') {
    const words = rest.filter((w) => w !== '--json')
    if (words.length === 0) return ok({ kind: 'status', since: 0 })
    const since = words.length === 2 && words[0] === '--since' ? digits(words[1] ?? '', 2 ** 31) : undefined
    return since === undefined ? fail('--since: expected a whole number') : ok({ kind: 'status', since })
  }
  if (verb === 'remove' && rest.length === 1) {
    const [client = ''] = rest
    return CLIENT_NAME.test(client) ? ok({ kind: 'remove', client }) : fail('expected the name of a client')
  }
  if (verb === 'stop' && rest.length === 0) return ok({ kind: 'stop' })
  return fail(`unknown command: ${args.slice(0, 3).join(' ').slice(0, 80)}`)
}

const message = (text: string): string => `sluice haechi: ${text}\n`
const done: NodeAnswer = { stdout: '', stderr: '', code: 0 }
const refused = (f: Failure): NodeAnswer => ({
  stdout: '',
  stderr: message(f.why === undefined ? f.what : `${f.what}: ${f.why}`),
  code: 1,
})
const answered = (result: Result<void>): NodeAnswer => (result.ok ? done : refused(result.error))

/** One line of ASCII JSON: job ids are any text, and no encoding on the way can change them. */
const json = (value: unknown): string =>
  `${JSON.stringify(value).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`

/** Executes `sluice haechi ARGS`; without a node it says so. */
export async function answerNode(args: readonly string[], node: ConsoleNode | undefined): Promise<NodeAnswer> {
  const command = parseNodeCommand(args)
  if (!command.ok) return { stdout: '', stderr: message(command.error) + USAGE, code: 2 }
  if (!node) return { stdout: '', stderr: message('no data node runs here'), code: 1 }
  const c = command.value
  switch (c.kind) {
    case 'status':
      return { stdout: json(node.status(c.since)), stderr: '', code: 0 }
    case 'set':
      if (c.run !== undefined && c.run !== node.run) {
        const why = `the node was restarted (run ${node.run}); check its status before changing it`
        return { stdout: '', stderr: message(why), code: 1 }
      }
      return answered(await node.set(c.client, c.reservation, c.limit))
    case 'add':
      return answered(await node.add(c.client))
    case 'remove':
      return answered(await node.remove(c.client))
    case 'stop':
      node.stop()
      return done
  }
}

/** Commands sent by the console. */
export const statusCommand = (since: number): string => `sluice haechi status --json --since ${since}`

/** undefined: a node reported a name that no client can have, and nothing is sent. */
export const reserveCommand = (
  run: string,
  client: string,
  reservation: number,
  limit: number | null,
): string | undefined =>
  RUN.test(run) && CLIENT_NAME.test(client)
    ? `sluice haechi set --run ${run} ${client} reservation=${reservation} limit=${limit ?? 'none'}`
    : undefined
