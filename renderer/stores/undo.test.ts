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
import { noticeEdits } from './undo-watch.ts'
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
const words = (): string => useUndoStore().told?.words ?? ''

describe('edits of the window', () => {
  it('are taken back one by one, and brought again, with their words', async () => {
    scope.run(noticeEdits)
    const [undo, settings, jobs] = [useUndoStore(), useSettingsStore(), useJobsTableStore()]
    settings.theme = 'light'
    later()
    jobs.filter = 'user:ana'
    later()
    jobs.sortBy('readBps')
    expect(undo.past.map((e) => e.words)).toEqual(['Theme', 'filter user:ana', 'order of jobs by readBps'])

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

  it('that are typed are one, and what undoing itself changes is none', async () => {
    scope.run(noticeEdits)
    const [undo, jobs] = [useUndoStore(), useJobsTableStore()]
    for (const text of ['u', 'us', 'user:', 'user:ana']) jobs.filter = text
    expect(undo.past).toHaveLength(1)
    await undo.undo()
    expect(jobs.filter).toBe('')
    expect(undo.past).toHaveLength(0)
    await undo.redo()
    expect(jobs.filter).toBe('user:ana')
  })

  it('of the jobs table are also how it is grouped, a group that is opened, and whose records are shown', async () => {
    scope.run(noticeEdits)
    const [undo, jobs] = [useUndoStore(), useJobsTableStore()]
    const shown = () => [jobs.groupBy, jobs.filter, jobs.target]
    jobs.groupBy = 'user'
    jobs.groupBy = 'account'
    later()
    jobs.openGroup('phys', 'account:phys')
    jobs.target = 'demo-OST0001'
    expect(undo.past.map((e) => e.words)).toEqual([
      ...['jobs by account', 'opening of phys', 'records of demo-OST0001'],
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

  it('of tags are one a row, and clearing all of them is one', async () => {
    scope.run(noticeEdits)
    const [undo, tags] = [useUndoStore(), useTagsStore()]
    tags.clear()
    expect(undo.past).toEqual([])
    tags.toggle('jobs', '4655.vasp')
    tags.toggle('rules', 'hog_cap')
    tags.toggle('jobs', '4655.vasp')
    tags.toggle('jobs', '4690.python')
    tags.clear()
    expect(undo.past.map((e) => e.words)).toEqual([
      ...['tag of 4655.vasp', 'tag of hog_cap', 'tag taken from 4655.vasp', 'tag of 4690.python', '2 tags cleared'],
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

  it('of variants bring back the one that was removed, under its place and id', async () => {
    const variants = useSandboxVariantsStore()
    variants.set([PLAIN, { ...PLAIN, name: 'B' }, { ...PLAIN, name: 'C' }])
    scope.run(noticeEdits)
    const before = variants.entries
    variants.remove(before[1]!.id)
    later()
    variants.patch(before[2]!.id, { maxRate: 7 })
    const undo = useUndoStore()
    expect(undo.past.map((e) => e.words)).toEqual(['variant B removed', 'variant C'])
    await undo.undo()
    await undo.undo()
    expect(variants.entries).toEqual(before)
  })

  it('go with a source that is left, but for those of settings', async () => {
    scope.run(noticeEdits)
    const [undo, settings, jobs] = [useUndoStore(), useSettingsStore(), useJobsTableStore()]
    settings.density = 'comfy'
    later()
    jobs.filter = 'user:ana'
    resetForSource()
    expect(jobs.filter).toBe('')
    expect(undo.past.map((e) => e.words)).toEqual(['Density'])
    await nextTick()
  })

  it('are kept up to a hundred', () => {
    const undo = useUndoStore()
    for (let i = 0; i < 130; i++) undo.push({ words: `${i}`, room: 'views', undo: () => true, redo: () => true })
    expect(undo.past).toHaveLength(100)
    expect(undo.past[0]?.words).toBe('30')
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

  it('is taken back and staged again under its own id', async () => {
    const [calls, edits, undo] = [host(), useStagedEditsStore(), useUndoStore()]
    await edits.stage({ service: 'ost_io', form, terms })
    await edits.stage({ service: 'ost_io', form, terms, replaces: 's1' })
    for (const act of [undo.undo, undo.undo, undo.redo, undo.redo]) expect(await act()).toBe(true)
    expect(calls).toEqual(['stage', 'stage', 'restore s1 for s2', 'unstage s1', 'restore s1', 'restore s2 for s1'])
  })

  it('comes back after all of it was discarded', async () => {
    const [calls, edits, undo] = [host(), useStagedEditsStore(), useUndoStore()]
    const items = ['x', 'y'].map((id) => ({ id, rule: id, form: { ...form, name: id } }))
    edits.note({ service: 'ost_io', items, policy: null } as never)
    await edits.unstage('ost_io', null)
    expect(undo.next?.words).toBe('take back 2 staged changes')
    await undo.undo()
    await undo.redo()
    expect(calls).toEqual(['unstage null', 'restore x y', 'unstage x', 'unstage y'])
  })

  it('that the host does not know any more is said, and the edit is let go', async () => {
    const [edits, undo] = [useStagedEditsStore(), useUndoStore()]
    host()
    edits.note({ service: 'ost_io', items: [{ id: 'gone', rule: 'a', form }], policy: null } as never)
    await edits.unstage('ost_io', 'gone')
    expect(await undo.undo()).toBe(false)
    expect(words()).toBe('Not undone: take back start of a')
    expect(useSourceStore().notices.map((n) => n.what)).toEqual(['What is staged was not changed'])
    expect([undo.past, undo.future]).toEqual([[], []])
  })

  it('and was committed is no edit any more: the cluster is changed back in Rules only', async () => {
    const [calls, edits, undo] = [host(), useStagedEditsStore(), useUndoStore()]
    await edits.stage({ service: 'ost_io', form, terms })
    undo.committed('The staged changes were committed')
    expect(await undo.undo()).toBe(false)
    expect(words()).toBe(
      'The staged changes were committed. Changes of a cluster are undone in Rules, in the undo list (Z)',
    )
    expect(await undo.undo()).toBe(false)
    expect(calls).toEqual(['stage'])
  })
})
