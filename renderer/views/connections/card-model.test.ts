import { describe, expect, it } from 'vitest'
import { factsOf, leftoversOf, modeStatus, remarksOf, retryText } from './card-model.ts'
import { firstObstacle } from './check-steps.ts'
import {
  card,
  demo,
  NOW_MS,
  osses,
  prod,
  server,
  shownKey,
  stage,
  stepsTo,
} from '#tests/kits/renderer/views/connections-host.ts'
import { hostNames, treeOf } from './server-tree.ts'

describe('the tree', () => {
  it('runs from the bastion over the MGS to servers folded by role', () => {
    expect(treeOf(stage().servers).map((g) => [g.depth, g.kind, g.names, g.what, g.level, g.state])).toEqual([
      [0, 'bastion', 'login1.hpc', 'bastion', 'ok', 'used by 6 servers'],
      [1, 'mgs', 'bor-mgs', 'MGS', 'ok', '0.8 ms'],
      [2, 'mds', 'mds01', 'MDS, 2 MDT', 'ok', '0.8 ms'],
      [2, 'oss', 'oss01 to oss04', '16 OST', 'bad', '3 of 4'],
    ])
    expect(treeOf(demo().servers).map((g) => [g.depth, g.kind])).toEqual([
      [0, 'mgs'],
      [1, 'oss'],
    ])
  })
  it('counts a server that is connected and cannot be read as not answering', () => {
    const [first, ...rest] = osses(3, 1, 'x')
    if (!first) throw new Error('no server')
    const [group] = treeOf([{ ...first, level: 'bad', text: 'sudo does not let lctl read' }, ...rest])
    expect([group?.level, group?.state]).toEqual(['bad', '2 of 3'])
  })
  it('shortens runs of names to their ends, and lists the rest separately', () => {
    expect(hostNames(['oss02', 'oss10', 'oss01', 'oss03'])).toBe('oss01 to oss03, oss10')
    expect(hostNames(['oss8', 'oss9', 'oss10'])).toBe('oss8 to oss10')
    expect(hostNames(['oss01.hpc', 'oss02.hpc', 'oss03.hpc', 'oss04.lab'])).toBe('oss01.hpc to oss03.hpc, oss04.lab')
    expect(hostNames(['mds01', 'mds02'])).toBe('mds01, mds02')
    expect(hostNames([])).toBe('')
  })
})

describe('a card', () => {
  it('marks a token rate that is a guess', () => {
    const rateOf = (isGuess: boolean) =>
      factsOf(card('x', { rate: { perOst: 1000, isGuess, busiest: null } })).find((f) => f.name === 'OST rate T')
    expect(rateOf(true)).toMatchObject({ text: '1\u202F000 RPC/s, a guess', level: 'watch' })
    expect(rateOf(false)).toMatchObject({ text: '1\u202F000 RPC/s', level: 'ok' })
  })
  it('shows how many keys need approval or are refused', () => {
    const trusted = (servers: ReturnType<typeof prod>['servers']) =>
      factsOf(card('x', { servers })).find((f) => f.name === 'Trusted')
    expect(trusted(prod().servers)).toMatchObject({ level: 'ok', text: 'compared, 3 Mar, mira' })
    const waits = server('a', { key: shownKey() })
    expect(trusted([waits, server('b')])).toMatchObject({ level: 'watch', text: '1 of 2 need approval' })
    const changed = server('c', { key: shownKey({ verdict: 'changed', isOpen: false }) })
    expect(trusted([waits, changed])).toMatchObject({ level: 'bad', text: '1 refused: changed' })
  })
  it('has level watch as soon as it can write', () => {
    expect(modeStatus(prod(), NOW_MS)).toMatchObject({ text: 'Observe', level: null })
    expect(modeStatus(stage(), NOW_MS)).toMatchObject({ text: 'Enforce 08:11 left', level: 'watch' })
    expect(modeStatus(stage({ unlockedUntilMs: NOW_MS - 1 }), NOW_MS).text).toBe('Enforce')
  })
  it('merges the same notice of several servers, with their names, and leaves long fixes to the checklist', () => {
    const what = (host: string): string => `${host}: sudo lets nothing be read`
    const notices = ['oss01', 'oss02', 'oss03'].map((host) => ({ code: 'CHECK', what: what(host), next: 'a\nb' }))
    expect(remarksOf(prod({ notices })).map((r) => r.text)).toEqual([
      'oss01 to oss03: sudo lets nothing be read. Test shows the fix.',
    ])
  })
  it('puts leftovers that nothing stops before those that a timer stops', () => {
    const left = stage().leftovers
    expect(leftoversOf(stage({ leftovers: [...left].reverse() })).map((l) => l.timer)).toEqual(['', 'sluice-b311'])
  })
  it('shows the time to the next retry', () => {
    expect(retryText(server('a', { retryAtMs: NOW_MS + 21_000 }), NOW_MS)).toBe('retry in 00:21')
    expect(retryText(server('a', { retryAtMs: NOW_MS - 1 }), NOW_MS)).toBe('retrying now')
    expect(retryText(server('a'), NOW_MS)).toBe('')
  })
})

it('finds the earliest step at which servers stand, and none where all answer', () => {
  const down = { state: 'refused', level: 'bad' } as const
  const servers = [
    server('a', { ...down, steps: stepsTo('sudo', 'bad') }),
    server('b', { ...down, steps: stepsTo('sudo', 'bad') }),
    server('c', { state: 'connecting', level: 'watch', steps: stepsTo('dns', 'now') }),
    server('d'),
  ]
  expect(firstObstacle(servers)).toMatchObject({ host: 'a', step: { id: 'sudo' }, alike: 1 })
  expect(firstObstacle(servers.slice(2))).toMatchObject({ host: 'c', step: { id: 'dns' }, alike: 0 })
  expect(firstObstacle([server('d')])).toBeNull()
})
