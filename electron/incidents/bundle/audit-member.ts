/** Audit in a bundle: JSON lines whose chain begins at the hash in the manifest. */
import type { Manifest } from '#core/snapshot/manifest.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { chainHash, GENESIS, type AuditRecord } from '../../base/audit.ts'
import { auditLines, head, record } from '../../enforce/audit-lines.ts'
import type { AuditSlice } from './bundle-source.ts'

/** Largest audit that is read, bytes. */
export const AUDIT_MOST = 256 * 2 ** 20

export const auditText = (slice: AuditSlice): string => [...auditLines(slice.records)].join('')

/** Same records in a new hash chain, with their original numbers. */
export function rehashed(records: readonly AuditRecord[]): AuditSlice {
  let previous = GENESIS
  const all = records.map((r) => {
    const { hash: _, ...rest } = r
    return { ...rest, hash: (previous = chainHash(previous, rest)) }
  })
  return { records: all, anchor: GENESIS, verified: true, isRehashed: true }
}

/** Manifest entry of a slice. */
export function auditFacts(slice: AuditSlice): NonNullable<Manifest['audit']> {
  const first = slice.records[0]
  const last = slice.records.at(-1)
  return {
    from: first?.number ?? 0,
    to: last?.number ?? 0,
    records: slice.records.length,
    anchor: slice.anchor,
    head: last?.hash ?? slice.anchor,
    chain: slice.isRehashed === true ? 'rehashed' : 'original',
    verified: slice.verified,
  }
}

/** First record that does not follow from the previous one, with the reason; undefined: all do. */
export function brokenAt(slice: AuditSlice): { readonly number: number; readonly why: string } | undefined {
  let previous = slice.anchor
  let number = slice.records[0]?.number ?? 0
  for (const [i, r] of slice.records.entries()) {
    // A rehashed chain omits records of other clusters.
    const due = i === 0 ? number : number + 1
    if (slice.isRehashed === true ? i > 0 && r.number <= number : r.number !== due) {
      return { number: r.number, why: `record ${due} is missing` }
    }
    if (chainHash(previous, r) !== r.hash) return { number: r.number, why: `record ${r.number} was changed` }
    previous = r.hash
    number = r.number
  }
  return undefined
}

/** Parses the member; a failure names the faulty line. */
export function readAudit(text: string, facts: Manifest['audit']): Result<AuditSlice, string> {
  const lines = text.split('\n')
  if (lines.pop() !== '') return fail('its last line was cut')
  const records: AuditRecord[] = []
  let end: { number: number; hash: string } | null | undefined
  for (const [i, line] of lines.entries()) {
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      return fail(`line ${i + 1} is not an audit record`)
    }
    if (end !== undefined) return fail('there are lines after its head')
    const last = head.safeParse(value)
    if (last.success) {
      end = last.data.head
      continue
    }
    const r = record.safeParse(value)
    if (!r.success) return fail(`line ${i + 1} is not an audit record`)
    const { by, ...rest } = r.data
    records.push({ ...rest, ...(by ? { by } : {}) })
  }
  if (end === undefined) return fail('its head is missing')
  const newest = records.at(-1)
  if ((end?.hash ?? '') !== (newest?.hash ?? '')) return fail('its head is not its newest record')
  return ok({
    records,
    anchor: facts?.anchor ?? GENESIS,
    verified: facts?.verified ?? false,
    isRehashed: facts?.chain === 'rehashed',
  })
}
