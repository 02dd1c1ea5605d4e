/** Manifest of a sweep: written once into its folder, and compared before more runs are added. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { SEEDS_MAX, variant, VARIANTS_MAX } from '#core/api/sandbox.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { AXES_MAX, type Axis, pointsOf, scenarioAt, VALUES_MAX } from './sweep-grid.ts'
import { reason, writeFileAtomic } from './sweep-files.ts'

/** Version of the files; a newer one is refused. */
export const VERSION = 1
export const MANIFEST = 'sweep.json'
const SCENARIO = 'scenario.yaml'
export const RESULTS = 'results'

const integer = z.number().int().nonnegative()
const axisValue = z.union([z.string(), z.number(), z.boolean(), z.null()])

const manifest = z.object({
  version: z.literal(VERSION),
  /** Hash of scenario, grid, variants, seeds and length: results of another sweep are rejected by it. */
  key: z.string().regex(/^[0-9a-f]{64}$/),
  title: z.string(),
  program: z.string(),
  axes: z.array(z.object({ path: z.string(), values: z.array(axisValue).min(1).max(VALUES_MAX) })).max(AXES_MAX),
  variants: z.array(variant).min(1).max(VARIANTS_MAX),
  seeds: z.object({ first: integer, count: z.number().int().min(1).max(SEEDS_MAX) }),
  seconds: z.number().positive(),
  sloWaitMs: z.number().positive(),
  /** Seeds per result file. */
  chunkSeeds: z.number().int().min(1).max(SEEDS_MAX),
})
export type Manifest = z.infer<typeof manifest>

/** Definition of a sweep. */
export type SweepPlan = Omit<Manifest, 'version' | 'key' | 'title' | 'program' | 'axes'> & {
  readonly text: string
  readonly axes: readonly Axis[]
}

/** A sweep and its folder. */
export interface Sweep {
  readonly dir: string
  readonly text: string
  readonly manifest: Manifest
}

/** Part of a sweep in one file: a point, a variant, and a range of seeds. */
export interface Chunk {
  readonly index: number
  readonly point: number
  readonly variant: number
  readonly seeds: readonly number[]
}

const sha = (value: string): string => createHash('sha256').update(value).digest('hex')

/** Sweeps are compared part by part, to report what differs. */
const parts = (p: Omit<SweepPlan, 'text'>, text: string): Record<string, string> => ({
  scenario: sha(text),
  grid: JSON.stringify(p.axes),
  variants: JSON.stringify(p.variants),
  seeds: JSON.stringify([p.seeds.first, p.seeds.count, p.chunkSeeds]),
  length: JSON.stringify([p.seconds, p.sloWaitMs]),
})

const keyOf = (p: Omit<SweepPlan, 'text'>, text: string): string => sha(JSON.stringify(parts(p, text)))

/** All chunks of a sweep; file names depend on their order. */
export function chunksOf({ axes, variants, seeds, chunkSeeds }: Manifest): Chunk[] {
  const points = axes.reduce((n, a) => n * a.values.length, 1)
  const all = Array.from({ length: seeds.count }, (_, i) => seeds.first + i)
  const ranges: number[][] = []
  for (let at = 0; at < all.length; at += chunkSeeds) ranges.push(all.slice(at, at + chunkSeeds))
  return Array.from({ length: points * variants.length * ranges.length }, (_, index) => ({
    index,
    point: Math.floor(index / ranges.length / variants.length),
    variant: Math.floor(index / ranges.length) % variants.length,
    seeds: ranges[index % ranges.length] as number[],
  }))
}

/** Reads the sweep of a folder. Failures: SWEEP_NONE, SWEEP_DAMAGED, SWEEP_NEWER, SWEEP_CHANGED. */
export function readSweep(dir: string): Result<Sweep> {
  const file = join(dir, MANIFEST)
  const refuse = (code: string, what: string, why: string, next: string): Result<never> =>
    fail({ code, what, why, unaffected: 'Its files are unchanged.', next })
  let plain: unknown
  let text: string
  try {
    plain = JSON.parse(readFileSync(file, 'utf8'))
    text = readFileSync(join(dir, SCENARIO), 'utf8')
  } catch (e) {
    if (!existsSync(file)) {
      return refuse('SWEEP_NONE', `There is no sweep in ${dir}`, `${MANIFEST} is missing`, 'Name the --out of a sweep.')
    }
    return refuse('SWEEP_DAMAGED', `The sweep in ${dir} cannot be read`, reason(e), 'Choose another --out.')
  }
  const version = typeof plain === 'object' && plain !== null && 'version' in plain ? plain.version : undefined
  if (typeof version === 'number' && version > VERSION) {
    const why = `its version is ${version}, this program knows ${VERSION}`
    return refuse('SWEEP_NEWER', `The sweep in ${dir} cannot be read`, why, 'Use the release that wrote it.')
  }
  const read = manifest.safeParse(plain)
  if (!read.success) {
    const why = z.prettifyError(read.error).split('\n')[0] ?? ''
    return refuse('SWEEP_DAMAGED', `The sweep in ${dir} cannot be read`, why, 'Choose another --out.')
  }
  if (keyOf(read.data, text) !== read.data.key) {
    const why = `${SCENARIO} or ${MANIFEST} was changed after it had begun`
    return refuse(
      'SWEEP_CHANGED',
      `The sweep in ${dir} cannot be resumed`,
      why,
      'Restore the files, or choose another --out.',
    )
  }
  return ok({ dir, text, manifest: read.data })
}

/** Parts of a plan that differ from those of a sweep. */
function differences(plan: SweepPlan, { manifest: m, text }: Sweep): string[] {
  const expected = parts(plan, plan.text)
  const theirs = parts(m, text)
  return Object.keys(expected).filter((name) => expected[name] !== theirs[name])
}

/**
 * Creates a sweep in a folder, or opens the same one there. Every point is validated before anything is written.
 *
 * Failures: SWEEP_GRID, SWEEP_PATH and those of `parseScenario`, with the point; SWEEP_CHANGED if the folder holds another sweep;
 * SWEEP_DIR if it holds anything else; SWEEP_NOT_WRITTEN; those of `readSweep`.
 */
export function beginSweep(dir: string, plan: SweepPlan, program: string): Result<Sweep> {
  const checked = checkPlan(plan)
  if (!checked.ok) return checked
  if (existsSync(join(dir, MANIFEST))) {
    const found = readSweep(dir)
    if (!found.ok) return found
    const other = differences(plan, found.value)
    if (other.length === 0) return found
    return fail({
      code: 'SWEEP_CHANGED',
      what: `The sweep was not started in ${dir}`,
      why: `another one is there: ${other.join(', ')} differ${other.length === 1 ? 's' : ''}`,
      unaffected: 'Its results are unchanged.',
      next: 'Choose another --out, or resume the one there.',
    })
  }
  const { text, ...rest } = plan
  const axes = plan.axes.map(({ path, values }) => ({ path, values: [...values] }))
  const made: Manifest = { version: VERSION, key: keyOf(rest, text), title: checked.value, program, ...rest, axes }
  try {
    if (existsSync(dir) && readdirSync(dir).some((name) => name !== SCENARIO && name !== RESULTS)) {
      return fail({
        code: 'SWEEP_DIR',
        what: `The sweep was not started in ${dir}`,
        why: 'the folder holds other files',
        unaffected: 'They are unchanged.',
        next: 'Choose a new or an empty folder.',
      })
    }
    mkdirSync(join(dir, RESULTS), { recursive: true })
    writeFileAtomic(join(dir, SCENARIO), text)
    writeFileAtomic(join(dir, MANIFEST), `${JSON.stringify(made, null, 1)}\n`)
    return ok({ dir, text, manifest: made })
  } catch (e) {
    const why = reason(e)
    return fail({
      code: 'SWEEP_NOT_WRITTEN',
      what: `Nothing can be written to ${dir}`,
      why,
      next: 'Free space, or choose another --out.',
    })
  }
}

/** Validates every point. @returns the title of the scenario */
function checkPlan({ text, axes }: SweepPlan): Result<string> {
  const points = pointsOf(axes)
  if (!points.ok) return points
  let title = ''
  for (const point of points.value) {
    const scenario = scenarioAt(text, axes, point)
    if (!scenario.ok) return scenario
    title = scenario.value.title
  }
  return ok(title)
}
