import { expect, it } from 'vitest'
import type { RuleState } from '#core/api/rule-edits.ts'
import { hostRange } from './host-range.ts'
import { resultSentence, endsOf, ruleStatus } from './commit-results.ts'

it('shortens runs of hosts and nothing else', () => {
  const run = Array.from({ length: 11 }, (_, i) => `oss${String(i + 2).padStart(2, '0')}`)
  expect(hostRange(run)).toBe('oss02\u201312')
  expect(hostRange(['oss02', 'oss03', 'oss04', 'oss07'])).toBe('oss02\u201304, oss07')
  expect(hostRange(['oss01', 'oss02', 'mds', 'a9', 'a10'])).toBe('oss01, oss02, mds, a9, a10')
  expect(hostRange([])).toBe('')
})

it('summarizes the result of a commit, unknown states included', () => {
  const node = (host: string, state: 'done' | 'failed' | 'unknown' | 'not sent') => ({ host, state, detail: '' })
  expect(resultSentence([node('a', 'done'), node('b', 'done')])).toEqual({
    level: 'ok',
    text: 'Verified by read-back on 2 of 2 servers.',
  })
  const partial = [node('a', 'done'), node('b', 'failed'), node('c', 'unknown'), node('d', 'not sent')]
  expect(resultSentence(partial)).toEqual({
    level: 'bad',
    text: '1 of 4 servers have the change: 1 failed, 1 unknown, 1 not sent.',
  })
  expect(endsOf(partial).map((end) => end.hosts)).toEqual(['b', 'c', 'd', 'a'])
})

it('formats the state of staged changes', () => {
  const statuses = (phase: RuleState['phase'], servers: string[] = []): string[] => {
    const { level, word } = ruleStatus({ phase, servers })
    return [level, word]
  }
  expect([
    statuses('editing'),
    statuses('reviewed'),
    statuses('committing'),
    statuses('committing', ['oss01']),
    statuses('done', ['oss01', 'oss02']),
    statuses('partial', ['oss01', 'oss02']),
    statuses('rolled back', ['oss01']),
    statuses('unknown', ['oss01']),
  ]).toEqual([
    ['idle', 'Not reviewed'],
    ['ok', 'Reviewed'],
    ['watch', 'Committing'],
    ['watch', 'Committing on 1 server'],
    ['ok', 'Done on 2 servers'],
    ['bad', 'Done on some servers'],
    ['watch', 'Rolled back'],
    ['unknown', 'Outcome unknown'],
  ])
})
