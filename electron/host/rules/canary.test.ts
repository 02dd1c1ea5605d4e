import { describe, expect, it } from 'vitest'
import { demo, emulatedCluster, smallScenario, type Emulated } from '../../../tests/node/emulated-cluster.ts'
import { ends, QUICK, review, RULES, ruleService, stage, activeRules } from '../../../tests/node/rule-service.ts'
import { judgeReading, watchCanary, type CanaryReading, type CanaryWatch } from '../../enforce/canary.ts'
import { stagedFrame } from '../views/rules/staged.ts'
import { RuleService } from './rule-service.ts'

const busy = () =>
  smallScenario([{ id: '1.hog.u1' }, { id: '2.calm.u2', clients: [2, 3], processes: 2 }], { period_ms: 500 })
const CAP = 'start cap jobid={1.hog.u1} rate=20'

/** Runs the emulator while a commit is sent. */
async function whileRunning<T>(c: Emulated, work: Promise<T>, each: () => void = () => undefined): Promise<T> {
  let isOver = false
  void work.finally(() => (isOver = true))
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    if (!isOver) await c.run(c.source.emulator.seconds + 0.5)
    each()
  }
  return work
}
const send = (d: RuleService) => d.commit('ost_io', review(d)?.planId ?? '', review(d)?.typed ?? '')

describe('the watch over the first server', () => {
  it('is shown while it lasts, and the rest follow when it is over', async () => {
    const { c, service: d } = await ruleService({}, busy(), { canaryS: 5 })
    stage(d, CAP, 60)
    const seen: string[] = []
    const says = new Set<string>()
    const done = await whileRunning(c, send(d), () => {
      const commit = stagedFrame(d, { service: 'ost_io' }, 1).commit
      const states = commit?.nodes.map((n) => `${n.host} ${n.state}`).join(', ') ?? ''
      if (states !== seen.at(-1)) seen.push(states)
      for (const s of commit?.watch?.says ?? []) says.add(s.text.replaceAll(/\d+/g, 'N'))
    })
    expect(ends(done)).toEqual(['oss01 done', 'oss02 done'])
    expect(seen).toContain('oss01 watching, oss02 waiting')
    expect([...says]).toContain('no lock callback timed out')
    expect([...says].some((t) => t.startsWith('match: N classes matched'))).toBe(true)
    const watched = c.records.filter((r) => r.text.startsWith('watched:')).map((r) => r.server)
    expect(watched).toEqual(['oss01'])
  })

  it('that is canceled brings the first server back, and the rest get nothing', async () => {
    const { c, service: d } = await ruleService({}, busy(), { canaryS: 30 })
    stage(d, CAP, 60)
    const done = await whileRunning(c, send(d), () => {
      if (stagedFrame(d, { service: 'ost_io' }, 1).commit?.watch) d.cancel()
    })
    expect(ends(done)).toEqual(['oss01 rolled back', 'oss02 not sent'])
    for (const h of ['oss01', 'oss02']) {
      expect(activeRules(c, h)).toEqual(['default * 10000'])
      expect(c.source.emulator.node(h)?.timers.size).toBe(0)
    }
  })

  it('goes back where the server loses its rules meanwhile', async () => {
    const { c, service: d } = await ruleService({}, busy(), { canaryS: 5 })
    stage(d, CAP)
    const done = await whileRunning(c, send(d), () => {
      if (!stagedFrame(d, { service: 'ost_io' }, 1).commit?.watch) return
      c.source.emulator.node('oss01')?.exec(`lctl set_param ${RULES}='stop cap'`)
    })
    expect(ends(done)).toEqual(['oss01 rolled back', 'oss02 not sent'])
    expect(activeRules(c, 'oss02')).toEqual(['default * 10000'])
  })

  it('works on the demo cluster as it is', async () => {
    const c = emulatedCluster(demo(), { mode: 'enforce', controller: 'none' })
    await c.run(6)
    const d = new RuleService(c.monitor, { ...QUICK, canaryS: 10 })
    stage(d, 'start cap jobid={4690.*} rate=400', 600)
    expect(ends(await whileRunning(c, send(d)))).toEqual(['oss01 done', 'oss02 done'])
  })
})

describe('what a reading of the first server says', () => {
  const before: CanaryReading = { atMs: 0, queued: 4, timeouts: 2, othersMs: 10, bound: 0 }
  const limits = { queuedMost: 300, othersFactor: 3, othersMoreMs: 20, silentMs: 50 }
  const watchOf = (readings: readonly (CanaryReading | undefined)[]): CanaryWatch => {
    const left = [...readings]
    return { before, limits, next: () => Promise.resolve(left.shift()) }
  }
  const at = (s: number, more: Partial<CanaryReading> = {}): CanaryReading => ({
    ...before,
    atMs: s * 1000,
    bound: 3,
    ...more,
  })
  const end = async (readings: readonly (CanaryReading | undefined)[]) =>
    (await watchCanary(watchOf(readings), 3, undefined, () => undefined)).broken

  it.each([
    ['clients are evicted', [at(1), at(2, { timeouts: 3 })], /^canary: 1 lock callback timed out/],
    ['more waits than the covered jobs can have sent', [at(1, { queued: 301 })], /^canary: 301 RPCs queued/],
    [
      'others are slow three times in a row',
      [1, 2, 3].map((s) => at(s, { othersMs: 40 })),
      /^canary: other jobs: service time 40 ms/,
    ],
    ['no reading comes', [at(1), undefined], /^no reading for 50 ms/],
  ] as const)('is bad where %s', async (_what, readings, why) => {
    expect(await end(readings)).toMatch(why)
  })

  it('is fine where others are slow once, or nothing is bound yet, which is said', async () => {
    expect(await end([at(1), at(2, { othersMs: 90 }), at(3), at(4)])).toBeUndefined()
    expect(judgeReading({ before, limits }, at(1, { bound: 0 }), 0)).toContainEqual({
      level: 'watch',
      text: 'no match so far',
    })
  })
})
