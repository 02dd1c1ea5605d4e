import { expect, it } from 'vitest'
import { ruleRow } from '#tests/kits/renderer/views/rules-frames.ts'
import { inStagedOrder, isRightBefore, rankAtGap, rankByStep, rankNames } from './rule-order.ts'

const rows = [
  ruleRow({ name: 'ab_0123456789', owner: 'sluice' }),
  ruleRow({ name: 'a' }),
  ruleRow({ name: 'fresh', staged: 'add' }),
  ruleRow({ name: 'b' }),
  ruleRow({ name: 'gone', staged: 'del' }),
  ruleRow({ name: 'c' }),
  ruleRow({ name: 'default', owner: 'lustre' }),
]
const at = (name: string): number => rows.findIndex((r) => r.name === name)

it('moves by one place among rules that every server knows by name', () => {
  expect(rankByStep(rows, at('b'), -1)).toBe('a')
  expect(rankByStep(rows, at('a'), 1)).toBe('c')
  expect(rankByStep(rows, at('b'), 1)).toBe('default')
})

it('has no place above the first, below default, or for rules of the controller and the server', () => {
  expect(rankByStep(rows, at('a'), -1)).toBeNull()
  expect(rankByStep(rows, at('c'), 1)).toBeNull()
  expect(rankByStep(rows, at('default'), -1)).toBeNull()
  expect(rankByStep(rows, at('ab_0123456789'), 1)).toBeNull()
  expect(rankByStep(rows, at('gone'), -1)).toBeNull()
})

it('names the rule below the gap it is dropped into', () => {
  expect(rankAtGap(rows, at('c'), 0)).toBe('a')
  expect(rankAtGap(rows, at('a'), 4)).toBe('c')
  expect(rankAtGap(rows, at('a'), 6)).toBe('default')
  expect(rankAtGap(rows, at('a'), at('a'))).toBeNull()
  expect(rankAtGap(rows, at('a'), at('a') + 1)).toBeNull()
  expect(rankNames(rows, 'a')).toEqual(['b', 'c', 'default'])
})

it('shows rules where the staged places put them, and leaves the others where they are', () => {
  const names = (items: Parameters<typeof inStagedOrder>[1]): string =>
    inStagedOrder(rows, items)
      .map((r) => r.name)
      .join(' ')
  const move = (rule: string, rank: string) => ({ rule, form: { verb: 'change', rank } })
  expect(names([move('c', 'a')])).toBe('ab_0123456789 c a fresh b gone default')
  expect(names([move('c', 'a'), move('b', 'c')])).toBe('ab_0123456789 b c a fresh gone default')
  const asIs = rows.map((r) => r.name).join(' ')
  expect(names([move('c', 'elsewhere'), move('c', ''), { rule: 'b', form: { verb: 'stop', rank: 'a' } }])).toBe(asIs)
  expect([isRightBefore(rows, 'a', 'b'), isRightBefore(rows, 'b', 'a')]).toEqual([true, false])
})
