/**
 * Registry of the tables that keep locks, metadata and tokens: one row per series (a resource, a channel, a client) and period.
 * Storage, roll-up, CSV, OpenMetrics, SQL, bundles and their documentation derive from it.
 *
 * A period is a second, or longer on a source that is read less often. Values of a table are Float32; NaN is a gap.
 */

/**
 * Roll-up of a column over an interval:
 * rate: mean over all periods, a series without a row was idle and counts as zero;
 * mean: mean over the periods with a row; max, min, last: over the periods with a row.
 */
export type RollUpOf = 'rate' | 'mean' | 'max' | 'min' | 'last'

export interface PlaneColumn {
  /** Snake case, with its unit: the name in SQL, CSV and OpenMetrics. */
  readonly name: string
  /** Title in tables and charts. */
  readonly title: string
  /** Unit as text; empty for a count. */
  readonly unit: string
  readonly rollUp: RollUpOf
  /** Value of the row of the other series: their sum, largest or mean; gap where none is meaningful. */
  readonly others: 'sum' | 'max' | 'mean' | 'gap'
  readonly about: string
}

export type Plane = 'locks' | 'metadata' | 'tokens'

export interface PlaneTable {
  /** Name in SQL, CSV and OpenMetrics. */
  readonly id: string
  readonly plane: Plane
  /** Number of the table in the file; never reused. */
  readonly kind: number
  readonly title: string
  readonly about: string
  /** Meaning of a series' name, and of its place; empty if the table has no place. */
  readonly nameIs: string
  readonly placeIs: string
  /** Kinds of these names for redaction: pseudonyms of exports. kept: terms of the product and numbers. */
  readonly names: { readonly name: 'file' | 'host' | 'kept'; readonly place: 'host' | 'kept' }
  /** True if a series belongs to a job. */
  readonly hasJob: boolean
  /** Most series with a row of their own in a period; the others are summed in one row. */
  readonly most: number
  /** Columns by whose values series are ranked, summed; a series whose ranked values are all zero has no row. */
  readonly rank: readonly string[]
  /** Column by which series are compared as movers. */
  readonly main: string
  /** Columns offered as measures of a day, over all series; empty if another table of the plane has them. */
  readonly measures: readonly string[]
  readonly columns: readonly PlaneColumn[]
}

const column = (
  name: string,
  title: string,
  unit: string,
  rollUp: RollUpOf,
  others: PlaneColumn['others'],
  about: string,
): PlaneColumn => ({ name, title, unit, rollUp, others, about })

const grants = column('grants_per_s', 'Grants', '/s', 'rate', 'sum', 'locks granted')
const conflicts = column('conflicts_per_s', 'Conflicts', '/s', 'rate', 'sum', 'requests that met a conflicting lock')
const revocations = column('revocations_per_s', 'Revocations', '/s', 'rate', 'sum', 'revocation callbacks sent')
const conversions = column(
  'conversions_per_s',
  'Conversions',
  '/s',
  'rate',
  'sum',
  'mode conversions: upgrades and downgrades',
)
const waitMean = column('wait_mean_ms', 'Wait, mean', 'ms', 'mean', 'mean', 'mean time from request to grant')
const waitP95 = column(
  'wait_p95_ms',
  'Wait, p95',
  'ms',
  'max',
  'max',
  '95th percentile of the time from request to grant in a period; of a longer interval the largest of its periods',
)
const waitLongest = column('wait_longest_ms', 'Wait, longest', 'ms', 'max', 'max', 'longest time from request to grant')
const convoyShare = column(
  'convoy_share',
  'In convoy',
  '',
  'rate',
  'max',
  'share of the period in which at least four requests waited for one resource, 0 to 1; times the length, convoy seconds',
)

/** Parts of a period in which the pool is kept: the smallest value of its checks in each. */
export const POOL_CHECKS = 10

export const PLANE_TABLES = [
  {
    id: 'lock_resources',
    plane: 'locks',
    kind: 3,
    title: 'Lock resources',
    about: 'Resources of a lock manager that reports every step (SeqDLM of ccPFS and the managers beside it)',
    nameIs: 'file and stripe',
    placeIs: 'lock server',
    names: { name: 'file', place: 'host' },
    hasJob: false,
    most: 64,
    rank: ['grants_per_s', 'conflicts_per_s', 'waiters', 'holders'],
    main: 'conflicts_per_s',
    measures: [],
    columns: [
      conflicts,
      column('holders', 'Held', '', 'mean', 'sum', 'locks held at the end of the period'),
      column('waiters', 'Waiting', '', 'max', 'max', 'most requests that waited at once'),
      grants,
      revocations,
      conversions,
      waitMean,
      waitP95,
      waitLongest,
      convoyShare,
    ],
  },
  {
    id: 'lock_servers',
    plane: 'locks',
    kind: 4,
    title: 'Lock servers',
    about: 'Counters of each lock server, over all of its resources',
    nameIs: 'lock server',
    placeIs: 'name of the lock manager',
    names: { name: 'host', place: 'kept' },
    hasJob: false,
    most: 64,
    rank: ['holders', 'grants_per_s', 'resources'],
    main: 'grants_per_s',
    measures: ['conflicts_per_s', 'grants_per_s', 'wait_p95_ms', 'wait_longest_ms', 'waiters', 'convoy_share'],
    columns: [
      grants,
      column('holders', 'Held', '', 'mean', 'sum', 'locks held at the end of the period'),
      column('waiters', 'Waiting', '', 'max', 'max', 'most requests that waited at once'),
      column('resources', 'Resources', '', 'last', 'sum', 'resources with a lock or a waiting request'),
      column('cancels_per_s', 'Cancels', '/s', 'rate', 'sum', 'locks that ended'),
      conflicts,
      revocations,
      conversions,
      waitMean,
      waitP95,
      waitLongest,
      convoyShare,
      column('held_pr', 'Held PR', '', 'mean', 'sum', 'locks held in mode PR at the end of the period'),
      column('held_nbw', 'Held NBW', '', 'mean', 'sum', 'locks held in mode NBW at the end of the period'),
      column('held_bw', 'Held BW', '', 'mean', 'sum', 'locks held in mode BW at the end of the period'),
      column('held_pw', 'Held PW', '', 'mean', 'sum', 'locks held in mode PW at the end of the period'),
    ],
  },
  {
    id: 'metadata_jobs',
    plane: 'metadata',
    kind: 5,
    title: 'Metadata jobs',
    about: 'Jobs under metadata QoS in each scope: PADLL stages, or the TBF rules of a metadata server',
    nameIs: 'scope',
    placeIs: 'plane: stages or mds',
    names: { name: 'kept', place: 'kept' },
    hasJob: true,
    most: 64,
    rank: ['asked_per_s', 'served_per_s', 'queued', 'false_allocation_per_s'],
    main: 'served_per_s',
    measures: ['served_per_s', 'asked_per_s', 'false_allocation_per_s', 'queued', 'waited_s_per_s'],
    columns: [
      column('served_per_s', 'Served', 'op/s', 'rate', 'sum', 'operations served'),
      column('asked_per_s', 'Asked', 'op/s', 'rate', 'sum', 'operations demanded; a gap in plane mds'),
      column('allocated_per_s', 'Allocated', 'op/s', 'mean', 'sum', 'rate that the controller allocated'),
      column('limit_per_s', 'Limit', 'op/s', 'last', 'gap', 'limit of all jobs together in the scope'),
      column('queued', 'Queued', '', 'max', 'sum', 'operations that waited at the end of the period'),
      column('waited_s_per_s', 'Waited', 's/s', 'rate', 'sum', 'sum of the waits of its operations'),
      column(
        'false_allocation_per_s',
        'False allocation',
        'op/s',
        'rate',
        'sum',
        'rate that the job holds and does not use while operations of another job wait',
      ),
      column('stages', 'Stages', '', 'last', 'sum', 'stages, or rules in plane mds'),
      column('epoch', 'Epoch', '', 'last', 'max', 'epoch of the global controller; cycles of the console in plane mds'),
    ],
  },
  {
    id: 'metadata_channels',
    plane: 'metadata',
    kind: 6,
    title: 'Metadata channels',
    about: 'Channels of PADLL stages',
    nameIs: 'channel and object',
    placeIs: 'local controller and stage',
    names: { name: 'kept', place: 'host' },
    hasJob: true,
    most: 64,
    rank: ['asked_per_s', 'served_per_s', 'queued'],
    main: 'served_per_s',
    measures: ['served_per_s', 'queued'],
    columns: [
      column('served_per_s', 'Served', 'op/s', 'rate', 'sum', 'operations served'),
      column('asked_per_s', 'Asked', 'op/s', 'rate', 'sum', 'operations demanded'),
      column('limit_per_s', 'Limit', 'op/s', 'last', 'sum', 'rate of its token bucket'),
      column('queued', 'Queued', '', 'max', 'sum', 'operations that waited at the end of the period'),
      column('waited_share', 'Waited', '', 'mean', 'mean', 'share of operations that waited, 0 to 1'),
      column('wait_mean_ms', 'Wait, mean', 'ms', 'mean', 'mean', 'mean wait of its operations'),
      column('epoch', 'Epoch', '', 'last', 'max', 'epoch of the controller that set the limit'),
    ],
  },
  {
    id: 'token_clients',
    plane: 'tokens',
    kind: 7,
    title: 'Token clients',
    about: 'Clients of a Haechi data node; tokens of a period, one token is one I/O',
    nameIs: 'client',
    placeIs: 'data node',
    names: { name: 'host', place: 'host' },
    hasJob: true,
    most: 128,
    rank: ['used_reserved', 'used_pool', 'reservation'],
    main: 'used',
    measures: [],
    columns: [
      column('used', 'Used', 'tokens', 'rate', 'sum', 'I/Os completed'),
      column('reservation', 'Reservation', 'tokens', 'last', 'sum', 'R; 0: best effort'),
      column('limit', 'Limit', 'tokens', 'last', 'gap', 'L; a gap: unlimited'),
      column('used_reserved', 'From reservation', 'tokens', 'rate', 'sum', 'issued from its reservation'),
      column('used_pool', 'From pool', 'tokens', 'rate', 'sum', 'issued from the global pool'),
      column('yielded', 'Yielded', 'tokens', 'rate', 'sum', 'reservation tokens given up by decay'),
      column(
        'missed',
        'Missed',
        '',
        'rate',
        'sum',
        '1 if the reservation was missed; of an interval the share of periods',
      ),
      column(
        'starved',
        'Starved',
        '',
        'rate',
        'sum',
        '1 if it waited for a token at the end; of an interval the share of periods',
      ),
    ],
  },
  {
    id: 'token_nodes',
    plane: 'tokens',
    kind: 8,
    title: 'Token pools',
    about: 'Haechi data nodes: pool and capacity estimate of each period, in tokens',
    nameIs: 'data node',
    placeIs: '',
    names: { name: 'host', place: 'kept' },
    hasJob: false,
    most: 64,
    rank: ['used', 'estimate'],
    main: 'used',
    measures: ['used', 'estimate', 'pool_lowest', 'idle_share', 'missed'],
    columns: [
      column('used', 'Used', 'tokens', 'rate', 'sum', 'U, I/Os of all clients'),
      column('estimate', 'Estimate', 'tokens', 'last', 'sum', 'estimated capacity Omega of a period'),
      column('reserved', 'Reserved', 'tokens', 'last', 'sum', 'sum of the admitted reservations'),
      column('pool_start', 'Pool at start', 'tokens', 'mean', 'sum', 'pool at the start of the period'),
      column('pool_lowest', 'Pool, lowest', 'tokens', 'min', 'sum', 'lowest pool; negative by concurrent fetches'),
      column('reported', 'Reported', 'tokens', 'mean', 'sum', 'residual reservations that clients reported last'),
      column('converted_target', 'Conversion target', 'tokens', 'mean', 'sum', 'pool that conversion aimed at last'),
      column(
        'idle_share',
        'Idle while starved',
        '',
        'rate',
        'mean',
        'share of the tokens that were idle while a client was starved, 0 to 1',
      ),
      column('missed', 'Missed', '', 'rate', 'sum', 'clients that missed their reservation'),
      column('epoch', 'Epoch', '', 'last', 'gap', 'number of the period'),
      ...Array.from({ length: POOL_CHECKS }, (_, i) =>
        column(
          `pool_check_${i + 1}`,
          `Pool, check ${i + 1}`,
          'tokens',
          'mean',
          'sum',
          `lowest pool at the checks of part ${i + 1} of ${POOL_CHECKS} of the period`,
        ),
      ),
    ],
  },
] as const satisfies readonly PlaneTable[]

export type PlaneTableId = (typeof PLANE_TABLES)[number]['id']

const BY_ID: ReadonlyMap<string, PlaneTable> = new Map(PLANE_TABLES.map((t) => [t.id, t]))
const BY_KIND: ReadonlyMap<number, PlaneTable> = new Map(PLANE_TABLES.map((t) => [t.kind, t]))

export const planeTable = (id: PlaneTableId): PlaneTable => BY_ID.get(id) as PlaneTable
export const planeTableOf = (kind: number): PlaneTable | undefined => BY_KIND.get(kind)

/** Indices of the ranked columns of each table, by its number. */
const RANKED: ReadonlyMap<number, readonly number[]> = new Map(
  PLANE_TABLES.map((t: PlaneTable) => [t.kind, t.rank.map((name) => t.columns.findIndex((c) => c.name === name))]),
)

const INDICES: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map(
  PLANE_TABLES.map((t: PlaneTable) => [t.id, new Map(t.columns.map((c, i) => [c.name, i]))]),
)

/** Index of a column in a table's blocks. @throws if the table has none of that name */
export function planeColumn(id: PlaneTableId, name: string): number {
  const index = INDICES.get(id)?.get(name)
  if (index === undefined) throw new Error(`${id} has no column ${name}`)
  return index
}

/** Name of a series: its name, its place and its job, each empty where the table has none. User text. */
export interface PlaneName {
  readonly name: string
  readonly place: string
  readonly jobId: string
}

/** Row of a series in one period: values by column, in the order of the table's columns; NaN is a gap. */
export interface PlaneRow extends PlaneName {
  readonly values: readonly number[]
}

/** Row of a series from its values by column; a column without one is a gap. @throws for a column that the table has not */
export function planeRow(
  id: PlaneTableId,
  { name, place, jobId }: PlaneName,
  values: Readonly<Record<string, number>>,
): PlaneRow {
  const row = new Array<number>(planeTable(id).columns.length).fill(NaN)
  for (const column in values) row[planeColumn(id, column)] = values[column] as number
  return { name, place, jobId, values: row }
}

/** Name of the row in which the series without a row of their own are summed, and its key in every block. */
export const OTHERS: PlaneName = { name: '(others)', place: '', jobId: '' }
export const OTHERS_KEY = 0
export const isOthers = ({ name, place, jobId }: PlaneName): boolean =>
  name === OTHERS.name && place === OTHERS.place && jobId === OTHERS.jobId

/** Value of a column of the row of the others, from those of its series. */
export function othersValue({ others }: PlaneColumn, values: Iterable<number>): number {
  if (others === 'gap') return NaN
  let known = 0
  let sum = NaN
  for (const v of values) {
    if (v !== v) continue
    sum = known === 0 ? v : others === 'max' ? Math.max(sum, v) : sum + v
    known++
  }
  return others === 'mean' ? sum / known : sum
}

/** Rank of a series in a period: the sum of its ranked columns; a gap counts as zero. */
export function planeRank(table: PlaneTable, value: (column: number) => number): number {
  let rank = 0
  for (const c of RANKED.get(table.kind) ?? []) {
    const v = Math.abs(value(c))
    if (v > 0) rank += v
  }
  return rank
}
