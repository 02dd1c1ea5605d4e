/** Tables of `sluice papers`: one per experiment with its fitted constants and its claims, and the counts at the end. */
import { SYSTEM as ADVANCES } from '#core/papers/advances/advance.ts'
import type { Claim } from '#core/papers/claims.ts'
import type { Bound, Comparator, Measured } from '#core/papers/expectation.ts'
import type { Experiment } from '#core/papers/experiment.ts'
import { countVerdicts, type VerdictCounts } from '#core/papers/verdict.ts'

/** Four significant digits: seeds do not agree on more. */
const figure = (value: number): string => String(Number(value.toPrecision(4)))

/** Formats a value as the paper has it, or as it was measured. */
function valueText(value: Measured | string | null): string {
  if (value === null) return '-'
  if (typeof value === 'string') return value
  if (typeof value === 'number') return figure(value)
  return Object.entries(value)
    .toSorted(([a], [b]) => Number(a) - Number(b))
    .map(([name, entry]) => `${name}: ${figure(entry)}`)
    .join(', ')
}

function boundText(comparator: Comparator, bound: Bound): string {
  if (bound === null) return ''
  if (typeof bound === 'number') return `${comparator} ${figure(bound)}`
  return `${figure(bound[0])} to ${figure(bound[1])}`
}

/** `0.1 ±0.01`, `>= 1 -2 %`: the target, and the distance from it that still counts as reproduced. */
export function agreementText({ target, tolerance }: Pick<Claim, 'target' | 'tolerance'>): string {
  if (target === undefined) return ''
  const { size = 0, isRelative = false } = tolerance ?? {}
  const distance = size === 0 ? '' : isRelative ? `${figure(100 * size)} %` : figure(size)
  const either = distance === '' ? '' : ` ±${distance}`
  if ('at' in target) return `${figure(target.at)}${either}`
  if ('from' in target) return `${figure(target.from)} to ${figure(target.to)}${either}`
  const sign = target.is.startsWith('>') ? '-' : '+'
  return `${target.is} ${figure(target.than)}${distance === '' ? '' : ` ${sign}${distance}`}`
}

const isOutside = ({ verdict }: Pick<Claim, 'verdict'>): boolean => verdict === 'differs' || verdict === 'contradicts'

/** Edge of the target from which a deviation is counted. */
function edgeOf(target: NonNullable<Claim['target']>, deviation: number): number {
  if ('at' in target) return target.at
  if ('than' in target) return target.than
  return deviation < 0 ? target.from : target.to
}

/** `+12 %` of the target, and `+0.3` in the unit of the claim if that is 0; empty inside a range or an ordering. */
export function deviationText(claim: Pick<Claim, 'deviation' | 'target' | 'verdict'>): string {
  const { deviation, target } = claim
  if (deviation === null || target === undefined) return ''
  if (deviation === 0) return 'at' in target || isOutside(claim) ? '0 %' : ''
  const sign = deviation > 0 ? '+' : ''
  if (edgeOf(target, deviation) === 0) return `${sign}${figure(deviation)}`
  return `${sign}${(100 * deviation).toFixed(Math.abs(deviation) < 0.1 ? 1 : 0)} %`
}

const isOfAdvance = ({ system }: Pick<Claim, 'system'>): boolean => system === ADVANCES

function verdictText({ verdict, published, met, system }: Claim): string {
  if (met !== undefined) return met ? 'met' : 'missed'
  if (system === ADVANCES) return 'measured'
  if (verdict === null) return published === null ? 'not published' : 'not compared'
  return verdict
}

/** Columns between the id of a claim and its description. */
const COLUMNS = ['published', 'measured', 'deviation', 'agreement', 'verdict', 'bound'] as const

/** Value of the paper's rule in the same runs, instead of a published one. */
const originalText = ({ original }: Claim): string =>
  original === undefined ? '' : `${valueText(original)} (original)`

/** Requirement on an advance, with the range over the seeds. */
function requiredText({ required, range }: Claim): string {
  const band = range === null || range[0] === range[1] ? '' : `${figure(range[0])} … ${figure(range[1])}`
  if (required === undefined) return band
  return `${agreementText({ target: required.target })}${required.on === 'median' ? ' (median)' : ''}${band === '' ? '' : `; ${band}`}`
}

function cellsOf(claim: Claim): string[] {
  const bound = boundText(claim.comparator, claim.bound)
  return [
    claim.original === undefined ? valueText(claim.published) : originalText(claim),
    typeof claim.measured === 'number' ? valueText(claim.measured) : 'table',
    deviationText(claim),
    isOfAdvance(claim) ? requiredText(claim) : agreementText(claim),
    verdictText(claim),
    claim.ok ? bound : `${bound} EXCEEDED`,
  ]
}

/** Lines under a claim: its table, why it differs, the origin of the tolerance, seeds outside the regression bound. */
function remarksOf(claim: Claim): string[] {
  const { measured, note, proof, tolerance, verdict, calibrates, failed_seeds: failed } = claim
  const remarks: string[] = []
  if (typeof measured !== 'number') remarks.push(`Measured: ${valueText(measured)}`)
  if (note !== undefined) remarks.push(note)
  if (isOutside(claim) && proof !== undefined) remarks.push(`Proof: ${proof}`)
  if (isOutside(claim) && tolerance !== undefined) remarks.push(`Tolerance: ${tolerance.reason}`)
  if (verdict === 'calibrated') remarks.push(`Calibrated on: ${calibrates ?? ''}`)
  if (failed.length > 0) remarks.push(`Outside the bound on seed ${failed.join(', ')} alone.`)
  return remarks
}

/** Splits a text at spaces, not before a percent sign, into lines of at most `width` characters; longer words have a line of their own. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  let current = ''
  for (const word of text.split(/ (?!%)/)) {
    if (current !== '' && current.length + 1 + word.length > width) {
      lines.push(current)
      current = word
    } else current = current === '' ? word : `${current} ${word}`
  }
  return [...lines, current]
}

/** Widest published text and narrowest description, characters; longer texts continue on the next line. */
const PUBLISHED_MOST = 28
const WHAT_LEAST = 32
/** Space between columns, and in front of remarks. */
const GAP = 2
const INDENT = ' '.repeat(4)

/** Lines of a row whose cells have lines; the last cell is not padded. */
function rowLines(cells: readonly (readonly string[])[], widths: readonly number[]): string[] {
  const high = Math.max(...cells.map((lines) => lines.length))
  return Array.from({ length: high }, (_, i) =>
    cells
      .map((lines, column) => (lines[i] ?? '').padEnd(widths[column] ?? 0))
      .join('')
      .trimEnd(),
  )
}

/**
 * Table of one experiment.
 *
 * @param claims  claims of the experiment.
 * @param across  width of the terminal, characters.
 */
export function experimentLines(experiment: Experiment, claims: readonly Claim[], across: number): string[] {
  const lines = [`${experiment.id}  ${experiment.title}`]
  const remark = (text: string): string[] => wrapped(text, across - INDENT.length).map((part) => `${INDENT}${part}`)
  for (const { constant, value, fittedTo, outOfSample } of experiment.fits ?? []) {
    lines.push(...remark(`Fitted: ${constant} = ${value}, to ${fittedTo}. Out of sample: ${outOfSample}`))
  }
  const rows = claims.map((claim) => {
    const [published = '', ...others] = cellsOf(claim)
    return [[claim.id], wrapped(published, PUBLISHED_MOST), ...others.map((text) => [text])]
  })
  const heads = ['', ...COLUMNS]
  const widths = heads.map(
    (head, column) => GAP + Math.max(head.length, ...rows.flatMap((row) => row[column]!.map((text) => text.length))),
  )
  const left = across - widths.reduce((sum, width) => sum + width, 0)
  lines.push(...rowLines([...heads.map((head) => [head]), ['claim']], widths))
  let before: readonly string[] = []
  claims.forEach((claim, i) => {
    lines.push(...rowLines([...rows[i]!, wrapped(claim.what, Math.max(WHAT_LEAST, left))], widths))
    const remarks = remarksOf(claim)
    lines.push(...remarks.filter((text) => !before.includes(text)).flatMap(remark))
    before = remarks
  })
  return lines
}

const countText = ({ reproduced, calibrated, differs, contradicts, silent }: VerdictCounts): string =>
  `${reproduced} reproduced, ${calibrated} calibrated on, ${differs} ${differs === 1 ? 'differs' : 'differ'}, ` +
  `${contradicts} ${contradicts === 1 ? 'contradicts' : 'contradict'} the paper, ${silent} not published`

/** Counts of the requirements on advances; none if there are no advances. */
function requirementLine(claims: readonly Claim[]): string[] {
  const judged = claims.filter(({ met }) => met !== undefined)
  if (judged.length === 0) return []
  return [`${ADVANCES}: ${judged.filter(({ met }) => met).length} of ${judged.length} requirements met`]
}

/** Counts of the verdicts by system and in total, then the regression bounds. */
export function summaryLines(claims: readonly Claim[], seeds: readonly number[], seconds: number): string[] {
  const published = claims.filter((claim) => !isOfAdvance(claim))
  const counts = Object.entries(countVerdicts(published))
  const total = Object.entries(countVerdicts(published.map(({ verdict }) => ({ system: 'total', verdict }))))
  const bounded = claims.filter(({ comparator }) => comparator !== 'info')
  const within = bounded.filter(({ ok }) => ok).length
  const outOf = bounded.length === 1 ? 'bound holds' : 'bounds hold'
  return [
    ...[...counts, ...(counts.length > 1 ? total : [])].map(([system, count]) => `${system}: ${countText(count)}`),
    ...requirementLine(claims),
    `${within} of ${bounded.length} regression ${outOf}; medians over seeds ${seeds.join(', ')}; ${seconds.toFixed(1)} s.`,
  ]
}
