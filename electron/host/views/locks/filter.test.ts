import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseLockFilter, type LockRow } from './rows.ts'

const row: LockRow = {
  name: 'ckpt.h5 / 3',
  server: 'oss02',
  waiting: 14,
  conflicts: 412,
  revocations: 398,
  cancelMs: 9.1,
  held: 20,
  conditions: ['convoy'],
  modes: () => new Set(['NBW', 'PR'] as const),
}
const idle: LockRow = {
  name: 'restart / 0',
  server: 'oss01',
  waiting: 0,
  conflicts: 0,
  revocations: 0,
  cancelMs: null,
  held: 0,
  conditions: [],
  modes: () => new Set(),
}

function passes(filter: string, r: LockRow): boolean {
  const parsed = parseLockFilter(filter)
  if (!parsed.ok) throw new Error(parsed.error.message)
  return parsed.value(r)
}

describe('the filter of resources', () => {
  it.each([
    ['', true, true],
    ['CKPT', true, false],
    ['res:ckpt', true, false],
    ['res:*h5*3', true, false],
    ['-res:ckpt', false, true],
    ['server:oss02', true, false],
    ['mode:NBW', true, false],
    ['mode:pr', true, false],
    ['mode:PW', false, false],
    ['-mode:PW', true, true],
    ['waiting>2', true, false],
    ['waiting>14', false, false],
    ['waiting>=14 conf>10', true, false],
    ['conf<=0.412k', true, true],
    ['rev=398', true, false],
    ['cancel>5', true, false],
    ['cancel<5', false, false],
    ['-cancel<5', true, true],
    ['held=0', false, true],
    ['is:convoy', true, false],
    ['is:ping-pong', false, false],
    ['is:waiting', true, false],
    ['is:idle', false, true],
  ])('%s', (filter, first, second) => {
    expect([passes(filter, row), passes(filter, idle)]).toEqual([first, second])
  })

  it.each([
    ['-res:', 1, 'res: needs a value'],
    ['ckpt  mode:XX', 7, 'mode: must be one of PR, NBW, BW, PW'],
    ['mode:constructor', 1, 'mode: must be one of PR, NBW, BW, PW'],
    ['is:toString', 1, 'is: must be one of convoy, ping-pong, eviction, waiting, idle'],
    ['user:ana', 1, 'user: is not a field; fields are res, server, mode, is'],
    ['constructor:x', 1, 'constructor: is not a field; fields are res, server, mode, is'],
    ['waiting>', 1, 'a number is not a number such as 500, 5k or 1.5m'],
    ['waiting>2 rpc>3', 11, 'rpc is not numeric; numeric fields are waiting, conf, rev, cancel, held'],
  ])('says what is wrong with %j, and where', (filter, column, message) => {
    expect(parseLockFilter(filter)).toEqual({ ok: false, error: { column, message } })
  })

  it('looks for modes only where a term asks', () => {
    const shy: LockRow = { ...row, modes: () => expect.unreachable('modes were not requested') }
    expect(passes('res:ckpt waiting>2 is:convoy', shy)).toBe(true)
    expect(passes('res:other mode:NBW', shy)).toBe(false)
  })

  it('never throws, and an error names a column of the text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), fc.string({ maxLength: 60 }), (filter, name) => {
        const parsed = parseLockFilter(filter)
        if (parsed.ok) expect(typeof parsed.value({ ...row, name })).toBe('boolean')
        else expect(parsed.error.column).toBeLessThanOrEqual(filter.length)
      }),
    )
  })
})
