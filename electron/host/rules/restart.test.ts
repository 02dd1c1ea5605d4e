import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { commit, QUICK, ruleService, stage } from '../../../tests/node/rule-service.ts'
import { tempFolder } from '../../../tests/node/temp-folder.ts'
import { EnforcementStore, storeFile } from '../../enforce/store.ts'
import { RuleService } from './rule-service.ts'

it('exploit: a change on record that is damaged is set aside and said; the others are there, and the console starts', async () => {
  const file = storeFile(tempFolder())
  const opened = EnforcementStore.open(file, 0)
  if (!opened.ok) throw new Error(opened.error.what)
  const store = opened.value
  const { c, service } = await ruleService({}, undefined, { store })
  const ids: string[] = []
  for (const name of ['one', 'two', 'three']) {
    stage(service, `start ${name} jobid={1.hog.u1} rate=20`, 600)
    const sent = await commit(service)
    if (!sent.ok) throw new Error(sent.error.why)
    ids.push(sent.value.changeId)
    await c.run(4 + ids.length)
  }
  const db = new Database(file)
  db.prepare('UPDATE change SET document = ? WHERE id = ?').run('{"half": ', ids[0])
  db.prepare('UPDATE change SET document = ? WHERE id = ?').run('{"service":"ost_io","unknown":7}', ids[1])
  const events = () => c.monitor.events.between(-Infinity, Infinity, 100)
  const again = new RuleService(c.monitor, { ...QUICK, store })
  expect(again.changes.map((p) => p.id)).toEqual([ids[2]])
  const output = events()
    .map((e) => e.text)
    .filter((t) => t.includes('could not be read'))
  expect(output.toSorted()).toEqual(
    ids
      .slice(0, 2)
      .toSorted()
      .map((id) => expect.stringContaining(id) as string),
  )
  // The stored change is kept, and reported once.
  expect(db.prepare('SELECT state FROM change WHERE id = ?').pluck().get(ids[0])).toBe('damaged')
  const third = new RuleService(c.monitor, { ...QUICK, store })
  expect(third.changes).toHaveLength(1)
  expect(events().filter((e) => e.text.includes('could not be read'))).toHaveLength(2)
  db.close()
  store.close()
})
