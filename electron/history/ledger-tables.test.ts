import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, it } from 'vitest'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { History } from './history.ts'
import type { JobFacts, MoveRecord } from './records.ts'
import { migrate, MIGRATIONS, SCHEMA_VERSION } from './schema.ts'

const NOW = Date.UTC(2026, 0, 2)
const HOUR = 3_600_000
const facts = (jobId: string): JobFacts => ({ jobId, user: '', account: '', nodes: null })
const move = (atMs: number, lender: string, borrower: string, more: Partial<MoveRecord> = {}): MoveRecord => ({
  atMs,
  target: 'OST0',
  node: 'oss1',
  lender,
  borrower,
  kind: 'lend',
  tokens: 5,
  ...more,
})

let file: string
function open(): History {
  const opened = History.open(file, NOW)
  if (!opened.ok) throw new Error(`${opened.error.what}: ${opened.error.why}`)
  return opened.value
}
beforeEach(() => (file = join(tempFolder(), 'history.sqlite')))

describe('a file of version 1', () => {
  it('becomes one of this version with everything in it, and takes the ledger', () => {
    const old = new Database(file)
    old.exec(MIGRATIONS[0]!)
    old.pragma('user_version = 1')
    old.pragma(`application_id = ${0x536c7569}`)
    old.exec("INSERT INTO source VALUES (1, 'LIVE', 'c', '', 0)")
    old.exec("INSERT INTO job VALUES (1, 1, '7.a', 'ana', '', 4, 0)")
    old.exec(`INSERT INTO event VALUES (1, 1, ${NOW}, 'note', 'ok', 's', 'kept', '')`)
    old.close()
    const history = open()
    expect(history.notice).toBeUndefined()
    expect([history.count('job'), history.count('event'), history.count('adaptbf_moves')]).toEqual([1, 1, 0])
    history.beginSource('LIVE', 'c', '', NOW)
    history.recordMoves([move(NOW, '7.a', '8.b')], facts)
    history.keepControllerState('c', 'OST0', NOW, '{}')
    expect([history.count('adaptbf_moves'), history.count('adaptbf_state')]).toEqual([1, 1])
    history.close()
    const db = new Database(file)
    expect(db.pragma('user_version', { simple: true })).toBe(SCHEMA_VERSION)
    migrate(db)
    expect(db.prepare('SELECT text FROM event').pluck().get()).toBe('kept')
    db.close()
  })
})

describe('moves', () => {
  it('are found by job, target and window, newest first', () => {
    const history = open()
    history.beginSource('EMULATED', 'c', '', NOW)
    history.recordMoves(
      [
        move(NOW, 'a', 'b'),
        move(NOW + 1000, 'c', 'a', { kind: 'reclaim', tokens: 2 }),
        move(NOW + 2000, 'c', 'b'),
        move(NOW + 3000, 'a', 'b', { target: 'OST1' }),
      ],
      facts,
    )
    history.flush()
    const at = (query: object): number[] =>
      history.moves({ fromMs: 0, toMs: Infinity, limit: 10, ...query }).map((m) => m.atMs - NOW)
    expect(at({})).toEqual([3000, 2000, 1000, 0])
    expect(at({ jobId: 'a' })).toEqual([3000, 1000, 0])
    expect(at({ jobId: 'a', target: 'OST0' })).toEqual([1000, 0])
    expect(at({ fromMs: NOW + 1000, toMs: NOW + 2000 })).toEqual([2000, 1000])
    expect(at({ jobId: 'a', fromMs: NOW + 1, toMs: NOW + 3000 })).toEqual([3000, 1000])
    expect(at({ jobId: 'nobody' })).toEqual([])
    expect(at({ jobId: 'a', limit: 1 })).toEqual([3000])
    expect(history.moves({ jobId: 'c', fromMs: 0, toMs: NOW + 1500, limit: 9 })).toEqual([
      move(NOW + 1000, 'c', 'a', { kind: 'reclaim', tokens: 2 }),
    ])
    history.close()
  })

  it('of one second, pair and kind add up, also when they come apart', () => {
    const history = open()
    history.beginSource('EMULATED', 'c', '', NOW)
    history.recordMoves([move(NOW, 'a', 'b'), move(NOW, 'a', 'b', { kind: 'reclaim', tokens: 1 })], facts)
    history.flush()
    history.recordMoves([move(NOW, 'a', 'b', { tokens: 7 })], facts)
    history.flush()
    const found = history.moves({ fromMs: 0, toMs: Infinity, limit: 10 }).map((m) => [m.kind, m.tokens])
    expect(found).toEqual([
      ['lend', 12],
      ['reclaim', 1],
    ])
    history.close()
  })

  it('of an emulated source are kept for an hour like its decisions, those of a live one longer', () => {
    for (const kind of ['EMULATED', 'LIVE'] as const) {
      file = join(tempFolder(), 'history.sqlite')
      const history = open()
      history.beginSource(kind, 'c', '', NOW)
      history.recordMoves([move(NOW, 'a', 'b'), move(NOW + HOUR, 'a', 'b')], facts)
      history.record(NOW + HOUR + 2000, [], [], facts)
      expect(history.count('adaptbf_moves'), kind).toBe(kind === 'LIVE' ? 2 : 1)
      history.close()
    }
  })

  it('of a live cluster are those of every time it was open; a world of the emulator has only its own', () => {
    for (const kind of ['LIVE', 'EMULATED'] as const) {
      file = join(tempFolder(), 'history.sqlite')
      const history = open()
      for (const cluster of ['c', 'other', 'c']) {
        history.beginSource(kind, cluster, '', NOW)
        history.recordMoves([move(NOW + history.count('adaptbf_moves') * 1000, 'a', 'b')], facts)
        history.flush()
      }
      const found = history.moves({ jobId: 'a', fromMs: 0, toMs: Infinity, limit: 10 })
      expect(
        found.map((m) => m.atMs - NOW),
        kind,
      ).toEqual(kind === 'LIVE' ? [2000, 0] : [2000])
      expect(history.moves({ fromMs: 0, toMs: Infinity, limit: 10 })).toEqual(found)
      history.close()
    }
  })
})

describe('the state of a controller', () => {
  it('is the newest of its target and cluster, and goes when it is forgotten', () => {
    const history = open()
    history.beginSource('LIVE', 'c', '', NOW)
    for (const [cluster, target, text] of [
      ['c', 'OST0', 'one'],
      ['c', 'OST0', 'two'],
      ['c', 'OST1', 'three'],
      ['d', 'OST0', 'four'],
    ] as const) {
      history.keepControllerState(cluster, target, NOW, text)
    }
    history.flush()
    expect(history.controllerState('c', 'OST0')).toEqual({ atMs: NOW, state: 'two' })
    history.forgetControllerStates('c')
    history.flush()
    expect(history.controllerState('c', 'OST0')).toBeUndefined()
    expect(history.controllerState('d', 'OST0')?.state).toBe('four')
    history.close()
  })
})
