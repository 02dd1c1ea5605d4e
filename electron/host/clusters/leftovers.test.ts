import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { EnforcementStore, storeFile } from '../../enforce/store.ts'
import { byOthers, ruleDesk } from '../../../tests/node/rule-desk.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import type { Console } from '../console.ts'
import { lookForLeftovers } from './leftovers.ts'
import type { LiveConsole } from './live-console.ts'

/** A rule `hog` on oss01 that is on record; what is found to be left over of it. */
async function leftOf(kept: { unit: string; expiresMs: number | null; isDead: boolean }) {
  const file = storeFile(tempFolder())
  const opened = EnforcementStore.open(file, 0)
  if (!opened.ok) throw new Error(opened.error.what)
  const store = opened.value
  store.rules.keep({
    ...{ cluster: 'small', host: 'oss01', service: 'ost_io', queue: 'reg', name: 'hog', change: '', owner: 'ops' },
    ...{ reason: 'ticket 7', ticket: '', createdMs: 0, realtime: false, unit: kept.unit, expiresMs: kept.expiresMs },
  })
  // The process that started it is gone, and none has its number.
  if (kept.isDead) new Database(file).prepare('UPDATE rule SET pid = ?, born = ?').run(2 ** 22 + 1, '1')
  const { c, desk } = await ruleDesk({}, undefined, { store })
  byOthers(c, 'oss01', 'reg start hog jobid={1.hog.u1} rate=20')
  await c.run(1)
  const console = { monitor: c.monitor, desk, store, facts: {} } as Partial<Console> as Console
  const live = { console, cluster: { name: 'small' }, leftovers: { list: [], fault: '' } } as unknown as LiveConsole
  await lookForLeftovers(live)
  store.close()
  return live.leftovers.list.map((l) => `${l.rule} ${l.text}`)
}

describe('a rule that was bound to a console', () => {
  it('that was killed is left over: no server and no console ends it', async () => {
    expect(await leftOf({ unit: '', expiresMs: 60_000, isDead: true })).toEqual([
      'hog jobid={1.hog.u1} 20 RPC/s; nothing will stop it',
    ])
  })

  it('that runs is not, nor one that an operator started to stay', async () => {
    expect(await leftOf({ unit: '', expiresMs: 60_000, isDead: false })).toEqual([])
    expect(await leftOf({ unit: '', expiresMs: null, isDead: true })).toEqual([])
  })
})
