/** Filter of the clients of a data node: `client:c1 job:ckpt used>5k is:missing`. Totals are not filtered. */
import type { TokensFrame } from '#core/api/tokens.ts'
import { readFilter, type FilterFields } from '../../row-filter.ts'

type Clients = TokensFrame['clients']

/** Client in the columns of a frame. */
interface ClientRow {
  readonly of: Clients
  readonly at: number
}
const number =
  (column: (of: Clients) => readonly (number | null)[]) =>
  ({ of, at }: ClientRow): number | null =>
    column(of)[at] ?? null
const state =
  (...states: readonly Clients['state'][number][]) =>
  ({ of, at }: ClientRow): boolean =>
    states.some((s) => s === of.state[at])
const used = (c: ClientRow): number => (c.of.usedReserved[c.at] ?? 0) + (c.of.usedPool[c.at] ?? 0)

export const CLIENT_FIELDS: FilterFields<ClientRow> = {
  word: ({ of, at }) => [of.name[at] ?? '', of.jobId[at] ?? ''],
  text: {
    client: ({ of, at }) => [of.name[at] ?? ''],
    job: ({ of, at }) => [of.jobId[at] ?? ''],
    state: ({ of, at }) => [of.state[at] ?? ''],
    why: ({ of, at }) => [of.why[at] ?? ''],
  },
  number: {
    reservation: number((of) => of.reservation),
    limit: number((of) => of.limit),
    left: number((of) => of.left),
    held: number((of) => of.held),
    used,
    yielded: number((of) => of.yielded),
    queued: number((of) => of.queued),
    missed: number((of) => of.missed),
    iops: number((of) => of.iops),
    /** p99, µs. */
    latency: number((of) => of.p99Us),
  },
  state: {
    missing: ({ of, at }) => (of.missed[at] ?? 0) > 0,
    throttled: ({ of, at }) => of.isThrottled[at] === true,
    starved: ({ of, at }) => of.isStarved[at] === true,
    reserved: ({ of, at }) => (of.reservation[at] ?? 0) > 0,
    'best-effort': ({ of, at }) => (of.reservation[at] ?? 0) === 0,
    active: state('active'),
    crashed: state('crashed'),
    gone: state('gone', 'leaving'),
    idle: (c) => used(c) === 0,
  },
}

/** Frame with the names of matching clients; all clients stay in it. */
export function withClientFilter(frame: TokensFrame, filter: string | undefined): TokensFrame {
  const { test, error } = readFilter(filter, CLIENT_FIELDS)
  if (!test) return { ...frame, ...error }
  const { key } = frame.clients
  const keys = key.filter((_, at) => test({ of: frame.clients, at }))
  return { ...frame, filtered: { filter: filter ?? '', passing: keys.length, of: key.length, keys } }
}
