import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { lockCommits } from './commit-lock.ts'
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
const heldBy = (pid: number, born: string, machine = thisProcess().machine): void =>
  store.plans.keep({ id: PLAN, cluster: '', atMs: 0, state: `busy ${machine} ${pid} ${born}`, document: null })

describe('one commit at a time on a cluster', () => {
  it('is taken and given back', () => {
    const locked = lockCommits(open(), 'altair')
    expect([locked.ok, state()?.startsWith('busy ')]).toEqual([true, true])
    if (locked.ok) locked.value()
    expect(state()).toBe('free')
  })

  it('is not taken from a process that runs, here or elsewhere; other clusters are free', () => {
    open()
    // The parent of this process runs as long as this one does.
    heldBy(process.ppid, '')
    expect(lockCommits(store, 'altair')).toMatchObject({ ok: false, error: { code: 'BUSY' } })
    heldBy(1, '', 'another.machine')
    expect(lockCommits(store, 'altair')).toMatchObject({ ok: false, error: { code: 'BUSY' } })
    expect(lockCommits(store, 'vega').ok).toBe(true)
  })

  it('of a process that has ended is nobody’s, nor that of another one with its number', () => {
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

  it('that cannot be put on record is not taken', () => {
    open().close()
    expect(lockCommits(store, 'altair')).toMatchObject({ ok: false, error: { code: 'NOT_ON_RECORD' } })
    open()
  })
})
