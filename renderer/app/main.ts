/** Entry of the window. */
// First: takes the key out of the address before the router reads the fragment as a view.
import './tab-key.ts'
import { createPinia } from 'pinia'
import { createRouter, createWebHashHistory, type Router } from 'vue-router'
import { copyText } from '../reach/copy.ts'
import { useConnectionStore } from '../stores/connection.ts'
import { useSettingsStore } from '../stores/settings.ts'
import '../theme/tokens.css'
import '../theme/base.css'
import '../theme/layout.css'
import { startViews } from '../stores/settings-schema.ts'
import { tableClipboard, tableLayouts } from '../widgets/table-services.ts'
import App from './App.vue'
import { connect } from './connect.ts'
import { VIEWS } from '../commands/views.ts'
import { viewParts } from './views.ts'
import { storedLayouts } from './stored-layouts.ts'
import { windowApp } from './window-renderer.ts'

/** Preloads the views one by one, so that switching is equally fast for all. */
function loadViewsWhenIdle(): void {
  const waiting = VIEWS.map(({ id }) => viewParts[id].component).filter((c) => typeof c === 'function')
  const next = (): void => {
    const load = waiting.shift()
    // A view that fails to load is requested again when it is opened.
    if (load) void (load as () => Promise<unknown>)().then(whenIdle, whenIdle)
  }
  const whenIdle = (): void => void requestIdleCallback(next, { timeout: 5000 })
  whenIdle()
}

/** Router; the view is in the hash, because the desktop shell serves one file. */
const router = createRouter({
  history: createWebHashHistory(),
  routes: [
    ...VIEWS.map(({ id }) => ({
      path: id === 'help' ? '/help/:page?' : `/${id}`,
      name: id,
      component: viewParts[id].component,
    })),
    { path: '/:rest(.*)*', redirect: '/overview' },
  ],
})

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
app.provide(tableLayouts, storedLayouts())
app.provide(tableClipboard, copyText)
app.mount(document.getElementById('app') as HTMLElement)
loadViewsWhenIdle()
