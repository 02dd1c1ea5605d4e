import { expect, it } from 'vitest'
import { review } from '#tests/kits/renderer/views/rules-frames.ts'
import { changeText, jobChange, jobsText, whoText } from './trial-text.ts'

const trial = review().trial!

it('distinguishes certain from possible matches', () => {
  expect(jobsText(trial)).toBe('1 job')
  expect(jobsText({ ...trial, jobCount: 12, mayCount: 2 })).toBe('10 to 12 jobs')
  expect(jobsText({ ...trial, jobCount: 3, mayCount: 3 })).toBe('0 to 3 jobs')
})

it('does not report 0 jobs if jobs were not read', () => {
  const nobody = { ...trial, jobs: [], jobCount: 0 }
  expect(jobsText(nobody, 'none')).toBe('\u2013')
  expect(whoText(nobody, 'none')).toBe('unknown: no server reports its jobs')
  expect(jobsText(trial, 'some')).toBe('\u2265 1 job')
  expect(whoText(nobody, 'some')).toBe('no job on reporting servers')
})

it('formats the reduction by a limit, and limits without effect', () => {
  expect(changeText(trial)).toBe('\u221297\u202F%')
  expect(changeText({ ...trial, rpcsAfter: null })).toBe('no limit')
  expect(changeText({ ...trial, rpcsAfter: 80_000 })).toBe('within limit')
  expect(changeText({ ...trial, rpcsNow: 0 })).toBe('idle')
  expect(changeText({ ...trial, jobCount: 0, rpcsNow: 0 })).toBe('\u2013')
})

it('names the first job and counts other affected jobs', () => {
  expect(whoText(trial)).toBe('4690.python.u1021; no other job affected')
  expect(whoText({ ...trial, jobCount: 3, otherCount: 2 })).toBe('4690.python.u1021 and 2 more; 2 other jobs affected')
  expect(whoText({ ...trial, jobs: [], jobCount: 0 })).toBe('no live job matches')
  expect([jobChange(-0.5), jobChange(2), jobChange(null)]).toEqual(['\u221250\u202F%', 'within limit', 'no limit'])
})
