/** Controllers on servers whose job ids identify root, identify no user, or change their template. */
import { describe, expect, it } from 'vitest'
import { LIVE_FENCES } from '#core/control/fences.ts'
import { emulatedCluster, smallScenario, type Emulated, type Setup } from '../../../tests/node/emulated-cluster.ts'
import { activeRules } from '../../../tests/node/rule-service.ts'
import { lost, printed } from '#tests/kits/electron/answers.ts'

/** Answers of servers to `lctl get_param jobid_var jobid_name`; undefined: as printed by the emulator. */
type Answers = Map<string, string | undefined>

const answering =
  (answers: Answers): NonNullable<Setup['around']> =>
  (node) => ({
    ...node,
    exec: async (command) => {
      const output = command.includes('jobid_var') ? answers.get(node.host) : undefined
      return output === undefined ? node.exec(command) : printed(output, '', output === '' ? 2 : 0)
    },
  })
const reported = (variable: string, name: string): string => `jobid_var=${variable}\njobid_name=${name}\n`
const both = (output: string): Answers =>
  new Map([
    ['oss01', output],
    ['oss02', output],
  ])
const SHARE = { clients: [2, 3], processes: 8 }

function cluster(ids: readonly string[], answers: Answers, setup: Setup = {}): Emulated {
  return emulatedCluster(smallScenario(ids.map((id) => ({ id, ...SHARE }))), {
    kind: 'LIVE',
    mode: 'enforce',
    controller: 'static',
    fences: { ...LIVE_FENCES, shadowNs: 0 },
    around: answering(answers),
    ...setup,
  })
}
const limited = (c: Emulated): string[] =>
  [
    ...new Set(c.writes().flatMap((w) => [...w.command.matchAll(/start \w+ jobid=\{(.*?)\}/g)].map((m) => m[1] ?? ''))),
  ].sort()
const codes = (c: Emulated): string[] => c.monitor.failures.map((f) => f.code)

describe('a controller never limits a job of root', () => {
  it.each([
    ['SLURM_JOB_ID', '%j.%e.u%u', ['login03.rsync.u0', '4690.python.u1021'], ['4690.python.u1021']],
    ['nodelocal', '%e.%u:%h', ['rsync.0:host', 'cp.500:host'], ['cp.500:host']],
    ['nodelocal', '%u.%e', ['0.rsync', '500.cp'], ['500.cp']],
    ['procname_uid', '%j', ['rsync.0', 'cp.500', 'rsync.0:host'], ['cp.500']],
    ['SLURM_JOB_ID', '%j', ['4690', '4691'], ['4690', '4691']],
  ])('%s %s: %j', async (variable, name, ids, expected) => {
    const c = cluster(ids, both(reported(variable, name)))
    await c.run(4)
    expect(limited(c)).toEqual(expected)
    expect(codes(c)).toEqual([])
  })
})

describe('without one known template no controller enforces', () => {
  it.each([
    ['a server does not tell', new Map([['oss02', '']]), /oss02 does not report/],
    ['servers differ', new Map([['oss02', reported('procname_uid', '%e.%u')]]), /oss01 has .*oss02 has /],
    ['job ids are off', both(reported('disable', '%e.%u')), /disable/],
    ['ids tell neither user nor job', both(reported('nodelocal', '%H')), /%H/],
  ])('%s', async (_, answers, why) => {
    const c = cluster(['1.hog.u1', '2.calm.u2'], answers, { mode: 'advise' })
    await c.run(2)
    expect(c.monitor.setMode('enforce')).toMatchObject({
      ok: false,
      error: {
        code: 'JOBID_TEMPLATE_UNKNOWN',
        why: expect.stringMatching(why) as unknown,
        next: expect.stringContaining('jobid_name') as unknown,
      },
    })
    expect(codes(c)).toContain('JOBID_TEMPLATE_UNKNOWN')
    await c.run(4)
    expect([c.monitor.loop.mode, c.writes()]).toEqual(['advise', []])
    // Rules that an operator commits do not belong to a controller.
    expect(c.monitor.setController('none').ok).toBe(true)
    expect(c.monitor.setMode('enforce').ok).toBe(true)
    expect(c.monitor.setController('adaptbf')).toMatchObject({ ok: false })
  })

  it.each([
    ['is not told any more', '', 'JOBID_TEMPLATE_UNKNOWN'],
    ['is another one', reported('procname_uid', '%e.%u'), 'JOBID_TEMPLATE_CHANGED'],
  ])('an enforcing one leaves it and removes its rules when the template %s', async (_, output, code) => {
    const answers: Answers = new Map()
    const c = cluster(['1.hog.u1', '2.calm.u2'], answers)
    await c.run(4)
    expect(activeRules(c).filter((l) => l.startsWith('st_')).length).toBeGreaterThan(0)
    for (const host of ['oss01', 'oss02']) answers.set(host, output)
    await c.run(16)
    expect(c.monitor.loop.mode).toBe('advise')
    expect([...activeRules(c), ...activeRules(c, 'oss02')].filter((l) => l.startsWith('st_'))).toEqual([])
    expect(codes(c)).toContain(code)
    expect(c.records.some((r) => r.kind === 'mode' && JSON.stringify(r).includes('mode advise'))).toBe(true)
  })

  it('a server that does not answer keeps its last settings', async () => {
    let isSilent = false
    const c = cluster(['1.hog.u1'], new Map(), {
      around: (node) => ({
        ...node,
        exec: async (command) => {
          if (isSilent && node.host === 'oss02') return lost('it does not answer')
          return node.exec(command)
        },
      }),
    })
    await c.run(3)
    isSilent = true
    await c.run(16)
    expect(c.monitor.loop.mode).toBe('enforce')
    expect(codes(c).filter((code) => code.startsWith('JOBID'))).toEqual([])
  })
})
