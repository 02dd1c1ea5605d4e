/** Debian's own Slurm: output of its squeue and scontrol, parsed by the console, locally and over SSH. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JobsFrame } from '#core/api/frames.ts'
import { BATCH_WAYS } from '#electron/cluster/batch/query-batch.ts'
import { me, noSshd, publicHalf, scratch, startSshd, type Sshd } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { SYSTEM_PATH } from '../lab/lab-files.ts'
import { noSlurm, startSlurm, type RealSlurm } from '../lab/slurm.ts'
import { liveConsole } from './live-console.ts'

/** A job name that a user may choose. */
const EVIL = "a|b $(reboot) UserId=root(0) Account=vip NumNodes=9 '\x1b[31m"

describe.skipIf(noSlurm !== '')('a real Slurm', () => {
  let slurm: RealSlurm
  let wide: string
  let evil: string
  let waits: string
  beforeAll(async () => {
    slurm = await startSlurm()
    wide = await slurm.submit({ nodes: 2, name: 'wide' })
    evil = await slurm.submit({ nodes: 1, name: EVIL })
    waits = await slurm.submit({ nodes: 4, name: 'waits' })
    const running = async (): Promise<number> =>
      (await slurm.run('squeue', '-h', '-t', 'running', '-o', '%A')).split('\n').length - 1
    while ((await running()) < 2) await new Promise((done) => setTimeout(done, 200))
  })
  afterAll(async () => slurm?.stop(), 60_000)

  it.each(BATCH_WAYS.filter((w) => w.system === 'slurm'))('$name tells jobs, users, nodes and states', async (way) => {
    const [program, ...args] = {
      squeue: ['squeue', '-h', '-a', '-o', '%A|%D|%u|%a|%T|%N|%j'],
      'squeue --json': ['squeue', '--json'],
      scontrol: ['scontrol', '-o', 'show', 'job'],
      qstat: ['false'],
    }[way.name] as [string, ...string[]]
    const read = way.parse(await slurm.run(program, ...args))
    expect(read?.skipped).toBe(0)
    const jobs = new Map(read?.jobs.map((j) => [j.number, j]))
    expect([...jobs.keys()].sort()).toEqual([wide, evil, waits].sort())
    expect(jobs.get(wide)).toMatchObject({ user: me, account: '', nodes: 2, hosts: ['n1', 'n2'], state: 'running' })
    expect(jobs.get(evil)).toMatchObject({ user: me, account: '', nodes: 1, hosts: ['n3'], state: 'running' })
    expect(jobs.get(waits)).toMatchObject({ user: me, nodes: 4, hosts: [], state: 'waiting' })
    for (const { name } of jobs.values()) expect(name).toMatch(/^[^\x00-\x1f\x7f-\x9f]{0,64}$/)
  })

  describe.skipIf(noSshd !== '')('over SSH', () => {
    let lab: Lab
    let scheduler: Sshd
    beforeAll(async () => {
      const scenario = join(scratch(), 'slurm.yaml')
      const job = (id: string): string =>
        `  - { id: "${id}", clients: [1], op: write, user: nobody, size_kib: 64, pattern: { kind: continuous } }`
      writeFileSync(
        scenario,
        [
          'title: Slurm',
          'cluster: slurm',
          'clients: { count: 2 }',
          'control: { max_rate: 100, mode: observe }',
          'oss: [{ name: oss01, osts: [{ name: s-OST0000, disk: { bandwidth_mb_s: 1000 } }] }]',
          'jobs:',
          job(`${wide}.wide.u0`),
          job(`${evil}.a.u0`),
          job('999999.gone.u0'),
          job('cron.u0'),
        ].join('\n'),
      )
      lab = await startLab({ scenario, servers: ['oss01'] })
      scheduler = await startSshd({
        authorized: [publicHalf(lab.identity)],
        hostKeys: lab.node('oss01').sshd.hostKeys,
        lines: [`SetEnv SHLVL=2 "PATH=${SYSTEM_PATH}" "SLURM_CONF=${slurm.env['SLURM_CONF']}"`],
      })
    })
    afterAll(async () => {
      scheduler?.stop()
      await lab?.stop()
    })

    it('says who the jobs of a live cluster belong to, on how many nodes, and why some are not known', async () => {
      writeFileSync(lab.knownHosts, lab.node('oss01').sshd.knownLines() + scheduler.knownLines())
      const server = { host: '127.0.0.1', user: me, identity: lab.identity, jump: null }
      const live = await liveConsole({
        knownHosts: lab.knownHosts,
        cluster: {
          name: 'slurm',
          env: 'DEV',
          safeMode: 'read-only',
          allowRoot: false,
          intervalMs: 1000,
          maxRate: 100,
          off: [],
          servers: [
            { ...server, name: 'oss01', port: lab.node('oss01').port, roles: [] },
            { ...server, name: 'login1', port: scheduler.port, roles: [] },
          ],
        },
      })
      try {
        await live.show()
        const card = await live.card((c) => c.state === 'connected')
        expect(card.servers.map((s) => s.roles)).toEqual([['oss'], ['scheduler']])
        const frames = await live.client.views.jobs(
          { stream: 'jobs', hz: 10, sort: 'jobId', descending: false },
          { signal: AbortSignal.timeout(20_000) },
        )
        let known: Record<string, unknown> = {}
        for await (const f of frames) {
          await live.client.host.ack({ stream: 'jobs', seq: f.seq })
          known = ownersOf(f)
          if (known[`${wide}.wide.u0`] && (known[`${wide}.wide.u0`] as unknown[])[0] !== '') break
        }
        expect(known).toMatchObject({ [`${wide}.wide.u0`]: [me, 2], [`${evil}.a.u0`]: [me, 1] })
        const one = await live.client.views.job({ stream: 'job', jobId: '999999.gone.u0' })
        for await (const f of one) {
          expect(JSON.stringify(f)).toContain('the queue has no job 999999')
          break
        }
      } finally {
        await live.close()
      }
    })
  })
})

const ownersOf = ({ rows }: JobsFrame): Record<string, unknown> =>
  Object.fromEntries(rows.jobId.map((id, i) => [id, [rows.user[i], rows.nodes[i]]]))
