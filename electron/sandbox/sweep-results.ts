/** Results of a sweep: one file per chunk, and their aggregation. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { OBJECTIVE_KEYS } from '#core/controllers/objectives.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import { aggregate } from '#core/sandbox/aggregate.ts'
import type { Comparison } from '#core/sandbox/comparison.ts'
import { estimateDemands } from '#core/sandbox/demand.ts'
import { byCodeUnit } from '#core/base/order.ts'
import {
  COLUMNS,
  FIGURES,
  TABLE_JOBS,
  type Column,
  type DigestPlan,
  type Figure,
  type RunDigest,
} from '#core/sandbox/run-digest.ts'
import { reason, writeFileAtomic } from './sweep-files.ts'
import { pointsOf, scenarioAt, type Point } from './sweep-grid.ts'
import { chunksOf, RESULTS, VERSION, type Chunk, type Sweep } from './sweep-manifest.ts'
import { variantOf } from './variant-input.ts'

/** JSON has no NaN: unmeasured values are null. */
const figure = z.number().nullable()
const keyed = <K extends string>(names: readonly K[], of: z.ZodType): z.ZodObject =>
  z.object(Object.fromEntries(names.map((n) => [n, of])))

const run = z.object({
  seed: z.number(),
  seconds: z.number(),
  thinning: z.number(),
  events: z.number(),
  figures: keyed(FIGURES, figure),
  jobs: keyed(COLUMNS, z.array(figure)),
  rest: z.object({ jobs: z.number(), servedRpcs: z.number(), servedBytes: z.number() }),
  planes: z.array(z.object({ key: z.enum(OBJECTIVE_KEYS), value: figure })),
  remarks: z.array(z.string()),
})
const chunkFile = z.object({
  version: z.literal(VERSION),
  key: z.string(),
  chunk: z.number(),
  /** Ids of the rows of `jobs`. */
  table: z.array(z.string()),
  runs: z.array(run),
})

/** All jobs up to a limit, the most demanding first: the same for every chunk of a point, on any machine. */
export const sweepPlan = (scenario: Scenario): DigestPlan => ({
  table: estimateDemands(scenario)
    .toSorted((a, b) => b.rpcs - a.rpcs || byCodeUnit(a.job.id, b.job.id))
    .slice(0, TABLE_JOBS)
    .map((w) => w.job.id),
  chart: [],
})

export const chunkPath = (dir: string, index: number): string =>
  join(dir, RESULTS, `chunk-${String(index).padStart(6, '0')}.json`)

const digits = (v: number): number | null => (Number.isFinite(v) ? Number(v.toPrecision(12)) : null)

/** Failures: SWEEP_NOT_WRITTEN. */
export function writeChunk(
  { dir, manifest }: Sweep,
  chunk: Chunk,
  plan: DigestPlan,
  runs: readonly RunDigest[],
): Result<undefined> {
  const file = chunkPath(dir, chunk.index)
  const text = JSON.stringify({
    version: VERSION,
    key: manifest.key,
    chunk: chunk.index,
    table: plan.table,
    runs: runs
      .toSorted((a, b) => a.seed - b.seed)
      .map((r) => ({
        seed: r.seed,
        seconds: r.seconds,
        thinning: r.thinning,
        events: r.events,
        rest: r.rest,
        remarks: r.remarks,
        figures: Object.fromEntries(FIGURES.map((name) => [name, digits(r.figures[name])])),
        jobs: Object.fromEntries(COLUMNS.map((name) => [name, Array.from(r.jobs[name], digits)])),
        planes: r.planes.map((p) => ({ ...p, value: digits(p.value) })),
      })),
  })
  try {
    writeFileAtomic(file, `${text}\n`)
    return ok(undefined)
  } catch (e) {
    const unaffected = 'Existing chunks are kept; the same command resumes where it ended.'
    return fail({
      code: 'SWEEP_NOT_WRITTEN',
      what: `${file} was not written`,
      why: reason(e),
      unaffected,
      next: 'Free space and run it again.',
    })
  }
}

const nan = (v: unknown): number => (typeof v === 'number' ? v : NaN)

/** Reads a chunk from disk; undefined if it is missing, of another sweep, or incomplete. */
export function readChunk({ dir, manifest }: Sweep, chunk: Chunk): { plan: DigestPlan; runs: RunDigest[] } | undefined {
  let plain: unknown
  try {
    plain = JSON.parse(readFileSync(chunkPath(dir, chunk.index), 'utf8'))
  } catch {
    return undefined
  }
  const read = chunkFile.safeParse(plain)
  if (!read.success || read.data.key !== manifest.key || read.data.chunk !== chunk.index) return undefined
  const { table, runs } = read.data
  const isWhole =
    runs.length === chunk.seeds.length &&
    runs.every(
      (r, i) =>
        r.seed === chunk.seeds[i] && Object.values(r.jobs).every((c) => (c as unknown[]).length === table.length),
    )
  if (!isWhole) return undefined
  return {
    plan: { table, chart: [] },
    runs: runs.map((r) => ({
      variant: chunk.variant,
      seed: r.seed,
      seconds: r.seconds,
      thinning: r.thinning,
      events: r.events,
      rest: r.rest,
      remarks: r.remarks,
      chart: { binS: 1, bytes: [] },
      figures: Object.fromEntries(FIGURES.map((n) => [n, nan(r.figures[n])])) as Record<Figure, number>,
      jobs: Object.fromEntries(COLUMNS.map((n) => [n, Float64Array.from(r.jobs[n] as unknown[], nan)])) as Record<
        Column,
        Float64Array
      >,
      planes: r.planes.map((p) => ({ ...p, value: nan(p.value) })),
    })),
  }
}

export interface Progress {
  readonly chunks: number
  readonly done: number
  /** Present, but incomplete or not of this sweep: run again. */
  readonly damaged: number
  readonly missing: readonly Chunk[]
}

export function progressOf(sweep: Sweep): Progress {
  const chunks = chunksOf(sweep.manifest)
  const missing = chunks.filter((c) => readChunk(sweep, c) === undefined)
  const damaged = missing.filter((c) => existsSync(chunkPath(sweep.dir, c.index))).length
  return { chunks: chunks.length, done: chunks.length - missing.length, damaged, missing }
}

export interface PointResult {
  readonly point: Point
  /** undefined: a chunk of the point is missing. */
  readonly comparison: Comparison | undefined
}

/** Aggregates the results of every point. Failures: those of `scenarioAt`. */
export function collectSweep(sweep: Sweep): Result<PointResult[]> {
  const { manifest, text } = sweep
  const points = pointsOf(manifest.axes)
  if (!points.ok) return points
  const byPoint = Map.groupBy(chunksOf(manifest), (c) => c.point)
  const out: PointResult[] = []
  for (const [i, point] of points.value.entries()) {
    const read = (byPoint.get(i) ?? []).map((c) => readChunk(sweep, c))
    const [first] = read
    if (!first || read.includes(undefined)) {
      out.push({ point, comparison: undefined })
      continue
    }
    const scenario = scenarioAt(text, manifest.axes, point)
    if (!scenario.ok) return scenario
    const runs = read.flatMap((c) => c?.runs ?? [])
    const variants = manifest.variants.map(variantOf)
    out.push({ point, comparison: aggregate({ scenario: scenario.value, variants, plan: first.plan, runs }) })
  }
  return ok(out)
}
