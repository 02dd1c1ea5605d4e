import { expect, it } from 'vitest'
import { JobRegistry } from './job-registry.ts'

it('keeps the color of a job while it lives, and gives it again to one that returns soon', () => {
  let nowMs = 0
  const jobs = new JobRegistry(() => nowMs)
  const { job } = jobs.meet('4711.cfd', 0)
  expect(job.colour).toBe(0)
  jobs.meet('4655.vasp', 0)
  const [color, other] = jobs.jobColors.colors(['4711.cfd', '4655.vasp'])
  for (let i = 0; i < 100; i++) jobs.jobColors.colors([`${i}.other`])
  expect([job.colour, jobs.find('4655.vasp')?.colour]).toEqual([color, other])
  jobs.drop('4711.cfd')
  nowMs += 300_000
  jobs.jobColors.colors(Array.from({ length: 7 }, (_, i) => jobs.meet(`${i}.new`, nowMs).job.jobId))
  expect(Array.from(jobs.all, (j) => j.colour)).not.toContain(color)
  expect(jobs.meet('4711.cfd', nowMs).job.colour).toBe(color)
})
