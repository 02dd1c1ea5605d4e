import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, it } from 'vitest'
import { catalogue } from './catalogue.ts'
import { keyGroups, matchingGroups } from './key-groups.ts'
import { useKeymapStore } from './keymap.ts'

beforeEach(() => {
  localStorage.clear()
  setActivePinia(createPinia())
})

it('lists every command once with its current keys: the current view first, then global commands', () => {
  const keymap = useKeymapStore()
  keymap.choose('rules.new', 'q', 'n')
  const groups = keyGroups(keymap.byId, 'rules')
  expect([groups[0]?.title, groups[0]?.isHere]).toEqual(['Rules', true])
  expect(groups.flatMap((g) => g.entries.map((e) => e.id)).toSorted()).toEqual(catalogue.map((c) => c.id).toSorted())
  expect(groups[0]?.entries.find((e) => e.id === 'rules.new')?.keys).toEqual(['q'])
  // Keys handled inside a field are listed, too.
  expect(groups[0]?.entries.find((e) => e.id === 'rules.paste')?.keys).toEqual(['mod+v'])
  const titles = groups.map((g) => g.title)
  expect(titles.indexOf('Time')).toBeLessThan(titles.indexOf('Locks'))
})

it('is filtered by verb, by group and by key', () => {
  const groups = keyGroups(useKeymapStore().byId, '')
  const ids = (text: string) => matchingGroups(groups, text).flatMap((g) => g.entries.map((e) => e.id))
  expect(ids('pin a at the')).toEqual(['time.pin-a'])
  expect(ids('ctrl e')).toContain('frame.export')
  expect(ids('locks longer')).toEqual(['locks.longer'])
  expect(ids('no such thing at all')).toEqual([])
})
