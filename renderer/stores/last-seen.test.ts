import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, it } from 'vitest'
import { nextTick } from 'vue'
import { useLastSeenStore } from './last-seen.ts'

/** Opens a window with the storage of the previous one. */
function open() {
  setActivePinia(createPinia())
  return useLastSeenStore()
}
const HOUR = 3_600_000
beforeEach(() => localStorage.clear())

it('keeps the end of the previous visit while the window is open', async () => {
  const first = open()
  first.look('altair', 1000)
  expect(first.leftMs).toBeNull()
  first.look('altair', 20_000)
  await nextTick()
  const second = open()
  second.look('altair', HOUR)
  expect(second.leftMs).toBe(20_000)
  second.look('altair', HOUR + 30_000)
  expect(second.leftMs).toBe(20_000)
  second.look('borealis', HOUR)
  expect(second.leftMs).toBeNull()
  second.look('altair', HOUR + 40_000)
  expect(second.leftMs).toBe(20_000)
})

it('does not count short absences or recordings as leaving', async () => {
  const store = open()
  store.look('altair', 1000)
  store.look('altair', 40_000)
  expect(store.leftMs).toBeNull()
  store.lookAway()
  store.look('altair', 2 * HOUR)
  expect(store.leftMs).toBeNull()
  store.look('altair', 9 * HOUR) // the page was hidden
  expect(store.leftMs).toBe(2 * HOUR)
})

it('reads invalid storage', async () => {
  for (const text of ['{', '7', '[["altair"],["x",null],[1,2],["altair","3"]]', 'null']) {
    localStorage.setItem('sluice.last-seen', text)
    const store = open()
    store.look('altair', HOUR)
    expect(store.leftMs).toBeNull()
  }
  localStorage.setItem('sluice.last-seen', JSON.stringify(Array.from({ length: 500 }, (_, i) => [`c${i}`, 1])))
  open().look('altair', HOUR)
  await nextTick()
  expect(JSON.parse(localStorage.getItem('sluice.last-seen') ?? '[]')).toHaveLength(50)
})
