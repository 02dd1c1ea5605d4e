/**
 * Recorded jobs as jobs of a scenario.
 *
 * Open: the recorded rates as phases, whatever the servers do. Closed: processes that wait for their answers, as many as Little's law
 * says were under way, and between an answer and the next RPC the time that makes the recorded rate; none for a job that a rule held
 * back, which would have gone faster. Bursts stay bursts.
 */
import { KIB } from '../base/units.ts'
import type { Operation } from '../emulator/operations.ts'
import { findBursts } from './fork-bursts.ts'
import type { ForkInputs, ForkJob } from './fork-inputs.ts'
import { metadataMix, roundOf } from './fork-operations.ts'
import { activity } from './fork-outstanding.ts'
import { inParts, meanOr0, quantile, sum } from './fork-series.ts'

/** As the scenario is written. */
export type Pattern =
  | { readonly kind: 'continuous'; readonly think_ms?: number }
  | { readonly kind: 'bursts'; readonly rpcs: number; readonly every_s: number; readonly jitter?: number }
  | { readonly kind: 'phases'; readonly phases: readonly { readonly for_s: number; readonly rate: number }[] }

export interface JobText {
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
/** Held back by its rule for at least this part of the time: its demand is larger than what was served. */
const HELD = 0.5
/** A job that began or ended so long inside a stretch began or ended there, s. */
const EDGE_S = 3

export interface JobPlace {
  readonly clients: readonly number[]
  /** RPCs under way on OSTs while it was at work. */
  readonly outstanding: number
  /** Mean time of an operation on its MDTs, s. */
  readonly metadataS: number
}

export const round3 = (n: number): number => Number(n.toPrecision(4))

/** Rate of all that it does. */
export const ratesOf = (job: Pick<ForkJob, 'rpcs' | 'mdops'>): number[] => sum([job.rpcs, job.mdops])

/** Mean RPC/s of all that it did. */
export const weightOf = (job: Pick<ForkJob, 'rpcs' | 'mdops'>): number => meanOr0(job.rpcs) + meanOr0(job.mdops)

function operationsOf(job: ForkJob): Operation[] {
  const [data, metadata] = [meanOr0(job.rpcs), meanOr0(job.mdops)]
  const [read, write] = [meanOr0(job.readBps), meanOr0(job.writeBps)]
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

/** Shares RPCs under way out over processes on the clients. */
function shared(underWay: number, clients: number): { processes: number; outstanding: number } {
  const n = Math.max(1, Math.ceil(underWay))
  const processes = Math.min(PROCESSES_MAX, Math.max(1, Math.min(n, Math.max(clients, Math.ceil(n / 4)))))
  return { processes, outstanding: Math.min(OUTSTANDING_MAX, Math.ceil(n / processes)) }
}

/** As long as a scenario takes it; a character is whole or not there. */
const cut = (name: string): string => name.slice(0, NAME_MAX).replace(/[\ud800-\udbff]$/, '')

export function forkJob(job: ForkJob, place: JobPlace, inputs: ForkInputs, targets: readonly string[]): JobText {
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
    ...(inputs.workload === 'open' ? open(rates, clients.length, inputs) : closed(job, rates, place, inputs)),
  }
}

type Pace = Pick<JobText, 'processes' | 'outstanding' | 'pattern' | 'start_s' | 'stop_s'>

function open(rates: readonly number[], clients: number, { binS }: ForkInputs): Pace {
  const processes = Math.max(1, Math.min(clients, 64))
  const known = meanOr0(rates)
  const parts = inParts(rates, PHASES_MAX)
  // Bins do not part evenly; each phase is as long as the bins behind it.
  const phases = parts.map((r, i) => {
    const bins = Math.floor(((i + 1) * rates.length) / parts.length) - Math.floor((i * rates.length) / parts.length)
    return { for_s: round3(bins * binS), rate: round3((Number.isNaN(r) ? known : r) / processes) }
  })
  return { processes, outstanding: OUTSTANDING_MAX, pattern: { kind: 'phases', phases: merged(phases) } }
}

/** Phases of the same rate one after the other are one. */
function merged(phases: readonly { for_s: number; rate: number }[]): { for_s: number; rate: number }[] {
  const out: { for_s: number; rate: number }[] = []
  for (const p of phases) {
    const last = out.at(-1)
    if (last?.rate === p.rate) last.for_s = round3(last.for_s + p.for_s)
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
  const underWay = place.outstanding + (meanRate - data) * place.metadataS
  const waitS = meanRate > 0 ? underWay / meanRate : 0
  // What it kept under way at its busiest, not on the mean: that is what it can have.
  const peak = quantile(
    rates.filter((r) => r > 0),
    0.9,
  )
  const most = meanRate > 0 && peak > 0 ? underWay * Math.max(1, peak / meanRate) : underWay
  const bursts = findBursts(rates, binS)
  if (bursts) {
    const { processes, outstanding } = shared(most, place.clients.length)
    const rpcs = Math.max(1, Math.round(bursts.rpcs / processes))
    const next = bursts.lastS + bursts.everyS - lengthS
    const start = isReplay ? bursts.firstS % bursts.everyS : ((next % bursts.everyS) + bursts.everyS) % bursts.everyS
    return {
      processes,
      outstanding,
      ...(start > 0 ? { start_s: round3(start) } : {}),
      pattern: {
        kind: 'bursts',
        rpcs,
        every_s: round3(bursts.everyS),
        ...(bursts.jitter > 0.01 ? { jitter: round3(bursts.jitter) } : {}),
      },
    }
  }
  const { processes, outstanding } = shared(most, place.clients.length)
  const slots = processes * outstanding
  const thinkS = isHeld || meanRate === 0 ? 0 : Math.max(0, slots / meanRate - waitS)
  const pattern: Pattern =
    thinkS * 1000 < 0.01
      ? { kind: 'continuous' }
      : { kind: 'continuous', think_ms: Math.min(THINK_MAX_MS, round3(thinkS * 1000)) }
  return { processes, outstanding, pattern, ...(isReplay ? lifeOf(rates, binS) : {}) }
}

/** When it began and ended, where that lies inside the stretch. */
function lifeOf(rates: readonly number[], binS: number): Pick<JobText, 'start_s' | 'stop_s'> {
  const first = rates.findIndex((r) => r > 0)
  const last = rates.findLastIndex((r) => r > 0)
  const [start, stop] = [first * binS, (last + 1) * binS]
  return {
    ...(start >= EDGE_S ? { start_s: round3(start) } : {}),
    ...(stop <= rates.length * binS - EDGE_S ? { stop_s: round3(stop) } : {}),
  }
}
