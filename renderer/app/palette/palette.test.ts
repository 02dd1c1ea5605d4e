import { flushPromises, mount } from '@vue/test-utils'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createPinia, setActivePinia } from 'pinia'
import { defineComponent, effectScope, nextTick, ref } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { Found } from '#core/api/search.ts'
import type { Host } from '../../stores/client.ts'
import { useConnectionStore } from '../../stores/connection.ts'
import { onScreenJobs } from '../../composables/on-screen-jobs.ts'
import { useCommands } from '../../composables/use-commands.ts'
import { useSandboxStore } from '../../stores/sandbox.ts'
import { useCatalogueItems } from './catalogue-items.ts'
import { ranked } from './fuzzy.ts'
import type { Item } from './item.ts'
import { usePlaces } from './places.ts'
import { lately, noteChosen, jobNameAfterVerb, usePageItems, usePalette, foundItems, useSearch } from './use-palette.ts'
import { usePaletteVerbs } from './verbs.ts'

const item = (title: string, keywords?: string): Item => ({
  id: title,
  group: 'Commands',
  title,
  run: () => undefined,
  ...(keywords === undefined ? {} : { keywords }),
})
const titles = (items: Item[], query: string, used: string[] = []): string[] =>
  ranked(items, query, used).map((r) => r.item.title)
beforeEach(() => {
  localStorage.clear()
  setActivePinia(createPinia())
})

describe('which command is meant', () => {
  const all = ['Go to Jobs', 'Pause on this sample', 'Compare: pin A', 'Change history of rules', 'New rule'].map((t) =>
    item(t),
  )
  it('is found by words in any order, by prefixes, and with one typo', () => {
    expect(titles(all, 'jobs go')).toEqual(['Go to Jobs'])
    expect(titles(all, 'puase')).toEqual(['Pause on this sample'])
    expect(titles(all, 'comprae')).toEqual(['Compare: pin A'])
    expect(titles(all, 'rul')).toEqual(expect.arrayContaining(['New rule', 'Change history of rules']))
    expect(titles(all, 'nothing of it')).toEqual([])
    expect(titles(all, '')).toEqual(all.map((i) => i.title))
  })

  it('is the recently used one of two equal matches, with the match marked', () => {
    const two = [item('Theme: dark'), item('Theme: light')]
    expect(titles(two, 'theme', ['Theme: light'])[0]).toBe('Theme: light')
    const [hit] = ranked([item('Propose a limit')], 'limit')
    expect(hit?.parts).toEqual([
      { text: 'Propose a ', isHit: false },
      { text: 'limit', isHit: true },
    ])
    // Matches outside the title are not marked in it.
    expect(ranked([item('Closer', 'history')], 'history')[0]?.parts).toEqual([{ text: 'Closer', isHit: false }])
  })

  it('is a literal match before a typo, and one in the title before one in its keywords', () => {
    const three = [item('Go to Overview'), item('Go to Rules', 'review'), item('Review staged changes')]
    expect(titles(three, 'review')).toEqual(['Review staged changes', 'Go to Rules', 'Go to Overview'])
  })

  it('takes every text as text', () => {
    for (const text of ['(', '[', '\\', '.*', '<img src=x>', '\u202E', '$&'])
      expect([text, titles(all, text)]).toEqual([text, []])
    expect(titles([item('a.*b (c)')], '.*')).toEqual(['a.*b (c)'])
  })
})

it('stores chosen items newest first, without duplicates, up to a limit', () => {
  for (let i = 0; i < 40; i++) noteChosen(`c${i}`)
  noteChosen('c35')
  expect(lately().slice(0, 3)).toEqual(['c35', 'c39', 'c38'])
  expect([lately().length, new Set(lately()).size]).toEqual([12, 12])
  localStorage.setItem('sluice.palette', '{"x":1}')
  expect(lately()).toEqual([])
})

it('searches jobs by the name after a verb', () => {
  const read = [
    'propose 4690',
    'throttle 46',
    'Limit for x',
    'propose a limit for 4690.python',
    'pro ',
    'prop',
    'pause it',
  ]
  expect(read.map(jobNameAfterVerb)).toEqual(['4690', '46', 'x', '4690.python', '', null, null])
})

it('escapes bidi controls in names, and marks ended jobs', () => {
  const job: Found = {
    kind: 'job',
    id: 'a\u202Eb',
    user: 'ana',
    account: '',
    colour: 3,
    rpcs: null,
    isThere: false,
    firstMs: 1,
  }
  const [shown] = foundItems([job], () => undefined)
  expect(shown).toMatchObject({ title: 'a\u2039202E\u203Ab', hint: 'ana \u00B7 ended', group: 'Jobs' })
  expect(shown?.colour).toBeUndefined()
})

describe('asking the host', () => {
  const text = ref('')
  const find = vi.fn()
  function begin() {
    vi.useFakeTimers()
    find.mockReset()
    text.value = ''
    useConnectionStore().opened({ api: { search: { find } } } as unknown as Host)
    const scope = effectScope()
    return { ...scope.run(() => useSearch(text))!, end: () => (scope.stop(), vi.useRealTimers()) }
  }
  const job = (id: string): Found => ({ kind: 'target', name: id, node: '' })

  it('waits for a pause, cancels the previous call, and drops a late response', async () => {
    const { answer, end } = begin()
    const answers = new Map<string, (of: object) => void>()
    find.mockImplementation((input: { text: string }) => new Promise((ok) => answers.set(input.text, ok)))
    for (const typed of ['4', '46', '469']) {
      text.value = typed
      await nextTick()
    }
    vi.advanceTimersByTime(500)
    expect(find.mock.calls.map(([input]) => (input as { text: string }).text)).toEqual(['469'])
    text.value = '4690'
    await nextTick()
    vi.advanceTimersByTime(500)
    expect((find.mock.calls[0]?.[1] as { signal: AbortSignal }).signal.aborted).toBe(true)
    answers.get('4690')?.({ found: [job('right')], more: {} })
    await flushPromises()
    answers.get('469')?.({ found: [job('late')], more: {} })
    await flushPromises()
    expect(answer.value.found).toEqual([job('right')])
    end()
  })

  it('says that the host does not answer', async () => {
    const { answer, isOff, end } = begin()
    find.mockRejectedValue(new Error('gone'))
    text.value = 'ost'
    await nextTick()
    vi.advanceTimersByTime(500)
    await flushPromises()
    expect([isOff.value, answer.value.found]).toEqual([true, []])
    end()
  })
})

/** Runs a composable inside a component with a router. */
async function within<T>(use: () => T): Promise<T> {
  const none = { render: () => null }
  const routes = ['sandbox', 'settings', 'help'].map((name) => ({ path: `/${name}`, name, component: none }))
  const router = createRouter({ history: createMemoryHistory(), routes })
  await router.push('/settings')
  let got: T | undefined
  mount(
    defineComponent(() => {
      got = use()
      return () => null
    }),
    { global: { plugins: [router] } },
  )
  return got!
}

it('finds help pages by name and heading, and desktop settings only on the desktop', async () => {
  const { items, load } = await within(usePageItems)
  await load()
  const found = (text: string): string[] => ranked(items.value, text).map(({ item: { id } }) => id)
  expect(found('sudoers')).toContain('help sudoers')
  expect(found('telemetry')[0]).toBe('setting telemetry')
  expect(found('kept passphrases')).not.toContain('setting secrets')
})

it('finds commands by the words that operators use', async () => {
  const { verbs, listed } = await within(() => {
    const items = useCatalogueItems()
    useCommands({
      'frame.propose': () => true,
      'frame.stop-all': () => true,
      'frame.export': () => true,
      'frame.overview': () => true,
      'edits.undo-list': () => true,
    })
    return { verbs: usePaletteVerbs(), listed: items }
  })
  const first = (text: string): string => ranked(listed(verbs.value), text)[0]?.item.title ?? ''
  expect(first('cap')).toMatch(/^Propose a limit/)
  expect(first('csv')).toBe('Export history as CSV')
  expect(first('rollback')).toMatch(/^Change history/)
  expect(first('kill')).toBe('Stop and remove all Sluice rules')
  expect(first('review')).toBe('Review staged changes')
  const review = listed(verbs.value).find(({ title }) => title === 'Review staged changes')
  expect([review?.key, review?.why]).toEqual(['r', 'Nothing is staged'])
})

it('offers the busiest jobs on screen for a verb without a name', async () => {
  onScreenJobs.value = [
    { id: '1.calm', colour: 0, rpcs: 3 },
    { id: '2.hog', colour: 1, rpcs: 900 },
  ]
  const palette = await within(usePalette)
  palette.open('cap ')
  const rows = palette.groups.value.find(({ title }) => title === 'Commands')?.rows ?? []
  expect(rows.slice(0, 2).map(({ item: { title } }) => title)).toEqual([
    'Propose a limit for 2.hog',
    'Propose a limit for 1.calm',
  ])
  onScreenJobs.value = []
})

it('opens a scenario by name, but asks about unsaved changes', async () => {
  const { goTo } = await within(usePlaces)
  const sandbox = useSandboxStore()
  const storm = { id: 'checkpoint-storm', title: 'Checkpoint storm', about: '', own: false }
  const check = { faults: [{}], suggested: [] }
  const open = vi.fn(() => Promise.resolve({ text: 'kept', check }))
  const gallery = () => Promise.resolve({ entries: [storm] })
  useConnectionStore().opened({ api: { sandbox: { gallery, open } } } as unknown as Host)
  goTo({ kind: 'thing', thing: 'scenario', id: 'check' })
  await flushPromises()
  expect(open).toHaveBeenCalledExactlyOnceWith({ id: 'checkpoint-storm' })
  sandbox.edit('typed')
  expect(sandbox.isUnsaved).toBe(true)
  goTo({ kind: 'thing', thing: 'scenario', id: 'checkpoint-storm' })
  await flushPromises()
  expect([open.mock.calls.length, sandbox.waiting === null]).toEqual([1, false])
})
