/** Reads the data that README.html replays from a history file, in one pass over its samples. */
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
  RULES_MOST,
  STATES_MOST,
} from '#core/snapshot/replay-data.ts'
import { Means, rounded, roundedBytes, roundedTime, roundedTokens } from '#core/snapshot/replay-downsample.ts'
import { fixedJobColors } from '#core/series/job-colors.ts'
import { mainEvents } from '../../base/main-events.ts'
import type { HistoryReader, HistoryRule } from '../../history/reader.ts'
import { replayConvoys } from './replay-convoys.ts'
import { replayJobs } from './replay-jobs.ts'
import { replayPlanes } from './replay-planes.ts'
import { readingOf, type Reading } from './replay-reading.ts'

const TEXT_MOST = 4_096
type Interval = [server: number, place: number, fromMs: number, toMs: number | null]

/**
 * Rules of the span by their text, with the times and servers on which each was in force. Partitions of a server hold
 * the same rules: rules that differ in the partition only are one.
 */
function replayRules(
  reader: HistoryReader,
  fromMs: number,
  lastMs: number,
): Pick<ReplayData, 'servers' | 'rules' | 'rulesMore'> {
  const servers = new Map<string, number>()
  const rules = new Map<string, { rule: HistoryRule; stood: Interval[]; last: Map<string, Interval> }>()
  let intervalCount = 0
  let omitted = 0
  for (const rule of reader.rulesBetween(fromMs, lastMs)) {
    const text = JSON.stringify([rule.queue, rule.name, rule.conditions, rule.rate])
    let of = rules.get(text)
    if (!of && rules.size < RULES_MOST) rules.set(text, (of = { rule, stood: [], last: new Map() }))
    let server = servers.get(rule.server)
    if (server === undefined) servers.set(rule.server, (server = servers.size))
    const partition = JSON.stringify([server, rule.fromMs])
    const same = of?.last.get(partition)
    if (same) {
      same[1] = Math.min(same[1], rule.position)
      if (same[3] !== null) same[3] = rule.toMs === null ? null : Math.max(same[3], rule.toMs)
    } else if (of && intervalCount < STATES_MOST) {
      const interval: Interval = [server, rule.position, rule.fromMs, rule.toMs]
      of.stood.push(interval)
      of.last.set(partition, interval)
      intervalCount++
    } else omitted++
  }
  return {
    servers: [...servers.keys()].map(plainText),
    rules: [...rules.values()].map(({ rule, stood }) => ({
      queue: rule.queue,
      name: plainText(rule.name),
      rate: rule.rate,
      stood,
      conditions: plainText(rule.conditions.slice(0, TEXT_MOST)),
    })),
    rulesMore: omitted,
  }
}

const GAPS_MOST = 1_000

type Round = (value: number) => number | null
const CLUSTER_ROUND: Readonly<Record<ClusterMeasureName, Round>> = {
  rpcs: rounded,
  readBps: roundedBytes,
  writeBps: roundedBytes,
  serviceMs: roundedTime,
  queued: rounded,
  rules: rounded,
  onLoan: roundedTokens,
  mdops: rounded,
}

function cluster(from: Reading): ReplayData['cluster'] {
  const { t, columns } = from.reader.clusterBetween(from.tier, from.fromMs, from.lastMs)
  const out: Partial<Record<ClusterMeasureName, Column>> = {}
  // CLUSTER_COLUMNS of the reader and CLUSTER_MEASURES have the same names in the same order; a test checks this.
  CLUSTER_MEASURES.forEach((measure, c) => {
    const means = new Means(from.thinned.t.length)
    const values = columns[c] ?? new Float32Array(0)
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
      let values = means.get(key)
      if (!values) means.set(key, (values = block.columns.map(() => new Means(n))))
      for (let c = 0; c < values.length; c++)
        (values[c] as Means).add(at, (block.columns[c] as Float32Array)[i] as number)
    }
  }
  const known = [...means.entries()].map(([key, [rpcs, serviceMs, queued]]) => {
    const of = from.reader.target(key)
    const column = (m: Means | undefined, round: Round = rounded): Column => m?.column(round) ?? null
    return {
      name: plainText(of?.target ?? `#${key}`),
      node: plainText(of?.node ?? ''),
      rpcs: column(rpcs),
      serviceMs: column(serviceMs, roundedTime),
      queued: column(queued),
    }
  })
  known.sort((a, b) => byText(a.node, b.node) || byText(a.name, b.name))
  return { targets: known.slice(0, TARGETS_MOST), targetsMore: Math.max(0, known.length - TARGETS_MOST) }
}

function events(reader: HistoryReader, fromMs: number, lastMs: number): Pick<ReplayData, 'events' | 'eventsMore'> {
  const most = EVENTS_MOST * 20
  const all = reader.events(fromMs - 1, lastMs, most)
  const recent = mainEvents(all, EVENTS_MOST).reverse()
  return {
    events: recent.map((e) => ({
      atMs: e.atMs,
      kind: e.kind,
      level: e.level,
      subject: plainText(e.subject),
      text: plainText(e.text),
      where: plainText(e.where),
    })),
    eventsMore: all.length - recent.length,
  }
}

/**
 * Figures of the span at up to 600 instants. The tier read is the finest with at most four samples per shown instant;
 * each shown figure is their mean.
 *
 * @param reader     reads the excerpt in the bundle, so that the page contains no other data.
 * @param jobColors  the largest jobs without a color get one.
 */
export function replayData(reader: HistoryReader, facts: PageFacts, jobColors = fixedJobColors()): ReplayData {
  const { fromMs, toMs } = facts.span
  const lastMs = toMs - 1
  const { of, stepMs } = readingOf(reader, fromMs, lastMs)
  const gaps = reader.gaps(fromMs, toMs).slice(0, GAPS_MOST)
  return {
    format: REPLAY_FORMAT,
    fromMs,
    toMs,
    tier: of.tier,
    meanOf: of.thinned.meanOf,
    stepMs,
    t: of.thinned.t,
    gaps: gaps.map((g) => ({ fromMs: g.fromMs, toMs: g.toMs, why: plainText(g.why) })),
    cluster: cluster(of),
    ...targets(of),
    ...replayJobs(of, facts.manifest.samples.jobs, JOBS_MOST, jobColors),
    ...replayRules(reader, fromMs, lastMs),
    ...events(reader, fromMs, lastMs),
    ...replayPlanes(of, stepMs, jobColors),
    ...replayConvoys(reader, fromMs, lastMs),
  }
}
