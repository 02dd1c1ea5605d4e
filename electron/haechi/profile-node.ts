/**
 * Capacity of a node on this machine, measured without tokens before it serves: C_G and its standard deviation sigma with all
 * clients, C_L with one. Kept beside the facts of the machine that it holds for.
 *
 * Deviation: the paper profiles 1,000 periods of 1 s, a quarter of an hour. Here 1,000 intervals of 10 ms are the default, and sigma is
 * that of all windows of one period T among them, which overlap: single intervals vary with the scheduler's slices, periods do not.
 */
import { closeSync, mkdirSync, readFileSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { dirname } from 'node:path'
import * as z from 'zod'
import { fail, invariant, ok, type Result } from '#core/base/result.ts'
import { writeFileAtomic } from '../files/atomic-file.ts'
import { helperSettings } from './helper.ts'
import { readHelperLines } from './helper-lines.ts'
import { NODE_SETTINGS } from './node-setup.ts'
import { clientOptions, endOf, startHelper } from './process-node.ts'
import { openSharedFile } from './shared-file.ts'

const measured = z.object({
  globalIops: z.number().positive(),
  localIops: z.number().positive(),
  sigma: z.number().min(0).max(1),
  intervals: z.number().int().positive(),
  intervalNs: z.number().positive(),
  measuredMs: z.number(),
})
export type MeasuredProfile = z.infer<typeof measured>

export interface ProfileOptions {
  readonly helper: string
  /** Clients that measure C_G. */
  readonly clients: number
  readonly records: number
  readonly reads: number
  readonly completionBatch: number
  readonly intervals: number
  readonly intervalNs: number
  /** T. */
  readonly periodNs: number
  /** Called with the share that is done, 0..1. */
  readonly onProgress?: (share: number) => void
}

/** Intervals of the client measured alone, as a share of all. */
const LOCAL_SHARE = 0.1

/** Throughputs of the intervals, I/O/s. */
async function intervalsOf(o: ProfileOptions, clients: number, intervals: number, onOne: () => void) {
  const fd = openSharedFile()
  if (!fd.ok) return fd
  const origin = process.hrtime.bigint()
  const shape = [
    ['slots', clients],
    ['records', o.records],
    ['origin', Number(origin)],
  ] as const
  const counting = [
    ['periods', intervals],
    ['interval', o.intervalNs],
  ] as const
  const meter = startHelper(o.helper, 'profile', [...shape, ...counting], fd.value)
  const ended = endOf(meter)
  const throughputs: number[] = []
  const running: ReturnType<typeof startHelper>[] = []
  const ends: Promise<string>[] = []
  const start = (): void => {
    for (let slot = 0; slot < clients; slot++) {
      const at = { slot, slots: clients, records: o.records, origin, seed: 1, completionBatch: o.completionBatch }
      const options = clientOptions({ workload: { kind: 'backlogged' }, reads: o.reads }, at)
      const settings = helperSettings(NODE_SETTINGS, { globalIops: 1, localIops: 1 })
      const child = startHelper(o.helper, 'client', [...options, ...settings, ['bare', 1]], fd.value)
      running.push(child)
      const end = endOf(child)
      ends.push(end)
      // Without one of its clients it would wait for ever.
      void end.then(() => meter.kill('SIGKILL'))
    }
  }
  const { stdout } = meter
  invariant(stdout !== null, 'its output is a pipe')
  readHelperLines(
    stdout,
    (line) => {
      if (line.k === 'ready') start()
      else if (line.k === 'interval') {
        throughputs.push((line.ios * 1e9) / line.ns)
        onOne()
      }
    },
    () => meter.kill('SIGKILL'),
  )
  const why = await ended
  for (const child of running) child.kill('SIGKILL')
  const reasons = await Promise.all(ends)
  closeSync(fd.value)
  if (throughputs.length === intervals) return ok(throughputs)
  const reason = reasons.find((r) => r !== 'SIGKILL') ?? why
  return fail({ code: 'HAECHI_PROFILE', what: 'The capacity of the node could not be measured', why: reason })
}

const meanOf = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length

/**
 * Standard deviation of the throughput over windows of `size` intervals, as a share of the mean; over single intervals if fewer than
 * two whole windows were measured.
 */
export function sigmaOf(throughputs: readonly number[], size: number): number {
  const width = throughputs.length >= 2 * size ? Math.max(1, size) : 1
  const mean = meanOf(throughputs)
  let sum = throughputs.slice(0, width).reduce((a, b) => a + b, 0)
  let squares = 0
  const windows = throughputs.length - width + 1
  for (let first = 0; first < windows; first++) {
    squares += (sum / width - mean) ** 2
    sum += (throughputs[first + width] ?? 0) - (throughputs[first] ?? 0)
  }
  return Math.min(1, Math.sqrt(squares / windows) / mean)
}

/** Failures: HAECHI_MEMORY, HAECHI_PROFILE. */
export async function measureProfile(o: ProfileOptions): Promise<Result<MeasuredProfile>> {
  const local = Math.max(1, Math.round(o.intervals * LOCAL_SHARE))
  let done = 0
  const onOne = (): void => o.onProgress?.(++done / (o.intervals + local))
  const one = await intervalsOf(o, 1, local, onOne)
  if (!one.ok) return one
  const all = await intervalsOf(o, o.clients, o.intervals, onOne)
  if (!all.ok) return all
  const globalIops = meanOf(all.value)
  const localIops = meanOf(one.value)
  return ok({
    globalIops: Math.max(1, Math.floor(Math.max(globalIops, localIops))),
    localIops: Math.max(1, Math.floor(localIops)),
    sigma: sigmaOf(all.value, Math.round(o.periodNs / o.intervalNs)),
    intervals: o.intervals,
    intervalNs: o.intervalNs,
    measuredMs: Date.now(),
  })
}

/** Facts of the machine and of the measurement that a profile holds for. */
const factsOf = ({ helper, onProgress: _, ...measurement }: ProfileOptions): string =>
  JSON.stringify({
    cpu: cpus()[0]?.model ?? '',
    cores: availableParallelism(),
    memory: totalmem(),
    kernel: release(),
    helper: helper.split('/').at(-1),
    measurement,
  })

const cached = z.object({ version: z.literal(1), facts: z.string(), profile: measured })

/** Profile in a file, if it holds for this machine and measurement. */
export function cachedProfile(file: string, options: ProfileOptions): MeasuredProfile | undefined {
  try {
    const read = cached.safeParse(JSON.parse(readFileSync(file, 'utf8')))
    return read.success && read.data.facts === factsOf(options) ? read.data.profile : undefined
  } catch {
    return undefined
  }
}

/** Keeps a profile; false if the file cannot be written, and then it is measured again at the next start. */
export function keepProfile(file: string, options: ProfileOptions, profile: MeasuredProfile): boolean {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileAtomic(file, JSON.stringify({ version: 1, facts: factsOf(options), profile }))
    return true
  } catch {
    return false
  }
}
