import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { LAPSED_MS, lockCommits } from './commit-lock.ts'
import { thisProcess } from './store-leases.ts'
import { EnforcementStore, storeFile } from './store.ts'

let store: EnforcementStore
const open = (): EnforcementStore => {
  const opened = EnforcementStore.open(storeFile(mkdtempSync(join(tmpdir(), 'sluice-lock-'))), Date.now())
  if (!opened.ok) throw new Error(opened.error.what)
  return (store = opened.value)
}
afterEach(() => store.close())

const PLAN = 'commit of altair'
const state = (): string | undefined => store.plans.find(PLAN)?.state
const heldBy = (pid: number, born: string, machine = thisProcess().machine, renewedMs = Date.now()): void =>
  store.plans.keep({
    id: PLAN,
    cluster: '',
    atMs: 0,
    state: `busy ${machine} ${pid} ${born} ${renewedMs}`,
    document: null,
  })
const failureOf = (locked: ReturnType<typeof lockCommits>) => (locked.ok ? undefined : locked.error)

describe('one commit at a time on a cluster', () => {
  it('is taken and given back', () => {
    const locked = lockCommits(open(), 'altair')
    expect([locked.ok, state()?.startsWith('busy ')]).toEqual([true, true])
    if (locked.ok) locked.value.release()
    expect(state()).toBe('free')
  })

  it('is not taken from a process that runs, here or elsewhere; other clusters are free', () => {
    open()
    // The parent of this process outlives it.
    heldBy(process.ppid, '')
    expect(lockCommits(store, 'altair')).toMatchObject({ ok: false, error: { code: 'BUSY' } })
    heldBy(1, '', 'another.machine')
    expect(lockCommits(store, 'altair')).toMatchObject({ ok: false, error: { code: 'BUSY' } })
    expect(lockCommits(store, 'vega').ok).toBe(true)
  })

  it('of a process that has ended is free, also if another one has its pid', () => {
    open()
    heldBy(2 ** 22 + 1, '1')
    expect(lockCommits(store, 'altair').ok).toBe(true)
    heldBy(process.pid, '1')
    expect(lockCommits(store, 'altair').ok).toBe(true)
  })

  it('that was not given back for want of space is no reason to refuse this very process for ever', () => {
    expect(lockCommits(open(), 'altair').ok).toBe(true)
    expect(lockCommits(store, 'altair').ok).toBe(true)
  })

  it('held by a process that went down when this machine had another name is free a minute later', () => {
    open()
    heldBy(4242, '17', 'name.before', Date.now() - 20_000)
    const refused = failureOf(lockCommits(store, 'altair'))
    expect(refused).toMatchObject({
      code: 'BUSY',
      why: expect.stringMatching(/process 4242 on name\.before, last renewed (20|21) s ago/) as string,
      next: expect.stringMatching(/If it has ended, the lock expires in (40|39) s/) as string,
    })
    heldBy(4242, '17', 'name.before', Date.now() - LAPSED_MS - 1)
    expect(lockCommits(store, 'altair').ok).toBe(true)
  })

  it('of an older release, of a clock that was ahead, and of a system without start times of processes expires', () => {
    open()
    store.plans.keep({ id: PLAN, cluster: '', atMs: 0, state: 'busy name.before 4242 17', document: null })
    expect(lockCommits(store, 'altair').ok).toBe(true)
    heldBy(4242, '17', 'name.before', Date.now() + 10 * LAPSED_MS)
    expect(lockCommits(store, 'altair').ok).toBe(true)
    heldBy(process.ppid, '', thisProcess().machine, Date.now() - 2 * LAPSED_MS)
    expect(lockCommits(store, 'altair').ok).toBe(true)
  })

  it('of a process of this machine that certainly runs is not taken, however late it is; the error says which one to end', () => {
    open()
    const stat = readFileSync(`/proc/${process.ppid}/stat`, 'latin1')
    const born = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
    heldBy(process.ppid, born, thisProcess().machine, Date.now() - 100 * LAPSED_MS)
    expect(failureOf(lockCommits(store, 'altair'))).toMatchObject({
      code: 'BUSY',
      why: expect.stringContaining('last renewed 1 h 40 min ago') as string,
      next: expect.stringContaining(`end process ${process.ppid}`) as string,
    })
  })

  it('is renewed while it is held, and a process that lost it sends nothing more', () => {
    vi.useFakeTimers()
    try {
      const locked = lockCommits(open(), 'altair')
      if (!locked.ok) throw new Error(locked.error.what)
      const first = state()
      vi.advanceTimersByTime(3 * LAPSED_MS)
      expect(state()).not.toBe(first)
      // Another process sees that it was just renewed.
      expect(Number(state()?.split(' ').at(-1))).toBeGreaterThan(Date.now() - LAPSED_MS / 2)
      expect(locked.value.lost()).toBeUndefined()
      heldBy(77, '1', 'another.machine')
      expect(locked.value.lost()).toMatchObject({
        code: 'LOCK_LOST',
        why: expect.stringContaining('process 77') as string,
      })
      const theirs = state()
      vi.advanceTimersByTime(LAPSED_MS)
      locked.value.release()
      expect(state()).toBe(theirs)
    } finally {
      vi.useRealTimers()
    }
  })

  it('that cannot be put on record is not taken', () => {
    open().close()
    expect(lockCommits(store, 'altair')).toMatchObject({ ok: false, error: { code: 'NOT_ON_RECORD' } })
    open()
  })
})
