/** Frozen sandbox verdict, with the limitations of the model. */
import type { VerdictCell } from '#core/snapshot/notebook.ts'
import type { FinishedRun } from '../../sandbox/run.ts'
import { jobLabel } from '#core/sandbox/verdict-text.ts'
import { provenanceOf, type Standpoint } from './standpoint.ts'
import type { RangeMs } from './ranges.ts'

export type NewVerdict = Omit<VerdictCell, 'id' | 'atMs'>

const PARTS = 64
const UNKNOWN = 64

/**
 * True if a result is part of an incident from the start: a variant of it was staged on its cluster, in its range. Other results
 * were about another state, or another rate than was sent; an operator adds them.
 */
export const belongs = ({ staged }: FinishedRun, standpoint: Standpoint, span: RangeMs): boolean =>
  staged?.cluster === standpoint.source.cluster && staged.atMs >= span.fromMs && staged.atMs <= span.toMs

/**
 * Jobs of a verdict by their whole ids instead of short labels: a bare number cannot be told from a figure, neither by a reader
 * without the sandbox nor by the redaction.
 */
function withWholeIds({ jobId, role }: FinishedRun['result']['jobs']): (text: string) => string {
  const labels = new Map(jobId.flatMap((id, i) => (role[i] ? [[jobLabel(id), id] as const] : [])))
  if (labels.size === 0) return (text) => text
  const any = [...labels.keys()].map((label) => label.replace(/[^\w]/g, '\\$&')).join('|')
  const found = new RegExp(`(?<![\\w.,-])(?:${any})(?![\\w%]|[.,]\\d| ?(?:%|ms|s|seeds?|of|runs?)(?!\\w))`, 'g')
  return (text) => text.replace(found, (label) => labels.get(label) ?? label)
}

export function verdictCell(standpoint: Standpoint, span: RangeMs, { result }: FinishedRun): NewVerdict {
  const { verdict, knowledge, seeds, title, jobs } = result
  const whole = withWholeIds(jobs)
  return {
    kind: 'verdict',
    title: title.slice(0, 512),
    parts: verdict.parts.slice(0, PARTS).map((p) => ({ text: whole(p.text).slice(0, 2_000), strong: p.strong })),
    detail: whole(verdict.detail).slice(0, 2_000),
    seeds: seeds.length,
    unknown: knowledge
      .filter((k) => k.level === 'unknown')
      .slice(0, UNKNOWN)
      .map((k) => k.text.slice(0, 1_000)),
    of: provenanceOf(standpoint, span, 'model'),
  }
}
