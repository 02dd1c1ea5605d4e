import { describe, expect, it } from 'vitest'
import { livesOf, lockModes, type Life } from './lock-lifetimes.ts'
import { clientsOf, livesOf as columnsOf, SCHEDULE } from '#tests/kits/renderer/views/locks-host.ts'
import { columns, decidingCells, isAllowed } from './compatibility-table.ts'

const lives = livesOf({ lives: columnsOf(SCHEDULE), clients: clientsOf(8) })
const granted = (sn: number, mode: Life['mode'] = 'NBW'): Life => {
  const found = lives.find((l) => l.sn === sn && l.mode === mode)
  if (!found) throw new Error('no such grant')
  return found
}

it('is Table II of the paper', () => {
  const rows = lockModes.map((requested) => columns.map((there) => (isAllowed(requested, there) ? 'Y' : 'N')).join(''))
  // Columns: PR, NBW, NBW canceling, BW, PW.
  expect(rows).toEqual(['YNNNN', 'NNYNN', 'NNYNN', 'NNNNN'])
})

describe('the cells that decided a grant', () => {
  it('of an early grant are the canceling NBW beside it, and the granted one it waited for', () => {
    expect(decidingCells(granted(4130), lives)).toEqual([
      { requested: 'NBW', there: 'NBW canceling', why: 'beside' },
      { requested: 'NBW', there: 'NBW', why: 'waited' },
    ])
  })
  it('of a reader are the flushes it waited for, and the reader beside it', () => {
    const cells = decidingCells(granted(4132, 'PR'), lives).filter((c) => c.why === 'waited')
    expect(cells).toEqual([{ requested: 'PR', there: 'NBW canceling', why: 'waited' }])
    const second = lives.filter((l) => l.mode === 'PR')[1] as Life
    expect(decidingCells(second, lives)).toContainEqual({ requested: 'PR', there: 'PR', why: 'beside' })
  })
  it('of a first request, and of one without a grant, are none', () => {
    expect(decidingCells(granted(4121), lives)).toEqual([])
    expect(decidingCells(lives.find((l) => l.granted === null) as Life, lives)).toEqual([])
  })
  it('are never those of ranges that do not overlap', () => {
    const far = lives.map((l) =>
      l.sn === 4130 ? { ...l, start: 1e9, requiredEnd: 1e9 + 9, behind: [] } : { ...l, end: 65_535 },
    )
    expect(decidingCells(far.find((l) => l.sn === 4130) as Life, far)).toEqual([])
  })
})
