/** Which view is on screen; in the hash, because the desktop shell serves one file. */
import { createRouter, createWebHashHistory } from 'vue-router'
import OverviewView from '../views/overview/OverviewView.vue'

/** Views that the first picture does not need; they are loaded once the window has time, in the order of their keys. */
const later = {
  jobs: () => import('../views/jobs/JobsView.vue'),
  rules: () => import('../views/rules/RulesView.vue'),
  locks: () => import('../views/locks/LocksView.vue'),
  metadata: () => import('../views/metadata/MetadataView.vue'),
  tokens: () => import('../views/tokens/TokensView.vue'),
  sandbox: () => import('../views/sandbox/SandboxView.vue'),
  history: () => import('../views/history/HistoryView.vue'),
  incidents: () => import('../views/incidents/IncidentsView.vue'),
  connections: () => import('../views/connections/ConnectionsView.vue'),
  papers: () => import('../views/papers/PapersView.vue'),
  settings: () => import('../views/settings/SettingsView.vue'),
  help: () => import('../views/help/HelpView.vue'),
}
/** Loads them one after the other, so that switching to one is as fast as to any other. */
export function loadViewsWhenIdle(): void {
  const waiting = Object.values(later)
  const next = (): void => {
    // One that does not come is asked for again when it is opened.
    void waiting.shift()?.().then(whenIdle, whenIdle)
  }
  const whenIdle = (): void => void requestIdleCallback(next, { timeout: 5000 })
  whenIdle()
}

export const router = createRouter({
  history: createWebHashHistory(),
  routes: [
    { path: '/overview', name: 'overview', component: OverviewView },
    { path: '/jobs', name: 'jobs', component: later.jobs },
    { path: '/rules', name: 'rules', component: later.rules },
    { path: '/locks', name: 'locks', component: later.locks },
    { path: '/metadata', name: 'metadata', component: later.metadata },
    { path: '/tokens', name: 'tokens', component: later.tokens },
    { path: '/sandbox', name: 'sandbox', component: later.sandbox },
    { path: '/history', name: 'history', component: later.history },
    { path: '/incidents', name: 'incidents', component: later.incidents },
    { path: '/connections', name: 'connections', component: later.connections },
    { path: '/papers', name: 'papers', component: later.papers },
    { path: '/settings', name: 'settings', component: later.settings },
    { path: '/help/:page?', name: 'help', component: later.help },
    { path: '/:rest(.*)*', redirect: '/overview' },
  ],
})
