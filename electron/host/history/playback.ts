/** Playback of a recorded range in place of the source. */
import type { StagedFrame } from '#core/api/rule-edits.ts'
import type { StatusFrame } from '#core/api/frames.ts'
import type { CheckedFile } from '../../history/open-recording.ts'
import type { HistoryReader } from '../../history/reader.ts'
import { RecordedClusterCache } from '../../recorded/find.ts'
import type { Past } from '../../recorded/past.ts'
import type { RecordedCluster } from '../../recorded/recorded-cluster.ts'
import type { Console } from '../console.ts'
import type { ActivePlayback } from '../active-view.ts'
import type { ViewSet } from '../view-set.ts'
import type { FindAgainst } from '../views/against.ts'
import { jobFrame } from '../views/jobs/job.ts'
import { jobsFrame } from '../views/jobs/jobs.ts'
import { linkedFrame } from '../views/linked.ts'
import { overviewFrame } from '../views/overview.ts'
import { resolvePosition, rulesKnownAt } from '../position.ts'
import { recordedRulesFrame } from '../views/rules/rules-recorded.ts'
import { recordedReadings, serverFrame } from '../views/server.ts'
import { stripFrame } from '../views/strip.ts'
import { adaptbfStatus } from '../views/adaptbf.ts'
import { toNotice } from '../views/status.ts'
import type { PlayedBundle } from './played-bundle.ts'
import { comparedLocks, comparedMetadata, comparedTokens } from './planes/compared.ts'
import { pastLinks } from './planes/links.ts'
import { pastLocks } from './planes/locks.ts'
import { pastMetadata } from './planes/metadata.ts'
import { pastTokens } from './planes/tokens.ts'

/** Servers without any measured target at a sample. */
function missingAt(viewed: RecordedCluster, sample: number, atMs: number | null): StatusFrame['nodes']['missing'] {
  if (sample === 0 || atMs === null) return []
  const { targets } = viewed.recent.raw
  const isMeasured = (node: string): boolean =>
    viewed.targets.some((t) => t.node === node && !Number.isNaN(targets.value(t.target, 0, sample)))
  return viewed.servers
    .filter((node) => !isMeasured(node))
    .map((host) => ({ host, reason: 'not measured at this instant', sinceMs: atMs }))
}

/**
 * Status frame of a playback, with its origin and its extent.
 *
 * @param of  name of the recording or the bundle; null for the store of the source.
 */
function recordedStatus(
  console: Console,
  viewed: RecordedCluster,
  of: { readonly file: string | null; readonly bundle?: PlayedBundle | undefined },
  query: { at: number | null },
  seq: number,
): StatusFrame {
  const { monitor, facts, ruleService } = console
  const { file, bundle } = of
  const { sample, atMs } = resolvePosition(viewed, query.at)
  const redacted = bundle?.opened.isRedacted ?? false
  const missing = missingAt(viewed, sample, atMs)
  const isSameCluster = viewed.source.cluster === monitor.source.cluster
  const failures = [monitor.history.notice, ...monitor.failures].filter((f) => f !== undefined)
  return {
    seq,
    sample,
    atMs,
    source: {
      kind: 'RECORDED',
      cluster: viewed.source.cluster,
      // The environment is known only for the active cluster.
      env: bundle?.env ?? (isSameCluster ? facts.env : 'DEV'),
      sinceMs: viewed.fromMs,
    },
    oldest: Math.min(1, viewed.sample),
    clock: { speed: 0, achieved: 0, intervalMs: viewed.tier.stepMs, sampleAgeMs: null },
    mode: 'observe',
    safeMode: facts.safeMode(),
    unlockedUntilMs: null,
    nextExpiry: null,
    controller: 'none',
    adaptbf: { ...adaptbfStatus(monitor), maxRates: [], lag: null, clearing: { isOn: false, clears: 0 } },
    cycle: null,
    nodes: { total: viewed.servers.length, reporting: viewed.servers.length - missing.length, missing },
    counts: {
      jobs: atMs === null ? 0 : viewed.jobs.known(atMs).jobs.length,
      targets: viewed.targets.length,
      rules: rulesKnownAt(viewed, sample),
    },
    cost: { bytesPerSec: monitor.cost.bytesPerSec, serverMsPerSec: monitor.cost.serverMsPerSec },
    audit: monitor.audit.number,
    staged: ruleService.staged.count,
    history: {
      recording: monitor.isRecording,
      ...(monitor.history.file === ':memory:' ? {} : { file: monitor.history.file }),
    },
    playback: {
      file,
      ...(bundle ? { bundle: { title: bundle.title, env: bundle.env, redacted, verified: bundle.verified } } : {}),
      tier: viewed.tierId,
      fromMs: viewed.fromMs,
      toMs: viewed.toMs,
    },
    notices: failures.map(toNotice),
  }
}

/** Nothing is staged or committed during playback. */
const nothingStaged = (
  head: Pick<StagedFrame, 'seq' | 'sample' | 'atMs'>,
  service: StagedFrame['service'],
): StagedFrame => ({
  ...head,
  service,
  items: [],
  inverse: [],
  lints: [],
  review: null,
  changes: [],
  state: { phase: 'editing', servers: [] },
  policy: null,
  commit: null,
  since: [],
})

/** Origin of a playback. */
export interface PlayedFrom {
  /** Name of the recording or of the bundle; null for the store of the source. */
  readonly file: string | null
  /** The recording, or the upgraded copy of it. */
  readonly checked?: CheckedFile
  /** The bundle that contained the recording. */
  readonly bundle?: PlayedBundle
}

export class Playback implements ActivePlayback {
  readonly viewed: RecordedCluster
  readonly from: PlayedFrom
  readonly views: ViewSet
  /** Closed with the playback; a store stays open. */
  owned: Past | undefined
  readonly #reader: HistoryReader

  constructor(console: Console, viewed: RecordedCluster, from: PlayedFrom, owned?: Past) {
    this.viewed = viewed
    this.from = from
    this.#reader = viewed.past.reader
    this.owned = owned
    this.views = this.#viewsOf(console)
  }

  get file(): string | null {
    return this.from.file
  }

  get bundle(): PlayedBundle | undefined {
    return this.from.bundle
  }

  end(): void {
    if (!this.owned) return
    this.owned.reader.close()
    this.bundle?.opened.close()
  }

  /** Keeps the file open if the next playback reads it too. */
  handOver(to: Playback): void {
    if (to.owned === this.owned) this.owned = undefined
  }

  #viewsOf(console: Console): ViewSet {
    const { viewed, file, bundle } = this
    const reader = this.#reader
    const pictures = new RecordedClusterCache(() => viewed.past)
    const find: FindAgainst = (atMs) => {
      const sample = viewed.nearest(atMs)
      const foundMs = viewed.axis.atMs(sample)
      const isHere = Math.abs(foundMs - atMs) <= Math.max(1_000, 2.5 * viewed.tier.stepMs)
      return isHere ? { viewed, sample, atMs: foundMs } : pictures.at(atMs)
    }
    const { stepMs } = viewed.tier
    const head = (q: { at: number | null }, seq: number) => ({ seq, ...resolvePosition(viewed, q.at) })
    const pastHead = (q: { at: number | null }, seq: number) => ({ ...head(q, seq), stepMs })
    const before = { reader, stepMs }
    const { jobColors } = viewed.jobs
    return {
      status: (q, seq) => recordedStatus(console, viewed, { file, bundle }, q, seq),
      strip: (q, seq) => stripFrame(viewed, q, seq),
      overview: (q, seq) => overviewFrame(viewed, q, seq, find),
      // Activity of a job on one target is not kept: all targets are shown.
      jobs: (q, seq) => jobsFrame(viewed, { ...q, target: '' }, seq, find),
      job: (q, seq) => jobFrame(viewed, { ...q, target: '' }, seq, find),
      server: (q, seq) => serverFrame(viewed, recordedReadings(reader), q, seq),
      linked: (q, seq) => linkedFrame(viewed, q, seq, pastLinks(reader, pastHead(q, seq))),
      rules: (q, seq) => recordedRulesFrame(viewed, q, seq, find),
      locks: (q, seq) => comparedLocks(pastLocks(reader, pastHead(q, seq), q), q, before),
      metadata: (q, seq) => comparedMetadata(pastMetadata(reader, pastHead(q, seq), q, jobColors), q, before),
      tokens: (q, seq) => comparedTokens(pastTokens(reader, pastHead(q, seq), q, jobColors), q, before),
      staged: (q, seq) => nothingStaged(head({ at: null }, seq), q.service),
      searched: () => ({ viewed, reader }),
    }
  }
}
