/**
 * Conversion of recorded jobs to jobs of a scenario.
 *
 * Open jobs replay the recorded rates as phases, independent of the servers. Closed jobs are processes that wait for
 * their replies: as many as there were RPCs in flight by Little's law, with the think time that yields the recorded
 * rate. A job that a rule held back gets no think time, because it would have been faster. Bursts stay bursts.
 */
import { KIB } from '../base/units.ts'
import type { Operation } from '../emulator/operations.ts'
import type { ForkInputs, ForkJob } from './fork-inputs.ts'
import { metadataMix, roundOf } from './fork-operations.ts'
import { activity } from './fork-outstanding.ts'
import { inParts, meanOr0, quantile, sum, mean } from './fork-series.ts'

interface Bursts {
  /** RPCs of one burst, whole job. */
  readonly rpcs: number
  readonly everyS: number
  /** Largest delay of a burst as a share of the interval, 0..1. */
  readonly jitter: number
  /** Start of the first and of the last one, s from the beginning of the series. */
  readonly firstS: number
  readonly lastS: number
  /** Number of bursts in the series. */
  readonly seen: number
}

/** A bin is a pause if its rate is at most this fraction of the busy rate. */
const QUIET = 0.15
/** Shorter pauses do not end a burst, s. */
const SHORT_S = 0.5
/** A job that is active for a larger fraction of the time is not bursty. */
const DUTY_MAX = 0.75
/** Largest standard deviation of the intervals between bursts, as a fraction of their mean. */
const SPREAD_MAX = 0.6

/**
 * Detects bursts in a recorded series: their size, interval, and first and last start.
 *
 * @param rates    RPC/s of each bin; NaN: a gap.
 * @returns undefined for a series without regular bursts.
 */
export function findBursts(rates: readonly number[], binS: number): Bursts | undefined {
  const busyRate = quantile(
    rates.filter((r) => r > 0),
    0.75,
  )
  if (Number.isNaN(busyRate)) return undefined
  const isBusy = rates.map((r) => r > QUIET * busyRate)
  const runs: { from: number; to: number }[] = []
  isBusy.forEach((busy, i) => {
    const last = runs.at(-1)
    if (!busy) return
    if (last && (i - last.to) * binS <= SHORT_S + binS) last.to = i
    else runs.push({ from: i, to: i })
  })
  const duty = runs.reduce((n, r) => n + r.to - r.from + 1, 0) / Math.max(1, rates.length)
  const [first] = runs
  const last = runs.at(-1)
  if (!first || !last || duty > DUTY_MAX) return undefined
  if (runs.length === 1) {
    // Only a run that starts and ends within the range is a burst; its period is the length of the range.
    if (first.from === 0 || first.to === rates.length - 1 || duty > 0.4) return undefined
    const rpcs = total(rates, 0, rates.length) * binS
    const at = first.from * binS
    return { rpcs, everyS: rates.length * binS, jitter: 0, firstS: at, lastS: at, seen: 1 }
  }
  // A run in progress at the beginning started earlier.
  const starts = (first.from === 0 && runs.length > 2 ? runs.slice(1) : runs).map((r) => r.from * binS)
  const intervals = starts.slice(1).map((s, i) => s - (starts[i] as number))
  const everyS = mean(intervals)
  const spread = Math.sqrt(mean(intervals.map((i) => (i - everyS) ** 2)))
  if (!(everyS > 0) || spread > SPREAD_MAX * everyS) return undefined
  const from = (starts[0] as number) / binS
  const to = (starts.at(-1) as number) / binS
  const rpcs = (total(rates, Math.round(from), Math.round(to)) * binS) / intervals.length
  // Two starts with independent uniform delays of up to a part j of the interval differ with a standard deviation of j
  // / sqrt(6).
  const jitter = Math.min(1, (spread * Math.sqrt(6)) / everyS)
  return { rpcs, everyS, jitter, firstS: starts[0] as number, lastS: starts.at(-1) as number, seen: starts.length }
}

function total(rates: readonly number[], from: number, to: number): number {
  let n = 0
  for (let i = from; i < to; i++) n += rates[i] || 0
  return n
}

/** Pattern in the scenario's format. */
export type Pattern =
  | { readonly kind: 'continuous'; readonly think_ms?: number }
  | { readonly kind: 'bursts'; readonly rpcs: number; readonly every_s: number; readonly jitter?: number }
  | { readonly kind: 'phases'; readonly phases: readonly { readonly for_s: number; readonly rate: number }[] }

/** A job of the fork, as input of the scenario schema. */
export interface JobInput {
  readonly id: string
  readonly user?: string
  readonly account?: string
  readonly clients: readonly number[]
  readonly in_slurm?: false
  readonly processes: number
  readonly outstanding: number
  readonly op: readonly Operation[]
  readonly size_kib?: number
  readonly targets?: readonly string[]
  readonly start_s?: number
  readonly stop_s?: number
  readonly stages?: unknown
  readonly pattern: Pattern
}

const PHASES_MAX = 64
const OUTSTANDING_MAX = 256
const PROCESSES_MAX = 4096
const SIZE_MAX_KIB = 65_536
const NAME_MAX = 64
const THINK_MAX_MS = 1e9
/** A job that its rule held back for at least this fraction of the time had a higher demand than its served rate. */
const HELD = 0.5
/** Minimum distance from the ends of a range for a start or end of a job, s. */
export const EDGE_S = 3

export interface JobPlace {
  readonly clients: readonly number[]
  /** RPCs in flight on OSTs while it was active. */
  readonly outstanding: number
  /** Mean time of an operation on its MDTs, s. */
  readonly metadataS: number
  /** Minimum number of processes: one for each of its stages. */
  readonly processesLeast: number
}

/** Rounds to four significant digits. */
export const roundTo4Digits = (n: number): number => Number(n.toPrecision(4))

/** RPC/s of all its operations, per bin. */
export const ratesOf = (job: Pick<ForkJob, 'rpcs' | 'mdops'>): number[] => sum([job.rpcs, job.mdops])

/** Mean RPC/s of all its operations. */
export const weightOf = (job: Pick<ForkJob, 'rpcs' | 'mdops'>): number => meanOr0(job.rpcs) + meanOr0(job.mdops)

function operationsOf(job: ForkJob): Operation[] {
  const data = meanOr0(job.rpcs)
  const metadata = meanOr0(job.mdops)
  const read = meanOr0(job.readBps)
  const write = meanOr0(job.writeBps)
  const weights = new Map<Operation, number>()
  const readPart = read + write > 0 ? read / (read + write) : 0
  if (data * readPart > 0) weights.set('read', data * readPart)
  if (data * (1 - readPart) > 0) weights.set('write', data * (1 - readPart))
  if (metadata > 0) {
    const mix = metadataMix(job.ops)
    const known = [...mix.values()].reduce((a, b) => a + b, 0)
    if (known === 0) weights.set('stat', metadata)
    for (const [op, n] of mix) weights.set(op, (metadata * n) / known)
  }
  return roundOf(weights)
}

/** Mean size of a read or write, KiB. */
function sizeOf(job: ForkJob): number {
  const bytes = meanOr0(job.readBps) + meanOr0(job.writeBps)
  const rpcs = meanOr0(job.rpcs)
  return rpcs > 0 ? Math.min(SIZE_MAX_KIB, Math.max(1, Math.round(bytes / rpcs / KIB))) : 1
}

/** Distributes RPCs in flight over processes on the clients. */
function shared(
  inFlight: number,
  { clients, processesLeast }: JobPlace,
): { readonly processes: number; readonly outstanding: number } {
  const n = Math.max(1, Math.ceil(inFlight))
  const wanted = Math.min(n, Math.max(clients.length, Math.ceil(n / 4)))
  const processes = Math.min(PROCESSES_MAX, Math.max(1, processesLeast, wanted))
  return { processes, outstanding: Math.min(OUTSTANDING_MAX, Math.ceil(n / processes)) }
}

/** Truncates a name to the scenario's limit, keeping whole characters. */
const cut = (name: string): string => name.slice(0, NAME_MAX).replace(/[\ud800-\udbff]$/, '')

export function forkJob(job: ForkJob, place: JobPlace, inputs: ForkInputs, targets: readonly string[]): JobInput {
  const rates = ratesOf(job)
  const { clients } = place
  const ops = operationsOf(job)
  const hasData = ops.includes('read') || ops.includes('write')
  const base = {
    id: job.jobId,
    ...(job.user === '' ? {} : { user: cut(job.user) }),
    ...(job.account === '' ? {} : { account: cut(job.account) }),
    clients,
    ...(job.nodes === null ? { in_slurm: false as const } : {}),
    op: ops,
    ...(hasData ? { size_kib: sizeOf(job) } : {}),
    ...(targets.length > 0 ? { targets } : {}),
  }
  return {
    ...base,
    ...(inputs.workload === 'open' ? open(rates, place, inputs) : closed(job, rates, place, inputs)),
  }
}

type Pace = Pick<JobInput, 'processes' | 'outstanding' | 'pattern' | 'start_s' | 'stop_s'>

function open(rates: readonly number[], { clients, processesLeast }: JobPlace, { binS }: ForkInputs): Pace {
  const processes = Math.max(1, processesLeast, Math.min(clients.length, 64))
  const known = meanOr0(rates)
  const parts = inParts(rates, PHASES_MAX)
  // Bins do not divide evenly; each phase is as long as its bins.
  const phases = parts.map((r, i) => {
    const bins = Math.floor(((i + 1) * rates.length) / parts.length) - Math.floor((i * rates.length) / parts.length)
    return { for_s: roundTo4Digits(bins * binS), rate: roundTo4Digits((Number.isNaN(r) ? known : r) / processes) }
  })
  return { processes, outstanding: OUTSTANDING_MAX, pattern: { kind: 'phases', phases: merged(phases) } }
}

/** Merges consecutive phases of the same rate. */
function merged(phases: readonly { for_s: number; rate: number }[]): { for_s: number; rate: number }[] {
  const out: { for_s: number; rate: number }[] = []
  for (const p of phases) {
    const last = out.at(-1)
    if (last?.rate === p.rate) last.for_s = roundTo4Digits(last.for_s + p.for_s)
    else out.push({ ...p })
  }
  return out
}

function closed(job: ForkJob, rates: readonly number[], place: JobPlace, inputs: ForkInputs): Pace {
  const { binS, isReplay } = inputs
  const lengthS = rates.length * binS
  const isHeld = job.throttled >= HELD
  const busy = activity(job)
  const meanRate = weightOf(job) / busy
  const data = meanOr0(job.rpcs) / busy
  const inFlight = place.outstanding + (meanRate - data) * place.metadataS
  const waitS = meanRate > 0 ? inFlight / meanRate : 0
  // RPCs in flight at its busiest, not on average: its possible concurrency.
  const peak = quantile(
    rates.filter((r) => r > 0),
    0.9,
  )
  const most = meanRate > 0 && peak > 0 ? inFlight * Math.max(1, peak / meanRate) : inFlight
  const bursts = findBursts(rates, binS)
  if (bursts) {
    const { processes, outstanding } = shared(most, place)
    const rpcs = Math.max(1, Math.round(bursts.rpcs / processes))
    const next = bursts.lastS + bursts.everyS - lengthS
    const start = isReplay ? bursts.firstS % bursts.everyS : ((next % bursts.everyS) + bursts.everyS) % bursts.everyS
    return {
      processes,
      outstanding,
      ...(start > 0 ? { start_s: roundTo4Digits(start) } : {}),
      pattern: {
        kind: 'bursts',
        rpcs,
        every_s: roundTo4Digits(bursts.everyS),
        ...(bursts.jitter > 0.01 ? { jitter: roundTo4Digits(bursts.jitter) } : {}),
      },
    }
  }
  const { processes, outstanding } = shared(most, place)
  const slots = processes * outstanding
  const thinkS = isHeld || meanRate === 0 ? 0 : Math.max(0, slots / meanRate - waitS)
  const pattern: Pattern =
    thinkS * 1000 < 0.01
      ? { kind: 'continuous' }
      : { kind: 'continuous', think_ms: Math.min(THINK_MAX_MS, roundTo4Digits(thinkS * 1000)) }
  return { processes, outstanding, pattern, ...(isReplay ? lifeOf(rates, binS) : {}) }
}

/** Start and end of the job, if within the range. */
function lifeOf(rates: readonly number[], binS: number): Pick<JobInput, 'start_s' | 'stop_s'> {
  const first = rates.findIndex((r) => r > 0)
  const last = rates.findLastIndex((r) => r > 0)
  const start = first * binS
  const stop = (last + 1) * binS
  return {
    ...(start >= EDGE_S ? { start_s: roundTo4Digits(start) } : {}),
    ...(stop <= rates.length * binS - EDGE_S ? { stop_s: roundTo4Digits(stop) } : {}),
  }
}
