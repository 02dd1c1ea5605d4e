/** `sluice policy` against SSH servers in this process, with emulated servers of each release. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emulatedServers, type EmulatedServers } from '#tests/kits/cli/emulated-servers.ts'
import { runSluice, type Ended } from '#tests/kits/cli/in-process.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { EnforcementStore, storeFile } from '../../enforce/store.ts'
import { errorOf, json } from '#tests/kits/cli/printed.ts'
import { POLICIES, RULES, scenarioOf, SERVERS, type Shown } from '#tests/kits/cli/policies.ts'

/** Test that depends on the server state left by the preceding tests of its group. */
const it = (name: string, act: () => Promise<void>): void => test(name, { concurrent: false }, act)
/** Separate servers per release, so that the suites run in parallel. */
const SIDE_BY_SIDE = { concurrent: true, timeout: 120_000 }

describe.each(['2.15.8', '2.17.57'])('policies from the shell, on Lustre %s', SIDE_BY_SIDE, (version) => {
  let lab: EmulatedServers
  let data: string
  beforeAll(async () => {
    data = tempFolder()
    lab = await emulatedServers({ scenario: scenarioOf(version) })
  })
  afterAll(() => lab?.stop())

  const sluice = (...args: string[]): Promise<Ended> =>
    runSluice(['--config', lab.clusterFile, '--known-hosts', lab.knownHosts, ...args], {
      SLUICE_DATA: data,
      SSH_AUTH_SOCK: '',
    })
  const planned = async (...args: string[]): Promise<Shown> => {
    const made = await sluice('policy', 'plan', 'small', ...args, '--json')
    expect([made.code, made.stderr]).toEqual([0, ''])
    return json(made) as unknown as Shown
  }
  const applied = async (id: string): Promise<Record<string, unknown>> => {
    const sent = await sluice('policy', 'apply', id, '--target', 'small', '--canary', '1', '--json')
    expect([sent.code, sent.stderr]).toEqual([0, ''])
    return json(sent)
  }
  /** Policy of the regular queue of each server. */
  const running = (): string[] =>
    SERVERS.map((host) => {
      const { stdout } = lab.exec(host, `lctl get_param -n ${POLICIES}`)
      const [reg = ''] = stdout.split('high_priority_requests')
      return /name: (tbf[^\n]*)\n {4}state: started/.exec(reg)?.[1] ?? 'fifo'
    })
  const start = (value: string): void => {
    for (const host of SERVERS) lab.exec(host, `lctl set_param ${RULES}='${value}'`)
  }
  const rulesOn = (host: string): string[] => [
    ...new Set(
      [...lab.rules(host).matchAll(/^(\S+) \S+ (\d+), ref -?\d+$/gm)]
        .map(([, name = '', rate = '']) => `${name} ${rate}`)
        .filter((r) => !r.startsWith('default')),
    ),
  ]
  const served = (host: string): number => {
    const { stdout } = lab.exec(host, 'lctl get_param -n obdfilter.*.job_stats')
    return Number(/write: +\{ samples: +(\d+)/.exec(stdout)?.[1] ?? 0)
  }

  it('change from type to type with RPCs queued, and a revert brings policies and rules back', async () => {
    const first = await planned('--policy', 'tbf jobid', '--reason', 'ticket 9')
    expect(first.nodes.map((n) => n.commands)).toEqual(SERVERS.map(() => [`lctl set_param ${POLICIES}='tbf jobid'`]))
    expect(first.ceilings).toMatchObject([{ rule: 'default', rate: 10_000, servers: 2 }])
    expect(await applied(first.id)).toMatchObject({ state: 'done', nodes: [{ state: 'done' }, { state: 'done' }] })
    expect(running()).toEqual(['tbf jobid', 'tbf jobid'])
    start('start theirs jobid={1.*} rate=3')
    let plan = await planned('--policy', 'tbf nid')
    // On a busy machine no time may be emulated between two readings.
    while (plan.blast.queued === 0) plan = await planned('--policy', 'tbf nid')
    const isOld = version === '2.15.8'
    expect(plan.nodes[0]?.commands).toEqual([
      ...(isOld ? [`lctl set_param ${POLICIES}=fifo`, '# wait until tbf is stopped on reg and hp'] : []),
      `lctl set_param ${POLICIES}='tbf nid'`,
    ])
    expect(plan.nodes[0]?.lost.other).toEqual(['theirs'])
    expect(plan.lints).toContainEqual({
      code: 'FOREIGN_RULES',
      level: 'bad',
      rule: '',
      text: '1 rule that Sluice did not start is removed with TBF: theirs on oss01, oss02.',
    })
    const change = await applied(plan.id)
    expect(running()).toEqual(['tbf nid', 'tbf nid'])
    expect(rulesOn('oss01')).toEqual([])
    // A hung server serves nothing.
    const then = served('oss01')
    await expect.poll(() => served('oss01'), { timeout: 60_000 }).toBeGreaterThan(then + 20)
    const reverted = await sluice('policy', 'revert', String(change['change']), '--json')
    expect([reverted.code, reverted.stderr]).toEqual([0, ''])
    expect(running()).toEqual(['tbf jobid', 'tbf jobid'])
    for (const host of SERVERS) expect(rulesOn(host)).toEqual(['theirs 3'])
    const twice = await sluice('rules', 'revert', String(change['change']), '--json')
    expect([twice.code, errorOf(twice)['code']]).toEqual([1, 'CHANGE_TAKEN'])
    const store = EnforcementStore.openForReading(storeFile(data))
    if (!store.ok) throw new Error(store.error.why)
    expect(store.value.verify().bad).toBeUndefined()
    store.value.close()
  })

  it('show each queue with its type, what is queued, whose rules it has, and the changes', async () => {
    const shown = json(await sluice('policy', 'show', 'small', '--json')) as unknown as {
      nodes: { host: string; service: string; version: string; queues: object[] }[]
      changes: { title: string; state: string }[]
    }
    expect(shown.nodes.map((n) => [n.host, n.service])).toEqual(SERVERS.map((h) => [h, 'ost_io']))
    expect(shown.nodes[0]?.version).toContain(version)
    expect(shown.nodes[0]?.queues).toMatchObject([
      {
        queue: 'reg',
        policy: 'tbf',
        arg: 'jobid',
        state: 'started',
        fallback: false,
        rules: { sluice: 0, controller: 0, other: 1 },
      },
      { queue: 'hp', policy: 'tbf', arg: 'jobid' },
    ])
    expect(shown.changes.map((c) => [c.title, c.state])).toEqual([
      ['revert of policy tbf nid', 'done'],
      ['policy tbf nid', 'undone'],
      ['policy tbf jobid', 'done'],
    ])
    const text = await sluice('policy', 'show', 'small')
    expect(text.stdout).toMatch(
      /oss02 {2}Lustre \S+ {2}ost_io\n {4}reg {2}tbf jobid +started +\d+ queued, \d+ active; 1 other/,
    )
  })

  it('refuse a plan when a server changed since, and say what changed', async () => {
    const { id } = await planned('--policy', 'fifo')
    lab.exec('oss02', `lctl set_param ${RULES}='start late jobid={9.*} rate=9'`)
    const sent = await sluice('policy', 'apply', id, '--target', 'small', '--json')
    expect([sent.code, errorOf(sent)['code']]).toEqual([1, 'PLAN_CHANGED'])
    expect(errorOf(sent)['changed']).toEqual(expect.arrayContaining([expect.stringMatching(/^oss02: late is new/)]))
    expect(running()).toEqual(['tbf jobid', 'tbf jobid'])
    lab.exec('oss02', `lctl set_param ${RULES}='stop late'`)
  })

  it('write to the servers and the queue that are named, and to no other', async () => {
    const plan = await planned('--policy', 'fifo', '--server', 'oss02', '--queue', 'hp')
    expect(plan.nodes.map((n) => [n.host, n.commands[0]])).toEqual([['oss02', `lctl set_param ${POLICIES}='fifo hp'`]])
    const change = await applied(plan.id)
    expect(change['nodes']).toMatchObject([{ host: 'oss02', state: 'done' }])
    const queues = (host: string): string[] => {
      const { stdout } = lab.exec(host, `lctl get_param -n ${POLICIES}`)
      return stdout
        .split('high_priority_requests')
        .map((q) => /name: (tbf[^\n]*)\n {4}state: started/.exec(q)?.[1] ?? 'fifo')
    }
    expect(queues('oss01')).toEqual(['tbf jobid', 'tbf jobid'])
    expect(queues('oss02')).toEqual(['tbf jobid', 'fifo'])
    const back = await sluice('rules', 'revert', String(change['change']), '--json')
    expect([back.code, json(back)['nodes']]).toMatchObject([0, [{ host: 'oss02', state: 'done' }]])
    expect(queues('oss02')).toEqual(['tbf jobid', 'tbf jobid'])
  })

  it('take no argument that is not a policy, a server, a plan or the target', async () => {
    const tried = async (...args: string[]): Promise<[number | null, unknown]> => {
      const e = await sluice('policy', ...args, '--json')
      return [e.code, e.stdout === '' ? '' : errorOf(e)['code']]
    }
    for (const evil of ["tbf jobid'; reboot #", 'tbf $(reboot)', 'fifo\nreboot', 'fifo reboot', '../tbf', '']) {
      expect(await tried('plan', 'small', '--policy', evil), evil).toEqual([2, ''])
    }
    expect(await tried('plan', 'small', '--policy', 'fifo', '--server', "oss01'; reboot")).toEqual([
      2,
      'UNKNOWN_SERVER',
    ])
    const nosuch = await sluice('policy', 'plan', 'small', '--policy', 'tbf nosuch', '--json')
    expect([nosuch.code, json(nosuch)['refused']]).toMatchObject([1, { code: 'POLICY_REFUSED' }])
    expect(json(nosuch)['nodes']).toEqual([])
    expect(await tried('apply', "x'; reboot", '--target', 'small')).toEqual([2, 'NO_SUCH_PLAN'])
    const { id } = await planned('--policy', 'fifo')
    expect(await tried('apply', id, '--target', 'other')).toEqual([1, 'NOT_TYPED'])
    expect((await sluice('rules', 'apply', id, '--target', 'small', '--json')).code).toBe(2)
    expect(running()).toEqual(['tbf jobid', 'tbf jobid'])
  })
})
