/** Rows of all six tables of locks, metadata and tokens, and a kept convoy, for tests of bundles and their pages. */
import type { LocksFrame } from '#core/api/locks.ts'
import { planeTable, type PlaneName, type PlaneRow, type PlaneTableId } from '#core/series/plane-tables.ts'
import type { History } from '#electron/history/history.ts'

/** Names that identify a site, as they occur in rows. */
export type PlaneNames = Readonly<Record<'file' | 'lockServer' | 'stage' | 'dataNode' | 'client' | 'job', string>>
export const PLANE_NAMES: PlaneNames = {
  file: 'ckpt.h5',
  lockServer: 'ccpfs01',
  stage: 'mds01',
  dataNode: 'haechi1',
  client: 'cn1701',
  job: '4690.cfd_solve.u500',
}

/** Values of a row by column; columns that are not given are gaps. */
export const planeRow = (table: PlaneTableId, name: Partial<PlaneName>, values: Record<string, number>): PlaneRow => ({
  name: '',
  place: '',
  jobId: '',
  ...name,
  values: planeTable(table).columns.map((c) => values[c.name] ?? NaN),
})

/** Resource of a convoy as the Locks view shows it: `n` writers that waited for each other, 1 ms each. */
export function convoyFrame(names: PlaneNames, endMs: number, n = 5): NonNullable<LocksFrame['resource']> {
  const each = Array.from({ length: n }, (_, i) => i)
  return {
    key: `${names.file} / 3`,
    name: `${names.file} / 3`,
    server: names.lockServer,
    about: `${n} writers of ${names.file}`,
    clients: each.map((i) => ({ number: i, name: `${names.client}-${i}`, jobId: names.job })),
    moment: { endMs, spanMs: 40 },
    isFound: true,
    isKept: true,
    queue: { t: [endMs], waiting: [n] },
    lives: {
      id: each,
      client: each,
      asked: each.map((i) => i),
      granted: each.map((i) => (i < 4 ? 4 + 2 * i : null)),
      canceling: each.map(() => null),
      released: each.map((i) => (i < 3 ? 6 + 2 * i : null)),
      dataAt: each.map(() => null),
      mode: each.map(() => 'PW' as const),
      askedMode: each.map(() => 'PW' as const),
      sn: each.map((i) => i + 1),
      minSn: each.map(() => null),
      start: each.map(() => 0),
      requiredEnd: each.map(() => 65_535),
      end: each.map(() => null),
      isEarlyGrant: each.map(() => false),
      isEarlyRevocation: each.map(() => false),
      dirtyBytes: each.map(() => 0),
      bytes: each.map(() => 65_536),
      downgradedAt: each.map(() => null),
      downgradedTo: each.map(() => null),
      absorbed: each.map(() => []),
      behind: each.map((i) => (i === 0 ? [] : [i - 1])),
      behindUntil: each.map((i) => (i === 0 ? [] : ['release' as const])),
      rule: each.map(() => ''),
      ending: each.map(() => ''),
    },
    moreLives: 0,
    messages: {
      sent: each.map((i) => i),
      arrived: each.map((i) => (i === 4 ? null : i + 0.25)),
      client: each,
      isUp: each.map(() => true),
      kind: each.map(() => 'request'),
      life: each,
      text: each.map(() => 'requests PW 0 .. 65 535'),
    },
    moreMessages: 2,
    early: { grants: 0, all: 4, revocations: 0, conversions: 0 },
  }
}

/**
 * Records a row of every table for each of `seconds` seconds, and a convoy in the middle. Waits, conflicts and served operations are
 * those of the second's number.
 */
export function recordPlanes(history: History, fromMs: number, seconds: number, names: PlaneNames = PLANE_NAMES): void {
  const { file, lockServer, stage, dataNode, client, job } = names
  for (let s = 0; s < seconds; s++) {
    const put = (table: PlaneTableId, ...rows: PlaneRow[]): void => history.recordPlane(table, fromMs + s * 1000, rows)
    const lock = (conflicts: number): Record<string, number> => ({
      conflicts_per_s: conflicts,
      holders: 3,
      waiters: 4,
      grants_per_s: 10 + s,
      revocations_per_s: conflicts,
      conversions_per_s: 0,
      wait_mean_ms: 1.5,
      wait_p95_ms: 2 + s,
      wait_longest_ms: 9,
      convoy_share: 0.25,
    })
    put(
      'lock_resources',
      planeRow('lock_resources', { name: `${file} / 3`, place: lockServer }, lock(s)),
      planeRow('lock_resources', { name: `${file} / 4`, place: lockServer }, { ...lock(1), grants_per_s: 1 }),
    )
    put(
      'lock_servers',
      planeRow('lock_servers', { name: lockServer, place: 'SeqDLM' }, { ...lock(s + 1), resources: 2 }),
    )
    const asked = { asked_per_s: 200 + s, served_per_s: 100 + s, queued: 7, limit_per_s: 150, epoch: s }
    put(
      'metadata_jobs',
      planeRow(
        'metadata_jobs',
        { name: 'meta_op', place: 'stages', jobId: job },
        { ...asked, allocated_per_s: 120, false_allocation_per_s: 5, waited_s_per_s: 0.5, stages: 1 },
      ),
    )
    put(
      'metadata_channels',
      planeRow(
        'metadata_channels',
        { name: '1.2 meta_op', place: `${stage} ${client}`, jobId: job },
        { ...asked, waited_share: 0.5, wait_mean_ms: 3 },
      ),
    )
    put(
      'token_clients',
      planeRow(
        'token_clients',
        { name: client, place: dataNode, jobId: job },
        { used: 90, reservation: 80, used_reserved: 80, used_pool: 10, yielded: 0, missed: s % 2, starved: 0 },
      ),
    )
    put(
      'token_nodes',
      planeRow(
        'token_nodes',
        { name: dataNode },
        { used: 90, estimate: 100, reserved: 80, pool_lowest: 10 - s, epoch: s },
      ),
    )
  }
  const endMs = fromMs + Math.floor(seconds / 2) * 1000 + 40
  history.keepConvoy(
    { resource: `${file} / 3`, server: lockServer, fromMs: endMs - 36, toMs: endMs - 10, waiting: 4 },
    convoyFrame(names, endMs),
  )
}
