/** Reads what README.html replays from a history file, in one pass over its samples. */
import { plainText } from '#core/base/plain-text.ts'
import type { PageFacts } from '#core/snapshot/page-facts.ts'
import {
  CLUSTER_MEASURES,
  EVENTS_MOST,
  JOBS_MOST,
  REPLAY_FORMAT,
  TARGETS_MOST,
  type ClusterMeasureName,
  type Column,
  type ReplayData,
} from '#core/snapshot/replay-data.ts'
import { Means, rounded, roundedBytes, roundedTime, roundedWhole } from '#core/snapshot/replay-thin.ts'
import type { HistoryReader } from '../../history/reader.ts'
import { replayJobs } from './replay-jobs.ts'
import { readingOf, type Reading } from './replay-reading.ts'
import { replayRules } from './replay-rules.ts'

const GAPS_MOST = 1_000

type Round = (value: number) => number | null
const CLUSTER_ROUND: Readonly<Record<ClusterMeasureName, Round>> = {
  ...{ rpcs: rounded, readBps: roundedBytes, writeBps: roundedBytes, serviceMs: roundedTime, queued: rounded },
  ...{ rules: rounded, onLoan: roundedWhole, mdops: rounded },
}

function cluster(from: Reading): ReplayData['cluster'] {
  const { t, columns } = from.reader.clusterBetween(from.tier, from.fromMs, from.lastMs)
  const out: Partial<Record<ClusterMeasureName, Column>> = {}
  // CLUSTER_COLUMNS of the reader and CLUSTER_MEASURES are the same names in the same order; a test holds them together.
  CLUSTER_MEASURES.forEach((measure, c) => {
    const [means, values] = [new Means(from.thinned.t.length), columns[c] ?? new Float32Array(0)]
    for (let i = 0; i < t.length; i++) {
      const at = from.indexOf(t[i] as number)
      if (at !== undefined) means.add(at, values[i] as number)
    }
    out[measure] = means.column(CLUSTER_ROUND[measure])
  })
  return out as ReplayData['cluster']
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function targets(from: Reading): Pick<ReplayData, 'targets' | 'targetsMore'> {
  const n = from.thinned.t.length
  const means = new Map<number, Means[]>()
  for (const block of from.reader.targetsBetween(from.tier, from.fromMs, from.lastMs)) {
    const at = from.indexOf(block.atMs)
    if (at === undefined) continue
    for (let i = 0; i < block.keys.length; i++) {
      const key = block.keys[i] as number
      let own = means.get(key)
      if (!own) means.set(key, (own = block.columns.map(() => new Means(n))))
      for (let c = 0; c < own.length; c++) (own[c] as Means).add(at, (block.columns[c] as Float32Array)[i] as number)
    }
  }
  const known = [...means.entries()].map(([key, [rpcs, serviceMs, queued]]) => {
    const of = from.reader.target(key)
    const column = (m: Means | undefined, round: Round = rounded): Column => m?.column(round) ?? null
    return {
      ...{ name: plainText(of?.target ?? `#${key}`), node: plainText(of?.node ?? '') },
      ...{ rpcs: column(rpcs), serviceMs: column(serviceMs, roundedTime), queued: column(queued) },
    }
  })
  known.sort((a, b) => byText(a.node, b.node) || byText(a.name, b.name))
  return { targets: known.slice(0, TARGETS_MOST), targetsMore: Math.max(0, known.length - TARGETS_MOST) }
}

function events(reader: HistoryReader, fromMs: number, lastMs: number): Pick<ReplayData, 'events' | 'eventsMore'> {
  const most = EVENTS_MOST * 20
  const all = reader.events(fromMs - 1, lastMs, most)
  const kept = all.slice(0, EVENTS_MOST).reverse()
  return {
    events: kept.map((e) => ({
      ...{ atMs: e.atMs, kind: e.kind, level: e.level },
      ...{ subject: plainText(e.subject), text: plainText(e.text), where: plainText(e.where) },
    })),
    eventsMore: all.length - kept.length,
  }
}

/**
 * Figures of the span at up to 600 instants. The tier read is the finest of which at most four samples stand for one instant; each
 * shown figure is their mean.
 *
 * @param reader  of the excerpt that goes into the bundle, so that the page holds nothing that the bundle does not.
 */
export function replayData(reader: HistoryReader, facts: PageFacts): ReplayData {
  const { fromMs, toMs } = facts.span
  const lastMs = toMs - 1
  const { of, stepMs } = readingOf(reader, fromMs, lastMs)
  const gaps = reader.gaps(fromMs, toMs).slice(0, GAPS_MOST)
  return {
    format: REPLAY_FORMAT,
    ...{ fromMs, toMs, tier: of.tier, meanOf: of.thinned.meanOf, stepMs, t: of.thinned.t },
    gaps: gaps.map((g) => ({ fromMs: g.fromMs, toMs: g.toMs, why: plainText(g.why) })),
    cluster: cluster(of),
    ...targets(of),
    ...replayJobs(of, facts.manifest.samples.jobs, JOBS_MOST),
    ...replayRules(reader, fromMs, lastMs),
    ...events(reader, fromMs, lastMs),
  }
}
