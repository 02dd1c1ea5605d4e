import { describe, expect, it } from 'vitest'
import type { PairMove } from '#core/adaptbf/pair-accounts.ts'
import { ENDED_JOBS } from '#core/adaptbf/ended-jobs.ts'
import { JobEviction } from './job-eviction.ts'
import { JobRegistry } from './state/job-registry.ts'
import { PairJournal } from './state/pair-journal.ts'
import { Recent } from './state/recent.ts'

const PERIOD_S = 10

/** A registry with forgetting after a minute, one sample every ten seconds. */
function world() {
  const jobs = new JobRegistry()
  const recent = new Recent(PERIOD_S * 1e9)
  const journal = new PairJournal()
  const closed: string[][] = []
  let seconds = 0
  const retire = (ids: ReadonlySet<string>): Map<string, readonly PairMove[]> => {
    closed.push([...ids])
    return new Map([['t', [...ids].map((id) => ({ lender: ENDED_JOBS, borrower: id, lent: 1, reclaimed: 0 }))]])
  }
  const controllers = { retire }
  const moved = journal.add.bind(journal)
  const forgetting = new JobEviction({ jobs, recent, moved, controllers, nowNs: () => seconds * 1e9, afterMs: 60_000 })
  const sample = (...active: readonly string[]): string[] => {
    seconds += PERIOD_S
    const n = recent.push(seconds * 1000)
    for (const id of active) jobs.meet(id, seconds * 1000).job.lastActiveMs = seconds * 1000
    return forgetting.look(n, seconds * 1000)
  }
  return { jobs, recent, sample, closed, known: () => [...jobs.all].map(({ jobId }) => jobId) }
}

describe('forgetting', () => {
  it('closes a job once, knows it as long as a sample has its record, and then drops it', () => {
    const { recent, sample, closed, known } = world()
    sample('1.a.u1', '2.b.u2')
    const dropped: string[][] = []
    for (let i = 0; i < 2 * recent.raw.totals.capacity; i++) {
      const gone = sample('2.b.u2')
      if (gone.length > 0) dropped.push(gone)
      else if (dropped.length === 0) expect(known()).toContain('1.a.u1')
    }
    expect(closed).toEqual([['1.a.u1']])
    expect(dropped).toEqual([['1.a.u1']])
    expect(known()).toEqual(['2.b.u2', ENDED_JOBS])
  })

  it('keeps a job that comes back after it was closed, and closes it again when it ends again', () => {
    const { recent, sample, closed, known } = world()
    for (const active of [['1.a.u1'], ...Array.from({ length: 8 }, () => []), ['1.a.u1']]) sample(...active)
    expect(closed).toEqual([['1.a.u1']])
    for (let i = 0; i < 2 * recent.raw.totals.capacity; i++) sample()
    expect(closed).toEqual([['1.a.u1'], ['1.a.u1']])
    expect(known()).toEqual([ENDED_JOBS])
  })
})
