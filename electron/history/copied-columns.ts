/**
 * Columns of the history that are exported, and how each is redacted. A table or column that is not listed here is not copied:
 * later additions to the schema stay private until someone decides otherwise.
 */
import { markKind } from '#core/api/history.ts'
import { padllPlane } from '#core/api/padll.ts'
import { level } from '#core/api/parts.ts'
import { SERVICE_NAMES } from '#core/api/rule-edits.ts'
import { isScope } from '#core/padll/vocabulary.ts'
import { OTHERS, planeTableOf } from '#core/series/plane-tables.ts'
import type { NameKind } from '#core/snapshot/notebook.ts'
import type { Redactor } from '#core/snapshot/redactor.ts'
import { readBins } from './io-table.ts'
import { packConvoy, unpackConvoy } from './convoy-table.ts'

export type Value = string | number | null | Buffer

/** Returns the redacted value; undefined omits the row. row: values of all columns, in the order of the table. */
type Treat = (value: Value, r: Redactor, row: readonly Value[]) => Value | undefined

/** Numbers, and keys of other rows. */
export const AS_IT_IS = 'as it is'

const text =
  (of: (value: string, r: Redactor) => string): Treat =>
  (value, r) =>
    typeof value === 'string' && value !== '' ? of(value, r) : ''

const name = (kind: NameKind): Treat => text((v, r) => r.name(kind, v))
const free = text((v, r) => r.text(v))
const prose = text((v, r) => r.prose(v))
const conditions = text((v, r) => r.conditions(v))
const empty: Treat = () => ''

/** One of a fixed set of words; anything else may be user text. */
function enumerated(...values: readonly string[]): Treat {
  const known = new Set(values)
  return text((v, r) => (known.has(v) ? v : r.text(v)))
}

/** `[[job, tokens, record], ...]`; numbers are kept, anything else is dropped. */
const allocations = text((v, r) => {
  try {
    const rows: unknown = JSON.parse(v)
    if (!Array.isArray(rows)) return '[]'
    const number = (n: unknown): number | null => (typeof n === 'number' ? n : null)
    return JSON.stringify(
      rows.flatMap((row: unknown) =>
        Array.isArray(row) && typeof row[0] === 'string'
          ? [[r.name('job', row[0]), number(row[1]), number(row[2])]]
          : [],
      ),
    )
  } catch {
    return '[]'
  }
})

/** Numbers under known names; anything else is dropped. */
const bins = text((v) => {
  const read = readBins(v)
  return read === undefined ? '' : JSON.stringify(read)
})

const messages: Treat = (value, r) => {
  const read = Buffer.isBuffer(value) ? unpackConvoy(value) : undefined
  return read === undefined ? undefined : packConvoy(redactConvoy(read, r))
}

/** Convoy's messages and lock lives as the resource of a frame, by whose fields names are recognized. */
const redactConvoy = (frame: unknown, r: Redactor): unknown => {
  const redacted = r.json({ resource: frame })
  return typeof redacted === 'object' && redacted !== null && 'resource' in redacted ? redacted.resource : null
}

/** Name or place of a plane's series, by the kind of its table; a name of an unknown table is free text. */
const ofSeries =
  (part: 'name' | 'place'): Treat =>
  (value, r, row) => {
    if (typeof value !== 'string' || value === '' || value === OTHERS.name) return value
    const kind = row[SERIES_KIND]
    const names = typeof kind === 'number' ? planeTableOf(kind)?.names[part] : undefined
    if (names === undefined) return r.text(value)
    if (names === 'kept') return value.split(' ').every(isTerm) ? value : r.text(value)
    if (names === 'file' || part === 'name') return r.name(names, value)
    return placeParts(value)
      .map((text) => r.name('host', text))
      .join(' ')
  }

/** Index of `kind` in plane_series. */
const SERIES_KIND = 2
/** Hosts of a place: a local controller and its stage, or one server. */
export const placeParts = (text: string): string[] => text.split(' ')

/** Scopes, planes and numbers of channels. */
const isTerm = (text: string): boolean =>
  isScope(text) || padllPlane.safeParse(text).success || /^[\d .:/-]+$/.test(text)

const kind = enumerated('LIVE', 'EMULATED')

/** Column copiers by table, then column, in the order of the table. */
export const COPIED = {
  cluster: { id: AS_IT_IS, kind, name: name('cluster') },
  source: {
    id: AS_IT_IS,
    kind,
    cluster: name('cluster'),
    // Hosts of a live cluster; the scenario of an emulated one, which the manifest names.
    detail: empty,
    started_ms: AS_IT_IS,
    cluster_id: AS_IT_IS,
  },
  job: {
    id: AS_IT_IS,
    cluster: AS_IT_IS,
    job_id: name('job'),
    user: name('user'),
    account: name('account'),
    exe: name('exe'),
    nodes: AS_IT_IS,
    first_ms: AS_IT_IS,
    last_ms: AS_IT_IS,
  },
  target: { id: AS_IT_IS, cluster: AS_IT_IS, name: name('target'), node: name('host') },
  rule: {
    id: AS_IT_IS,
    source: AS_IT_IS,
    server: name('host'),
    queue: enumerated('reg', 'hp'),
    cpt: AS_IT_IS,
    position: AS_IT_IS,
    name: name('rule'),
    conditions,
    rate: AS_IT_IS,
    from_ms: AS_IT_IS,
    to_ms: AS_IT_IS,
  },
  decision: {
    source: AS_IT_IS,
    target: AS_IT_IS,
    at_ms: AS_IT_IS,
    controller: free,
    budget: AS_IT_IS,
    allocations,
  },
  adaptbf_moves: {
    source: AS_IT_IS,
    at_ms: AS_IT_IS,
    target: AS_IT_IS,
    lender: AS_IT_IS,
    borrower: AS_IT_IS,
    kind: enumerated('lend', 'reclaim'),
    tokens: AS_IT_IS,
  },
  event: {
    id: AS_IT_IS,
    source: AS_IT_IS,
    at_ms: AS_IT_IS,
    kind: enumerated(...markKind.options),
    level: enumerated(...level.options),
    subject: free,
    text: prose,
    place: free,
  },
  ldlm_namespace: { id: AS_IT_IS, source: AS_IT_IS, node: name('host'), name: name('target') },
  ldlm_sample: {
    namespace: AS_IT_IS,
    at_ms: AS_IT_IS,
    locks: AS_IT_IS,
    unused: AS_IT_IS,
    resources: AS_IT_IS,
    granted: AS_IT_IS,
    grants: AS_IT_IS,
    cancels: AS_IT_IS,
    pool_limit: AS_IT_IS,
    timeouts: AS_IT_IS,
    contentions: AS_IT_IS,
  },
  brw_sample: { target: AS_IT_IS, at_ms: AS_IT_IS, seconds: AS_IT_IS, bins },
  service_timeout: {
    cluster: AS_IT_IS,
    node: name('host'),
    service: enumerated(...SERVICE_NAMES),
    cpt: AS_IT_IS,
    at_ms: AS_IT_IS,
    current: AS_IT_IS,
    worst: AS_IT_IS,
    worst_at_s: AS_IT_IS,
  },
  rolled: { cluster: AS_IT_IS, tier: AS_IT_IS, to_ms: AS_IT_IS },
  plane_series: {
    id: AS_IT_IS,
    cluster: AS_IT_IS,
    kind: AS_IT_IS,
    place: ofSeries('place'),
    name: ofSeries('name'),
    job_id: name('job'),
    last_ms: AS_IT_IS,
  },
  convoy: {
    id: AS_IT_IS,
    cluster: AS_IT_IS,
    resource: name('file'),
    server: name('host'),
    from_ms: AS_IT_IS,
    to_ms: AS_IT_IS,
    waiting: AS_IT_IS,
    data: messages,
  },
  eviction: {
    id: AS_IT_IS,
    at_ms: AS_IT_IS,
    cluster: AS_IT_IS,
    tier: AS_IT_IS,
    from_ms: AS_IT_IS,
    to_ms: AS_IT_IS,
    samples: AS_IT_IS,
    reason: enumerated('retention', 'quota', 'disk'),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Treat | typeof AS_IT_IS>>>>

export type CopiedTable = keyof typeof COPIED

/** Samples are packed numbers under keys, and are copied as blocks; `setting` has the row that describes the file. */
export const COPIED_SEPARATELY: ReadonlySet<string> = new Set(['instant', 'block', 'block_use', 'setting'])
/**
 * Only in a full recording: a chain of hashes cannot be redacted in place, and a bundle has its slice of it in a separate file.
 * The state of a controller is never exported.
 */
export const NEVER_EXPORTED: ReadonlySet<string> = new Set(['audit', 'audit_anchor', 'adaptbf_state'])

/** Columns of a table, with the redaction of each. */
export const columnsOf = (table: CopiedTable): readonly (readonly [string, Treat | typeof AS_IT_IS])[] =>
  Object.entries(COPIED[table])
