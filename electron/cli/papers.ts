/** `sluice papers`: runs the experiments of the papers and compares measured with published results. */
import { Command, InvalidArgumentError } from 'commander'
import { SYSTEM as ADVANCES } from '#core/papers/advances/advance.ts'
import { type Claim, type Progress, runPapers, select } from '#core/papers/claims.ts'
import type { Experiment } from '#core/papers/experiment.ts'
import { EXPERIMENTS } from '#core/papers/registry.ts'
import { countVerdicts } from '#core/papers/verdict.ts'
import { paperHost } from '../base/paper-host.ts'
import { line, stop } from './output.ts'
import { experimentLines, summaryLines } from './papers-table.ts'

interface PapersOptions {
  readonly only?: readonly string[]
  readonly seeds: readonly number[]
  readonly json?: true
}

const list = (text: string): string[] => text.split(',').map((part) => part.trim())

const SEEDS_MAX = 1000

/** Reads numbers and ranges: `1-20`, `7,8,9`. */
function seedList(text: string): number[] {
  const seeds = new Set<number>()
  for (const part of list(text)) {
    const [, from, to = from] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(part) ?? []
    const [first, last] = [Number(from), Number(to)]
    if (!(last >= first && last - first < SEEDS_MAX)) refuseSeeds()
    for (let seed = first; seed <= last; seed++) seeds.add(seed)
    if (seeds.size > SEEDS_MAX) refuseSeeds()
  }
  return [...seeds]
}

function refuseSeeds(): never {
  throw new InvalidArgumentError(
    `Whole numbers of at most 15 digits and ranges of them, at most ${SEEDS_MAX}, separated by commas.`,
  )
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
  const steps = runPapers(experiments, options.seeds, paperHost)
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

/** Width of the output if it is not a terminal, and the least that a table is laid out for, characters. */
const ACROSS = 160
const ACROSS_LEAST = 100

/** Prints a table per experiment, then the counts. */
function print(
  experiments: readonly Experiment[],
  claims: readonly Claim[],
  seeds: readonly number[],
  seconds: number,
): void {
  const across = process.stdout.isTTY ? Math.max(ACROSS_LEAST, process.stdout.columns || ACROSS) : ACROSS
  for (const experiment of experiments) {
    const ids = new Set(experiment.expectations.map(({ id }) => id))
    const own = claims.filter(({ id }) => ids.has(id))
    for (const text of experimentLines(experiment, own, across)) line(text)
    line('')
  }
  for (const text of summaryLines(claims, seeds, seconds)) line(text)
}

export function papersCommand(): Command {
  return new Command('papers')
    .description('run the experiments of the papers and compare with the published results')
    .option('--only <ids>', 'systems, advances, experiments or claims, for example IV-E,adaptbf.IV-D.4', list)
    .option('--seeds <numbers>', 'seeds, for example 1-20; results are medians over them', seedList, [1, 2, 3, 4, 5])
    .option('--json', 'one JSON document instead of a table')
    .action((options: PapersOptions) => {
      const { claims, seconds, experiments } = run(options)
      if (options.json) {
        const counts = countVerdicts(claims.filter(({ system }) => system !== ADVANCES))
        const fits = experiments.flatMap(({ id, fits }) => (fits ?? []).map((fit) => ({ experiment: id, ...fit })))
        line(JSON.stringify({ claims, counts, fits, seeds: options.seeds, seconds }))
      } else print(experiments, claims, options.seeds, seconds)
      if (!claims.every(({ ok }) => ok)) process.exitCode = 1
    })
}
