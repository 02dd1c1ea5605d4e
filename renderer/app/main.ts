/** Entry of the window. */
import { createPinia } from 'pinia'
import { createApp } from 'vue'
import { useConnectionStore } from '../stores/connection.ts'
import { useSettingsStore } from '../stores/settings.ts'
import '../theme/tokens.css'
import '../theme/base.css'
import App from './App.vue'
import { connect } from './connect.ts'
import { loadViewsWhenIdle, router } from './router.ts'
import { beginWithView } from './start-view.ts'

const app = createApp(App)
app.use(createPinia())
useSettingsStore() // the theme is set before the first paint
connect(useConnectionStore())
beginWithView(router)
app.use(router)
app.mount('#app')
loadViewsWhenIdle()
