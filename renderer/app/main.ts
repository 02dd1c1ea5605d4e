/** Entry of the window. */
// First: the key that the address carries is taken out of it before the router reads the fragment as a view.
import './tab-key.ts'
import { createPinia } from 'pinia'
import { useConnectionStore } from '../stores/connection.ts'
import { useSettingsStore } from '../stores/settings.ts'
import '../theme/tokens.css'
import '../theme/base.css'
import App from './App.vue'
import { connect } from './connect.ts'
import { loadViewsWhenIdle, router } from './router.ts'
import { beginWithView } from './start-view.ts'
import { windowApp } from './window-renderer.ts'

const app = windowApp(App)
app.use(createPinia())
useSettingsStore() // the theme is set before the first paint
connect(useConnectionStore())
beginWithView(router)
app.use(router)
app.mount(document.getElementById('app') as HTMLElement)
loadViewsWhenIdle()
