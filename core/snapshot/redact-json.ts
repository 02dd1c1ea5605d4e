/**
 * Redacts JSON documents, mainly frozen view frames: a field's name determines its kind. A string in an unlisted field is
 * treated as free text, as is the name of a field that no view has.
 */
import type { PlainKind } from './names.ts'

/** Kind of a field: a kind of name, a term of the product, conditions of a rule, or free text. */
export type FieldKind = PlainKind | 'kept' | 'free'

/** Kinds of fields by `parent.field`, then by field alone. */
export const DOCUMENT_FIELDS: ReadonlyMap<string, FieldKind> = new Map<string, FieldKind>([
  // Locks
  ...(
    ['planes', 'plane', 'manager', 'mode', 'askedMode', 'downgradedTo', 'behindUntil', 'ending', 'level'] as const
  ).map((f) => [f, 'kept'] as const),
  ...[
    ['rows.name', 'file'],
    ['rows.key', 'file'],
    ['rows.server', 'host'],
    ['rows.alarm', 'kept'],
    ['alarms.kind', 'kept'],
    ['alarms.resource', 'file'],
    ['resource.key', 'file'],
    ['resource.name', 'file'],
    ['resource.server', 'host'],
    ['clients.name', 'host'],
    ['clients.key', 'host'],
    ['messages.kind', 'kept'],
    ['ldlm.namespace', 'target'],
    ['ldlm.selected', 'target'],
    ['ldlm.target', 'target'],
    ['ldlm.node', 'host'],
    ['missing.node', 'host'],
    ['jobId', 'job'],
    // Metadata
    ['scopes', 'kept'],
    ['scope', 'kept'],
    ['controller.name', 'host'],
    ['controller.host', 'host'],
    ['controller.algorithm', 'kept'],
    ['controller.split', 'kept'],
    ['tree.kind', 'kept'],
    ['steps.kind', 'kept'],
    ['steps.job', 'job'],
    ['steps.state', 'kept'],
    ['marks.kind', 'kept'],
    ['channels.channel', 'rule or number'],
    ['channels.operations', 'kept'],
    ['compiled.service', 'kept'],
    ['compiled.name', 'rule'],
    ['compiled.job', 'job'],
    ['expressions.join', 'kept'],
    ['expressions.field', 'kept'],
    // Tokens
    ['nodes', 'host'],
    ['node', 'host'],
    ['variant', 'kept'],
    ['preset', 'kept'],
    ['phase', 'kept'],
    ['series.span', 'kept'],
    ['phases.kind', 'kept'],
    ['epochs.missed', 'host'],
    ['clients.state', 'kept'],
    ['worst.client', 'host'],
    ['events.client', 'host'],
    ['events.kind', 'kept'],
    ['code', 'kept'],
  ].map(([field, kind]) => [field as string, (kind === 'rule or number' ? 'rule' : kind) as FieldKind] as const),
])

/** Field names of the frozen frames, which are the product's own. */
export const FIELD_NAMES: ReadonlySet<string> = new Set(
  `seq sample atMs turn isAhead windowMs planes plane held grants cancels series t waiting manager modes mode filterError column message known
   shown offset rows key name server conflicts revocations cancelMs level why alarm alarms kind resource text note about clients number
   jobId moment endMs spanMs isFound isKept queue lives id client asked granted canceling released dataAt askedMode sn minSn start
   requiredEnd end isEarlyGrant isEarlyRevocation dirtyBytes bytes downgradedAt downgradedTo absorbed behind behindUntil rule ending
   moreLives messages sent arrived isUp life moreMessages early all conversions ldlm namespace target node locks unused resources
   grantRate cancelRate limit timeouts contentions spark selected missing reason notices code what unaffected next scopes scope
   controller host epoch algorithm epsilon split intervalMs collectRounds cycleMs lease seenMs tree depth colour measured more jobs
   stages demandPolicy limitPolicy allocated queued throttledS askedSeries allocatedSeries measuredSeries falseAllocation limits marks
   channels of channel operations waited waitMs refillMs policies steps line job value state nextInS startedMs unexpressed compiled
   service expressions join field items rate nodes variant preset periodMs checkMs batch elapsedMs phase pool now lowest lowestAtMs
   emptyFetches reported unconverted span phases fromMs toMs epochs startMs missed isWhole capacity estimate used reserved profile least
   action left usedReserved usedPool yielded inFlight isThrottled isStarved reservation iops p99Us foot cpuEvents dataCpuEvents dataIos
   atS idleShare worst periods alertAfter admissible fluidFinish events filtered filter passing keys`.split(/\s+/),
)

/** Replacement of a string, by the kind of its field. */
export type Replace = (kind: FieldKind, text: string) => string

/** Maximum depth; deeper values are dropped. */
const DEPTH_MOST = 64

/** Copies a document, with every string replaced according to its field. */
export function replaceStrings(value: unknown, replace: Replace, parent = '', field = '', depth = 0): unknown {
  if (typeof value === 'string') return replace(kindOf(parent, field, value), value)
  if (value === null || typeof value !== 'object') return value
  if (depth >= DEPTH_MOST) return null
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value
    // Most of a frame is numbers.
    return list.map((v) => (typeof v === 'number' ? v : replaceStrings(v, replace, parent, field, depth + 1)))
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, v]) => [
      FIELD_NAMES.has(key) ? key : replace('free', key),
      replaceStrings(v, replace, field, key, depth + 1),
    ]),
  )
}

function kindOf(parent: string, field: string, text: string): FieldKind {
  const kind = DOCUMENT_FIELDS.get(`${parent}.${field}`) ?? DOCUMENT_FIELDS.get(field) ?? 'free'
  // Numeric keys and channels identify no one.
  return (kind === 'file' || kind === 'rule') && /^\d*$/.test(text) ? 'kept' : kind
}
