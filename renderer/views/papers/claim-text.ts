/** Formatting of claims: published and measured values, tolerances, verdicts, and their counts. */
import type { Level } from '#core/api/frames.ts'
import type {
  ClaimResult,
  MeasuredValue,
  PaperClaim,
  PaperExperiment,
  PapersResult,
  PaperVerdict,
} from '#core/api/papers.ts'
import { formatNumber, formatPercent, NOTHING } from '../../format/units.ts'

/** Names of the systems whose papers are reproduced. */
const SYSTEMS: Readonly<Record<string, string>> = {
  adaptbf: 'AdapTBF',
  padll: 'PADLL',
  seqdlm: 'SeqDLM',
  haechi: 'Haechi',
  advances: 'Advances',
}
export const systemName = (system: string): string => SYSTEMS[system] ?? system

/** `IV-D` of `adaptbf.IV-D`. */
export const shortId = ({ id, system }: Pick<PaperExperiment, 'id' | 'system'>): string =>
  id.startsWith(`${system}.`) ? id.slice(system.length + 1) : id

/** Formats a value with four digits, more than seeds agree on; values under 0.01 with two. */
export function figure(value: number | null): string {
  if (value === null) return NOTHING
  const size = Math.abs(value)
  if (size < 5e-7) return '0'
  const short = Number(value.toPrecision(size < 0.01 ? 2 : 4))
  const decimals = (short.toFixed(7).replace(/0+$/, '').split('.')[1] ?? '').length
  return formatNumber(short, decimals)
}

const signs = { '>=': '\u2265', '<=': '\u2264', '>': '>', '<': '<' } as const

/** A claim in the list, or with its result. */
export type ShownClaim = PaperClaim | ClaimResult

/** Formats a share in percent, with a decimal under 10 %. */
const percent = (share: number): string => formatPercent(share, Math.abs(share) < 0.0995 && share !== 0 ? 1 : 0)

export function boundText({ comparator, bound }: PaperClaim): string {
  if (bound === null || comparator === 'info') return NOTHING
  if (typeof bound !== 'number') return `${figure(bound[0])} to ${figure(bound[1])}`
  return comparator === 'between' ? figure(bound) : `${signs[comparator]} ${figure(bound)}`
}

export function measuredText(measured: MeasuredValue): string {
  if (measured === null || typeof measured === 'number') return figure(measured)
  return Object.entries(measured)
    .toSorted(([a], [b]) => Number(a) - Number(b))
    .map(([name, value]) => `${name}: ${figure(value)}`)
    .join(', ')
}

/** Published value; for a claim of an advance the value of the paper's rule in the same runs. */
export const publishedText = (claim: ShownClaim): string =>
  'original' in claim && claim.original !== undefined
    ? `${measuredText(claim.original)} by the original`
    : publishedValue(claim)

const publishedValue = ({ published }: PaperClaim): string =>
  published === null ? NOTHING : typeof published === 'number' ? figure(published) : published

/** Distance of a tolerance: `10 %` of the target, or in the unit of the claim; empty for none. */
function distanceText({ tolerance }: PaperClaim): string {
  if (tolerance === undefined || tolerance.size === 0) return ''
  const { size, isRelative } = tolerance
  if (isRelative !== true) return figure(size)
  return formatPercent(size, Number.isInteger(Number((100 * size).toPrecision(6))) ? 0 : 1)
}

function targetText(target: NonNullable<PaperClaim['target']>): string {
  if ('is' in target) return `${signs[target.is]} ${figure(target.than)}`
  return 'at' in target ? figure(target.at) : `${figure(target.from)} to ${figure(target.to)}`
}

/** `\u00B110 %` around a published number, `0.8 to 0.9 \u00B15 %`, `\u2265 1 \u22122 %`: values that count as reproduced. */
export function toleranceText(claim: PaperClaim): string {
  const { target, published, required } = claim
  if (required !== undefined) return `${targetText(required.target)}, ${required.on}`
  if (target === undefined) return NOTHING
  const distance = distanceText(claim)
  if ('is' in target) {
    const edge = targetText(target)
    if (distance === '') return edge
    return `${edge} ${target.is.startsWith('>') ? '\u2212' : '+'}${distance}`
  }
  const either = distance === '' ? '' : `\u00B1${distance}`
  if ('at' in target && target.at === published) return either === '' ? 'exact' : either
  const middle = targetText(target)
  return either === '' ? middle : `${middle} ${either}`
}

/** True for a measured value outside of the tolerance. */
export const isOutside = (claim: ShownClaim): boolean =>
  'verdict' in claim && (claim.verdict === 'differs' || claim.verdict === 'contradicts')

/** Edge of the target from which a deviation is counted. */
function edgeOf(target: NonNullable<PaperClaim['target']>, deviation: number): number {
  if ('at' in target) return target.at
  if ('is' in target) return target.than
  return deviation < 0 ? target.from : target.to
}

/** `+12 %` of the target, or `+0.3` in the unit of the claim if that is 0; empty inside a range or an ordering. */
export function differenceText(claim: ShownClaim): string {
  if (!('deviation' in claim) || claim.deviation === null || claim.target === undefined) return ''
  const { deviation, target } = claim
  if (deviation === 0) return 'at' in target || isOutside(claim) ? percent(0) : ''
  if (edgeOf(target, deviation) === 0) return `${deviation > 0 ? '+' : ''}${figure(deviation)}`
  return `${deviation > 0 ? '+' : ''}${percent(deviation)}`
}

/** Range of the measured values over the seeds; empty if all agree. */
export function rangeText(claim: ShownClaim): string {
  if (!('range' in claim) || claim.range === null) return ''
  const [low, high] = claim.range.map((value) => figure(value))
  return low === high ? '' : `${low} \u2026 ${high}`
}

/** Groups that claims are counted and filtered by; `silent`: nothing published to compare with. */
export const OUTCOMES = ['reproduced', 'calibrated', 'differs', 'contradicts', 'met', 'missed', 'silent'] as const
/** met, missed: the requirement on an advance. */
export type Outcome = PaperVerdict | 'met' | 'missed' | 'silent'

interface OutcomeLook {
  readonly level: Level
  readonly word: string
  /** The word after a count other than 1. */
  readonly many: string
}
export const OUTCOME: Readonly<Record<Outcome, OutcomeLook>> = {
  reproduced: { level: 'ok', word: 'reproduced', many: 'reproduced' },
  calibrated: { level: 'idle', word: 'calibrated on', many: 'calibrated on' },
  differs: { level: 'watch', word: 'differs', many: 'differ' },
  contradicts: { level: 'bad', word: 'contradicts the paper', many: 'contradict the paper' },
  met: { level: 'ok', word: 'met', many: 'met' },
  missed: { level: 'bad', word: 'missed', many: 'missed' },
  silent: { level: 'idle', word: 'not published', many: 'not published' },
}

export const outcomeOf = ({ verdict, met }: Pick<ClaimResult, 'verdict' | 'met'>): Outcome =>
  met === undefined ? (verdict ?? 'silent') : met ? 'met' : 'missed'

/** `4 differ`, `1 differs`. */
export const countText = (outcome: Outcome, count: number): string =>
  `${count} ${count === 1 ? OUTCOME[outcome].word : OUTCOME[outcome].many}`

export interface Verdict {
  /** null before the first run. */
  readonly outcome: Outcome | null
  readonly word: string
}

/** @param claim  a claim without a result has not been run. */
export function verdict(claim: ShownClaim): Verdict {
  if (!('verdict' in claim)) return { outcome: null, word: 'not run' }
  const outcome = outcomeOf(claim)
  if (outcome === 'silent' && claim.original !== undefined) return { outcome, word: 'measured' }
  const isWordless = outcome === 'silent' && claim.published !== null
  return { outcome, word: isWordless ? 'not compared' : OUTCOME[outcome].word }
}

/** True if the regression bound is exceeded. */
export const isExceeded = (claim: ShownClaim): boolean => 'ok' in claim && !claim.ok

/**
 * Lines under a claim: why it differs, the proof, the origin of the tolerance, what it determined, and the state of the
 * regression bound if that is exceeded.
 */
export function remarks(claim: ShownClaim): string[] {
  const { note, proof, tolerance, calibrates } = claim
  const lines: string[] = []
  if (note !== undefined) lines.push(note)
  if (isOutside(claim)) {
    if (proof !== undefined) lines.push(`Proof: ${proof}`)
    if (tolerance !== undefined) lines.push(`Tolerance: ${tolerance.reason}`)
    if (note === undefined && proof === undefined) lines.push('No reason for the difference is recorded.')
  }
  if (calibrates !== undefined) lines.push(`Calibrated on: ${calibrates}`)
  if (!('ok' in claim)) return lines
  if (!claim.ok) lines.push(`Regression bound exceeded: ${measuredText(claim.measured)}, required ${boundText(claim)}.`)
  const { failed_seeds: failed } = claim
  if (failed.length > 0) lines.push(`Outside the regression bound on seed ${failed.join(', ')} alone.`)
  return lines
}

export interface Tally {
  readonly counts: Readonly<Record<Outcome, number>>
  /** Claims whose regression bound is exceeded. */
  readonly exceeded: number
}

/** Counts claims by outcome. */
export function tally(claims: readonly ClaimResult[]): Tally {
  const counts = { reproduced: 0, calibrated: 0, differs: 0, contradicts: 0, met: 0, missed: 0, silent: 0 }
  for (const claim of claims) counts[outcomeOf(claim)]++
  return { counts, exceeded: claims.filter(isExceeded).length }
}

/** `2 regression bounds exceeded`. */
export const exceededText = (count: number): string =>
  `${count} regression ${count === 1 ? 'bound' : 'bounds'} exceeded`

/** The document of `sluice papers --json`, without the values of the prototype. */
export function resultJson({ claims, seeds, seconds }: PapersResult, { id, system, fits }: PaperExperiment): string {
  const { met, missed, ...verdicts } = tally(claims).counts
  const counts = met + missed === 0 ? { [system]: verdicts } : {}
  return JSON.stringify(
    { claims, counts, fits: fits.map((fit) => ({ experiment: id, ...fit })), seeds, seconds },
    null,
    2,
  )
}

/** Formats the running part: `IV-D, static` for `adaptbf/IV-D/static`. */
export const partText = (part: string): string => part.split('/').slice(1).join(', ')
