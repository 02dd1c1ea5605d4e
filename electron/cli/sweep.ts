/** `sluice sweep`: parameter grid over a scenario, run here or as a Slurm job array; resumes where it ended. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { SEEDS_MAX, type Variant, METRICS, type Metric } from '#core/api/sandbox.ts'
import type { Failure } from '#core/base/result.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { OBJECTIVE_KEYS, type ObjectiveKey } from '#core/controllers/objectives.ts'
import { parseScenario } from '#core/emulator/scenario.ts'
import type { PlaneResult } from '#core/sandbox/comparison.ts'
import type { Band } from '#core/sandbox/band.ts'
import { letterOf } from '#core/sandbox/variant-summary.ts'
import { version } from '../files/resources.ts'
import { suggestedVariants } from '../host/sandbox/scenarios-variants.ts'
import { parseAxis, type Axis, pointText } from '../sandbox/sweep-grid.ts'
import { beginSweep, readSweep, type Sweep } from '../sandbox/sweep-manifest.ts'
import { collectSweep, progressOf, type Progress, type PointResult } from '../sandbox/sweep-results.ts'
import { runChunks } from '../sandbox/sweep-run.ts'
import {
  chunksOfTask,
  nameFault,
  submitSweep,
  submittedJobs,
  pendingTasks,
  tasksOf,
  timeFault,
} from '../sandbox/sweep-slurm.ts'
import { reason, writeFileAtomic } from '../sandbox/sweep-files.ts'
import { csvText } from '../host/sandbox/export.ts'
import { scenarioFile, seconds } from './arguments.ts'
import { EXIT, jsonText, line, plain, stopJson, type ExitCode, sentence } from './output.ts'
import { readVariants } from './variants-file.ts'

/** Columns of the printed table: metric, title, divisor, decimals. */
const SHOWN: readonly (readonly [Metric, string, number, number])[] = [
  ['throughputBps', 'MB/s', 1e6, 1],
  ['jain', 'Jain', 1, 3],
  ['victimP95Ms', 'victim p95 ms', 1, 0],
  ['starvedS', 'starved s', 1, 0],
  ['sloMisses', 'SLO misses', 1, 1],
  ['utilisation', 'device util', 1, 2],
]

/** Objectives of the planes that some point has, in the order of the registry. */
function planesIn(results: readonly PointResult[]): ObjectiveKey[] {
  const variants = results.flatMap(({ comparison }) => comparison?.variants ?? [])
  return OBJECTIVE_KEYS.filter((key) => variants.some(({ planes }) => planes.some((p) => p.key === key)))
}

/** `wait p95 34 ms`; bytes in MB/s. */
function objectiveText({ what, unit, value }: PlaneResult): string {
  if (value === null) return `${what} not measured`
  const isBytes = unit === 'B/s'
  const median = Number((value.median / (isBytes ? 1e6 : 1)).toPrecision(4))
  return `${what} ${median}${unit === 'part' ? '' : ` ${isBytes ? 'MB/s' : unit}`}`
}

function printSweep({ manifest }: Sweep, results: readonly PointResult[]): void {
  const points = results.map((r) => plain(pointText(manifest.axes, r.point)))
  const wide = Math.max(5, ...points.map((p) => p.length)) + 2
  line(`${'point'.padEnd(wide)}${'variant'.padEnd(22)}${SHOWN.map(([, name]) => name.padStart(15)).join('')}`)
  results.forEach(({ comparison }, i) => {
    if (!comparison) return line(`${(points[i] ?? '').padEnd(wide)}not complete`)
    comparison.variants.forEach((v, k) => {
      const best = comparison.verdict.best === k ? ' *' : ''
      const cells = SHOWN.map(([metric, , scale, digits]) => {
        const band = v.metrics[metric]
        return (band === null ? '-' : (band.median / scale).toFixed(digits)).padStart(15)
      })
      const name = plain(`${k === 0 ? '' : `${letterOf(k)} `}${v.name}`).slice(0, 20)
      line((k === 0 ? (points[i] ?? '') : '').padEnd(wide) + name.padEnd(22) + cells.join('') + best)
      for (const [plane, objectives] of Map.groupBy(v.planes, (p) => p.plane)) {
        line(`${' '.repeat(wide)}  ${plane}: ${objectives.map(objectiveText).join(', ')}`)
      }
    })
    line(`${' '.repeat(wide)}${sentence(comparison.verdict.parts.map((p) => p.text).join(''))}`)
  })
}

const bandCells = (band: Band | null): string[] =>
  (band === null ? ['', '', ''] : [band.median, band.low, band.high]).map(String)

function sweepCsv({ manifest }: Sweep, results: readonly PointResult[]): string {
  const head = [...manifest.axes.map((a) => csvText(a.path)), 'variant', 'name', 'best']
  const planes = planesIn(results)
  const rows = [[...head, ...[...METRICS, ...planes].flatMap((m) => [m, `${m}_p5`, `${m}_p95`])].join(',')]
  for (const { point, comparison } of results) {
    comparison?.variants.forEach((v, k) => {
      const values = point.map((p) => (typeof p === 'string' ? csvText(p) : String(p)))
      const best = comparison.verdict.best === k ? '1' : '0'
      const bands = [
        ...METRICS.map((m) => v.metrics[m]),
        ...planes.map((key) => v.planes.find((p) => p.key === key)?.value ?? null),
      ]
      rows.push([...values, letterOf(k), csvText(v.name), best, ...bands.flatMap(bandCells)].join(','))
    })
  }
  return `${rows.join('\r\n')}\r\n`
}

const sweepJson = ({ manifest }: Sweep, results: readonly PointResult[]): object => ({
  points: results.map(({ point, comparison }) => ({
    at: Object.fromEntries(manifest.axes.map((a, i) => [a.path, point[i]])),
    complete: comparison !== undefined,
    ...(comparison
      ? {
          verdict: {
            best: comparison.verdict.best,
            text: comparison.verdict.parts.map((p) => p.text).join(''),
            detail: comparison.verdict.detail,
          },
          variants: comparison.variants.map(({ name, detail, metrics, planes, remarks }) => ({
            name,
            detail,
            metrics,
            planes,
            remarks,
          })),
        }
      : {}),
  })),
})

interface SweepFlags {
  readonly set: readonly string[]
  readonly variants?: string
  readonly seeds: number
  readonly firstSeed: number
  readonly until: number
  readonly slo: number
  readonly chunk: number
  readonly out?: string
  readonly workers?: number
  readonly slurm?: true
  readonly partition?: string
  readonly account?: string
  readonly time?: string
  readonly atOnce: number
  readonly json?: true
}

type Json = { readonly json?: true }

const whole =
  (least: number, most: number) =>
  (text: string): number => {
    const n = Number(text)
    if (!/^\d{1,15}$/.test(text) || n < least || n > most) {
      throw new InvalidArgumentError(`A whole number from ${least} to ${most}.`)
    }
    return n
  }

const passed =
  (fault: (text: string) => string | undefined) =>
  (text: string): string => {
    const wrong = fault(text)
    if (wrong !== undefined) throw new InvalidArgumentError(`Expected ${wrong}.`)
    return text
  }

/** True for a fault in the arguments rather than in the run. */
const isUsage = ({ code }: Failure): boolean =>
  /^(?:SWEEP_(?:GRID|PATH|CHANGED|DIR|NONE)|SCENARIO_|VARIANTS_)/.test(code)

function must<T>(result: Result<T>, json: true | undefined): T {
  if (result.ok) return result.value
  return stopJson(result.error, json, isUsage(result.error) ? EXIT.usage : EXIT.failed)
}

function textOf(name: string): Result<string> {
  try {
    return ok(readFileSync(scenarioFile(name), 'utf8'))
  } catch (e) {
    const what = `the scenario ${name} cannot be read`
    return fail({ code: 'SCENARIO_UNREADABLE', what, why: reason(e), next: 'Name a file that exists.' })
  }
}

function variantsOf(file: string | undefined, text: string): Result<Variant[]> {
  if (file !== undefined) return readVariants(file)
  const read = parseScenario(text)
  return read.ok ? ok(suggestedVariants(read.value)) : read
}

function begin(scenario: string, flags: SweepFlags): Sweep {
  const { json, out } = flags
  if (out === undefined) {
    const next = 'Name its folder: --out DIR.'
    stopJson({ code: 'SWEEP_DIR', what: 'The sweep was not started', why: 'it has no folder', next }, json, EXIT.usage)
  }
  const text = must(textOf(scenario), json)
  const axes: Axis[] = flags.set.map((s) => must(parseAxis(s), json))
  const variants = must(variantsOf(flags.variants, text), json)
  const plan = {
    text,
    axes,
    variants,
    seeds: { first: flags.firstSeed, count: flags.seeds },
    seconds: flags.until,
    sloWaitMs: flags.slo,
    chunkSeeds: Math.min(flags.chunk, flags.seeds),
  }
  return must(beginSweep(out, plan, `sluice ${version()}`), json)
}

const counted = ({ done, chunks, damaged }: Progress): string =>
  `${done} of ${chunks} chunks done${damaged > 0 ? `, ${damaged} damaged` : ''}`

async function sweep(scenario: string, flags: SweepFlags): Promise<void> {
  const begun = begin(scenario, flags)
  const { json } = flags
  const before = progressOf(begun)
  if (flags.slurm) return submit(begun, before, flags)
  const { missing } = before
  const isShown = !json && process.stderr.isTTY
  let done = before.done
  const report = (): void => {
    done++
    if (isShown) process.stderr.write(`\r${done} of ${before.chunks} chunks`)
  }
  if (before.done > 0) process.stderr.write(`sluice: ${counted(before)}; running the rest\n`)
  const { workers } = flags
  must(await runChunks(begun, missing, { workers, onChunk: report }), json)
  if (isShown) process.stderr.write('\n')
  collect(begun, json)
}

async function submit(begun: Sweep, before: Progress, flags: SweepFlags): Promise<void> {
  const { json, partition, account, time, atOnce } = flags
  if (before.missing.length === 0) return collect(begun, json)
  const command = [process.execPath, join(import.meta.dirname, 'sluice.mjs')]
  const options = { partition, account, time, atOnce, command }
  const job = must(await submitSweep(begun, before.missing, options, Date.now()), json)
  const report = { job: job.id, array: job.array, chunks: before.chunks, done: before.done, out: begun.dir }
  if (json) return line(jsonText(report))
  line(`job ${job.id}, tasks ${job.array}; ${counted(before)}`)
  line(`sluice sweep status ${plain(begun.dir)}`)
}

/** Prints the table and writes summary.csv beside the results; exits with 5 while results are missing. */
function collect(begun: Sweep, json: true | undefined): void {
  const progress = progressOf(begun)
  const results = must(collectSweep(begun), json)
  const csv = join(begun.dir, 'summary.csv')
  try {
    writeFileAtomic(csv, sweepCsv(begun, results))
  } catch (e) {
    stopJson({ code: 'SWEEP_NOT_WRITTEN', what: `${csv} was not written`, why: reason(e) }, json, EXIT.failed)
  }
  const { chunks, done, damaged } = progress
  if (json)
    line(jsonText({ title: begun.manifest.title, chunks, done, damaged, summary: csv, ...sweepJson(begun, results) }))
  else {
    printSweep(begun, results)
    line(`${counted(progress)}; ${plain(csv)}`)
  }
  if (done < chunks) process.exitCode = EXIT.partial satisfies ExitCode
}

async function status(dir: string, { json }: Json): Promise<void> {
  const found = must(readSweep(dir), json)
  const progress = progressOf(found)
  const jobs = await Promise.all(submittedJobs(found).map(async (j) => ({ ...j, left: await pendingTasks(j.id) })))
  const { chunks, done, damaged } = progress
  if (json) return line(jsonText({ title: found.manifest.title, chunks, done, damaged, jobs }))
  line(`${plain(found.manifest.title)}: ${counted(progress)}`)
  for (const { id, array, at, left: pending } of jobs) {
    line(
      `job ${id}, tasks ${array}, ${at}: ${pending.length === 0 ? 'no task left in the queue' : plain(pending.join(', '))}`,
    )
  }
}

async function task(dir: string, number: number, { json, workers }: Json & { workers?: number }): Promise<void> {
  const found = must(readSweep(dir), json)
  if (number >= tasksOf(found)) {
    const why = `its tasks are 0 to ${tasksOf(found) - 1}`
    stopJson({ code: 'SWEEP_TASK', what: `There is no task ${number}`, why }, json, EXIT.usage)
  }
  const ownChunks = new Set(chunksOfTask(found, number).map((c) => c.index))
  const missing = progressOf(found).missing.filter((c) => ownChunks.has(c.index))
  // An array task uses the CPUs that Slurm allocated, by default one.
  const given = Number(process.env['SLURM_CPUS_PER_TASK'] ?? 1)
  must(await runChunks(found, missing, { workers: workers ?? (given >= 1 ? given : 1) }), json)
  if (json) line(jsonText({ task: number, ran: missing.length, of: ownChunks.size }))
  else line(`task ${number}: ${missing.length} of ${ownChunks.size} chunks run`)
}

export function sweepCommand(): Command {
  const command = new Command('sweep')
    .description('run a grid of parameters over a scenario, here or as a Slurm job array; resumes where it ended')
    .argument('<scenario>', 'a scenario file, or demo for the built-in one')
    .option(
      '--set <path=values>',
      'path in the scenario and its values; may be repeated',
      (t, all: string[]) => [...all, t],
      [],
    )
    .option('--variants <file>', 'YAML list of variants, the baseline first (default: chosen for the scenario)')
    .option('--seeds <n>', 'runs of each variant at each point', whole(1, SEEDS_MAX), 5)
    .option('--first-seed <n>', 'first seed', whole(0, 1e12), 1)
    .option('--until <s>', 'simulated seconds', seconds, 60)
    .option('--slo <ms>', 'p95 wait above which a job misses its objective, ms', seconds, 500)
    .option('--chunk <n>', 'seeds per result file', whole(1, SEEDS_MAX), 10)
    .option('--out <dir>', 'folder of the sweep; the same command resumes it')
    .option('--workers <n>', 'threads', whole(1, 256))
    .option('--slurm', 'write an array script and submit it with sbatch instead of running here')
    .option('--partition <name>', 'passed to sbatch', passed(nameFault))
    .option('--account <name>', 'passed to sbatch', passed(nameFault))
    .option('--time <limit>', 'passed to sbatch', passed(timeFault))
    .option('--at-once <n>', 'most concurrent tasks of the array', whole(1, 100_000), 50)
    .option('--json', 'one JSON document instead of a table')
    .action((scenario: string, flags: SweepFlags) => sweep(scenario, flags))
  command
    .command('status')
    .description('show the progress of a sweep, and its tasks in the queue')
    .argument('<dir>')
    .option('--json', 'one JSON document')
    .action((dir: string, flags: Json) => status(dir, flags))
  command
    .command('collect')
    .description('collect the results of a sweep; exits with 5 while some are missing')
    .argument('<dir>')
    .option('--json', 'one JSON document')
    .action((dir: string, { json }: Json) => collect(must(readSweep(dir), json), json))
  command
    .command('task')
    .description('run one task of an array (called by the batch script)')
    .argument('<dir>')
    .argument('<n>', 'number of the task', whole(0, 1e6))
    .option('--workers <n>', 'threads', whole(1, 256))
    .option('--json', 'one JSON document')
    .action((dir: string, n: number, flags: Json & { workers?: number }) => task(dir, n, flags))
  return command
}
