/**
 * Locks, metadata and tokens have no samples: a frame of each, without selection, is kept every few seconds of the
 * source's clock, and shown again for later instants.
 */
import { locksFrame as locksShape, type LocksFrame } from '#core/api/locks.ts'
import { metadataFrame as metadataShape, type MetadataFrame } from '#core/api/padll.ts'
import type { Notice } from '#core/api/parts.ts'
import { tokensFrame as tokensShape, type TokensFrame } from '#core/api/tokens.ts'
import { PROMINENT, type JobColors } from '#core/series/job-colors.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import type { HistoryReader } from '../../history/reader.ts'
import type { RecordedLinks } from '../views/linked.ts'
import { emptyLocks } from '../views/locks/empty.ts'
import { lockPlanesOf, locksFrame } from '../views/locks/locks.ts'
import { emptyMetadata } from '../views/metadata/empty.ts'
import { metadataFrame, planesOf } from '../views/metadata/metadata.ts'
import { noDataNode } from '../views/tokens/empty.ts'
import { withClientFilter } from '../views/tokens/filter.ts'
import { tokensFrame } from '../views/tokens/tokens.ts'

const KEEP_MS = 5_000
/** Age from which a kept frame no longer describes an instant. */
const STALE_MS = 60_000

type StoredView = 'locks' | 'metadata' | 'tokens'

/** Query without any selection. */
const plain = { at: null, windowMs: 300_000 }
const LOCKS = { ...plain, plane: null, sort: 'waiting', filter: '', offset: 0, limit: 60, selected: '' } as const
const BUILD: Readonly<Record<StoredView, (monitor: ClusterMonitor) => unknown>> = {
  locks: (m) => locksFrame(m, { ...LOCKS, moment: null, spanMs: null }, 0),
  metadata: (m) => metadataFrame(m, { ...plain, plane: null, scope: '', selected: '' }, 0),
  tokens: (m) => tokensFrame(m, { ...plain, node: '', span: 'period' }, 0),
}
const HAS: Readonly<Record<StoredView, (monitor: ClusterMonitor) => boolean>> = {
  locks: (m) => lockPlanesOf(m).length > 0,
  metadata: (m) => planesOf(m).length > 0,
  tokens: (m) => (m.source.dataNodes ?? []).length > 0,
}

/** Keeps frames of a source while it runs; returns the stop function. */
export function keepFrames(monitor: ClusterMonitor): () => void {
  let lastMs = -Infinity
  return monitor.onChange(() => {
    const { totals } = monitor.recent.raw
    if (totals.newest === 0) return
    const atMs = totals.atMs(totals.newest)
    if (atMs - lastMs < KEEP_MS && atMs >= lastMs) return
    lastMs = atMs
    const { history } = monitor
    for (const view of ['locks', 'metadata', 'tokens'] as const) {
      if (HAS[view](monitor) && history.wantsFrame(view, atMs)) history.keepFrame(view, atMs, BUILD[view](monitor))
    }
  })
}

interface Head {
  readonly seq: number
  readonly sample: number
  readonly atMs: number | null
}

const ageText = (ms: number): string => (ms < 1500 ? '1 s' : `${Math.round(ms / 1000)} s`)

/** Newest kept frame of a view at an instant, or the reason why there is none. */
function storedAt<F extends { notices: Notice[] }>(
  reader: HistoryReader,
  view: StoredView,
  atMs: number | null,
  parse: (value: unknown) => { success: true; data: F } | { success: false },
): { readonly frame: F | undefined; readonly notice: Notice | undefined } {
  const stored = atMs === null ? undefined : reader.frame(view, atMs)
  const none = (why: string) => ({
    frame: undefined,
    notice: { code: 'NOT_RECORDED', what: `The ${view} view was not recorded at this instant`, why },
  })
  if (!stored || atMs === null) return none('no earlier frame was recorded')
  const ageMs = atMs - stored.atMs
  if (ageMs > STALE_MS) return none(`the last recorded frame is ${ageText(ageMs)} older`)
  const read = parse(stored.frame)
  if (!read.success) return none('the recorded frame cannot be read')
  const what = `Recorded ${ageText(ageMs)} earlier`
  const why = 'this view is recorded every five seconds, without filter or selection'
  const notice = ageMs < 1 ? undefined : { code: 'RECORDED_FRAME', what, why }
  return { frame: read.data, notice }
}

const noted = (notices: readonly Notice[], notice: Notice | undefined): Notice[] => [
  ...(notice ? [notice] : []),
  ...notices,
]

export function recordedLocks(reader: HistoryReader, head: Head, windowMs: number): LocksFrame {
  const { frame, notice } = storedAt<LocksFrame>(reader, 'locks', head.atMs, (v) => locksShape.safeParse(v))
  const base = frame ?? emptyLocks({ ...head, windowMs, planes: [], plane: null })
  return { ...base, ...head, notices: noted(base.notices, notice) }
}

export function recordedMetadata(
  reader: HistoryReader,
  head: Head,
  query: { readonly windowMs: number; readonly scope: string },
  jobColors: JobColors,
): MetadataFrame {
  const { frame, notice } = storedAt<MetadataFrame>(reader, 'metadata', head.atMs, (v) => metadataShape.safeParse(v))
  const empty = { ...head, windowMs: query.windowMs, planes: [], plane: null }
  const base = frame ?? emptyMetadata(empty, query.scope)
  const { jobs, tree } = base
  jobColors.colors(jobs.jobId.slice(0, PROMINENT))
  return {
    ...base,
    ...head,
    // The colors that were recorded may be those of other jobs by now.
    jobs: { ...jobs, colour: jobs.jobId.map((jobId) => jobColors.of(jobId)) },
    tree: { ...tree, colour: tree.jobId.map((jobId) => jobColors.of(jobId)) },
    notices: noted(base.notices, notice),
  }
}

interface TokensQuery {
  readonly windowMs: number
  readonly span: Parameters<typeof noDataNode>[0]
  readonly filter?: string | undefined
}

/** Kept frame as it was recorded, with all clients. */
function tokensAt(reader: HistoryReader, head: Head, { windowMs, span }: TokensQuery): TokensFrame {
  const { frame, notice } = storedAt<TokensFrame>(reader, 'tokens', head.atMs, (v) => tokensShape.safeParse(v))
  const base = frame ?? { ...head, windowMs, nodes: [], node: '', ...noDataNode(span) }
  return { ...base, ...head, notices: noted(base.notices, notice) }
}

export function recordedTokens(
  reader: HistoryReader,
  head: Head,
  query: TokensQuery,
  jobColors: JobColors,
): TokensFrame {
  const recorded = tokensAt(reader, head, query)
  const { clients } = recorded
  const colored = { ...clients, colour: clients.jobId.map((jobId) => jobColors.of(jobId)) }
  // A kept frame contains all clients, so it can be filtered like a new one.
  return withClientFilter({ ...recorded, clients: colored }, query.filter)
}

/**
 * Jobs that used locks and data nodes at an instant, from kept frames; for locks only the one resource that each frame
 * shows.
 */
export function recordedLinks(reader: HistoryReader, head: Head): RecordedLinks {
  const { resource } = recordedLocks(reader, head, plain.windowMs)
  const { clients } = tokensAt(reader, head, { windowMs: plain.windowMs, span: 'period' })
  return {
    clients: clients.name.map((name, i) => ({ name, jobId: clients.jobId[i] ?? '' })),
    locks: resource === null ? [] : [{ key: resource.key, clients: resource.clients }],
  }
}
