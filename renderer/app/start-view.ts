/** What a start shows where the address names no view: the one that was set, or the one that was on screen last. */
import type { Router } from 'vue-router'
import { startViews } from '../stores/settings-schema.ts'
import { useSettingsStore } from '../stores/settings.ts'

const KEY = 'sluice.last-view'
const isView = (name: unknown): name is string =>
  typeof name === 'string' && name !== 'last' && startViews.includes(name)

function last(): string | null {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null // storage may be off: the start is then the overview
  }
}

/** Called before the router takes the address. */
export function beginWithView(router: Router): void {
  const { startView } = useSettingsStore()
  const wanted = startView === 'last' ? last() : startView
  const isAsked = location.hash.replace(/^#\/?/, '') !== ''
  if (!isAsked && isView(wanted) && wanted !== 'overview') void router.replace({ name: wanted })
  router.afterEach(({ name }) => {
    if (!isView(name)) return
    try {
      localStorage.setItem(KEY, name)
    } catch {
      // storage may be full or off: the next start then shows the overview
    }
  })
}
