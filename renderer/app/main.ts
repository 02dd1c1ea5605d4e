/** Entry of the window. */
// First: takes the key out of the address before the router reads the fragment as a view.
import './tab-key.ts'
import { createPinia } from 'pinia'
import type { Router } from 'vue-router'
import { useConnectionStore } from '../stores/connection.ts'
import { useSettingsStore } from '../stores/settings.ts'
import '../theme/tokens.css'
import '../theme/base.css'
import { startViews } from '../stores/settings-schema.ts'
import App from './App.vue'
import { connect } from './connect.ts'
import { loadViewsWhenIdle, router } from './router.ts'
import { windowApp } from './window-renderer.ts'

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

/**
 * Opens the start view if the address names none: the one in the settings, or the last one shown. Called before the
 * router reads the address.
 */
function beginWithView(router: Router): void {
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

const app = windowApp(App)
app.use(createPinia())
useSettingsStore() // the theme is set before the first paint
connect(useConnectionStore())
beginWithView(router)
app.use(router)
app.mount(document.getElementById('app') as HTMLElement)
loadViewsWhenIdle()
