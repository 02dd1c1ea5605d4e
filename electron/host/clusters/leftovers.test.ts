import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { EnforcementStore, storeFile } from '../../enforce/store.ts'
import { asOtherUser, ruleService, activeRules } from '../../../tests/node/rule-service.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import type { Console } from '../console.ts'
import type { LiveConsole } from './live-console.ts'
import { lookForLeftovers } from './cluster-service.ts'

/**
 * Leftovers found of a recorded rule `hog` on oss01, given its remaining seconds (null for a permanent one): whether
 * the rule exists, and how many timers the server has.
 */
async function leftoversOf(kept: { unit: string; leftS: number | null; isDead: boolean }) {
  const file = storeFile(tempFolder())
  const opened = EnforcementStore.open(file, 0)
  if (!opened.ok) throw new Error(opened.error.what)
  const store = opened.value
  const { c: before } = await ruleService()
  const expiresMs = kept.leftS === null ? null : before.monitor.nowMs() + kept.leftS * 1000
  store.rules.keep({
    cluster: 'small',
    host: 'oss01',
    service: 'ost_io',
    queue: 'reg',
    name: 'hog',
    change: '',
    owner: 'ops',
    reason: 'ticket 7',
    ticket: '',
    createdMs: 0,
    realtime: false,
    unit: kept.unit,
    expiresMs,
  })
  // The process that started it has ended, and no process has its pid.
  if (kept.isDead) new Database(file).prepare('UPDATE rule SET pid = ?, born = ?').run(2 ** 22 + 1, '1')
  const { c, service } = await ruleService({}, undefined, { store })
  asOtherUser(c, 'oss01', 'reg start hog jobid={1.hog.u1} rate=20')
  await c.run(6)
  const console = { monitor: c.monitor, ruleService: service, store, facts: {} } as Partial<Console> as Console
  const live = { console, cluster: { name: 'small' }, leftovers: { list: [], fault: '' } } as unknown as LiveConsole
  await lookForLeftovers(live)
  store.close()
  return {
    left: live.leftovers.list.map((l) => `${l.rule} ${l.text}`),
    stands: activeRules(c).some((r) => r.startsWith('hog ')),
    timers: c.source.emulator.node('oss01')?.timers.size,
  }
}

describe('a rule that was bound to a console', () => {
  it('that was killed is not left over: this one stops it when its time is over', async () => {
    expect(await leftoversOf({ unit: '', leftS: -60, isDead: true })).toEqual({ left: [], stands: false, timers: 0 })
  })

  it('that was killed gets a timer on a server that can keep one', async () => {
    expect(await leftoversOf({ unit: '', leftS: 600, isDead: true })).toEqual({ left: [], stands: true, timers: 1 })
  })

  it('that runs is its affair, and so is one that an operator started to stay', async () => {
    expect(await leftoversOf({ unit: '', leftS: 600, isDead: false })).toEqual({ left: [], stands: true, timers: 0 })
    expect(await leftoversOf({ unit: '', leftS: null, isDead: true })).toEqual({ left: [], stands: true, timers: 0 })
  })
})
