/** Commands sent to servers in a range, from the audit; or lines that an operator pastes. */
import type { TranscriptCell } from '#core/snapshot/notebook.ts'
import type { AuditRecord } from '../../../base/audit.ts'
import { provenanceOf, type Standpoint } from './standpoint.ts'
import type { RangeMs } from './ranges.ts'

export type NewTranscript = Omit<TranscriptCell, 'id' | 'atMs'>

/** Most lines of a cell; on opening, those nearest to the cursor. */
export const LINES = 500
export const LINES_AT_FIRST = 100
/** Most records searched, newest first. */
const LOOKED_AT = 20_000
const PAGE = 500
const TEXT_MOST = 8_192
const WHERE_MOST = 512

/** Records of the source in a range, oldest first. */
export function auditIn(standpoint: Standpoint, { fromMs, toMs }: RangeMs): AuditRecord[] {
  const { monitor, store } = standpoint
  if (!monitor) return []
  const { cluster } = monitor.source
  const isLive = monitor.source.kind === 'LIVE'
  if (isLive && !store) return []
  const last = isLive ? store?.chain.last?.number : monitor.history.lastAudit()?.number
  const page = (from: number, limit: number): AuditRecord[] =>
    isLive ? [...(store?.chain.read(from, limit) ?? [])] : monitor.history.audit(from, limit)
  const found: AuditRecord[][] = []
  let looked = 0
  for (let end = last ?? 0; end > 0 && looked < LOOKED_AT;) {
    const from = Math.max(1, end - PAGE + 1)
    const records = page(from, end - from + 1)
    if (records.length === 0) break
    looked += records.length
    // The live chain contains all clusters.
    found.push(records.filter((r) => r.atMs >= fromMs && r.atMs < toMs && (!isLive || r.by?.cluster === cluster)))
    if ((records[0]?.atMs ?? 0) < fromMs) break
    end = from - 1
  }
  return found.reverse().flat()
}

/** @param most  limit of lines; beyond it, operator choices and then the lines nearest to the cursor are kept. */
export function transcript(standpoint: Standpoint, span: RangeMs, most = LINES): NewTranscript | undefined {
  const all = auditIn(standpoint, span)
  const far = (r: AuditRecord): number => (r.kind === 'mode' ? 0 : 1 + Math.abs(r.atMs - standpoint.atMs))
  const near = [...all]
    .sort((x, y) => far(x) - far(y) || x.number - y.number)
    .slice(0, most)
    .sort((x, y) => x.number - y.number)
  const first = near[0]
  const last = near.at(-1)
  if (!first || !last) return undefined
  return {
    kind: 'transcript',
    lines: near.map((r) => ({
      atMs: r.atMs,
      where: r.server.slice(0, WHERE_MOST),
      kind: r.kind,
      text: r.text.slice(0, TEXT_MOST),
    })),
    audit: { from: first.number, to: last.number },
    of: provenanceOf(standpoint, span, 'audit'),
  }
}

/** Pasted lines without trailing blanks, within the limits; empty ones are dropped. undefined if none is left. */
export function pasted(standpoint: Standpoint, span: RangeMs, text: string): NewTranscript | undefined {
  const lines = text
    .split(/\r\n|\r|\n/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .slice(0, LINES)
  if (lines.length === 0) return undefined
  return {
    kind: 'transcript',
    lines: lines.map((line) => ({ atMs: standpoint.atMs, where: '', kind: 'pasted', text: line.slice(0, TEXT_MOST) })),
    audit: null,
    of: provenanceOf(standpoint, span, 'pasted'),
  }
}
