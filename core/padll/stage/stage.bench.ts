/**
 * Requests per second through a stage: call, switch, mount point, flow, channel, object, token. A closed loop in
 * virtual time, rates too high to throttle; each channel serves a separate workflow.
 *
 * `padll.stage.N-channels`: calls by path on 1,024 paths, every 8th outside the mount point. `padll.stage.descriptors`:
 * `read` of 4 KiB on open descriptors. `padll.stage.bulk`: the same in lots of 100. Baseline: the same requests without
 * caches, path resolved, key built, hashed and looked up each time.
 */
import type { Bench } from '../../../bench/measure.ts'
import { NS_PER_MS } from '../../base/units.ts'
import { posixCall, type PosixCallRow } from '../posix-calls.ts'
import { OPERATION_CONTEXTS } from '../vocabulary.ts'
import { contextsOf, TokenTable, typesOf } from './differentiation.ts'
import { MountPoints, resolvedPath } from './mount-points.ts'
import type { StageRequest } from './request.ts'
import { Stage } from './stage.ts'
import { TokenBucket } from './token-bucket.ts'

type Clock = () => number

const REQUESTS = 2_000_000
const PATHS = 1024
const RATE = 2 ** 50
const REFILL_NS = 10 * NS_PER_MS
const identity = { job: 'job.1', instance: 0, pid: 4711, ppid: 1, hostname: 'n1', user: 'ana' }

/** Mixed, so that branch prediction does not learn one. */
const CALLS = ['getxattr', 'open', 'stat', 'mkdir', 'getxattr', 'unlink', 'open', 'rename'] as const

const pathCalls = (channels: number, count = 1): StageRequest[] =>
  Array.from({ length: PATHS }, (_, i) => ({
    call: CALLS[i % CALLS.length] as (typeof CALLS)[number],
    path: `${i % 8 === 5 ? '/home' : '/lustre'}/project/data/file.${i}`,
    newPath: `/lustre/project/data/renamed.${i}`,
    workflow: 1000 * (1 + (i % channels)),
    count,
  }))

function stageWith(channels: number, context: 'meta_op' | 'data_op'): Stage {
  const stage = new Stage({ identity, mounts: ['/lustre', '/scratch'], workflows: channels })
  for (let i = 1; i <= channels; i++) {
    const of = { rule: i, channel: i, contextType: 'posix_meta', type: 'no_op', context } as const
    const channel = stage.housekeeping({ ...of, kind: 'create_channel', workflow: 1000 * i }, 0)
    const bucket = { refillUs: REFILL_NS / 1000, rate: RATE }
    const object = stage.housekeeping({ ...of, kind: 'create_object', object: 1, bucket }, 0)
    if (!channel.ok || !object.ok) throw new Error('a channel per workflow is a good layout')
  }
  stage.markReady()
  return stage
}

/** Requests/s; each must pass or be forwarded. */
function submitted(stage: Stage, requests: readonly StageRequest[], now: Clock): number {
  const mask = requests.length - 1
  let held = 0
  const loop = (n: number): void => {
    for (let i = 0; i < n; i++) {
      if (stage.submit(requests[i & mask] as StageRequest, i * 100).kind === 'waits') held++
    }
  }
  loop(PATHS * 16)
  const began = now()
  loop(REQUESTS)
  const took = now() - began
  if (held > 0) throw new Error('no rate here is low enough to throttle')
  return (REQUESTS / took) * 1000
}

/** The same without caches: resolves and hashes for each request. */
function uncached(channels: number, now: Clock): number {
  const requests = pathCalls(channels)
  const mounts = MountPoints.of(['/lustre', '/scratch'])
  if (!mounts.ok) throw new Error('two good mount points')
  const byToken = new TokenTable<TokenTable<TokenBucket>>()
  for (let i = 1; i <= channels; i++) {
    const objects = new TokenTable<TokenBucket>()
    const of = { type: 0, context: OPERATION_CONTEXTS.meta_op, size: 0, user: '', job: '' }
    objects.add({ ...of, workflow: 0 }, new TokenBucket(0, RATE, REFILL_NS, { spend: 'partial', drift: false }))
    byToken.add({ ...of, workflow: 1000 * i }, objects)
  }
  const n = REQUESTS / 20
  let taken = 0
  const began = now()
  for (let i = 0; i < n; i++) {
    const request = requests[i & (PATHS - 1)] as StageRequest
    const call = posixCall(request.call) as PosixCallRow
    const path = resolvedPath(request.path as string, '/')
    if (path === undefined || mounts.value.mountOfNormal(path) < 0) continue
    const workflow = request.workflow as number
    const of = {
      workflow,
      types: typesOf(call, true),
      contexts: contextsOf(call, true),
      size: 0,
      user: 'ana',
      job: 'job.1',
    }
    if (
      byToken
        .find(of)
        ?.find(of)
        ?.takeOne(i * 100, 1) === true
    )
      taken++
  }
  const took = now() - began
  if (taken !== (n / 8) * 7) throw new Error('every request for the mount point gets its token')
  return (n / took) * 1000
}

function descriptors(now: Clock): number {
  const stage = stageWith(1, 'data_op')
  const requests = Array.from({ length: PATHS }, (_, i): StageRequest => {
    stage.done({ call: 'open', path: `/lustre/file.${i}` }, { fd: i + 3 })
    return { call: 'read', fd: i + 3, size: 4096 }
  })
  return submitted(stage, requests, now)
}

export const benches: readonly Bench[] = [
  ...[1, 16, 128, 1024].map((n) => ({
    id: `padll.stage.${n}-channels`,
    unit: 'requests/s',
    run: (now: Clock) => submitted(stageWith(n, 'meta_op'), pathCalls(n), now),
    baseline: (now: Clock) => uncached(n, now),
    note: 'calls by path: classify and take',
    beside: 'path resolved, key hashed and looked up each time',
    must: { least: 10_000_000 },
    paper: '1.28 to 3.20 M/s, one stage of 1 to 256 channels (PADLL V-D)',
    limit: 'A request is looked up by its call and path in maps that outgrow the first caches of a processor.',
  })),
  {
    id: 'padll.stage.descriptors',
    unit: 'requests/s',
    run: descriptors,
    note: 'read of 4 KiB by descriptor',
    must: { least: 10_000_000 },
    paper: '1.28 to 3.20 M/s, one stage (PADLL V-D)',
    limit: 'As by path: what is remembered of a descriptor is looked up.',
  },
  {
    id: 'padll.stage.bulk',
    unit: 'op/s',
    run: (now: Clock) => submitted(stageWith(16, 'meta_op'), pathCalls(16, 100), now) * 100,
    note: 'calls by path in lots of 100',
    limit: 'What a request costs, shared by the calls of its lot.',
  },
]
