/** Frozen sandbox verdict, with the limitations of the model. */
import type { VerdictCell } from '#core/snapshot/notebook.ts'
import type { KeptRun } from '../../sandbox/run.ts'
import { provenanceOf, type Standpoint } from './standpoint.ts'
import type { StretchMs } from './ranges.ts'

export type NewVerdict = Omit<VerdictCell, 'id' | 'atMs'>

const HOUR_MS = 3_600_000
const PARTS = 64
const UNKNOWN = 64

/** True if a result belongs to an incident opened now: a fork of its cluster, of its range or made in the last hour. */
export function belongs(run: KeptRun, stand: Standpoint, span: StretchMs, wallMs: number): boolean {
  if (run.cluster === undefined || run.cluster !== stand.source.cluster) return false
  const { forkMs } = run
  const isWithin = forkMs !== undefined && forkMs >= span.fromMs && forkMs < span.toMs
  return isWithin || (wallMs >= run.endedMs && wallMs - run.endedMs < HOUR_MS)
}

export function verdictCell(stand: Standpoint, span: StretchMs, { result }: KeptRun): NewVerdict {
  const { verdict, knowledge, seeds, title } = result
  return {
    kind: 'verdict',
    title: title.slice(0, 512),
    parts: verdict.parts.slice(0, PARTS).map((p) => ({ text: p.text.slice(0, 2_000), strong: p.strong })),
    detail: verdict.detail.slice(0, 2_000),
    seeds: seeds.length,
    unknown: knowledge
      .filter((k) => k.level === 'unknown')
      .slice(0, UNKNOWN)
      .map((k) => k.text.slice(0, 1_000)),
    of: provenanceOf(stand, span, 'model'),
  }
}
