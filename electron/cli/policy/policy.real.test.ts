/** One policy change against real OpenSSH servers, with emulated servers of the release that changes policies by way of fifo. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startLab, type Lab } from '../../../tests/lab/lab.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { EnforcementStore, storeFile } from '../../enforce/store.ts'
import { noSshd } from '#tests/kits/electron/ssh/sshd.ts'
import { runSluice, type Ended } from '#tests/kits/cli/in-process.ts'
import { errorOf, json } from '#tests/kits/cli/printed.ts'
import { POLICIES, RULES, scenarioOf, SERVERS, type Shown } from '#tests/kits/cli/policies.ts'

describe.skipIf(noSshd !== '').each(['2.15.8'])(
  'policies from the shell, on Lustre %s',
  { timeout: 240_000 },
  (version) => {
    let lab: Lab
    let data: string
    beforeAll(async () => {
      data = tempFolder()
      lab = await startLab({ scenario: scenarioOf(version) })
    }, 60_000)
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
    const running = (): Promise<string[]> =>
      Promise.all(
        SERVERS.map(async (host) => {
          const { stdout } = await lab.exec(host, `lctl get_param -n ${POLICIES}`)
          const [reg = ''] = stdout.split('high_priority_requests')
          return /name: (tbf[^\n]*)\n {4}state: started/.exec(reg)?.[1] ?? 'fifo'
        }),
      )
    const start = async (value: string): Promise<void> => {
      for (const host of SERVERS) await lab.exec(host, `lctl set_param ${RULES}='${value}'`)
    }
    const rulesOn = async (host: string): Promise<string[]> => [
      ...new Set(
        [...(await lab.rules(host)).matchAll(/^(\S+) \S+ (\d+), ref -?\d+$/gm)]
          .map(([, name = '', rate = '']) => `${name} ${rate}`)
          .filter((r) => !r.startsWith('default')),
      ),
    ]
    const served = async (host: string): Promise<number> => {
      const { stdout } = await lab.exec(host, 'lctl get_param -n obdfilter.*.job_stats')
      return Number(/write: +\{ samples: +(\d+)/.exec(stdout)?.[1] ?? 0)
    }

    it('change from type to type with RPCs queued, and a revert brings policies and rules back', async () => {
      const first = await planned('--policy', 'tbf jobid', '--reason', 'ticket 9')
      expect(first.nodes.map((n) => n.commands)).toEqual(SERVERS.map(() => [`lctl set_param ${POLICIES}='tbf jobid'`]))
      expect(first.ceilings).toMatchObject([{ rule: 'default', rate: 10_000, servers: 2 }])
      expect(await applied(first.id)).toMatchObject({ state: 'done', nodes: [{ state: 'done' }, { state: 'done' }] })
      expect(await running()).toEqual(['tbf jobid', 'tbf jobid'])
      await start('start theirs jobid={1.*} rate=3')
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
      expect(await running()).toEqual(['tbf nid', 'tbf nid'])
      expect(await rulesOn('oss01')).toEqual([])
      // A hung server serves nothing.
      const then = await served('oss01')
      await expect.poll(() => served('oss01'), { timeout: 60_000 }).toBeGreaterThan(then + 20)
      const reverted = await sluice('policy', 'revert', String(change['change']), '--json')
      expect([reverted.code, reverted.stderr]).toEqual([0, ''])
      expect(await running()).toEqual(['tbf jobid', 'tbf jobid'])
      for (const host of SERVERS) expect(await rulesOn(host)).toEqual(['theirs 3'])
      const twice = await sluice('rules', 'revert', String(change['change']), '--json')
      expect([twice.code, errorOf(twice)['code']]).toEqual([1, 'CHANGE_TAKEN'])
      const store = EnforcementStore.openForReading(storeFile(data))
      if (!store.ok) throw new Error(store.error.why)
      expect(store.value.verify().bad).toBeUndefined()
      store.value.close()
    })
  },
)
