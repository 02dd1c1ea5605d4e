/** Records that are appended in groups by a thread, beside other connections to the same store. */
import { beforeEach, expect, it } from 'vitest'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { EnforcementStore, storeFile } from './store.ts'

let folder = ''
// Removed when this process ends: the thread of a closed store may still be closing its files.
beforeEach(() => (folder = tempFolder()))

function open(): EnforcementStore {
  const opened = EnforcementStore.open(storeFile(folder), 0)
  if (!opened.ok) throw new Error(opened.error.why)
  return opened.value
}
const author = { cluster: 'one', who: 'ann@host' }

it('keeps every record once and in the order of each caller, beside records written at once by two connections', async () => {
  const store = open()
  const other = open()
  const servers = ['oss01', 'oss02', 'oss03']
  const audits = servers.map(() => store.audit(author))
  await Promise.all(
    servers.map(async (server, s) => {
      for (let i = 0; i < 40; i++) {
        await audits[s]?.record(i, server, 'intent', `change ${i}`)
        if (i % 10 === 0) other.audit(author).write(i, server, 'mode', `choice ${i}`)
        await audits[s]?.record(i, server, 'outcome', `applied ${i}`)
      }
    }),
  )
  const records = store.chain.read(1, 1_000)
  expect(store.verify()).toMatchObject({ records: 3 * 84, bad: undefined })
  for (const server of servers) {
    const texts = records.filter((r) => r.server === server && r.kind !== 'mode').map((r) => r.text)
    expect(texts).toEqual(Array.from({ length: 40 }, (_, i) => [`change ${i}`, `applied ${i}`]).flat())
  }
  store.close()
  other.close()
})

it('writes what arrives together as one group, all of it or nothing', async () => {
  const store = open()
  const audit = store.audit(author)
  // The thread starts with the first; those after it wait together.
  await Promise.all(Array.from({ length: 50 }, async (_, i) => audit.record(i, 'oss01', 'intent', `change ${i}`)))
  expect(store.verify()).toMatchObject({ records: 50, bad: undefined })
  const last = store.chain.last
  store.close()
  const again = open()
  expect(again.chain.last).toEqual(last)
  expect(again.refusal).toBeUndefined()
  again.close()
})

it('attack: a chain that was cut off is refused, and nothing is sent until an operator accepts it', async () => {
  const store = open()
  const audit = store.audit(author)
  await audit.record(1, 'oss01', 'intent', 'change 1')
  await audit.record(2, 'oss01', 'outcome', 'applied 1')
  await audit.record(3, 'oss01', 'intent', 'change 2')
  const { default: Database } = await import('better-sqlite3')
  const db = new Database(storeFile(folder))
  db.exec('DELETE FROM audit WHERE number > 1')
  db.close()
  await expect(audit.record(4, 'oss01', 'intent', 'change 3')).rejects.toThrow(/newest records are gone/)
  expect(store.refusal).toMatchObject({ code: 'AUDIT_BROKEN' })
  expect(() => audit.write(5, 'oss01', 'intent', 'change 3')).toThrow(/newest records are gone/)
  store.close()
})

it('rejects records after the store was closed, and writes those before', async () => {
  const store = open()
  const audit = store.audit(author)
  const before = audit.record(1, 'oss01', 'intent', 'change 1')
  store.close()
  await before
  await expect(audit.record(2, 'oss01', 'intent', 'change 2')).rejects.toThrow(/closed/)
  const again = open()
  expect(again.verify()).toMatchObject({ records: 1, bad: undefined })
  again.close()
})
