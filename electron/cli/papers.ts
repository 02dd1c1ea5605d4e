/** `sluice papers`: runs the experiments of the papers and compares measured with published results. */
import { Command, InvalidArgumentError } from 'commander'
import { type Claim, type Progress, runPapers, select } from '#core/papers/claims.ts'
import type { Experiment } from '#core/papers/experiment.ts'
import type { Bound, Comparator, Measured } from '#core/papers/expectation.ts'
import { EXPERIMENTS } from '#core/papers/registry.ts'
import { line, stop } from './output.ts'

interface PapersOptions {
  readonly only?: readonly string[]
  readonly seeds: readonly number[]
  readonly json?: true
}

const list = (text: string): string[] => text.split(',').map((part) => part.trim())

function seedList(text: string): number[] {
  const seeds = list(text)
  if (!seeds.every((seed) => /^\d{1,15}$/.test(seed)) || seeds.length > 1000) {
    throw new InvalidArgumentError('Whole numbers of at most 15 digits, separated by commas.')
  }
  return [...new Set(seeds.map(Number))]
}

function run(options: PapersOptions): {
  claims: readonly Claim[]
  seconds: number
  experiments: readonly Experiment[]
} {
  const { experiments, unknown } = options.only
    ? select(EXPERIMENTS, options.only)
    : { experiments: EXPERIMENTS, unknown: [] }
  if (unknown.length > 0) {
    const known = EXPERIMENTS.map(({ id }) => id).join(', ')
    stop({ code: 'UNKNOWN_CLAIM', what: `There is no claim ${unknown.join(', ')}`, next: `Known: ${known}.` }, 2)
  }
  const began = performance.now()
  const steps = runPapers(experiments, options.seeds, { now: () => performance.now() })
  let step = steps.next()
  for (; !step.done; step = steps.next()) showProgress(step.value)
  clearProgress()
  const seconds = Number(((performance.now() - began) / 1000).toFixed(3))
  return { claims: step.value.claims, seconds, experiments }
}

function showProgress({ done, of, part, seed }: Progress): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${done} of ${of}  ${part}, seed ${seed}`)
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
}

/** Four significant digits: seeds do not agree on more. */
const figure = (value: number): string => String(Number(value.toPrecision(4)))

function shown(value: Measured | string | null): string {
  if (value === null) return '-'
  if (typeof value === 'string') return value
  if (typeof value === 'number') return figure(value)
  return Object.entries(value)
    .toSorted(([a], [b]) => Number(a) - Number(b))
    .map(([name, entry]) => `${name}: ${figure(entry)}`)
    .join(', ')
}

const boundText = (comparator: Comparator, bound: Bound): string => {
  if (bound === null) return ''
  if (typeof bound === 'number') return `${comparator} ${figure(bound)}`
  return `${figure(bound[0])} to ${figure(bound[1])}`
}

/** Prints the table; the widths of its first columns follow the ids and the published values. */
function print(
  experiments: readonly Experiment[],
  claims: readonly Claim[],
  options: PapersOptions,
  seconds: number,
): void {
  const idWidth = Math.max(...claims.map(({ id }) => id.length)) + 2
  const saidWidth = Math.max(...claims.map(({ published }) => shown(published).length), 'published'.length) + 2
  const row = (id: string, said: string, measured: string, bound: string, verdict: string, what: string): string =>
    id.padEnd(idWidth) + said.padEnd(saidWidth) + measured.padEnd(11) + bound.padEnd(20) + verdict.padEnd(7) + what
  for (const experiment of experiments) {
    line(`\n${experiment.id}  ${experiment.title}`)
    line(row('', 'published', 'measured', 'bound', '', ''))
    let note: string | undefined
    for (const c of claims.filter(({ id }) => experiment.expectations.some((e) => e.id === id))) {
      const verdict = c.comparator === 'info' ? '' : c.ok ? 'ok' : 'MISS'
      const isTable = typeof c.measured !== 'number'
      line(
        row(
          c.id,
          shown(c.published),
          isTable ? '' : shown(c.measured),
          boundText(c.comparator, c.bound),
          verdict,
          c.what,
        ),
      )
      if (isTable) line(`${' '.repeat(idWidth)}${shown(c.measured)}`)
      if (c.note !== undefined && c.note !== note) line(`${' '.repeat(idWidth)}${c.note}`)
      note = c.note
      if (c.failed_seeds.length > 0)
        line(`${' '.repeat(idWidth)}Does not hold on seed ${c.failed_seeds.join(', ')} alone.`)
    }
  }
  const asserted = claims.filter(({ comparator }) => comparator !== 'info')
  const held = asserted.filter(({ ok }) => ok).length
  line(
    `\n${held} of ${asserted.length} claims hold, medians over seeds ${options.seeds.join(', ')}; ${seconds.toFixed(1)} s.`,
  )
}

export function papersCommand(): Command {
  return new Command('papers')
    .description('run the experiments of the papers and compare with the published results')
    .option('--only <ids>', 'systems, experiments or claims, for example IV-E,adaptbf.IV-D.4', list)
    .option('--seeds <numbers>', 'seeds; results are medians over them', seedList, [1, 2, 3, 4, 5])
    .option('--json', 'one JSON document instead of a table')
    .action((options: PapersOptions) => {
      const { claims, seconds, experiments } = run(options)
      if (options.json) line(JSON.stringify({ claims, seeds: options.seeds, seconds }))
      else print(experiments, claims, options, seconds)
      if (!claims.every(({ ok }) => ok)) process.exitCode = 1
    })
}
