import { describe, expect, it } from 'vitest'
import { EXTENSION_NAMES, EXTENSIONS } from './loop-options.ts'
import { overdraft, nextMaxRate } from './controller.ts'

it('describes the change of every extension', () => {
  expect(EXTENSIONS.map(({ name }) => name)).toEqual(EXTENSION_NAMES)
})

describe('overdraft', () => {
  const jobs = [
    { nodes: 1, tokens: 30, demand: 10, hasBacklog: false },
    { nodes: 2, tokens: 40, demand: 60, hasBacklog: true },
    { nodes: 1, tokens: 30, demand: 41, hasBacklog: true },
  ]

  it('gives a part of what will stay unused to jobs with a backlog, by nodes', () => {
    expect(overdraft(jobs, 0.5)).toEqual([0, 7, 3])
    expect(overdraft(jobs, 1)).toEqual([0, 13, 7])
    expect(overdraft(jobs, 0)).toEqual([0, 0, 0])
  })

  it('gives nothing if nothing is unused or no job waits', () => {
    expect(overdraft(jobs.slice(1), 1)).toEqual([0, 0])
    expect(overdraft(jobs.slice(0, 1), 1)).toEqual([0])
    expect(overdraft([], 1)).toEqual([])
  })
})

describe('autoT', () => {
  const busy = { deviceBusy: 1, served: 50, budget: 50, hasBacklog: true, dtSeconds: 0.1 }
  it.each([
    ['a device that keeps up stays', busy, 500],
    ['a device that falls behind lowers T by a fifth of the way', { ...busy, served: 40 }, 480],
    ['spare capacity, a used budget and RPCs waiting raise it', { ...busy, deviceBusy: 0.9 }, 502.5],
    ['spare capacity without RPCs waiting does not', { ...busy, deviceBusy: 0.9, hasBacklog: false }, 500],
    ['nor spare capacity with tokens left', { ...busy, deviceBusy: 0.9, served: 45 }, 500],
    ['a backlog says nothing about a device that is not busy', { ...busy, deviceBusy: 0.5, served: 20 }, 500],
  ])('%s', (_, evidence, expected) => {
    expect(nextMaxRate(500, evidence)).toBeCloseTo(expected, 9)
  })
})
