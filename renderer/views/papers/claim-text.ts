/** Formatting of claims: published and measured values, bounds, verdicts. */
import type { Level } from '#core/api/frames.ts'
import type { ClaimResult, MeasuredValue, PaperClaim, PaperExperiment, PapersResult } from '#core/api/papers.ts'
import { formatNumber, NOTHING } from '../../format/units.ts'

/** Names of the systems whose papers are reproduced. */
const SYSTEMS: Readonly<Record<string, string>> = {
  adaptbf: 'AdapTBF',
  padll: 'PADLL',
  seqdlm: 'SeqDLM',
  haechi: 'Haechi',
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

export const publishedText = ({ published }: PaperClaim): string =>
  published === null ? NOTHING : typeof published === 'number' ? figure(published) : published

export interface Verdict {
  readonly level: Level
  readonly word: string
}

/** @param claim  a claim without a result has not been run. */
export function verdict(claim: PaperClaim | ClaimResult): Verdict {
  if (!('ok' in claim)) return { level: 'idle', word: 'not run' }
  if (claim.comparator === 'info') return { level: 'idle', word: 'not asserted' }
  return claim.ok ? { level: 'ok', word: 'holds' } : { level: 'bad', word: 'not reached' }
}

/** Notes under a claim: why it differs, and the seeds that taken alone do not reach it. */
export function remarks(claim: PaperClaim | ClaimResult): string[] {
  const notes = claim.note === undefined ? [] : [claim.note]
  if (!('ok' in claim) || claim.comparator === 'info') return notes
  if (!claim.ok && claim.note === undefined) {
    notes.push(
      `Not reached: ${measuredText(claim.measured)} measured, ${boundText(claim)} required. No reason is recorded.`,
    )
  }
  const { failed_seeds: failed } = claim
  if (failed.length > 0) notes.push(`Not reached on seed ${failed.join(', ')} alone.`)
  return notes
}

/** Counts the asserted claims of a result, and those that hold. */
export function tally(result: PapersResult): { held: number; asserted: number } {
  const asserted = result.claims.filter(({ comparator }) => comparator !== 'info')
  return { held: asserted.filter(({ ok }) => ok).length, asserted: asserted.length }
}

/** The document of `sluice papers --json`, without the values of the prototype. */
export const resultJson = ({ claims, seeds, seconds }: PapersResult): string =>
  JSON.stringify({ claims, seeds, seconds }, null, 2)

/** Formats the running part: `IV-D, static` for `adaptbf/IV-D/static`. */
export const partText = (part: string): string => part.split('/').slice(1).join(', ')
