/** `sluice compare SCENARIO`: runs a scenario under several controllers on the sandbox's model and reports the differences. */
import { Command, InvalidArgumentError } from 'commander'
import { SEEDS_MAX, variant, VARIANTS_MAX, type Variant } from '#core/api/sandbox.ts'
import { OBJECTIVE_KEYS, OBJECTIVES, type ObjectiveKey } from '#core/controllers/objectives.ts'
import { CONTROLLER_NAMES, type ControllerName } from '#core/controllers/registry.ts'
import { medianOf } from '#core/sandbox/band.ts'
import type { RunDigest } from '#core/sandbox/run-digest.ts'
import { readScenario } from '../host/scenario-file.ts'
import { compare, type ComparisonEvent } from '../sandbox/comparison-run.ts'
import { variantOf } from '../sandbox/variant-input.ts'
import { scenarioFile, seconds } from './arguments.ts'
import { EXIT, jsonText, line, must, plain, sentence, stopJson } from './output.ts'
import { readVariants } from './variants-file.ts'

interface CompareFlags {
  readonly controllers: readonly ControllerName[]
  readonly variants?: string
  readonly seeds: number
  readonly firstSeed?: number
  readonly until: number
  readonly slo: number
  readonly workers?: number
  readonly json?: true
}

type Done = ComparisonEvent & { kind: 'done' }

const round = (v: number): number | null => (Number.isFinite(v) ? Number(v.toPrecision(12)) : null)

/** Report of one controller in the format of `run`: medians over the seeds; null where no run measured the figure. */
function runOf(done: Done, at: number, of: { title: string; variants: readonly Variant[]; until: number }): object {
  const runs = done.runs.filter((r) => r.variant === at).toSorted((a, b) => a.seed - b.seed)
  const { until } = of
  const median = (f: (r: RunDigest) => number): number | null => round(medianOf(runs.map(f)))
  const jobs = done.plan.table.map((id, row) => {
    const cell = (column: 'servedRpcs' | 'servedBytes' | 'waitP95Ms' | 'record'): number =>
      medianOf(runs.map((r) => r.jobs[column][row] ?? NaN))
    return {
      id,
      record: round(cell('record')),
      report: {
        served_rpcs: round(cell('servedRpcs')),
        served_bytes: round(cell('servedBytes')),
        mean_rate: round(cell('servedRpcs') / until),
        p95_wait_s: round(cell('waitP95Ms') / 1000),
      },
    }
  })
  const records = jobs.filter((j) => j.record !== null)
  const planes = (done.comparison.variants[at]?.planes ?? []).map(({ value, ...objective }) => ({
    ...objective,
    value: round(value?.median ?? NaN),
  }))
  return {
    scenario: of.title,
    seed: runs[0]?.seed ?? 0,
    seeds: runs.map((r) => r.seed),
    controller: of.variants[at]?.controller ?? 'none',
    name: of.variants[at]?.name ?? '',
    simulated_s: until,
    wall_s: round((done.variantWallS[at] ?? NaN) / Math.max(1, runs.length)),
    // Object.fromEntries, because a job may be called __proto__.
    jobs: Object.fromEntries(jobs.map((j) => [j.id, j.report])),
    aggregate: {
      served_rpcs: median((r) => r.figures.throughputRpcs * until),
      served_bytes: median((r) => r.figures.throughputBps * until),
      mean_rate: median((r) => r.figures.throughputRpcs),
      mean_bps: median((r) => r.figures.throughputBps),
      jain: median((r) => r.figures.jain),
      starved_s: median((r) => r.figures.starvedS),
      slo_misses: median((r) => r.figures.sloMisses),
      utilisation: median((r) => r.figures.utilisation),
    },
    ...(planes.length > 0 ? { planes } : {}),
    ...(records.length > 0 ? { records: Object.fromEntries(records.map((j) => [j.id, j.record])) } : {}),
  }
}

type Pair = { readonly r: RunDigest; readonly b: RunDigest | undefined }

/** Differences in the objectives that both runs of a pair have: medians, in the unit of the objective. */
function planeDifferences(pairs: readonly Pair[]): object {
  const value = (run: RunDigest | undefined, key: ObjectiveKey): number =>
    run?.planes.find((p) => p.key === key)?.value ?? NaN
  const differences = OBJECTIVE_KEYS.map((key): [ObjectiveKey, number | null] => [
    key,
    round(medianOf(pairs.map(({ r, b }) => value(r, key) - value(b, key)))),
  ])
  return Object.fromEntries(differences.filter(([, difference]) => difference !== null))
}

/** Differences from the baseline: medians of pairwise differences between runs with the same seed. */
function differenceOf(done: Done, at: number, variants: readonly Variant[]): object {
  const base = new Map(done.runs.filter((r) => r.variant === 0).map((r) => [r.seed, r]))
  const pairs = done.runs
    .filter((r) => r.variant === at)
    .toSorted((a, b) => a.seed - b.seed)
    .map((r) => ({ r, b: base.get(r.seed) }))
  const median = (f: (r: RunDigest) => number): number | null =>
    round(medianOf(pairs.map(({ r, b }) => (b ? f(r) - f(b) : NaN))))
  const jobs = done.plan.table.map((id, row) => {
    const of = (column: 'servedRpcs' | 'servedBytes' | 'waitP95Ms', scale = 1): number | null =>
      median((r) => (r.jobs[column][row] ?? NaN) / scale)
    return [id, { served_rpcs: of('servedRpcs'), served_bytes: of('servedBytes'), p95_wait_s: of('waitP95Ms', 1000) }]
  })
  return {
    controller: variants[at]?.controller ?? 'none',
    name: variants[at]?.name ?? '',
    against: variants[0]?.name ?? '',
    mean_rate: median((r) => r.figures.throughputRpcs),
    mean_bps: median((r) => r.figures.throughputBps),
    jain: median((r) => r.figures.jain),
    starved_s: median((r) => r.figures.starvedS),
    slo_misses: median((r) => r.figures.sloMisses),
    planes: planeDifferences(pairs),
    jobs: Object.fromEntries(jobs) as object,
  }
}

/** One line per objective of metadata, locks and tokens that some variant has: its median under each variant. */
function planeLines(variants: Done['comparison']['variants']): string[] {
  const present = new Set(variants.flatMap(({ planes }) => planes.map((p) => p.key)))
  return OBJECTIVE_KEYS.filter((key) => present.has(key)).map((key) => {
    const { plane, what, unit } = OBJECTIVES[key]
    const cells = variants.map(({ name, planes }) => {
      const found = planes.find((p) => p.key === key)?.value
      return `${plain(name).slice(0, 22)} ${found ? Number(found.median.toPrecision(4)) : '-'}`
    })
    return `${plane}: ${what}, ${unit}: ${cells.join(', ')}`
  })
}

function print(done: Done, title: string): void {
  const { comparison, cost } = done
  line(
    `${plain(title)}: ${cost.runs} runs in ${cost.wallS.toFixed(1)} s on ${cost.workers} threads, ${cost.ratio.toFixed(0)} times as fast as real time`,
  )
  const names = ['MB/s', 'RPC/s', 'Jain', 'starved s', 'SLO misses']
  line(`${'variant'.padEnd(24)}${names.map((n) => n.padStart(12)).join('')}`)
  for (const { name, metrics: m } of comparison.variants) {
    const cells = [
      [m.throughputBps, 1e6, 1],
      [m.throughputRpcs, 1, 1],
      [m.jain, 1, 3],
      [m.starvedS, 1, 0],
      [m.sloMisses, 1, 1],
    ] as const
    const shown = cells.map(([b, scale, digits]) =>
      (b === null ? '-' : (b.median / scale).toFixed(digits)).padStart(12),
    )
    line(plain(name).slice(0, 22).padEnd(24) + shown.join(''))
  }
  for (const text of planeLines(comparison.variants)) line(text)
  for (const { name, remarks } of comparison.variants) for (const r of remarks) line(`${plain(name)}: ${sentence(r)}`)
  const best = comparison.variants[comparison.verdict.best ?? -1]
  const verdict = comparison.verdict.parts.map((p) => p.text).join('')
  line(sentence(`${best ? `${best.name}: ` : ''}${verdict} ${comparison.verdict.detail}`))
}

async function run(scenario: string, flags: CompareFlags): Promise<void> {
  const { until, json, slo, workers } = flags
  const read = must(readScenario(scenarioFile(scenario)), EXIT.usage)
  const variants =
    flags.variants === undefined
      ? flags.controllers.map((controller) => variant.parse({ name: controller, controller }))
      : must(readVariants(flags.variants), EXIT.usage)
  const first = flags.firstSeed ?? read.seed
  const done = await compare(
    {
      scenario: read,
      variants: variants.map(variantOf),
      seconds: until,
      sloWaitMs: slo,
      seeds: Array.from({ length: flags.seeds }, (_, i) => first + i),
    },
    { workers },
  )
  if (done.kind === 'failed') return stopJson(done.failure, json, EXIT.failed)
  if (!json) return print(done, read.title)
  const { verdict } = done.comparison
  line(
    jsonText({
      runs: variants.map((_, at) => runOf(done, at, { title: read.title, variants, until })),
      differences: variants.slice(1).map((_, i) => differenceOf(done, i + 1, variants)),
      verdict: { best: verdict.best, text: verdict.parts.map((p) => p.text).join(''), detail: verdict.detail },
    }),
  )
}

function controllers(text: string): ControllerName[] {
  const names = [...new Set(text.split(',').map((t) => t.trim()))]
  const known = CONTROLLER_NAMES.filter((n) => names.includes(n))
  if (known.length !== names.length || names.length > VARIANTS_MAX) {
    throw new InvalidArgumentError(`Some of ${CONTROLLER_NAMES.join(', ')}, separated by commas.`)
  }
  return names as ControllerName[]
}

const integer = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('A whole number of at most 15 digits.')
  return Number(text)
}

const runs = (text: string): number => {
  const n = integer(text)
  if (n < 1 || n > SEEDS_MAX) throw new InvalidArgumentError(`From 1 to ${SEEDS_MAX}.`)
  return n
}

export function compareCommand(): Command {
  return new Command('compare')
    .description('compare controllers on a scenario, with the model of the sandbox')
    .argument('<scenario>', 'a scenario file, or demo for the built-in one')
    .option(
      '--controllers <list>',
      'controllers to compare; the first is the baseline',
      controllers,
      CONTROLLER_NAMES.toReversed(),
    )
    .option('--variants <file>', 'YAML list of variants instead of controllers, the baseline first')
    .option('--seeds <n>', 'runs per controller; results are medians', runs, 1)
    .option('--first-seed <n>', 'first seed (default: that of the scenario)', integer)
    .option('--until <s>', 'simulated seconds', seconds, 60)
    .option('--slo <ms>', 'p95 wait above which a job misses its objective, ms', seconds, 500)
    .option('--workers <n>', 'threads', runs)
    .option('--json', 'one JSON document instead of a table')
    .action((scenario: string, flags: CompareFlags) => run(scenario, flags))
}
