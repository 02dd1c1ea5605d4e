/** Claims as the page says them: published beside measured. */
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

/** Four digits are more than seeds agree on; of what is close to nothing, two. */
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

/** @param claim  without a result: as before the first run. */
export function verdict(claim: PaperClaim | ClaimResult): Verdict {
  if (!('ok' in claim)) return { level: 'idle', word: 'not run' }
  if (claim.comparator === 'info') return { level: 'idle', word: 'shown only' }
  return claim.ok ? { level: 'ok', word: 'holds' } : { level: 'bad', word: 'not reached' }
}

/** What is to be said under a claim: why it differs, and on which seeds alone it does not hold. */
export function remarks(claim: PaperClaim | ClaimResult): string[] {
  const said = claim.note === undefined ? [] : [claim.note]
  if (!('ok' in claim) || claim.comparator === 'info') return said
  if (!claim.ok && claim.note === undefined) {
    said.push(
      `Not reached: ${measuredText(claim.measured)} measured, ${boundText(claim)} asked for. No reason is on record.`,
    )
  }
  const { failed_seeds: failed } = claim
  if (failed.length > 0) said.push(`Not on seed ${failed.join(', ')} alone.`)
  return said
}

/** Asserted claims of a result and those that hold. */
export function tally(result: PapersResult): { held: number; asserted: number } {
  const asserted = result.claims.filter(({ comparator }) => comparator !== 'info')
  return { held: asserted.filter(({ ok }) => ok).length, asserted: asserted.length }
}

/** The document of `sluice papers --json`, without the values of the prototype. */
export const resultJson = ({ claims, seeds, seconds }: PapersResult): string =>
  JSON.stringify({ claims, seeds, seconds }, null, 2)

/** What is running, in words: `adaptbf/IV-D/static` is `IV-D, static`. */
export const partWords = (part: string): string => part.split('/').slice(1).join(', ')
