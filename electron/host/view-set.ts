/** Frames of the active view: of a running source, or of a playback. The contract's streams are built from these. */
import type { StatusFrame, StripFrame, OverviewFrame, JobsFrame, JobFrame, RulesFrame } from '#core/api/frames.ts'
import type { LinkedFrame } from '#core/api/linked.ts'
import type { LocksFrame } from '#core/api/locks.ts'
import type { MetadataFrame } from '#core/api/padll.ts'
import type { ServerFrame } from '#core/api/server-frame.ts'
import type { StagedFrame } from '#core/api/rule-edits.ts'
import type { TokensFrame } from '#core/api/tokens.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import { jobFrame } from './views/jobs/job.ts'
import { jobsFrame } from './views/jobs/jobs.ts'
import { linkedFrame } from './views/linked.ts'
import { locksFrame } from './views/locks/locks.ts'
import { metadataFrame } from './views/metadata/metadata.ts'
import type { ClusterView } from '../cluster/cluster-view.ts'
import type { ClusterMonitor } from '../cluster/monitor.ts'
import type { HistoryReader } from '../history/reader.ts'
import type { Console } from './console.ts'
import { comparedLocks, comparedMetadata, comparedTokens } from './history/planes/compared.ts'
import { convoysOf, pastLocks } from './history/planes/locks.ts'
import { pastMetadata } from './history/planes/metadata.ts'
import { pastTokens } from './history/planes/tokens.ts'
import { overviewFrame } from './views/overview.ts'
import { rulesFrame } from './views/rules/rules.ts'
import { liveReadings, serverFrame } from './views/server.ts'
import { stagedFrame } from './views/rules/staged.ts'
import { statusFrame } from './views/status.ts'
import { stripFrame } from './views/strip.ts'
import { tokensFrame } from './views/tokens/tokens.ts'
import { LongView } from '../recorded/long-view.ts'
import { RecordedClusterCache } from '../recorded/find.ts'
import type { FindAgainst } from './views/against.ts'
import { nearestSample } from './position.ts'

type Frame<Q, F> = (query: Q, seq: number) => F

export interface ViewSet {
  readonly status: Frame<Parameters<typeof statusFrame>[1], StatusFrame>
  readonly strip: Frame<Parameters<typeof stripFrame>[1], StripFrame>
  readonly overview: Frame<Parameters<typeof overviewFrame>[1], OverviewFrame>
  readonly jobs: Frame<Parameters<typeof jobsFrame>[1], JobsFrame>
  readonly job: Frame<Parameters<typeof jobFrame>[1], JobFrame>
  readonly server: Frame<Parameters<typeof serverFrame>[2], ServerFrame>
  readonly linked: Frame<Parameters<typeof linkedFrame>[1], LinkedFrame>
  readonly rules: Frame<Parameters<typeof rulesFrame>[1], RulesFrame>
  readonly metadata: Frame<Parameters<typeof metadataFrame>[1], MetadataFrame>
  readonly locks: Frame<Parameters<typeof locksFrame>[1], LocksFrame>
  readonly tokens: Frame<Parameters<typeof tokensFrame>[1], TokensFrame>
  readonly staged: Frame<Parameters<typeof stagedFrame>[1], StagedFrame>
  /** Searchable data; `reader` is set if kept samples can be read. */
  readonly searched: () => { readonly viewed: ClusterView; readonly reader: HistoryReader | undefined }
}

/** Views of a running source, and of its store beyond the samples in memory. */
export function viewsOf(console: Console): ViewSet {
  const { monitor, ruleService } = console
  const viewed = new LongView(monitor)
  const find = findIn(viewed)
  const readings = liveReadings(monitor)
  const before = () => ({ reader: viewed.past?.reader, stepMs: monitor.intervalNs / NS_PER_MS })
  return {
    status: (q, seq) => statusFrame(console, q, seq),
    strip: (q, seq) => stripFrame(viewed, q, seq),
    overview: (q, seq) => overviewFrame(viewed, q, seq, find, ruleService.rules),
    jobs: (q, seq) => jobsFrame(viewed, q, seq, find),
    job: (q, seq) => jobFrame(viewed, q, seq, find),
    server: (q, seq) => serverFrame(viewed, readings, q, seq),
    linked: (q, seq) => linkedFrame(viewed, q, seq),
    rules: (q, seq) => rulesFrame(ruleService, q, seq, find),
    metadata: (q, seq) => {
      const { reader, stepMs } = before()
      const live = metadataFrame(monitor, q, seq)
      const past =
        reader && hasNotice(live, 'METADATA_FORGOTTEN')
          ? pastMetadata(reader, { ...live, stepMs }, { ...q, plane: live.plane }, monitor.jobs.jobColors)
          : undefined
      const frame = past?.plane === live.plane ? { ...past, planes: live.planes } : live
      return comparedMetadata(frame, q, { reader, stepMs })
    },
    locks: (q, seq) => {
      const { reader, stepMs } = before()
      const live = locksFrame(monitor, q, seq)
      const isForgotten = hasNotice(live, 'LOCKS_FORGOTTEN')
      // Of what memory no longer has, rows are kept, and convoys lock by lock.
      const past =
        reader && (isForgotten || live.resource?.isKept === false)
          ? pastLocks(reader, { ...live, stepMs }, { ...q, plane: live.plane, selected: lockName(monitor, q.selected) })
          : undefined
      const isBetter = past?.plane === live.plane && (isForgotten || past.resource?.isKept === true)
      const frame = isBetter ? { ...past, planes: live.planes } : live
      return { ...comparedLocks(frame, q, { reader, stepMs }), convoys: convoysOf(reader, live.atMs) }
    },
    tokens: (q, seq) => {
      const { reader, stepMs } = before()
      const live = tokensFrame(monitor, q, seq)
      const past =
        reader && !live.isKept ? pastTokens(reader, { ...live, stepMs }, q, monitor.jobs.jobColors) : undefined
      return comparedTokens(past?.isKept === true ? past : live, q, { reader, stepMs })
    },
    staged: (q, seq) => stagedFrame(ruleService, q, seq),
    searched: () => ({ viewed, reader: viewed.past?.reader }),
  }
}

const hasNotice = ({ notices }: LocksFrame | MetadataFrame, code: string): boolean =>
  notices.some((n) => n.code === code)

/** Name of a lock resource by its key in the lock manager; rows have names only. */
const lockName = ({ locks }: ClusterMonitor, selected: string): string =>
  (/^\d{1,15}$/.test(selected) ? locks?.world.describe(Number(selected))?.name : undefined) ?? selected

/** Finds A for a running source: in memory, or else in its store. */
function findIn(viewed: LongView): FindAgainst {
  const pictures = new RecordedClusterCache(() => viewed.past)
  return (atMs) => {
    const { totals } = viewed.live.recent.raw
    const slackMs = 2.5 * (viewed.live.intervalNs / 1e6)
    const isInMemory =
      totals.newest > 0 && atMs >= totals.atMs(totals.oldest) && atMs <= totals.atMs(totals.newest) + slackMs
    if (!isInMemory) return pictures.at(atMs)
    const sample = nearestSample(totals, atMs)
    const foundMs = totals.atMs(sample)
    return Math.abs(foundMs - atMs) <= Math.max(5_000, slackMs) ? { viewed, sample, atMs: foundMs } : pictures.at(atMs)
  }
}
