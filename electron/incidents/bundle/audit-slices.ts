/** Audit of one cluster in a range: from the enforcement store, or from a history. */
import type { Database } from 'better-sqlite3'
import type { Span } from '#core/api/history.ts'
import { GENESIS, type AuditRecord } from '../../base/audit.ts'
import type { AuditChain } from '../../enforce/audit-chain.ts'
import { AuditTable, type Chain } from '../../history/audit-table.ts'
import { brokenAt, rehashed } from './audit-member.ts'
import type { AuditSlice } from './bundle-source.ts'

const AT_ONCE = 1_000

/**
 * Records of a live cluster; records of other clusters are omitted, and if there are any in between, the chain is
 * rehashed.
 */
export function liveSlice(chain: AuditChain, cluster: string, { fromMs, toMs }: Span): AuditSlice {
  const records: AuditRecord[] = []
  let anchor: string | undefined
  let before = GENESIS
  let isWhole = true
  let isBroken = false
  let last: AuditRecord | undefined
  for (const r of chain.each()) {
    // Records without a cluster apply to all: an operator agreed to continue.
    const isOfCluster = r.by === undefined || r.by.cluster === cluster || r.by.cluster === ''
    if (r.atMs >= fromMs && r.atMs < toMs && isOfCluster) {
      anchor ??= before
      if (last && last.number !== r.number - 1) isWhole = false
      records.push((last = r))
    }
    before = r.hash
  }
  const slice = { records, anchor: anchor ?? before, verified: true }
  const first = records[0]
  if (first) isBroken = chain.verify(first.number).bad !== undefined
  if (isWhole) return { ...slice, verified: !isBroken }
  return { ...rehashed(records), verified: !isBroken }
}

/** Records of a chain in a history or a recording. */
export function storedSlice(db: Database, kind: Chain, { fromMs, toMs }: Span): AuditSlice {
  const table = new AuditTable(db)
  const records: AuditRecord[] = []
  let before = table.anchor(kind)
  let anchor: string | undefined
  for (let from = 0; ;) {
    const some = table.read(kind, from, AT_ONCE)
    const last = some.at(-1)
    if (!last) break
    for (const r of some) {
      if (r.atMs >= fromMs && r.atMs < toMs) {
        anchor ??= before
        records.push(r)
      }
      before = r.hash
    }
    from = last.number + 1
  }
  const slice = { records, anchor: anchor ?? before, verified: true }
  return { ...slice, verified: brokenAt(slice) === undefined }
}
