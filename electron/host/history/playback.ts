/** A stretch of what was recorded, on screen in the place of the source. */
import type { StagedFrame } from '#core/api/rule-edits.ts'
import type { CheckedFile } from '../../history/open-recording.ts'
import type { HistoryReader } from '../../history/reader.ts'
import { Pictures } from '../../recorded/find.ts'
import type { Past } from '../../recorded/past.ts'
import type { RecordedCluster } from '../../recorded/recorded-cluster.ts'
import type { Console } from '../console.ts'
import type { OnPlayback } from '../on-screen.ts'
import type { ViewSet } from '../view-set.ts'
import type { FindAgainst } from '../views/against.ts'
import { jobFrame } from '../views/jobs/job.ts'
import { jobsFrame } from '../views/jobs/jobs.ts'
import { linkedFrame } from '../views/linked.ts'
import { overviewFrame } from '../views/overview.ts'
import { stand } from '../position.ts'
import { recordedRulesFrame } from '../views/rules/rules-recorded.ts'
import { keptReadings, serverFrame } from '../views/server.ts'
import { stripFrame } from '../views/strip.ts'
import type { PlayedBundle } from './played-bundle.ts'
import { keptLinks, recordedLocks, recordedMetadata, recordedTokens } from './kept-frames.ts'
import { recordedStatus } from './recorded-status.ts'

/** Nothing is staged on what was recorded, and nothing committed. */
const nothingStaged = (
  head: Pick<StagedFrame, 'seq' | 'sample' | 'atMs'>,
  service: StagedFrame['service'],
): StagedFrame => ({
  ...{ ...head, service, items: [], inverse: [], lints: [], review: null, changes: [] },
  state: { phase: 'editing', servers: [] },
  policy: null,
  commit: null,
  since: [],
})

/** Where it is played from. */
export interface PlayedFrom {
  /** Name of the recording or of the bundle; null for the store of the source. */
  readonly file: string | null
  /** The recording, or the copy that was made of it. */
  readonly checked?: CheckedFile
  /** What the recording came in. */
  readonly bundle?: PlayedBundle
}

export class Playback implements OnPlayback {
  readonly viewed: RecordedCluster
  readonly from: PlayedFrom
  readonly views: ViewSet
  /** What is closed with it; a store stays open. */
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

  /** The file stays open where the one that follows reads it, too. */
  handOver(to: Playback): void {
    if (to.owned === this.owned) this.owned = undefined
  }

  #viewsOf(console: Console): ViewSet {
    const { viewed, file, bundle } = this
    const reader = this.#reader
    const pictures = new Pictures(() => viewed.past)
    const find: FindAgainst = (atMs) => {
      const sample = viewed.nearest(atMs)
      const foundMs = viewed.axis.atMs(sample)
      const isHere = Math.abs(foundMs - atMs) <= Math.max(1_000, 2.5 * viewed.tier.stepMs)
      return isHere ? { viewed, sample, atMs: foundMs } : pictures.at(atMs)
    }
    const head = (q: { at: number | null }, seq: number) => ({ seq, ...stand(viewed, q.at) })
    return {
      status: (q, seq) => recordedStatus(console, viewed, { file, bundle }, q, seq),
      strip: (q, seq) => stripFrame(viewed, q, seq),
      overview: (q, seq) => overviewFrame(viewed, q, seq, find),
      // What a job did on one target is not kept: all of it is shown.
      jobs: (q, seq) => jobsFrame(viewed, { ...q, target: '' }, seq, find),
      job: (q, seq) => jobFrame(viewed, { ...q, target: '' }, seq, find),
      server: (q, seq) => serverFrame(viewed, keptReadings(reader), q, seq),
      linked: (q, seq) => linkedFrame(viewed, q, seq, keptLinks(reader, head(q, seq))),
      rules: (q, seq) => recordedRulesFrame(viewed, q, seq, find),
      locks: (q, seq) => recordedLocks(reader, head(q, seq), q.windowMs),
      metadata: (q, seq) => recordedMetadata(reader, head(q, seq), q),
      tokens: (q, seq) => recordedTokens(reader, head(q, seq), q),
      staged: (q, seq) => nothingStaged(head({ at: null }, seq), q.service),
      searched: () => ({ viewed, reader }),
    }
  }
}
