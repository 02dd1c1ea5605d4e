/**
 * Writes docs/performance.md from a run: the table between its two marks, and the values in docs/performance.json. The text
 * around the table is written by hand; no value is.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { median } from '#core/base/statistics.ts'
import { budgetOf, type Measured } from './measure.ts'

const docs = join(import.meta.dirname, '../docs')
const BEGIN = '<!-- figures: npm run bench -- --page -->'
const END = '<!-- end of figures -->'

/** Sections of the page by id prefix, in order. */
export const AREAS: readonly (readonly [title: string, ids: readonly string[]])[] = [
  ['Console', ['desktop.', 'window.', 'console.', 'host.', 'jobs.', 'search.', 'rules.']],
  ['Live clusters', ['ssh.', 'collect.', 'period.']],
  ["Lustre's text and TBF", ['lustre.', 'tbf.']],
  ['AdapTBF', ['adaptbf.']],
  ['PADLL', ['padll.']],
  ['SeqDLM', ['seqdlm.', 'ldlm.']],
  ['Haechi', ['haechi.']],
  ['Simulation and sandbox', ['sim.', 'emulator.', 'sandbox.']],
  ['History, time travel, incidents', ['history.', 'excerpt.', 'recorded.', 'bundle.', 'alerts.', 'incident.']],
  ['Everything else', ['']],
]

const escaped = (text: string): string => text.replaceAll('|', '\\|')
const grouped = (value: number): string => value.toLocaleString('en-US', { maximumSignificantDigits: 4 })
const percent = (share: number): string => `${Math.round(share * 100)} %`

/** Load of the machine during the measurement. */
const meanwhile = ({ stolen, coreNs }: Measured): string[] => [
  ...(stolen === undefined ? [] : [`${percent(stolen)} stolen`]),
  ...(coreNs === undefined ? [] : [`core ${coreNs} ns`]),
]

/** Table row of a cost and its baseline. */
function row(of: Measured): string {
  const { id, unit, value, baseline, ratio, must, holds, paper, note, beside, points } = of
  const [low, high] = of.spread
  const is = [
    note ?? '',
    beside === undefined ? '' : `baseline: ${beside}`,
    points === undefined ? '' : points.map(([size, cost]) => `${grouped(size)}: ${grouped(cost)}`).join(', '),
  ]
  const cells = [
    `\`${id}\`<br>${is.filter((text) => text !== '').join('; ')}`,
    [`**${grouped(value)}** ${unit}`, `${grouped(low)} to ${grouped(high)}, n ${of.n}`, ...meanwhile(of)].join('<br>'),
    baseline === undefined ? '' : grouped(baseline),
    ratio === undefined ? '' : grouped(ratio),
    must === undefined
      ? ''
      : `${budgetOf(must)}: ${holds === true ? 'holds' : `**missed**${meanwhile(of).length === 0 ? '' : `, with ${meanwhile(of).join(', ')}`}`}`,
    paper ?? '',
    of.limit ?? '',
  ]
  return `| ${cells.map(escaped).join(' | ')} |`
}

const HEAD = `| Cost | Measured | Baseline | Ratio | Must hold | Paper | What limits it |
|---|---|---|---|---|---|---|`

/** Ids without a value: of a cost, or a prefix of several. */
const unmeasured = (all: readonly Measured[], ids: readonly string[]): string[] =>
  ids.filter((id) => !all.some((of) => of.id === id || of.id.startsWith(`${id}.`)))

/**
 * Generated part of the page.
 *
 * @param ids      ids of everything that can be measured; those without a value are listed
 * @param machine  machine and date of the measurement
 */
export function figures(all: readonly Measured[], ids: readonly string[], machine: string): string {
  const left = new Set(all)
  const parts = AREAS.map(([title, starts]) => {
    const rows = [...left].filter(({ id }) => starts.some((start) => id.startsWith(start)))
    for (const taken of rows) left.delete(taken)
    return rows.length === 0 ? '' : `### ${title}\n\n${HEAD}\n${rows.map(row).join('\n')}`
  })
  const missed = all.filter(({ holds }) => holds === false)
  const summary =
    `${all.length} costs, ${all.filter(({ must }) => must !== undefined).length} with a budget, ${missed.length} over it` +
    (missed.length > 0 ? `: ${missed.map(({ id }) => `\`${id}\``).join(', ')}` : '')
  const without = unmeasured(all, ids)
  const rest = without.length === 0 ? '' : `Not measured: ${without.map((id) => `\`${id}\``).join(', ')}.`
  const steps = all.flatMap(({ coreNs }) => coreNs ?? []).toSorted((a, b) => a - b)
  const core =
    steps.length === 0
      ? ''
      : `A step of the plain loop took ${steps[0]} ns at best, ${median(steps)} at the median and ${steps.at(-1)} at worst.`
  return [`Measured on ${machine}. ${summary}.`, core, rest, ...parts].filter((part) => part !== '').join('\n\n')
}

function machine(): string {
  const model = cpus()[0]?.model.replace(/\s+/g, ' ').trim() ?? 'an unknown processor'
  const day = new Date().toISOString().slice(0, 10)
  return `${day}: ${availableParallelism()} cores of ${model}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, ${process.platform} ${release()}, Node ${process.versions.node}`
}

/** Stored values if from the same day and machine; otherwise they do not belong into one table with new ones. */
function kept(on: string): readonly Measured[] {
  const file = join(docs, 'performance.json')
  if (!existsSync(file)) return []
  // Written by this program only, so its shape is known.
  const { machine: then, benches } = JSON.parse(readFileSync(file, 'utf8')) as { machine: string; benches: Measured[] }
  return then === on ? benches : []
}

/**
 * Writes both files.
 * @param now new results; any other cost keeps its value of the same day
 * @param ids ids of everything that can be measured; others are removed from the page
 */
export function writePerformancePage(now: readonly Measured[], ids: readonly string[]): void {
  const on = machine()
  const fresh = new Map(now.map((of) => [of.id, of]))
  const known = kept(on).filter((of) => ids.some((id) => of.id === id || of.id.startsWith(`${id}.`)))
  const all = [...known.map((of) => fresh.get(of.id) ?? of), ...now.filter(({ id }) => known.every((k) => k.id !== id))]
  const file = join(docs, 'performance.md')
  const text = readFileSync(file, 'utf8')
  const from = text.indexOf(BEGIN)
  const to = text.indexOf(END)
  if (from < 0 || to < from) throw new Error('docs/performance.md has lost the marks of its table')
  writeFileSync(file, `${text.slice(0, from + BEGIN.length)}\n\n${figures(all, ids, on)}\n\n${text.slice(to)}`)
  writeFileSync(join(docs, 'performance.json'), `${JSON.stringify({ machine: on, benches: all }, null, 2)}\n`)
}
