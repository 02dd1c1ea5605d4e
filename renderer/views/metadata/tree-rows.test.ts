import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NODES, treeOf } from '#tests/kits/renderer/views/metadata-host.ts'
import { stateText, treeRows, treeStep } from './tree-rows.ts'

const open = new Set<string>()
const names = (closed: ReadonlySet<string>): string[] =>
  treeRows(treeOf(NODES), closed).map((r) => (r.kind === 'more' ? `more ${r.more}` : r.name))

describe('rows of the hierarchy', () => {
  it('are listed from the top, with the number of unsent stages under their local controller', () => {
    expect(names(open)).toEqual([
      'ctl-0',
      'local-a',
      'train.py \u00B7 0',
      'train.py \u00B7 1',
      'bwa \u00B7 0',
      'local-b',
      'cfd_solve \u00B7 0',
      'wrf.exe \u00B7 0',
      'more 988',
    ])
  })
  it('are hidden under a collapsed row, with the number of unsent ones', () => {
    expect(names(new Set(['b']))).toEqual(names(open).slice(0, 6))
    expect(names(new Set(['a']))).toEqual(['ctl-0', 'local-a', ...names(open).slice(5)])
    expect(names(new Set(['global']))).toEqual(['ctl-0'])
  })
  it('expand to their number if none was sent', () => {
    const tree = treeOf([NODES[0]!, { key: 'c', kind: 'local', name: 'c', more: 5 }])
    const rows = treeRows(tree, open)
    expect(rows.map((r) => [r.kind, r.hasChildren])).toEqual([
      ['global', true],
      ['local', true],
      ['more', false],
    ])
  })
})

describe('keys in the hierarchy', () => {
  const rows = treeRows(treeOf(NODES), new Set(['b']))
  it('move, close, open and lead to the parent', () => {
    expect(treeStep(rows, 0, 'ArrowDown')).toEqual({ to: 1 })
    expect(treeStep(rows, 1, 'ArrowLeft')).toEqual({ open: false })
    expect(treeStep(rows, 5, 'ArrowRight')).toEqual({ open: true })
    expect(treeStep(rows, 1, 'ArrowRight')).toEqual({ to: 2 })
    expect(treeStep(rows, 3, 'ArrowLeft')).toEqual({ to: 1 })
    expect(treeStep(rows, 3, 'ArrowRight')).toEqual({ to: 3 })
    expect(treeStep(rows, 5, 'ArrowLeft')).toEqual({ to: 0 })
    expect([treeStep(rows, 5, 'End'), treeStep(rows, 5, 'Home'), treeStep(rows, -1, 'ArrowDown')]).toEqual([
      { to: 5 },
      { to: 0 },
      { to: 0 },
    ])
    expect([treeStep(rows, 2, 'a'), treeStep([], 0, 'ArrowDown')]).toEqual([null, null])
  })
  it('never lead outside the rows', () => {
    const key = fc.constantFrom('ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight', 'Home', 'End')
    fc.assert(
      fc.property(fc.subarray(['global', 'a', 'b']), fc.array(key, { maxLength: 30 }), (closed, keys) => {
        const now = new Set(closed)
        let at = 0
        for (const k of keys) {
          const seen = treeRows(treeOf(NODES), now)
          const next = treeStep(seen, at, k)
          if (next && 'to' in next) at = next.to
          else if (next) {
            const key = seen[at]?.key ?? ''
            if (next.open) now.delete(key)
            else now.add(key)
          }
          expect(treeRows(treeOf(NODES), now)[at]).toBeDefined()
        }
      }),
    )
  })
})

it('formats a state, also without a reason from the host', () => {
  expect(stateText({ level: 'watch', why: 'at its limit' })).toBe('at its limit')
  expect(stateText({ level: 'ok', why: '' })).toBe('below its limit')
})
