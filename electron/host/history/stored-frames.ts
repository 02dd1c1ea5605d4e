/**
 * Locks, metadata and tokens have no samples: a frame of each, without selection, is kept every few seconds of the
 * source's clock, and shown again for later instants.
 */
import { locksFrame as locksShape, type LocksFrame } from '#core/api/locks.ts'
import { metadataFrame as metadataShape, type MetadataFrame } from '#core/api/padll.ts'
import type { Notice } from '#core/api/parts.ts'
import { tokensFrame as tokensShape, type TokensFrame } from '#core/api/tokens.ts'
import { PROMINENT, type JobColors } from '#core/series/job-colors.ts'
import type { HistoryReader } from '../../history/reader.ts'
import type { RecordedLinks } from '../views/linked.ts'
import { emptyLocks } from '../views/locks/empty.ts'
import { emptyMetadata } from '../views/metadata/empty.ts'
import { noDataNode } from '../views/tokens/empty.ts'
import { withClientFilter } from '../views/tokens/filter.ts'

/** Age from which a kept frame no longer describes an instant. */
const STALE_MS = 60_000

type StoredView = 'locks' | 'metadata' | 'tokens'

const WINDOW_MS = 300_000

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
  const { resource } = recordedLocks(reader, head, WINDOW_MS)
  const { clients } = tokensAt(reader, head, { windowMs: WINDOW_MS, span: 'period' })
  return {
    clients: clients.name.map((name, i) => ({ name, jobId: clients.jobId[i] ?? '' })),
    locks: resource === null ? [] : [{ key: resource.key, clients: resource.clients }],
  }
}
