/** Metadata frame of PADLL's stages: the global controller's report at the shown sample, and its history. */
import type { MetadataFrame } from '#core/api/padll.ts'
import type { PadllStatus } from '#core/padll/status.ts'
import type { ClusterMonitor } from '../../../cluster/monitor.ts'
import { levelOf, type PadllReader } from '../../../cluster/metadata/padll-reader.ts'
import { stageChannels } from './channels.ts'
import { emptyMetadata, metadataForgotten, type MetadataHead } from './empty.ts'
import { stagesFound } from './filter.ts'
import { jobsOf, spansOf, totalsOf } from './jobs.ts'
import { chosenScope, scopesOf } from './scope.ts'
import { stageTree } from './tree.ts'
import { toNotice } from '../status.ts'

const MARKS_MAX = 200
/** Age from which a reading no longer describes a sample. */
const STALE_MS = 3_000

/** Behavior of stages without a controller, as text. */
function leaseText({ lease, locals }: PadllStatus): string {
  const then = lease.onExpiry === 'hold' ? 'hold the last rates' : `use ${lease.onExpiry.rate} op/s per channel`
  return locals.length === 0 ? `stages ${then}` : `after ${lease.seconds} s without a controller stages ${then}`
}

/**
 * @param atMs     instant that is shown: the reading may be a second older.
 * @param aheadMs  offset of this clock from the controller's.
 */
function policiesOf({ policies }: PadllStatus, atMs: number, aheadMs: number): MetadataFrame['policies'] {
  const startedMs = policies.startedMs + aheadMs
  const elapsedS = (atMs - startedMs) / 1000
  const waiting = policies.steps.filter((s) => s.state === 'waiting').map((s) => s.atS - elapsedS)
  return {
    text: policies.text,
    steps: policies.steps,
    nextInS: waiting.length === 0 ? null : Math.max(0, Math.min(...waiting)),
    startedMs,
  }
}

export function stagesFrame(
  monitor: ClusterMonitor,
  padll: PadllReader,
  head: MetadataHead,
  query: { readonly scope: string; readonly selected: string; readonly filter?: string | undefined },
): MetadataFrame {
  const { atMs, windowMs } = head
  const document = atMs === null ? undefined : padll.documents.at(atMs)
  const failure = padll.failure && toNotice(padll.failure)
  if (atMs === null || !document) {
    const keptMs = atMs === null ? undefined : padll.documents.forgottenAt(atMs)
    const forgotten = keptMs === undefined ? [] : [metadataForgotten(keptMs)]
    const empty = emptyMetadata(head, query.scope, [...(failure ? [failure] : []), ...forgotten])
    return { ...empty, controller: { ...empty.controller, host: padll.node.host } }
  }
  const { status } = document
  const isNewest = document === padll.documents.newest
  const isSilent = (isNewest && failure !== undefined) || atMs - document.atMs > STALE_MS
  const scopes = scopesOf(
    status.limits.map((l) => l.scope),
    status.policies.steps.map((s) => s.scope),
    status.locals.flatMap((l) => l.stages.flatMap((s) => s.channels.map((c) => c.scope))),
  )
  const scope = chosenScope(scopes, query.scope)
  const limit = status.limits.find((l) => l.scope === scope)?.rate ?? null
  const { measured, ...totals } = totalsOf(padll.series, scope, atMs, windowMs)
  const { found, filterResult } = stagesFound(status, query.filter)
  const spans = spansOf(padll.series.jobs, atMs, windowMs)
  const sums = { asked: totals.asked, measured }
  const jobs = jobsOf(status, scope, spans, sums, monitor.jobs, padll.series, found?.jobs)
  return {
    ...emptyMetadata(head, scope),
    ...filterResult,
    scopes,
    controller: {
      name: status.controller,
      host: padll.node.host,
      epoch: status.epoch,
      algorithm: status.algorithm,
      epsilon: status.epsilon,
      split: status.split,
      intervalMs: status.intervalMs,
      collectRounds: status.collectRounds,
      cycleMs: status.cycle === 0 ? null : status.cycleMs,
      lease: leaseText(status),
      seenMs: isSilent ? null : document.atMs,
    },
    limit,
    // After the jobs, which get their colors.
    tree: stageTree(
      status,
      { scope, limit, failure: isSilent ? 'it does not answer' : undefined, found },
      monitor.jobs.jobColors,
    ),
    jobs,
    ...totals,
    marks: padll
      .events(atMs - windowMs, atMs)
      .slice(-MARKS_MAX)
      .map((e) => ({ atMs: e.atMs, kind: e.kind, text: e.text, level: levelOf(e.kind) })),
    channels: stageChannels(status, padll.series, { selected: query.selected, found }, atMs),
    policies: policiesOf(status, atMs, document.atMs - status.atMs),
    notices: [
      ...(isNewest && failure ? [failure] : []),
      ...status.failures.map((f) => ({
        code: f.code,
        what: f.where === '' ? f.what : `${f.what} (${f.where})`,
        why: f.why,
      })),
    ],
  }
}
