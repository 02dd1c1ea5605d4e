import { expect, it } from 'vitest'
import { hasTerm, termOf, toggleTerm, tokensOf } from './filter.ts'

it('paints every character of the line once', () => {
  const line = ' rpc>500  -account:ops <img src=x> op:'
  expect(
    tokensOf(line)
      .map((t) => t.text)
      .join(''),
  ).toBe(line)
  expect(
    tokensOf(line)
      .filter((t) => t.kind !== 'space')
      .map((t) => [t.kind, t.text.slice(0, t.keyLength)]),
  ).toEqual([
    ['term', 'rpc'],
    ['negated', '-account:'],
    ['word', ''],
    ['term', 'src'],
    ['term', 'op:'],
  ])
})

it('puts a facet in and takes it out', () => {
  expect(toggleTerm('rpc>5k', 'account:aero')).toBe('rpc>5k account:aero')
  expect(toggleTerm('rpc>5k  account:aero x', 'account:aero')).toBe('rpc>5k x')
  expect(hasTerm('account:aero', 'account:aer')).toBe(false)
  expect([termOf('account', 'ml train'), termOf('rule', 'bound'), termOf('rule', 'none')]).toEqual([
    'account:ml*train',
    'is:bound',
    'rule:none',
  ])
})
