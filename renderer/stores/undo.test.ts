import { createPinia, setActivePinia } from 'pinia'
import { effectScope, nextTick } from 'vue'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { useConnectionStore } from './connection.ts'
import { useJobsTableStore } from './jobs-table.ts'
import { PLAIN, useSandboxVariantsStore } from './sandbox-variants.ts'
import { useSettingsStore } from './settings.ts'
import { resetForSource } from './source-switch.ts'
import { useSourceStore } from './source.ts'
import { useStagedEditsStore } from './staged-edits.ts'
import { useTagsStore } from './tags.ts'
import { recordEdits } from './undo-watch.ts'
import { useUndoStore } from './undo.ts'

let scope = effectScope()
beforeEach(() => {
  scope = effectScope()
  localStorage.clear()
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }))
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 })
  setActivePinia(createPinia())
})
afterEach(() => {
  scope.stop()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})
const later = (): void => void vi.setSystemTime(Date.now() + 10_000)
const words = (): string => useUndoStore().message?.text ?? ''

describe('edits of the window', () => {
  it('are undone and redone one by one, with their descriptions', async () => {
    scope.run(recordEdits)
    const undo = useUndoStore()
    const settings = useSettingsStore()
    const jobs = useJobsTableStore()
    settings.theme = 'light'
    later()
    jobs.filter = 'user:ana'
    later()
    jobs.sortBy('readBps')
    expect(undo.past.map((e) => e.label)).toEqual(['Theme', 'filter user:ana', 'jobs sorted by readBps'])

    await undo.undo()
    expect([jobs.sort, jobs.filter]).toEqual(['rpcs', 'user:ana'])
    await undo.undo()
    expect(jobs.filter).toBe('')
    expect(words()).toBe('Undone: filter user:ana')
    await undo.undo()
    expect(settings.theme).toBe('dark')
    await undo.undo()
    expect(words()).toBe('Nothing to undo')

    await undo.redo()
    await undo.redo()
    expect([settings.theme, jobs.filter, jobs.sort]).toEqual(['light', 'user:ana', 'rpcs'])
    later()
    jobs.filter = 'user:bo'
    expect(undo.future).toEqual([])
  })

  it('are merged while typing, and undo itself records none', async () => {
    scope.run(recordEdits)
    const undo = useUndoStore()
    const jobs = useJobsTableStore()
    for (const text of ['u', 'us', 'user:', 'user:ana']) jobs.filter = text
    expect(undo.past).toHaveLength(1)
    await undo.undo()
    expect(jobs.filter).toBe('')
    expect(undo.past).toHaveLength(0)
    await undo.redo()
    expect(jobs.filter).toBe('user:ana')
  })

  it('of the jobs table include grouping, an opened group, and the target of records', async () => {
    scope.run(recordEdits)
    const undo = useUndoStore()
    const jobs = useJobsTableStore()
    const shown = () => [jobs.groupBy, jobs.filter, jobs.target]
    jobs.groupBy = 'user'
    jobs.groupBy = 'account'
    later()
    jobs.openGroup('phys', 'account:phys')
    jobs.target = 'demo-OST0001'
    expect(undo.past.map((e) => e.label)).toEqual([
      'jobs by account',
      'opening of phys',
      'token balances of demo-OST0001',
    ])
    await undo.undo()
    expect(shown()).toEqual([null, 'account:phys', ''])
    await undo.undo()
    expect(shown()).toEqual(['account', '', ''])
    await undo.undo()
    expect(shown()).toEqual([null, '', ''])
    for (let i = 0; i < 3; i++) await undo.redo()
    expect(shown()).toEqual([null, 'account:phys', 'demo-OST0001'])
  })

  it('of tags are one per row, and one for clearing all', async () => {
    scope.run(recordEdits)
    const undo = useUndoStore()
    const tags = useTagsStore()
    tags.clear()
    expect(undo.past).toEqual([])
    tags.toggle('jobs', '4655.vasp')
    tags.toggle('rules', 'hog_cap')
    tags.toggle('jobs', '4655.vasp')
    tags.toggle('jobs', '4690.python')
    tags.clear()
    expect(undo.past.map((e) => e.label)).toEqual([
      'tag of 4655.vasp',
      'tag of hog_cap',
      'tag removed from 4655.vasp',
      'tag of 4690.python',
      '2 tags cleared',
    ])
    await undo.undo()
    expect([[...tags.of('jobs')], [...tags.of('rules')]]).toEqual([['4690.python'], ['hog_cap']])
    await undo.undo()
    await undo.undo()
    expect([...tags.of('jobs')]).toEqual(['4655.vasp'])
    await undo.redo()
    expect(tags.count).toBe(1)
    resetForSource()
    expect([undo.past, undo.future]).toEqual([[], []])
  })

  it('of variants restore a removed one at its position with its id', async () => {
    const variants = useSandboxVariantsStore()
    variants.set([PLAIN, { ...PLAIN, name: 'B' }, { ...PLAIN, name: 'C' }])
    scope.run(recordEdits)
    const before = variants.entries
    variants.remove(before[1]!.id)
    later()
    variants.patch(before[2]!.id, { maxRate: 7 })
    const undo = useUndoStore()
    expect(undo.past.map((e) => e.label)).toEqual(['variant B removed', 'variant C'])
    await undo.undo()
    await undo.undo()
    expect(variants.entries).toEqual(before)
  })

  it('are dropped with their source, except for settings', async () => {
    scope.run(recordEdits)
    const undo = useUndoStore()
    const settings = useSettingsStore()
    const jobs = useJobsTableStore()
    settings.density = 'comfy'
    later()
    jobs.filter = 'user:ana'
    resetForSource()
    expect(jobs.filter).toBe('')
    expect(undo.past.map((e) => e.label)).toEqual(['Density'])
    await nextTick()
  })

  it('are limited to a hundred', () => {
    const undo = useUndoStore()
    for (let i = 0; i < 130; i++) undo.push({ label: `${i}`, area: 'views', undo: () => true, redo: () => true })
    expect(undo.past).toHaveLength(100)
    expect(undo.past[0]?.label).toBe('30')
  })
})

describe('what is staged', () => {
  const form = {
    verb: 'start',
    name: 'a',
    conditions: 'uid={5}',
    rate: '5',
    rank: '',
    realtime: false,
    queue: 'reg',
  } as const
  const terms = { expiresS: 60, reason: '' }
  function host() {
    const calls: string[] = []
    let last = 0
    const api = {
      rules: {
        stage: async () => {
          calls.push('stage')
          return { id: `s${++last}` }
        },
        unstage: async ({ id }: { id: string }) => void calls.push(`unstage ${id}`),
        restore: async ({ ids, replaces }: { ids: string[]; replaces?: string }) => {
          if (ids[0] === 'gone') throw new Error('it is not remembered')
          calls.push(`restore ${ids.join(' ')}${replaces === undefined ? '' : ` for ${replaces}`}`)
        },
      },
    }
    useConnectionStore().opened({ api } as never)
    return calls
  }

  it('is unstaged and restored under its own id', async () => {
    const calls = host()
    const edits = useStagedEditsStore()
    const undo = useUndoStore()
    await edits.stage({ service: 'ost_io', form, terms })
    await edits.stage({ service: 'ost_io', form, terms, replaces: 's1' })
    for (const act of [undo.undo, undo.undo, undo.redo, undo.redo]) expect(await act()).toBe(true)
    expect(calls).toEqual(['stage', 'stage', 'restore s1 for s2', 'unstage s1', 'restore s1', 'restore s2 for s1'])
  })

  it('is restored after everything was discarded', async () => {
    const calls = host()
    const edits = useStagedEditsStore()
    const undo = useUndoStore()
    const items = ['x', 'y'].map((id) => ({ id, rule: id, form: { ...form, name: id } }))
    edits.note({ service: 'ost_io', items, policy: null } as never)
    await edits.unstage('ost_io', null)
    expect(undo.next?.label).toBe('unstage 2 changes')
    await undo.undo()
    await undo.redo()
    expect(calls).toEqual(['unstage null', 'restore x y', 'unstage x', 'unstage y'])
  })

  it('reports a change that the host no longer has, and drops the edit', async () => {
    const edits = useStagedEditsStore()
    const undo = useUndoStore()
    host()
    edits.note({ service: 'ost_io', items: [{ id: 'gone', rule: 'a', form }], policy: null } as never)
    await edits.unstage('ost_io', 'gone')
    expect(await undo.undo()).toBe(false)
    expect(words()).toBe('Not undone: unstage start of a')
    expect(useSourceStore().notices.map((n) => n.what)).toEqual(['Staged changes were not updated'])
    expect([undo.past, undo.future]).toEqual([[], []])
  })

  it('cannot be undone after a commit: the cluster is rolled back in Rules only', async () => {
    const calls = host()
    const edits = useStagedEditsStore()
    const undo = useUndoStore()
    await edits.stage({ service: 'ost_io', form, terms })
    undo.committed('The staged changes were committed')
    expect(await undo.undo()).toBe(false)
    expect(words()).toBe(
      'The staged changes were committed. Cluster changes are reverted in Rules, under Change history (Z)',
    )
    expect(await undo.undo()).toBe(false)
    expect(calls).toEqual(['stage'])
  })
})
