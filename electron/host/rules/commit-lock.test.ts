import { describe, expect, it } from 'vitest'
import { lockCommits } from '../../enforce/commit-lock.ts'
import { thisProcess } from '../../enforce/store-leases.ts'
import { EnforcementStore } from '../../enforce/store.ts'
import { commit, ends, ruleService, stage, activeRules } from '../../../tests/node/rule-service.ts'

const CAP = 'start cap jobid={1.hog.u1} rate=20'
const PLAN = 'commit of small'

describe('a commit of the console', () => {
  it('waits for that of a command on the same cluster, and gives the lock back', async () => {
    const opened = EnforcementStore.open(':memory:', 0)
    if (!opened.ok) throw new Error(opened.error.what)
    const store = opened.value
    const { c, service } = await ruleService({}, undefined, { store })
    stage(service, CAP, 600)
    // State that `sluice rules apply` stores while it sends; the parent of this process lives as long as this one.
    const state = `busy ${thisProcess().machine} ${process.ppid}  ${Date.now()}`
    store.plans.keep({ id: PLAN, cluster: '', atMs: 0, state, document: null })
    expect(ends(await commit(service))).toEqual(['BUSY'])
    expect([activeRules(c), store.rules.of('small')]).toEqual([['default * 10000'], []])
    store.plans.transition(PLAN, state, 'free')
    expect(ends(await commit(service))).toEqual(['oss01 done', 'oss02 done'])
    expect(store.plans.find(PLAN)?.state).toBe('free')
    expect(lockCommits(store, 'small').ok).toBe(true)
  })

  it('whose lock another process took sends nothing more', async () => {
    const opened = EnforcementStore.open(':memory:', 0)
    if (!opened.ok) throw new Error(opened.error.what)
    const store = opened.value
    const { c, service } = await ruleService(
      {
        around: (node) => ({
          ...node,
          exec: (command) => {
            // It was suspended for minutes before its second server.
            if (node.host === 'oss01' && command.includes('start cap')) {
              const taken = `busy another.machine 77 1 ${Date.now()}`
              store.plans.keep({ id: PLAN, cluster: '', atMs: 0, state: taken, document: null })
            }
            return node.exec(command)
          },
        }),
      },
      undefined,
      { store },
    )
    stage(service, CAP, 600)
    const ended = await commit(service)
    expect(ends(ended)).toContain('oss02 not sent')
    expect(JSON.stringify(ended)).toContain('process 77 on another.machine took it')
    expect(activeRules(c, 'oss02')).toEqual(['default * 10000'])
  })

  it('that is being sent when the service is closed is canceled, and waited for', async () => {
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    let isHeld = false
    const { service } = await ruleService(
      {
        around: (node) => ({
          ...node,
          exec: async (command) => {
            if (node.host === 'oss01' && command.includes('start cap')) {
              isHeld = true
              await held
            }
            return node.exec(command)
          },
        }),
      },
      undefined,
      { sending: { pausesMs: [1, 1], answerMs: 20_000 } },
    )
    stage(service, CAP, 600)
    const log: string[] = []
    const sent = commit(service).then((r) => log.push(...ends(r)))
    await expect.poll(() => isHeld).toBe(true)
    const closed = service.close().then(() => log.push('closed'))
    for (let i = 0; i < 50; i++) await new Promise((done) => setImmediate(done))
    expect(log).toEqual([])
    release()
    await Promise.all([sent, closed])
    expect(log).toEqual(expect.arrayContaining(['closed', 'oss02 not sent']))
    expect(service.isCommitting).toBe(false)
  })
})
