/**
 * States that a window draws for faults, as the host reports them over a broken cluster of real sshds: the frames of the contract,
 * and nothing else. tests/e2e/states plays the same frames to the window.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ClusterCard, ServerCard } from '#core/api/clusters.ts'
import type { JobsFrame, OverviewFrame, StatusFrame } from '#core/api/frames.ts'
import type { CommitProgress } from '#core/api/rule-edits.ts'
import { LIMITS } from '#electron/ssh/limits.ts'
import { noSshd, scratch } from '../kits/electron/ssh/sshd.ts'
import { firstObstacle, isPermission, refusedCommand } from '../../renderer/views/connections/check-steps.ts'
import { noJobsState } from '../../renderer/views/jobs/no-jobs-model.ts'
import { startLab, type Lab, type LabOptions } from '../lab/lab.ts'
import { endsOf, liveConsole, type LiveConsole } from './live-console.ts'

const OSS = Array.from({ length: 12 }, (_, i) => `oss${String(i + 1).padStart(2, '0')}`)
const INTERVAL_MS = 1000
const CAP = 'start cap jobid={1.hog.u1} rate=20'
/** A server that is off is retried soon; one that hangs has the normal timeouts. */
const LIMITS_HERE = { ...LIMITS, connectMs: 3000, backoff: { baseMs: 400, mostMs: 1600 } }
const waits = { timeout: 60_000, interval: 100 }

const scenario = (hosts: readonly string[], job: string): string => {
  const file = join(scratch(), 'states.yaml')
  const osts = hosts.map(
    (h, i) =>
      `  - { name: ${h}, osts: [{ name: st-OST${i.toString(16).padStart(4, '0')}, disk: { bandwidth_mb_s: 200 } }] }`,
  )
  writeFileSync(
    file,
    [
      'title: States',
      'cluster: states',
      'clients: { count: 2 }',
      'control: { max_rate: 200, mode: observe }',
      'oss:',
      ...osts,
      'jobs:',
      `  - { id: "1.hog.u1", clients: [1], op: write, size_kib: 1024, ${job} }`,
      '',
    ].join('\n'),
  )
  return file
}

/** Frames for a window that shows the cluster. */
interface Frames {
  readonly status: StatusFrame
  readonly overview: OverviewFrame
  readonly jobs: JobsFrame
}

let streams = 0
async function newest<F>(frames: Promise<AsyncIterable<F>>): Promise<F> {
  for await (const f of await frames) return f
  throw new Error('no frame')
}
const statusOf = ({ client }: LiveConsole): Promise<StatusFrame> =>
  newest(client.source.status({ stream: `w${++streams}` }))
async function framesOf(live: LiveConsole): Promise<Frames> {
  const { client } = live
  const stream = `w${++streams}`
  return {
    status: await statusOf(live),
    overview: await newest(client.views.overview({ stream: `${stream}o` })),
    jobs: await newest(client.views.jobs({ stream: `${stream}j` })),
  }
}
const card = (live: LiveConsole): Promise<ClusterCard> => live.card(() => true)

/** Collects every frame of the next commit, to its end. */
async function watchCommit({ client }: LiveConsole): Promise<CommitProgress[]> {
  const stream = `w${++streams}`
  const seen: CommitProgress[] = []
  const signal = AbortSignal.timeout(45_000)
  for await (const f of await client.views.staged({ stream, service: 'ost_io', hz: 10 }, { signal })) {
    await client.host.ack({ stream, seq: f.seq })
    if (f.commit) seen.push(f.commit)
    if (f.commit?.isOver) break
  }
  return seen
}

/** lctl of a server that refuses the rule while a file exists; next on PATH is the stand-in. */
const refusesCap = (host: string, file: string): string =>
  [
    'PATH=${PATH#*:}',
    `case "$SLUICE_STANDIN_NODE $*" in *${host}*"start cap"*)`,
    `  [ ! -e ${file} ] || { echo "error: set_param: setting nrs_tbf_rule: Device or resource busy" >&2; exit 16; } ;;`,
    'esac',
    'exec lctl "$@"',
  ].join('\n')
const tile = ({ overview }: Frames, id: string) => overview.tiles.find((t) => t.id === id)
const isOf =
  (role: ServerCard['roles'][number]) =>
  (s: ServerCard): boolean =>
    s.roles.includes(role)
const rulesAt = (lab: Lab, hosts: readonly string[]): Promise<boolean[]> =>
  Promise.all(hosts.map(async (h) => /^cap /m.test(await lab.rules(h))))

describe.skipIf(noSshd !== '')('of twelve OSSes the host tells', () => {
  const refusing = join(scratch(), 'refusing')
  let lab: Lab
  let live: LiveConsole
  const off = new Set<string>()
  const kill = (host: string): void => {
    off.add(host)
    lab.kill(host)
  }
  const on = async (host: string): Promise<void> => {
    await lab.restart(host)
    off.delete(host)
  }
  beforeAll(async () => {
    lab = await startLab({
      scenario: scenario(OSS, 'processes: 4, pattern: { kind: continuous }'),
      servers: OSS,
      settings: { interval_ms: INTERVAL_MS },
      programs: { lctl: refusesCap('oss07', refusing) },
    })
    live = await liveConsole({ cluster: lab.clusterFile, knownHosts: lab.knownHosts, limits: LIMITS_HERE })
    await live.show()
    await live.card((c) => c.state === 'connected')
    await live.enforce()
  })
  // After any result of a step, the next one begins with all servers on.
  afterEach(async () => {
    rmSync(refusing, { force: true })
    for (const h of OSS) lab.resume(h)
    await Promise.all([...off].map(on))
  })
  afterAll(async () => {
    await live?.close()
    await lab?.stop()
  })

  it('a partial commit: each server as it goes and as it ended, and the rest is rolled back in one step', async () => {
    writeFileSync(refusing, '')
    await live.stage(CAP, 600)
    const { review } = await live.staged()
    if (!review) throw new Error('nothing to review')
    const progress = watchCommit(live)
    const { planId, typed } = review
    const { changeId, nodes } = await live.client.rules.commit({ service: 'ost_io', planId, typed })
    expect(nodes.map((n) => n.host)).toEqual(OSS)
    const refused = nodes.find((n) => n.host === 'oss07')
    expect(refused).toMatchObject({ state: 'rolled back', detail: expect.stringMatching(/resource busy/) as string })
    // The number that had begun by then depends on their speed; each of the others has all of it, or nothing was sent.
    const others = nodes.filter((n) => n !== refused)
    expect(others.filter((n) => n.state !== 'done' && n.state !== 'not sent')).toEqual([])
    const done = others.filter((n) => n.state === 'done').map((n) => n.host)
    expect(done[0]).toBe('oss01')
    expect(await rulesAt(lab, OSS)).toEqual(OSS.map((h) => done.includes(h)))
    // The canary is watched before any other server is written; then the final states are those of the answer.
    const frames = await progress
    const watched = frames.find((f) => f.watch !== null)
    expect(watched?.watch?.host).toBe('oss01')
    expect(watched?.nodes.filter((n) => n.host !== 'oss01').every((n) => n.state === 'waiting')).toBe(true)
    expect(endsOf(frames.at(-1)?.nodes ?? [])).toEqual(endsOf(nodes))
    expect(frames.at(-1)).toMatchObject({ planId, isOver: true, isCancelled: false })
    const after = await live.staged()
    expect(after.changes[0]).toMatchObject({ id: changeId, undone: false, nodes })
    // The remainder stays staged, for the servers that lack it.
    expect(after.items).toMatchObject([{ rule: 'cap', servers: OSS.length - done.length }])
    await live.client.rules.undo({ changeId })
    // The next sample shows the state of a server; then the revert covers the servers that have the change, and no other.
    const wayBack = async () =>
      (await live.staged()).items.map(({ rule, verb, servers }) => `${verb} ${rule} ${servers}`)
    await expect.poll(wayBack, waits).toEqual([`stop cap ${done.length}`])
    expect(await live.commit()).toEqual(done.map((h) => `${h} done`))
    expect(await rulesAt(lab, OSS)).toEqual(OSS.map(() => false))
    expect((await live.staged()).changes.find((c) => c.id === changeId)).toMatchObject({ undone: true })
  })

  it('partial: who is missing and why, totals of the others as lower bounds, and when it is tried again', async () => {
    kill('oss11')
    // A server that answers late is a gap of one sample, too: it is over when only the one that is off is missing.
    const gaps = async () => {
      const now = await framesOf(live)
      const { node, rpcs } = now.overview.targets
      return { off: node.filter((_, i) => rpcs[i] === null), partial: tile(now, 'write')?.partial }
    }
    await expect.poll(gaps, waits).toEqual({ off: ['oss11'], partial: true })
    const now = await framesOf(live)
    expect(now.status.nodes).toMatchObject({ total: 12, reporting: 11, missing: [{ host: 'oss11' }] })
    expect(now.status.nodes.missing[0]?.reason).not.toBe('')
    for (const id of ['write', 'rpc'] as const) expect(tile(now, id)?.value).toBeGreaterThan(0)
    const lost = await live.card((c) => c.servers.some((s) => s.state === 'lost' && s.retryAtMs !== null))
    expect(lost).toMatchObject({ state: 'partial', text: '11 of 12 servers answer' })
    expect(lost.servers.filter(isOf('oss'))).toHaveLength(12)
    expect(lost.servers.filter((s) => s.state === 'connected').map((s) => s.host)).toEqual(
      OSS.filter((h) => h !== 'oss11'),
    )
    await on('oss11')
    await live.card((c) => c.state === 'connected')
    await expect.poll(async () => (await statusOf(live)).nodes.missing, waits).toEqual([])
    await expect.poll(gaps, waits).toEqual({ off: [], partial: undefined })
  })

  it('stale: how old the newest sample is, and then who is silent; the last data stays', async () => {
    for (const h of OSS) lab.stall(h)
    await expect.poll(async () => (await statusOf(live)).clock.sampleAgeMs, waits).toBeGreaterThan(5 * INTERVAL_MS)
    const old = await framesOf(live)
    expect(old.status.nodes.total).toBe(12)
    expect(tile(old, 'write')?.value).toBeGreaterThan(0)
    expect(old.jobs.rows.jobId).toEqual(['1.hog.u1'])
    await expect.poll(async () => (await statusOf(live)).nodes.reporting, waits).toBe(0)
    const silent = await framesOf(live)
    expect(silent.status.nodes.missing.map((m) => m.host)).toEqual(OSS)
    for (const { reason } of silent.status.nodes.missing) expect(reason).toMatch(/^no answer for \d+ s$/)
    // Gaps continue with time; the display shows the last sample that had an answer, and reports it.
    expect(live.host.monitor.sample).toBeGreaterThan(silent.status.sample)
    expect(silent.status.atMs).toBe(old.status.atMs)
    expect(silent.overview.tiles).toEqual(old.overview.tiles)
    // Their connections are still open: no reconnects.
    expect((await card(live)).servers.map((s) => s.state)).toEqual(OSS.map(() => 'connected'))
    for (const h of OSS) lab.resume(h)
    await live.card((c) => c.state === 'connected')
    await expect.poll(async () => (await statusOf(live)).atMs, waits).toBeGreaterThan(silent.status.atMs ?? 0)
  })

  it('disconnected: the last data, what is staged and which timers run on; a schedule of retries, and Retry now', async () => {
    await live.stage(CAP, 600)
    expect(await live.commit()).toEqual(OSS.map((h) => `${h} done`))
    await live.stage('start later jobid={2.calm.u2} rate=9', null)
    await expect.poll(async () => (await statusOf(live)).nextExpiry?.running, waits).toBe(12)
    const before = await framesOf(live)
    for (const h of OSS) kill(h)
    // Attempts are counted, and the pause between them stays within the reported one.
    const isTriedAgain = (s: ServerCard): boolean => s.state === 'lost' && (s.retry?.attempt ?? 0) >= 3
    const lost = await live.card((c) => c.servers.every((s) => s.state !== 'connected') && c.servers.some(isTriedAgain))
    const server = lost.servers.find(isTriedAgain)
    expect(server).toMatchObject({ level: 'bad', code: 'SSH_TCP', retry: LIMITS_HERE.backoff })
    expect(server?.text).toMatch(/ECONNREFUSED/)
    const pauseMs = (server?.retryAtMs ?? 0) - (server?.sinceMs ?? 0)
    expect(pauseMs).toBeGreaterThan(0)
    expect(pauseMs).toBeLessThanOrEqual(LIMITS_HERE.backoff.mostMs)
    expect(firstObstacle(lost.servers)?.step.id).toBe('tcp')
    await expect.poll(async () => (await statusOf(live)).clock.sampleAgeMs, waits).toBeGreaterThan(2 * INTERVAL_MS)
    const now = await framesOf(live)
    expect(live.host.monitor.sample).toBeGreaterThan(now.status.sample)
    expect(now.status).toMatchObject({ staged: 1, nextExpiry: { name: 'cap', running: 12 } })
    expect(now.status.source.kind).toBe('LIVE')
    expect(now.status.atMs).toBeGreaterThanOrEqual(before.status.atMs ?? Infinity)
    expect(tile(now, 'write')?.value).toBeGreaterThan(0)
    // The change reaches no server, and the servers keep their rules.
    const { review } = await live.staged()
    expect(review?.refused?.code).toBe('SERVER_MISSING')
    expect(await rulesAt(lab, OSS)).toEqual(OSS.map(() => true))
    await Promise.all(OSS.map(on))
    await live.client.clusters.connect({ name: live.name })
    await live.card((c) => c.state === 'connected')
    await expect.poll(async () => (await statusOf(live)).atMs, waits).toBeGreaterThan(now.status.atMs ?? Infinity)
    expect((await statusOf(live)).staged).toBe(1)
  })
})

describe.skipIf(noSshd !== '')('of two OSSes the host tells', () => {
  const two = OSS.slice(0, 2)
  let lab: Lab
  let live: LiveConsole
  afterEach(async () => {
    await live?.close()
    await lab?.stop()
  })
  const connect = async (o: LabOptions): Promise<void> => {
    lab = await startLab({ servers: two, settings: { interval_ms: INTERVAL_MS }, ...o })
    live = await liveConsole({ cluster: lab.clusterFile, knownHosts: lab.knownHosts, limits: LIMITS_HERE })
  }

  it('permission short: the command that sudo refused, on how many servers, and the lines to ask for', async () => {
    const job = 'pattern: { kind: continuous }'
    await connect({ scenario: scenario(two, job), login: 'ops', sudo: 'none' })
    await live.client.clusters.connect({ name: live.name })
    await live.client.clusters.show({ name: live.name })
    const short = await live.card((c) => c.onScreen && c.servers.every((s) => s.code === 'SUDO_NEEDED'))
    expect(short.state).toBe('failed')
    const obstacle = firstObstacle(short.servers)
    expect(obstacle).toMatchObject({ host: 'oss01', alike: 1, code: 'SUDO_NEEDED', step: { id: 'sudo', state: 'bad' } })
    if (!obstacle) throw new Error('nothing is in the way')
    expect(isPermission(obstacle.step)).toBe(true)
    expect(refusedCommand(obstacle.step)).toMatch(/^sudo -n /)
    expect(obstacle.step.fix).toMatch(/^ +\S+\/lctl get_param -n version, /m)
    expect(obstacle.step.fix).toMatch(/^ops ALL=\(root\) NOPASSWD: SLUICE_READ$/m)
    // Nothing was read, so nothing is shown as if it were.
    const { status, overview } = await framesOf(live)
    expect(status).toMatchObject({ sample: 0, atMs: null, clock: { sampleAgeMs: null } })
    expect(overview.tiles.filter((t) => t.value !== null)).toEqual([])
  })

  it('no job ids: that no job is known, which servers cannot name them, and the command that enables it', async () => {
    await connect({ scenario: scenario(two, 'start_s: 36000, pattern: { kind: continuous }') })
    for (const h of two) await lab.exec(h, 'lctl set_param jobid_var=disable')
    await live.show()
    const { status, jobs } = await framesOf(live)
    expect(jobs).toMatchObject({ known: 0, shown: 0, rows: { jobId: [] } })
    expect(status.counts).toMatchObject({ jobs: 0, targets: 2 })
    const found = await live.card((c) => c.servers.every((s) => s.steps.some((t) => t.id === 'jobs' && t.fix !== '')))
    for (const s of found.servers) {
      const step = s.steps.find((t) => t.id === 'jobs')
      expect(step?.state).toBe('watch')
      expect(step?.detail).toMatch(/^jobid_var=disable /)
      expect(step?.fix).toContain('lctl set_param -P jobid_var=')
    }
    expect(noJobsState(found, status.counts.targets)).toMatchObject({
      cause: 'disable',
      hosts: 'Reported by oss01, oss02.',
      command: 'lctl set_param -P jobid_var=SLURM_JOB_ID',
    })
    expect(found.notices.filter((n) => n.what.includes('jobid_var=disable'))).toHaveLength(2)
  })
})
