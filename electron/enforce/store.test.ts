import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, it } from 'vitest'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { chainHash, type AuditRecord } from '../base/audit.ts'
import { EnforcementStore, storeFile } from './store.ts'
import type { ManagedRule } from './store-rules.ts'

let file: string
beforeEach(() => {
  file = storeFile(tempFolder())
})

function open(): EnforcementStore {
  const opened = EnforcementStore.open(file, 1_000)
  if (!opened.ok) throw new Error(`${opened.error.what}: ${opened.error.why}`)
  return opened.value
}
const write = (store: EnforcementStore, n: number, from = 0): void => {
  const audit = store.audit({ cluster: 'altair', who: 'ada@desk', loginOf: (h) => `root@${h} SHA256:abc` })
  for (let i = from; i < from + n; i++)
    audit.write(i, 'oss01', i % 2 === 0 ? 'intent' : 'outcome', `text ${i}`, 'plan1')
}
/** Another program with the same rights changes the file without Sluice's knowledge. */
const tamper = (sql: string): void => {
  const db = new Database(file)
  db.exec(sql)
  db.close()
}
const bad = (): { number: number; why: string } | undefined => {
  const opened = EnforcementStore.openForReading(file)
  if (!opened.ok) throw new Error(opened.error.why)
  const verdict = opened.value.verify()
  opened.value.close()
  return verdict.bad
}

describe('the audit of live clusters', () => {
  it('records who, from where, with which login and for which plan, and verifies as read back', () => {
    const store = open()
    write(store, 3)
    expect(store.chain.read(1, 1)[0]).toMatchObject({
      number: 1,
      server: 'oss01',
      by: { cluster: 'altair', plan: 'plan1', who: 'ada@desk', login: 'root@oss01 SHA256:abc' },
    })
    expect(store.verify()).toMatchObject({ records: 3, bad: undefined, last: { number: 3 } })
    store.close()
    const again = open()
    expect([again.refusal, again.verify().bad]).toEqual([undefined, undefined])
    again.close()
  })

  it('is one chain for all clusters', () => {
    const store = open()
    const a = store.audit({ cluster: 'a' })
    const b = store.audit({ cluster: 'b' })
    a.write(1, 's', 'mode', 'one')
    b.write(2, 's', 'mode', 'two')
    a.write(3, 's', 'mode', 'three')
    expect(store.verify()).toMatchObject({ records: 3, bad: undefined })
    expect([a.number, b.number]).toEqual([3, 2])
    store.close()
  })

  it('is for its owner only', () => {
    const store = open()
    write(store, 1)
    const rights = readdirSync(join(file, '..')).map((f) => [
      f,
      (statSync(join(file, '..', f)).mode & 0o777).toString(8),
    ])
    expect(Object.fromEntries(rights)).toEqual({
      'enforcement.sqlite': '600',
      'enforcement.sqlite-wal': '600',
      'enforcement.sqlite-shm': '600',
      'enforcement.sqlite.head': '600',
    })
    store.close()
  })
})

/** Forged record whose own hash is valid. */
function forged(): string {
  const opened = EnforcementStore.openForReading(file)
  if (!opened.ok) throw new Error(opened.error.why)
  const last = opened.value.chain.last as AuditRecord
  opened.value.close()
  const r = { number: last.number + 1, atMs: 1, server: 's', kind: 'mode' as const, text: 'nothing happened' }
  const hash = chainHash(last.hash, r)
  return `INSERT INTO audit VALUES (${r.number}, 1, 's', 'mode', 'nothing happened', '${hash}', NULL, NULL, NULL, NULL, NULL)`
}

describe('exploit: an audit that', () => {
  const attacks: readonly (readonly [string, () => void, number, string])[] = [
    [
      'had a record edited',
      () => tamper("UPDATE audit SET text = 'innocent' WHERE number = 4"),
      4,
      'hash does not match',
    ],
    [
      'had the name of who it was changed',
      () => tamper("UPDATE audit SET who = 'eve@x' WHERE number = 2"),
      2,
      'hash does not match',
    ],
    [
      'had a login taken out',
      () => tamper('UPDATE audit SET cluster = NULL WHERE number = 2'),
      2,
      'hash does not match',
    ],
    ['had a record deleted', () => tamper('DELETE FROM audit WHERE number = 5'), 5, 'missing'],
    ['had its first records deleted', () => tamper('DELETE FROM audit WHERE number < 4'), 1, '3 records are missing'],
    [
      'had two records exchanged',
      () =>
        tamper(
          'UPDATE audit SET number = -1 WHERE number = 3; UPDATE audit SET number = 3 WHERE number = 4; UPDATE audit SET number = 4 WHERE number = -1',
        ),
      3,
      'hash does not match',
    ],
    ['lost its newest record', () => tamper('DELETE FROM audit WHERE number = 10'), 9, 'the newest records are gone'],
    ['lost its newest records', () => tamper('DELETE FROM audit WHERE number > 6'), 6, 'the newest was 10'],
    ['lost all of them', () => tamper('DELETE FROM audit'), 0, 'all records are gone'],
    [
      'got a record by hand',
      () => tamper("INSERT INTO audit VALUES (11, 1, 's', 'mode', 'x', 'abc', NULL, NULL, NULL, NULL, NULL)"),
      11,
      'hash does not match',
    ],
    ['got a record by hand that follows the chain', () => tamper(forged()), 11, 'another program'],
    ['lost its head', () => rmSync(`${file}.head`), 10, 'head of the audit is gone'],
    ['has an invalid head', () => writeFileSync(`${file}.head`, '{}'), 10, 'head of the audit cannot be read'],
  ]

  it.each(attacks)('%s is found out, and nothing is written any more', (_what, attack, number, why) => {
    const first = open()
    write(first, 10)
    first.close()
    attack()
    expect(bad()).toMatchObject({ number, why: expect.stringContaining(why) as string })
    const store = open()
    expect(store.refusal).toMatchObject({ code: 'AUDIT_BROKEN', why: expect.stringContaining(why) as string })
    expect(() => write(store, 1)).toThrow(why)
    store.close()
  })

  it('is cut while it is open is found out at the next record, by every process', () => {
    const one = open()
    const two = open()
    write(one, 5)
    tamper('DELETE FROM audit WHERE number > 3')
    expect(() => write(two, 1)).toThrow('newest records are gone')
    expect(() => write(one, 1)).toThrow('newest records are gone')
    expect(one.refusal?.code).toBe('AUDIT_BROKEN')
    one.close()
    two.close()
  })

  it('was altered is written again after it was accepted, on record; the fault stays visible', () => {
    const first = open()
    write(first, 10)
    first.close()
    tamper("UPDATE audit SET text = 'innocent' WHERE number = 4")
    const store = open()
    store.agree('ada@desk', 5_000)
    expect(store.refusal).toBeUndefined()
    write(store, 2)
    expect(store.chain.read(11, 1)[0]).toMatchObject({
      kind: 'mode',
      text: expect.stringContaining('accepted although') as string,
    })
    store.close()
    const again = open()
    expect(again.refusal).toBeUndefined()
    expect(again.verify().bad).toMatchObject({ number: 4 })
    again.close()
  })

  it('was cut is written again after it was accepted', () => {
    const first = open()
    write(first, 10)
    first.close()
    tamper('DELETE FROM audit WHERE number > 6')
    const store = open()
    store.agree('ada@desk', 5_000)
    write(store, 1)
    store.close()
    const again = open()
    expect([again.refusal, again.chain.last?.number]).toEqual([undefined, 8])
    again.close()
  })
})

describe('the file', () => {
  it('that is damaged is set aside with its head, and nothing is written until it is accepted', () => {
    const first = open()
    write(first, 3)
    first.close()
    writeFileSync(file, Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(5_000, 7)]))
    const store = open()
    expect(store.refusal?.why).toContain('was damaged; it was kept as')
    expect(() => write(store, 1)).toThrow('damaged')
    const folder = join(file, '..')
    expect(
      readdirSync(folder)
        .filter((f) => f.includes('.damaged-'))
        .some((f) => f.endsWith('.head')),
    ).toBe(true)
    store.agree('ada@desk', 1)
    write(store, 1)
    expect(store.chain.read(1, 10).map((r) => r.kind)).toEqual(['mode', 'intent'])
    store.close()
  })

  it('that was deleted leaves its head, which exposes it', () => {
    const first = open()
    write(first, 3)
    first.close()
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
    const store = open()
    expect(store.refusal?.why).toContain('all records are gone')
    store.close()
  })

  it('of a newer Sluice, and of another program, is refused and not changed', () => {
    open().close()
    tamper('PRAGMA user_version = 99')
    expect(EnforcementStore.open(file, 0)).toMatchObject({ ok: false, error: { code: 'STORE_NEWER' } })
    const before = readFileSync(file)
    tamper('PRAGMA user_version = 1; PRAGMA application_id = 7')
    expect(EnforcementStore.open(file, 0)).toMatchObject({ ok: false, error: { code: 'STORE_FOREIGN' } })
    expect(readFileSync(file).length).toBe(before.length)
  })

  it('that cannot be written makes every record fail', () => {
    const store = open()
    write(store, 1)
    tamper("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END")
    expect(() => write(store, 1)).toThrow('full')
    tamper('DROP TRIGGER full')
    write(store, 1)
    expect(store.verify()).toMatchObject({ records: 2, bad: undefined })
    store.close()
  })

  it('whose head cannot be written takes no record', () => {
    if (process.getuid?.() === 0) {
      // Root may write anywhere: a folder in place of the file stops root, too.
      const store = open()
      write(store, 1)
      rmSync(`${file}.head`)
      mkdirSync(`${file}.head`)
      expect(() => write(store, 1)).toThrow()
      expect(store.chain.last?.number).toBe(1)
      store.close()
      return
    }
    const store = open()
    write(store, 1)
    chmodSync(join(file, '..'), 0o500)
    expect(() => write(store, 1)).toThrow()
    chmodSync(join(file, '..'), 0o700)
    expect(store.chain.last?.number).toBe(1)
    store.close()
  })
})

describe('plans, rules and leases', () => {
  const rule: ManagedRule = {
    cluster: 'altair',
    host: 'oss01',
    service: 'ost_io',
    queue: 'reg',
    name: 'hog',
    change: 'c1',
    owner: 'ada@desk',
    reason: 'noisy',
    ticket: 'INC-1',
    createdMs: 5,
    unit: 'sluice-c1',
    expiresMs: 1_800_005,
    realtime: false,
  }

  it('are seen by every process', () => {
    const one = open()
    const two = open()
    one.rules.keep(rule)
    expect(two.rules.find(rule)).toMatchObject({ ...rule, by: { pid: process.pid } })
    expect(two.rules.of('altair', 'oss02')).toEqual([])
    two.rules.forget(rule)
    expect(one.rules.of('altair')).toEqual([])
    const plan = {
      id: 'p',
      cluster: 'altair',
      atMs: 1,
      state: 'planned',
      document: { nodes: ['oss01'], text: "'; DROP" },
    }
    one.plans.keep(plan)
    expect(two.plans.find('p')).toEqual(plan)
    one.close()
    two.close()
  })

  it('a plan is taken by one process only', () => {
    const one = open()
    const two = open()
    one.plans.keep({ id: 'p', cluster: 'altair', atMs: 1, state: 'planned', document: null })
    expect([one.plans.transition('p', 'planned', 'applied'), two.plans.transition('p', 'planned', 'applied')]).toEqual([
      true,
      false,
    ])
    one.close()
    two.close()
  })

  it('are bounded', () => {
    const store = open()
    for (let i = 0; i < 1_005; i++)
      store.plans.keep({ id: `p${i}`, cluster: 'a', atMs: i, state: 'planned', document: i })
    expect(store.plans.of('a', 5_000)).toHaveLength(1_000)
    expect(store.plans.find('p0')).toBeUndefined()
    store.close()
  })
})

it('in memory works as well', () => {
  const opened = EnforcementStore.open(':memory:', 0)
  if (!opened.ok) throw new Error(opened.error.why)
  write(opened.value, 4)
  expect(opened.value.verify()).toMatchObject({ records: 4, bad: undefined })
  expect(existsSync(':memory:')).toBe(false)
  opened.value.close()
})
