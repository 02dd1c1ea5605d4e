/** CLI in this process against SSH servers whose nodes the emulator plays. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emulatedServers, otherKey, twoServers, type EmulatedServers } from '#tests/kits/cli/emulated-servers.ts'
import { startSluice, type Ended, type RunningHere } from '#tests/kits/cli/in-process.ts'
import { errorOf, json, jsonLines } from '#tests/kits/cli/printed.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { EnforcementStore, storeFile } from '../enforce/store.ts'

const HOG = '4690.python.u1021'

/** Test that depends on the server state left by the preceding tests of its group. */
const it = (name: string, act: () => Promise<void>): void => test(name, { concurrent: false }, act)
/** Each group has its own servers and data folder, so that groups run in parallel. */
const SIDE_BY_SIDE = { concurrent: true, timeout: 120_000 }

const startOn = (data: string, args: readonly string[]): RunningHere =>
  startSluice(args, { env: { SLUICE_DATA: data, SSH_AUTH_SOCK: '' } })

function file(text: string): string {
  const path = join(tempFolder(), 'file.yaml')
  writeFileSync(path, text)
  return path
}
const desired = (...rules: string[]): string => file(`rules:\n${rules.map((r) => `  - ${r}\n`).join('')}`)
const names = (text: string): string[] =>
  [...text.matchAll(/^(\S+) .* \d+, ref -?\d+$/gm)].map(([, name = '']) => name).filter((n) => n !== 'default')
const activeRulesOn = (lab: EmulatedServers, host: string): string[] => [...new Set(names(lab.rules(host)))]
interface Written {
  clusters: { safe_mode?: string; nodes: { port: number; identity: string }[] }[]
}
const until = async (is: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await is())) await new Promise((resolve) => setTimeout(resolve, 20))
}

describe('clusters from the shell', SIDE_BY_SIDE, () => {
  let lab: EmulatedServers
  let data: string
  const start = (args: readonly string[]): RunningHere => startOn(data, args)
  /** Runs a command with the lab's cluster file and known hosts. */
  const sluice = (...args: string[]): Promise<Ended> =>
    start(['--config', lab.clusterFile, '--known-hosts', lab.knownHosts, ...args]).ended
  const bare = (...args: string[]): Promise<Ended> => start(args).ended
  const activeRules = (host: string): string[] => activeRulesOn(lab, host)
  /** Copy of the cluster file with one change. */
  function clusterFile(change: (cluster: Written['clusters'][number]) => void): string {
    const content = parse(readFileSync(lab.clusterFile, 'utf8')) as Written
    for (const c of content.clusters) change(c)
    return file(stringify(content))
  }
  const planned = async (path: string, ...more: string[]): Promise<Record<string, unknown>> => {
    const made = await sluice('rules', 'plan', 'demo', '--desired', path, '--json', ...more)
    expect(made.stderr).toBe('')
    return json(made)
  }

  beforeAll(async () => {
    data = tempFolder()
    lab = await emulatedServers({ scenario: twoServers(HOG) })
  })
  afterAll(() => lab?.stop())

  it('end with 2 for an unknown cluster, an unreadable file and an unknown option', async () => {
    const [unknown, broken, option, fingerprint] = await Promise.all([
      sluice('watch', 'other', '--json'),
      bare('--config', file('clusters: ['), 'rules', 'list', 'demo', '--json'),
      sluice('rules', 'list', 'demo', '--service', 'nope'),
      bare('--trust', 'MD5:aa', 'watch', 'demo'),
    ])
    expect([unknown.code, broken.code, option.code, fingerprint.code]).toEqual([2, 2, 2, 2])
    expect(errorOf(unknown)).toMatchObject({ code: 'UNKNOWN_CLUSTER' })
    expect(errorOf(broken)).toMatchObject({ code: 'CLUSTERS_UNREADABLE' })
  })

  it('end with 3 and the fingerprint before any authentication, and continue when it is confirmed', async () => {
    const path = clusterFile((c) => c.nodes.splice(1))
    const before = lab.logins()
    const unknown = await bare('--config', path, '--known-hosts', file(''), 'watch', 'demo', '--json', '--for', '1')
    expect(unknown.code).toBe(3)
    const { fingerprint, verdict } = errorOf(unknown)
    expect(verdict).toBe('unknown')
    expect(unknown.stderr).toContain(String(fingerprint))
    expect(lab.logins()).toBe(before)
    const trusted = ['--known-hosts', file(''), '--trust', String(fingerprint)]
    const vouched = await bare('--config', path, ...trusted, 'watch', 'demo', '--json', '--for', '1')
    expect(vouched.code).toBe(0)
    expect(jsonLines(vouched.stdout)[0]).toMatchObject({ source: 'LIVE' })
  })

  it('end with 4 when no key is taken, and with 1 when nothing listens', async () => {
    const other = otherKey()
    const noKey = clusterFile((c) => c.nodes.forEach((n) => (n.identity = other)))
    const unreachable = clusterFile((c) => c.nodes.forEach((n) => (n.port = 1)))
    const [refused, silent] = await Promise.all(
      [noKey, unreachable].map((f) =>
        bare('--config', f, '--known-hosts', lab.knownHosts, 'rules', 'list', 'demo', '--json'),
      ),
    )
    expect([refused?.code, silent?.code]).toEqual([4, 1])
    expect(refused && errorOf(refused)).toMatchObject({ code: 'SSH_AUTH_REFUSED' })
  })

  it('continue with the servers that answer, and report which do not', async () => {
    lab.kill('oss02')
    const [watched, listed] = await Promise.all([
      sluice('watch', 'demo', '--json', '--for', '1'),
      sluice('rules', 'list', 'demo', '--json'),
    ])
    await lab.restart('oss02')
    expect([watched.code, listed.code]).toEqual([0, 5])
    const last = jsonLines(watched.stdout).at(-1)
    expect(last).toMatchObject({ partial: true, source: 'LIVE' })
    expect(watched.stderr).not.toBe('')
    expect((json(listed)['nodes'] as { host: string }[]).map((n) => n.host)).toHaveLength(1)
    expect(json(listed)['missing']).toHaveLength(1)
  })

  it('plan, apply, list and take back a rule, and every step is on record', async () => {
    const path = desired(`{ match: "jobid={${HOG}}", rate: 50 }`)
    let plan: Record<string, unknown> = {}
    // On a busy machine no time may be emulated between the two readings that the first rates need.
    await until(async () => {
      plan = await planned(path, '--reason', 'ticket 7')
      return (plan['blast'] as { jobs_total: number }).jobs_total > 0
    })
    const nodes = plan['nodes'] as { commands: string[]; inverse: string[] }[]
    expect(nodes).toHaveLength(2)
    expect(nodes[0]?.commands[0]).toMatch(/^systemd-run --on-active=1800s/)
    expect(nodes[0]?.commands[1]).toContain(`start sl_`)
    expect(nodes[0]?.inverse[0]).toContain('stop sl_')
    expect(plan['blast']).toMatchObject({ jobs_total: 1, jobs: [{ job_id: HOG }] })
    expect(plan['ceilings']).toMatchObject([{ rate: 50, ceiling: 100 }])
    const id = String(plan['id'])
    const wrong = await sluice('rules', 'apply', id, '--target', 'altair', '--json')
    expect([wrong.code, errorOf(wrong)['code']]).toEqual([1, 'NOT_TYPED'])
    // The default of a cluster file is review+unlock: naming the target unlocks for this command only.
    const applied = await sluice('rules', 'apply', id, '--target', HOG, '--expire', '10m', '--canary', '1', '--json')
    expect(applied.stderr).toBe('')
    expect(applied.code).toBe(0)
    const change = json(applied)
    expect(change).toMatchObject({ state: 'done', nodes: [{ state: 'done' }, { state: 'done' }] })
    expect(activeRules('oss02')).toEqual([expect.stringMatching(/^sl_/)])
    const again = await sluice('rules', 'apply', id, '--target', 'demo', '--json')
    expect([again.code, errorOf(again)['code']]).toEqual([1, 'PLAN_TAKEN'])
    const listed = json(await sluice('rules', 'list', 'demo', '--json'))
    const [first] = (listed['nodes'] as { rules: Record<string, unknown>[] }[])[0]?.rules ?? []
    expect(first).toMatchObject({
      owner: 'sluice',
      reason: 'ticket 7',
      change: change['change'],
      match: `jobid={${HOG}}`,
    })
    const reverted = await sluice('rules', 'revert', String(change['change']), '--json')
    expect(reverted.code).toBe(0)
    expect(activeRules('oss01')).toEqual([])
    // Its timers are removed with it.
    expect(lab.exec('oss01', 'systemctl list-units sluice-*.timer --all --no-legend --plain').stdout).toBe('')
    const store = EnforcementStore.openForReading(storeFile(data))
    if (!store.ok) throw new Error(store.error.why)
    expect(store.value.verify().bad).toBeUndefined()
    expect(store.value.rules.of('demo')).toEqual([])
    store.value.close()
  })

  it('refuse a plan when the servers changed since, and say what changed; of two processes one takes a plan', async () => {
    const path = desired(`{ match: "jobid={${HOG}}", rate: 40, name: ops_hog }`)
    const { id } = await planned(path)
    lab.exec('oss02', "lctl set_param ost.OSS.ost_io.nrs_tbf_rule='start theirs jobid={4633.wrf.exe.u512} rate=9'")
    const changed = await sluice('rules', 'apply', String(id), '--target', 'demo', '--canary', '0', '--json')
    expect([changed.code, errorOf(changed)['code']]).toEqual([1, 'PLAN_CHANGED'])
    expect(errorOf(changed)['changed']).toEqual(
      expect.arrayContaining([expect.stringMatching(/^oss02: theirs is new/)]),
    )
    expect(activeRules('oss01')).toEqual([])
    const fresh = await planned(path)
    const apply = (): Promise<Ended> =>
      sluice('rules', 'apply', String(fresh['id']), '--target', 'demo', '--canary', '0', '--json')
    const both = await Promise.all([apply(), apply()])
    const [done, taken] = both.toSorted((a, b) => (a.code ?? 9) - (b.code ?? 9)) as [Ended, Ended]
    expect([done.code, done.stderr]).toEqual([0, ''])
    expect([taken.code, errorOf(taken)['code']]).toEqual([1, 'PLAN_TAKEN'])
    expect(activeRules('oss01')).toEqual(['ops_hog'])
    expect(activeRules('oss02')).toEqual(['ops_hog', 'theirs'])
    const script = await sluice('stop', 'demo', '--script')
    expect(script.code).toBe(0)
    expect(script.stdout).toContain("'reg stop ops_hog'")
    expect(script.stdout).not.toContain('theirs')
    // Rules managed by Sluice are removed; others stay.
    const cleaned = await sluice('rules', 'clean', 'demo', '--json')
    expect([cleaned.code, json(cleaned)['removed']]).toEqual([0, 2])
    expect(activeRules('oss01')).toEqual([])
    expect(activeRules('oss02')).toEqual(['theirs'])
    lab.exec('oss02', "lctl set_param ost.OSS.ost_io.nrs_tbf_rule='stop theirs'")
  })

  it('with a name used by a foreign rule, or a line that no server accepts, make no plan', async () => {
    lab.exec('oss01', "lctl set_param ost.OSS.ost_io.nrs_tbf_rule='start theirs jobid={a.1} rate=9'")
    const plan = (rule: string): Promise<Ended> => sluice('rules', 'plan', 'demo', '--desired', desired(rule), '--json')
    const foreign = await plan('{ match: "jobid={b.1}", rate: 5, name: theirs }')
    const evil = await plan(`{ match: "jobid={x'; reboot #}", rate: 5 }`)
    const keys = await plan('{ match: "jobid={b.1}", rate: 5, burst: 3 }')
    lab.exec('oss01', "lctl set_param ost.OSS.ost_io.nrs_tbf_rule='stop theirs'")
    expect([foreign.code, errorOf(foreign)['code']]).toEqual([1, 'FOREIGN_RULE'])
    expect(evil.code).toBe(2)
    expect(String(errorOf(evil)['message'])).toContain('line 2')
    expect([keys.code, errorOf(keys)['code']]).toEqual([2, 'DESIRED_UNREADABLE'])
    expect(String(errorOf(keys)['message'])).toContain('line 2')
  })

  it('in read-only write nothing, whichever verb is tried', async () => {
    const readOnly = clusterFile((c) => (c.safe_mode = 'read-only'))
    const on = (...args: string[]): Promise<Ended> =>
      bare('--config', readOnly, '--known-hosts', lab.knownHosts, ...args, '--json')
    const { id } = json(await on('rules', 'plan', 'demo', '--desired', desired('{ match: "jobid={b.1}", rate: 5 }')))
    const tried = [
      await on('rules', 'apply', String(id), '--target', 'demo'),
      await on('rules', 'clean', 'demo'),
      await on('stop', 'demo'),
      await on('control', 'demo', '--mode', 'enforce', '--target', 'demo', '--for', '5'),
    ]
    expect(tried.map((e) => [e.code, errorOf(e)['code']])).toEqual(tried.map(() => [1, 'READ_ONLY']))
    expect(activeRules('oss01')).toEqual([])
  })

  it('end with 5 or 6 when a server is lost on the way, and say how each ended', async () => {
    const { id } = await planned(desired(`{ match: "jobid={${HOG}}", rate: 30, name: ops_cut }`))
    const { ended } = start([
      '--config',
      lab.clusterFile,
      '--known-hosts',
      lab.knownHosts,
      'rules',
      'apply',
      String(id),
      '--target',
      'demo',
      '--canary',
      '2',
      '--json',
    ])
    let isOver = false
    void ended.then(() => (isOver = true))
    await until(() => isOver || activeRules('oss01').length > 0)
    lab.kill('oss02')
    const cut = await ended
    await lab.restart('oss02')
    expect(cut.code, cut.stderr).toBe(5)
    expect(json(cut)['nodes']).toMatchObject([
      { host: 'oss01', state: 'done' },
      { host: 'oss02', state: 'not sent' },
    ])
    const cleaned = await sluice('rules', 'clean', 'demo', '--json')
    expect(cleaned.code).toBe(0)
    expect(activeRules('oss01')).toEqual([])
  })
})

describe('a controller from the shell', SIDE_BY_SIDE, () => {
  let lab: EmulatedServers
  beforeAll(async () => {
    lab = await emulatedServers({ scenario: twoServers(HOG) })
  })
  afterAll(() => lab?.stop())

  it('removes its rules when it is interrupted', async () => {
    const reported = startOn(tempFolder(), [
      '--config',
      lab.clusterFile,
      '--known-hosts',
      lab.knownHosts,
      'control',
      'demo',
      '--controller',
      'static',
      '--mode',
      'enforce',
      '--target',
      'demo',
      '--json',
    ])
    const isRuling = (): boolean => activeRulesOn(lab, 'oss01').some((n) => n.startsWith('st_'))
    await until(isRuling)
    reported.signal('SIGTERM')
    const end = await reported.ended
    expect([end.code, end.stderr]).toEqual([0, ''])
    expect(jsonLines(end.stdout).at(-1)).toMatchObject({ mode: 'enforce', controller: 'static', source: 'LIVE' })
    expect(isRuling()).toBe(false)
  })
})

describe('job ids that would take over a terminal or a shell', SIDE_BY_SIDE, () => {
  const EVIL = [
    '\u001b]0;pwned\u0007.1',
    '\u001b[2J\u001b[H1.1',
    '1.\u009b31m',
    '$(reboot).1',
    "'; reboot #.1",
    '<img src=x>.1',
  ]
  let evil: EmulatedServers
  const data = tempFolder()
  beforeAll(async () => {
    const disk = { bandwidth_mb_s: 1000, per_op_us: 20_000, channels: 4 }
    const scenario = JSON.stringify({
      title: 'Names',
      cluster: 'evil',
      policy: 'tbf jobid',
      clients: { count: EVIL.length },
      oss: [{ name: 'oss01', osts: [{ name: 'evil-OST0000', disk }] }],
      control: { max_rate: 200, period_ms: 1000 },
      jobs: EVIL.map((id, i) => ({
        id,
        clients: [i + 1],
        processes: 2,
        op: 'write',
        size_kib: 64,
        pattern: { kind: 'continuous' },
      })),
    })
    evil = await emulatedServers({ scenario: file(scenario), servers: ['oss01'] })
  })
  afterAll(() => evil?.stop())

  it('are data in what watch prints, in JSON and for people', async () => {
    const on = (...args: string[]): Promise<Ended> =>
      startOn(data, [
        '--config',
        evil.clusterFile,
        '--known-hosts',
        evil.knownHosts,
        'watch',
        'evil',
        '--for',
        '1',
        ...args,
      ]).ended
    const [machine, people] = await Promise.all([on('--json'), on()])
    expect([machine.code, people.code]).toEqual([0, 0])
    for (const text of [machine.stdout, people.stdout]) expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\uffff]/)
    const jobs = jsonLines(machine.stdout).at(-1)?.['jobs'] as { job_id: string }[]
    expect(jobs.map((j) => j.job_id).sort()).toEqual([...EVIL].sort())
    expect(people.stdout).toContain('$(reboot).1')
  })
})
