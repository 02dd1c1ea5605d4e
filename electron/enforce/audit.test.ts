import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { anyCharacter } from '../../tests/any-character.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { History } from '../history/history.ts'
import { Audit, firstBrokenRecord, type AuditRecord } from '../base/audit.ts'

type Entry = [atMs: number, server: string, kind: AuditRecord['kind'], text: string]

const entry = fc.tuple(
  fc.double({ min: 0, max: 2e12, noNaN: true }),
  fc.string(),
  fc.constantFrom('intent' as const, 'outcome' as const, 'mode' as const),
  fc.string({ unit: anyCharacter }),
)

function chain(entries: readonly Entry[]): AuditRecord[] {
  const records: AuditRecord[] = []
  const audit = new Audit((r) => records.push(r))
  for (const e of entries) audit.write(...e)
  return records
}

it('holds as it was written, whatever is in it', () => {
  fc.assert(
    fc.property(fc.array(entry), (entries) => {
      const records = chain(entries)
      expect(records.map((r) => r.number)).toEqual(entries.map((_, i) => i + 1))
      expect(firstBrokenRecord(records)).toBeUndefined()
    }),
  )
})

it('shows any record that was edited', () => {
  const edit = fc.constantFrom<(r: AuditRecord) => AuditRecord>(
    (r) => ({ ...r, text: `${r.text} ` }),
    (r) => ({ ...r, server: `${r.server}x` }),
    (r) => ({ ...r, kind: r.kind === 'mode' ? 'intent' : 'mode' }),
    (r) => ({ ...r, atMs: r.atMs + 1 }),
    (r) => ({ ...r, number: r.number + 1 }),
    (r) => ({ ...r, hash: r.hash.replace(/^./, (c) => (c === '0' ? '1' : '0')) }),
    // Text that moves from one field to the next must not hash the same.
    (r) => ({ ...r, server: r.server + r.text, text: '' }),
  )
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1 }), fc.nat(), edit, (entries, at, change) => {
      const records = chain(entries)
      const i = at % records.length
      const edited = change(records[i] as AuditRecord)
      fc.pre(JSON.stringify(edited) !== JSON.stringify(records[i]))
      expect(firstBrokenRecord(records.with(i, edited))).toBe(edited.number)
    }),
  )
})

it('shows where a record was removed, put in or moved', () => {
  fc.assert(
    fc.property(fc.array(entry, { minLength: 3 }), fc.nat(), fc.nat(), (entries, a, b) => {
      const records = chain(entries)
      const i = a % (records.length - 1)
      expect(firstBrokenRecord(records.toSpliced(i, 1))).toBe(i + 2)
      expect(firstBrokenRecord(records.toSpliced(i, 0, records[i] as AuditRecord))).toBe(i + 1)
      const k = b % records.length
      fc.pre(k !== i)
      const moved = records.toSpliced(i, 1).toSpliced(k, 0, records[i] as AuditRecord)
      expect(firstBrokenRecord(moved)).toBeDefined()
    }),
  )
})

it('continues from the newest record on disk, and holds over the restart as it is read back', () => {
  const file = join(tempFolder(), 'history.sqlite')
  const session = (): Audit => {
    const opened = History.open(file, 0)
    if (!opened.ok) throw new Error(opened.error.what)
    history = opened.value
    return new Audit((r) => history.recordAudit(r), history.lastAudit())
  }
  let history: History
  const first = session()
  // Virtual times are fractions of a millisecond.
  first.write(1000.25, 'oss01', 'intent', 'lctl set_param a=b')
  first.write(1000.75, 'oss01', 'outcome', 'applied: verified by read-back')
  history!.close()
  const second = session()
  expect(second.number).toBe(2)
  second.write(2000.5, 'demo', 'mode', 'mode observe')
  const kept = history!.audit(1, 10)
  expect(kept.map((r) => r.text)).toEqual(['lctl set_param a=b', 'applied: verified by read-back', 'mode observe'])
  expect(firstBrokenRecord(kept)).toBeUndefined()
  expect(firstBrokenRecord(kept.slice(1), kept[0]?.hash)).toBeUndefined()
  history!.close()
})

it('counts only what could be kept', () => {
  const kept: AuditRecord[] = []
  let isFull = true
  const audit = new Audit((r) => {
    if (isFull) throw new Error('disk full')
    kept.push(r)
  })
  expect(() => audit.write(1, 's', 'intent', 'lost')).toThrow('disk full')
  expect(audit.number).toBe(0)
  isFull = false
  audit.write(2, 's', 'intent', 'kept')
  expect(firstBrokenRecord(kept)).toBeUndefined()
})
