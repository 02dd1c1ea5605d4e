import { expect, it } from 'vitest'
import { review } from '#tests/kits/renderer/views/rules-frames.ts'
import { changeText, jobChange, jobsText, whoText } from './trial-face.ts'

const trial = review().trial!

it('keeps sure and possible apart', () => {
  expect(jobsText(trial)).toBe('1 job')
  expect(jobsText({ ...trial, jobCount: 12, mayCount: 2 })).toBe('10 to 12 jobs')
  expect(jobsText({ ...trial, jobCount: 3, mayCount: 3 })).toBe('3 jobs may')
})

it('counts no job as none where jobs were not read', () => {
  const nobody = { ...trial, jobs: [], jobCount: 0 }
  expect(jobsText(nobody, 'none')).toBe('\u2013')
  expect(whoText(nobody, 'none')).toBe('not known: no server reports its jobs')
  expect(jobsText(trial, 'some')).toBe('\u2265 1 job')
  expect(whoText(nobody, 'some')).toBe('no job of the servers that report')
})

it('says what a limit takes away, and when it takes nothing', () => {
  expect(changeText(trial)).toBe('\u221297\u202F%')
  expect(changeText({ ...trial, rpcsAfter: null })).toBe('no limit')
  expect(changeText({ ...trial, rpcsAfter: 80_000 })).toBe('room left')
  expect(changeText({ ...trial, rpcsNow: 0 })).toBe('idle now')
  expect(changeText({ ...trial, jobCount: 0, rpcsNow: 0 })).toBe('\u2013')
})

it('names the first job and says whether another one is touched', () => {
  expect(whoText(trial)).toBe('4690.python.u1021, no other')
  expect(whoText({ ...trial, jobCount: 3, otherCount: 2 })).toBe('4690.python.u1021 first, 2 others')
  expect(whoText({ ...trial, jobs: [], jobCount: 0 })).toBe('no live job comes under it')
  expect([jobChange(-0.5), jobChange(2), jobChange(null)]).toEqual(['\u221250\u202F%', 'room left', 'no limit'])
})
